"""Texts of bearable length for messages: cut, listed in part, or brought into one line."""

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
    return shorten(" ".join(str(error).split()).rstrip(".") or type(error).__name__, most)


def visible(text: str) -> str:
    r"""Return text in one line, with every character escaped that does not print or that changes its neighbours.

    Examples
    --------
    >>> visible("age\n; DROP")
    'age\\n; DROP'
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def printable(text: str) -> str:
    r"""Return text with control characters escaped, because names in a file may hold orders to the terminal.

    Examples
    --------
    >>> printable("age\x1b[31m")
    'age\\x1b[31m'
    """
    return "".join(letter if letter.isprintable() or letter in "\n\t" else repr(letter)[1:-1] for letter in text)
