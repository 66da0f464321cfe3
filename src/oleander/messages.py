"""What users read in a message: names from their data, shares and bounds, warnings, and extras to install.

A name from data is made printable, and no bound is rounded in our favour: 100% is never less than all.
"""

import inspect
import warnings
from collections.abc import Collection, Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from difflib import get_close_matches
from importlib import import_module
from itertools import islice
from types import ModuleType
from typing import Any

UNKNOWN = "unknown"


def shorten(text: str, most: int = 80) -> str:
    """Return the text, cut after ``most`` characters and marked where it is longer."""
    return text if len(text) <= most else f"{text[:most]} ..."


def list_some(values: Collection[Any], most: int = 8) -> str:
    """Return the first values as a list in words, and how many there are beyond them."""
    shown = ", ".join(repr(value) for value in islice(values, most))
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"


def name_nearest(name: Any, known: Iterable[Any]) -> str:
    """Return a question after the nearest of the known names, to end a message with; empty if none is near."""
    # Of names that differ in case or spaces only, the first is meant.
    names = {str(one).strip().lower(): one for one in reversed(list(known))}
    near = get_close_matches(str(name).strip().lower(), names, n=1)
    return f" Did you mean {names[near[0]]!r}?" if near else ""


def one_line(error: BaseException, most: int = 300) -> str:
    """Return an error's message in one line of limited length, without its last full stop."""
    return shorten(visible(" ".join(str(error).split())).rstrip(".") or type(error).__name__, most)


def visible(name: Any) -> str:
    r"""Return a name in one line, with every character escaped that does not print or that changes its neighbours.

    Names of columns, levels, labels, groups and files come from outside: printed as they are, they could forge a line
    of a summary or send commands to the terminal.

    >>> visible("age\ncertified at 99%")
    'age\\ncertified at 99%'
    """
    text = str(name)
    # Nearly all names are printable, and this check does not look at each letter in Python.
    return text if text.isprintable() else _escape(text, keep="")


def printable(text: str) -> str:
    """Return text of several lines, such as code, with control characters escaped."""
    return _escape(text, keep="\n\t")


def _escape(text: str, keep: str) -> str:
    return "".join(letter if letter.isprintable() or letter in keep else repr(letter)[1:-1] for letter in text)


def show_lower(bound: float, decimals: int = 2) -> str:
    """Return a lower bound in digits, never rounded up."""
    return _round(bound, decimals, ROUND_FLOOR) if 0 <= bound <= 100 else UNKNOWN


def show_upper(bound: float, decimals: int = 2) -> str:
    """Return an upper bound in digits, never rounded down."""
    return _round(bound, decimals, ROUND_CEILING) if 0 <= bound <= 100 else UNKNOWN


def show_lower_percent(bound: float, decimals: int = 1) -> str:
    """Return a lower bound as a percentage, never rounded up."""
    return f"{_round(bound, decimals, ROUND_FLOOR, 100)}%" if 0 <= bound <= 1 else UNKNOWN


def show_upper_percent(bound: float, decimals: int = 1) -> str:
    """Return an upper bound, which may exceed 100%, as a percentage, never rounded down."""
    return f"{_round(bound, decimals, ROUND_CEILING, 100)}%" if 0 <= bound <= 1e6 else UNKNOWN


def show_share(share: float, decimals: int = 0) -> str:
    """Return a share as a percentage; 100% is shown for all only, and 0% for none only.

    >>> show_share(0.874), show_share(0.9996, 1), show_share(0.0002, 1), show_share(1.0, 1)
    ('87%', '>99.9%', '<0.1%', '100.0%')
    """
    if not 0 <= share <= 1:
        return UNKNOWN
    step, rounded = Decimal(1).scaleb(-decimals), _round(share, decimals, ROUND_HALF_EVEN, 100)
    if Decimal(rounded) == 0 and share > 0:
        return f"<{step}%"
    if Decimal(rounded) == 100 and share < 1:
        return f">{100 - step}%"
    return f"{rounded}%"


def show_percent(share: float) -> str:
    """Return a share that was given, such as a confidence or a floor, as a percentage with all its digits."""
    return f"{(100 * Decimal(repr(round(float(share), 12)))).normalize():f}%"


def _round(number: float, decimals: int, rounding: str, factor: int = 1) -> str:
    # The shortest decimal number that reads as this float is rounded: 0.29, a little less in binary, stays 0.29.
    return str((factor * Decimal(repr(float(number)))).quantize(Decimal(1).scaleb(-decimals), rounding))


def warn_user(message: str) -> None:
    """Warn at the nearest line of the call stack outside this package, so that users see which call of theirs it is."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("oleander."):
        frame, level = frame.f_back, level + 1
    warnings.warn(visible(message), UserWarning, stacklevel=level)


def import_extra(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Return an optional module; ``ImportError`` names the extra of the package that installs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # A missing dependency *of* the module is another error and must stay visible.
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise
        raise ImportError(
            f'{purpose} needs {package}, which is not installed: pip install "oleander[{extra}]"'
        ) from error


class Shown:
    """A result that ``print`` shows as text and a notebook as HTML, in the sentences of ``oleander.words``."""

    # Words stand above results, so they are imported when they are asked for.

    def __str__(self) -> str:
        from oleander.words import describe

        return describe(self)

    def _repr_html_(self) -> str:
        from oleander.words import draw

        return draw(self)
