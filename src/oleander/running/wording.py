"""Texts for messages: cut, listed in part, brought into one line, and names from data made printable."""

from collections.abc import Collection
from itertools import islice
from typing import Any


def shorten(text: str, most: int = 80) -> str:
    """Return the text, cut after ``most`` characters and marked where it is longer.

    Examples
    --------
    >>> shorten("a rather long text", 8)
    'a rather ...'
    """
    return text if len(text) <= most else f"{text[:most]} ..."


def list_some(values: Collection[Any], most: int = 8) -> str:
    """Return the first values as a list in words, and how many there are beyond them.

    Examples
    --------
    >>> list_some(["age", "sex", "dose"], most=2)
    "'age', 'sex' and 1 more"
    """
    shown = ", ".join(repr(value) for value in islice(values, most))
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"


def one_line(error: BaseException, most: int = 300) -> str:
    r"""Return an error's message in one line of bearable length and without its last full stop.

    Examples
    --------
    >>> one_line(ValueError("no such thing:\n  a unicorn."))
    'no such thing: a unicorn'
    """
    return shorten(visible(" ".join(str(error).split())).rstrip(".") or type(error).__name__, most)


def visible(name: Any) -> str:
    r"""Return a name in one line, with every character escaped that does not print or that changes its neighbours.

    Names of columns, levels, labels, groups and files come from outside: printed as they are, they could forge a line
    of a summary or hold orders to the terminal.

    Examples
    --------
    >>> visible("age\ncertified at 99%")
    'age\\ncertified at 99%'
    """
    text = str(name)
    # Nearly all names are printable, and this says so without a look at each letter in Python.
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def printable(text: str) -> str:
    r"""Return text of several lines, such as code, with control characters escaped.

    Examples
    --------
    >>> printable("age\x1b[31m")
    'age\\x1b[31m'
    """
    return "".join(letter if letter.isprintable() or letter in "\n\t" else repr(letter)[1:-1] for letter in text)
