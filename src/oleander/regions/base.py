"""The protocol of a region."""

from typing import Any, Protocol, runtime_checkable

from oleander.arrays import Bools, Floats


@runtime_checkable
class Region(Protocol):
    """A part of the space of rows, in which an explainer is valid."""

    def contains(self, rows: Floats) -> Bools:
        """Return a mask of the encoded rows that lie inside, the border included."""

    def describe(self) -> str:
        """Return the region in words, with the names and units of the data."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
