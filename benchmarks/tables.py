"""Tables in Markdown and their cells."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks.journal import Row


def make_table(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    cells = [columns, ["---"] * len(columns), *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in cells) + "\n"


def make_goals(goals: Iterable[tuple[str, str, bool | None]]) -> str:
    """Return the goals beside what was measured; a goal that was not measured is neither met nor missed."""
    words = {True: "yes", False: "**no**", None: "not measured"}
    return make_table(("goal", "measured", "met"), [(goal, found, words[met]) for goal, found, met in goals])


def make_pivot(rows: Sequence[Row], lines: Sequence[str], columns: str, value: str) -> str:
    """Return a table of means of one value: a line per combination of ``lines``, a column per value of ``columns``.

    >>> rows = [{"method": "tree", "data": "wine", "coverage": share} for share in (0.5, 0.7)]
    >>> print(make_pivot(rows, ["method"], "data", "coverage"))
    | method | wine |
    | --- | --- |
    | tree | 0.60 |
    <BLANKLINE>
    """
    keys = list(dict.fromkeys(tuple(row[name] for name in lines) for row in rows))
    heads = list(dict.fromkeys(row[columns] for row in rows))
    cells = [
        [
            number(mean(row[value] for row in rows if (*(row[name] for name in lines), row[columns]) == (*key, head)))
            for head in heads
        ]
        for key in keys
    ]
    return make_table((*lines, *heads), [(*key, *line) for key, line in zip(keys, cells, strict=True)])


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are there; None if none is."""
    known = [value for value in values if value is not None]
    return statistics.mean(known) if known else None


def number(value: float | None, digits: int = 2) -> str:
    """Return a figure in a cell; a missing value is a dash."""
    return "–" if value is None or np.isnan(value) else f"{value:,.{digits}f}"


def percent(value: float | None) -> str:
    """Return a share in per cent; a missing value is a dash."""
    return "–" if value is None or np.isnan(value) else f"{value:.0%}"


def seconds(value: float | None) -> str:
    """Return seconds with two significant digits, or whole from ten on.

    >>> seconds(0.01234), seconds(1.234), seconds(123.4)
    ('0.012', '1.2', '123')
    """
    if value is None or np.isnan(value):
        return "–"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
