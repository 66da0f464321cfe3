"""Cells of text that are numbers or dates: amounts with marks, percentages, and dates in the usual formats."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
import pandas as pd

from oleander.arrays import Bools

CURRENCY = r"[$€£¥₹₩₽]|USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|kr|zł"
# A dot, a comma, an apostrophe or a space of any width.
MARKS = ".,'’ \u00a0\u202f"
DATES = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d %b %Y",
    "%d %B %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
# What every date in one of these formats begins with.
LIKE_A_DATE = r"\d{1,4}[-/. ]|[^\W\d]{3,} \d{1,2}, "
TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S")
# Formats are tried on this many values before they are tried on all.
N_TRIED = 200
# A column with at least this share of numbers, or of dates, is a column of them with strange cells.
MOSTLY = 0.95


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column as numbers or dates.

    Parameters
    ----------
    values : Series
        Missing where a cell is empty or strange.
    strange : array of shape (n_rows,)
        A mask of the cells that are neither empty nor of this kind.
    units : tuple of str
        The currencies, or the percent sign, that the cells have; "no unit" where others have a percent sign.
    is_marked : bool
        Whether a cell has a unit or a mark between thousands.
    """

    values: pd.Series
    strange: Bools
    units: tuple[str, ...] = ()
    is_marked: bool = False

    @property
    def share(self) -> float:
        """The share of the cells that are of this kind, of those that are not empty."""
        n_read = int(self.values.notna().sum())
        return n_read / max(n_read + int(self.strange.sum()), 1)


def _once_per_level(read: Callable[[pd.Series], Cells], column: pd.Series) -> Cells:
    """Read each different text of a column once, because most columns hold few."""
    if not isinstance(column.dtype, pd.StringDtype):
        return read(column)
    codes, levels = pd.factorize(column)
    cells = read(pd.Series(levels))
    values = cells.values.reindex(codes).set_axis(column.index).rename(column.name)
    return replace(cells, values=values, strange=np.append(cells.strange, False)[codes])


@lru_cache(maxsize=4)
def _pattern(decimal: str) -> re.Pattern[str]:
    mark, thousands = re.escape(decimal), re.escape(MARKS.replace(decimal, ""))
    whole = rf"[1-9]\d{{0,2}}(?:[{thousands}]\d{{3}})+|\d+"
    body = rf"(?:{whole})(?:{mark}\d*)?(?:[eE][+-]?\d+)?|{mark}\d+"
    return re.compile(
        rf"(?P<sign>[+−-]?)\s*(?P<before>{CURRENCY})?\s*(?P<minus>-?)(?P<body>{body})\s*(?P<after>{CURRENCY}|%)?"
    )


def read_numbers(column: pd.Series, decimal: str = ".") -> Cells:
    """Return text as numbers: without currency, percent sign and marks between thousands.

    Examples
    --------
    >>> cells = read_numbers(pd.Series(["$1,570.00", "$12.5", "free"]))
    >>> cells.values.tolist(), cells.strange.tolist(), cells.units
    ([1570.0, 12.5, nan], [False, False, True], ('$',))
    >>> read_numbers(pd.Series(["1.570,5 €"]), decimal=",").values.tolist()
    [1570.5]
    """
    return _once_per_level(lambda cells: _read_numbers(cells, decimal), column)


def _read_numbers(column: pd.Series, decimal: str) -> Cells:
    absent = column.isna().to_numpy()
    is_text = np.array([isinstance(value, str) for value in column])
    numbers = np.array(pd.to_numeric(column.where(~is_text), errors="coerce").to_numpy(dtype=float, na_value=np.nan))
    # A truth value is no number here.
    is_number = np.isfinite(numbers) & ~is_text & [not isinstance(value, bool) for value in column]
    texts = column[is_text].astype(object)
    parts = texts.str.strip().str.extract(f"^{_pattern(decimal).pattern}$")
    read = parts["body"].notna().to_numpy()
    body = parts["body"].fillna("nan").str.translate({ord(mark): None for mark in MARKS.replace(decimal, "")})
    plain = body.str.replace(decimal, ".", regex=False)
    negative = parts["sign"].isin(["-", "−"]) | (parts["minus"] == "-")
    numbers[is_text] = plain.astype(float).to_numpy() * np.where(negative, -1.0, 1.0)
    fits = is_number.copy()
    fits[is_text] = read
    numbers[~fits] = np.nan
    unit_of = parts["before"].fillna(parts["after"])[read]
    units = unit_of.dropna().unique().tolist()
    if "%" in units and (unit_of.isna().any() or is_number.any()):
        # 34.9% and 0.349 may be the same amount, so a number without the sign is of another unit.
        units.append("no unit")
    lengths = (parts["body"].str.len() > body.str.len())[read]
    values = pd.Series(numbers, index=column.index, name=column.name)
    if fits.any() and np.array_equal(numbers[fits], np.round(numbers[fits])) and not absent.any() and fits.all():
        values = values.astype(np.int64) if np.abs(numbers).max() < 2**53 else values
    return Cells(values, ~fits & ~absent, tuple(units), bool(units) or bool(lengths.any()))


def read_dates(column: pd.Series, formats: Sequence[str] | None = None) -> list[Cells]:
    """Return text as dates, once for each format that fits at least as many cells as any other.

    Two answers that differ, such as day first and month first, mean that the cells do not say which is right.

    Parameters
    ----------
    column : Series
    formats : sequence of str or None
        As in ``strptime``; None tries the usual ones.

    Examples
    --------
    >>> [cells.values.dt.strftime("%d %b").tolist() for cells in read_dates(pd.Series(["03/04/2024"]))]
    [['03 Apr'], ['04 Mar']]
    """
    known = [date + time for date in DATES for time in TIMES] if formats is None else list(formats)
    some = _texts(pd.Series(column.dropna().head(N_TRIED))).dropna()
    if formats is None:
        # Trying all formats on free text takes long.
        some = some if some.str.match(LIKE_A_DATE).mean() > 0.5 else some.head(0)
    if not len(some):
        return []
    fitting = [one for one in known if pd.to_datetime(some, format=one, errors="coerce").notna().mean() > 0.5]
    found: list[Cells] = []
    for one in fitting:
        cells = _once_per_level(partial(_read_as, date_format=one), column)
        if not any(cells.values.equals(other.values) for other in found):
            found.append(cells)
    best = max((cells.share for cells in found), default=0.0)
    return [cells for cells in found if cells.share == best]


def _texts(column: pd.Series) -> pd.Series:
    """Return the cells that are text, without spaces around them; the others are missing."""
    return column.where([isinstance(value, str) for value in column]).astype(object).str.strip()


def _read_as(column: pd.Series, date_format: str) -> Cells:
    dates = pd.to_datetime(_texts(column), format=date_format, errors="coerce").astype("datetime64[s]")
    return Cells(dates, (dates.isna() & column.notna()).to_numpy())
