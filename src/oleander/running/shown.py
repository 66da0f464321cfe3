"""Results that print themselves: what they say is written in ``oleander.words``, which stands above all of them."""

from importlib import import_module


class Shown:
    """A result that ``print`` shows as text, and a notebook as HTML."""

    def __str__(self) -> str:
        return str(import_module("oleander.words").describe(self))

    def _repr_html_(self) -> str:
        return str(import_module("oleander.words").draw(self))
