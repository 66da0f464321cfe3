"""Cells of a file: text that is numbers or dates is read, ids and empty columns are left out, others are refused.

Every decision is a note with an example, and all columns that cannot be used are named in one error.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from shlex import quote

import numpy as np
import pandas as pd

from oleander.arrays import Bools
from oleander.cli.options import CommandError, note
from oleander.data.checks import MOST_EXACT
from oleander.data.schema import FeatureSchema, Kind
from oleander.data.schema.rounding import holds_dates
from oleander.messages import list_some, shorten

ID_NAME = re.compile(r"(.*[\W_])?(id|uuid|guid|key|index|no|nr)|.*[a-z](Id|ID)|Unnamed: 0", re.IGNORECASE)
CURRENCY = r"[$€£¥₹₩₽]|USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|kr|zł"
# A dot, a comma, an apostrophe or a space of any width.
MARKS = ".,'’ \u00a0\u202f"
# Tried in this order, so that dotted dates are read with the day first.
DATES = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%b %d, %Y", "%B %d, %Y"),
)
TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
# Also fractions of a second and time zones.
ISO = "ISO8601"
# What every date in one of these formats begins with, and what a whole ISO date with a time zone looks like.
LIKE_A_DATE = r"\d{1,4}[-/. ]|[^\W\d]{3,} \d{1,2}, "
WITH_ZONE = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*(?:Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)"
# Formats are tried on this many values before they are tried on all.
N_TRIED = 200
# A column with at least this share of numbers, or of dates, is a column of them with strange cells.
MOSTLY = 0.95
# A column of text with more levels than this, most of them seen once, holds prose or names, not categories.
MOST_LEVELS = 30
# Levels that are numbered, such as grades, are at most this many.
MOST_NUMBERED = 20
MOST_LISTED = 5
MOST_LETTERS = 30


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column as numbers or dates.

    ``values`` are missing where a cell is empty or ``strange``, neither empty nor of this kind. ``large`` are whole
    numbers that a float may round. ``units`` are the currencies, or the percent sign, of the cells; "no unit" where
    others have a percent sign. ``is_marked`` says whether a cell has a unit or a mark between thousands.
    """

    values: pd.Series
    strange: Bools
    large: Bools
    units: tuple[str, ...] = ()
    is_marked: bool = False

    @property
    def share(self) -> float:
        """The share of the cells that are of this kind, of those that are not empty."""
        n_read = int(self.values.notna().sum())
        return n_read / max(n_read + int(self.strange.sum()), 1)


@dataclass
class Findings:
    """What was found in the columns: names by the note about them, problems, and columns of free text."""

    notes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    problems: list[str] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)


def clean_columns(
    table: pd.DataFrame,
    *,
    declared: Mapping[str, str] | None = None,
    may_drop: bool = False,
) -> pd.DataFrame:
    """Return the table with its text read as numbers and dates; ``CommandError`` names all columns that cannot be used.

    Text that is ``declared`` as levels is kept as it is. How dates and decimals are written stands in ``table.attrs``.
    With ``may_drop`` ids and empty columns are left out; a model that was trained elsewhere may need them.
    """
    kinds, found = dict(declared or {}), Findings()
    columns: dict[str, pd.Series] = {}
    decimal, dates = _find_writing(table)
    for name in table.columns:
        column = table[name]
        if (problem := _find_collection(column)) is not None:
            found.problems.append(problem)
        elif column.isna().all():
            found.notes["no value, left out" if may_drop else "no value, so no rule can use it"].append(name)
            if may_drop:
                continue
        elif name not in kinds and is_id(column):
            end = "left out" if may_drop else "leave it out with --drop if the model does not read it"
            found.notes[f"a different value in every row, as an id has: {end}"].append(name)
            if may_drop:
                continue
        elif kinds.get(name) not in (Kind.BINARY, Kind.CATEGORICAL) and _is_text(column):
            column = _read(column, kinds.get(name), decimal, dates, found)
        columns[name] = column
    for sentence, names in found.notes.items():
        note(f"{_columns(names)}: {sentence}.")
    if all(column.isna().all() for column in columns.values()):
        raise CommandError("no column is left to explain with.")
    if found.prose:
        found.problems.append(_describe_prose(found.prose, table))
    if found.problems:
        more = len(found.problems) - MOST_LISTED
        end = f"; {more} more columns cannot be used" if more > 0 else ""
        raise CommandError("; ".join(problem.rstrip(".") for problem in found.problems[:MOST_LISTED]) + f"{end}.")
    return pd.DataFrame(columns)


def clean_like(table: pd.DataFrame, schema: FeatureSchema) -> pd.DataFrame:
    """Return the table with text read as the schema's numbers and dates; cells that cannot be read stay as they are."""
    changed, (decimal, dates) = table.copy(), _find_writing(table)
    for feature in schema:
        if feature.name not in table.columns or not feature.is_number or not _is_text(table[feature.name]):
            continue
        column = table[feature.name]
        readings = read_dates(column, dates) if feature.is_date else [_read_best(column, decimal)]
        if len(readings) > 1:
            raise CommandError(_describe_two_dates(column))
        for cells in readings:
            unread = cells.strange | cells.large
            changed[feature.name] = cells.values.astype(object).where(~unread, column) if unread.any() else cells.values
    return changed


def _find_writing(table: pd.DataFrame) -> tuple[str, str | None]:
    """Return the decimal mark and the format of dates of a table that ``read_table`` returned."""
    return table.attrs.get("decimal", "."), table.attrs.get("dates")


def read_numbers(column: pd.Series, decimal: str = ".") -> Cells:
    """Return text as numbers: without currency, percent sign and marks between thousands.

    >>> cells = read_numbers(pd.Series(["$1,570.00", "$12.5", "free"]))
    >>> cells.values.tolist(), cells.strange.tolist(), cells.units
    ([1570.0, 12.5, nan], [False, False, True], ('$',))
    >>> read_numbers(pd.Series(["1.570,5 €"]), decimal=",").values.tolist()
    [1570.5]
    """
    return _once_per_level(partial(_read_numbers, decimal=decimal), column)


def read_dates(column: pd.Series, date_format: str | None = None) -> list[Cells]:
    """Return text as dates, once for each format that fits at least as many cells as any other.

    Two answers that differ, such as day first and month first, mean that the cells do not say which is right. Times
    with a time zone become times in UTC. The format is as in ``strptime``; None tries the usual ones.

    >>> [cells.values.dt.strftime("%d %b").tolist() for cells in read_dates(pd.Series(["03/04/2024"]))]
    [['03 Apr'], ['04 Mar']]
    >>> read_dates(pd.Series(["2024-03-04T01:00:00+02:00"]))[0].values.astype(str).tolist()
    ['2024-03-03 23:00:00']
    """
    some = _texts(pd.Series(column.dropna().head(N_TRIED))).dropna()
    known = [date_format] if date_format is not None else [date + time for date in DATES for time in TIMES]
    if date_format is None:
        # Trying all formats on free text takes long.
        some = some if some.str.match(LIKE_A_DATE).mean() > 0.5 else some.head(0)
        known = [ISO, *known] if some.str.match(r"\d{4}-\d\d-\d\d").mean() > 0.5 else known
    found: list[Cells] = []
    for one in known if len(some) else ():
        if _to_dates(some, one).notna().mean() > 0.5:
            cells = _once_per_level(partial(_read_dates, date_format=one), column)
            if not any(cells.values.equals(other.values) for other in found):
                found.append(cells)
    best = max((cells.share for cells in found), default=0.0)
    return [cells for cells in found if cells.share == best]


def _once_per_level(read: Callable[[pd.Series], Cells], column: pd.Series) -> Cells:
    """Read each different text of a column once, because most columns hold few."""
    if not isinstance(column.dtype, pd.StringDtype):
        return read(column)
    codes, levels = pd.factorize(column)
    cells = read(pd.Series(levels))
    values = cells.values.reindex(codes).set_axis(column.index).rename(column.name)
    strange, large = (np.append(mask, False)[codes] for mask in (cells.strange, cells.large))
    return replace(cells, values=values, strange=strange, large=large)


@lru_cache(maxsize=4)
def _pattern(decimal: str) -> str:
    mark, thousands = re.escape(decimal), re.escape(MARKS.replace(decimal, ""))
    whole = rf"[1-9]\d{{0,2}}(?:[{thousands}]\d{{3}})+|\d+"
    body = rf"(?:{whole})(?:{mark}\d*)?(?:[eE][+-]?\d+)?|{mark}\d+"
    return rf"^(?P<sign>[+−-]?)\s*(?P<before>{CURRENCY})?\s*(?P<minus>-?)(?P<body>{body})\s*(?P<after>{CURRENCY}|%)?$"


def _read_numbers(column: pd.Series, decimal: str) -> Cells:
    # A cell of a workbook may be a number among texts.
    parts = column.astype(str).astype(object).str.strip().str.extract(_pattern(decimal))
    fits = parts["body"].notna().to_numpy()
    body = parts["body"].fillna("nan").str.translate({ord(mark): None for mark in MARKS.replace(decimal, "")})
    plain = body.str.replace(decimal, ".", regex=False)
    is_negative = parts["sign"].isin(["-", "−"]) | (parts["minus"] == "-")
    numbers = plain.astype(float).to_numpy() * np.where(is_negative, -1.0, 1.0)
    # Not fillna, which in pandas 2 warns of columns without any unit.
    unit_of = pd.Series(np.where(parts["before"].isna(), parts["after"], parts["before"]))[fits]
    units = unit_of.dropna().unique().tolist()
    if "%" in units and unit_of.isna().any():
        # 34.9% and 0.349 may be the same amount, so a number without the sign is of another unit.
        units.append("no unit")
    has_marks = bool((parts["body"].str.len() > body.str.len())[fits].any())
    values = pd.Series(numbers, index=column.index, name=column.name)
    if len(fits) and fits.all() and np.array_equal(numbers, np.round(numbers)) and np.abs(numbers).max() < 2**53:
        values = values.astype(np.int64)
    large = plain.str.isdigit().to_numpy() & (np.abs(numbers) > MOST_EXACT)
    return Cells(values, ~fits & column.notna().to_numpy(), large, tuple(units), bool(units) or has_marks)


def _read_best(column: pd.Series, decimal: str) -> Cells:
    """Return the cells as numbers with the decimal mark of the file, or with the other where that fits more cells."""
    own, other = read_numbers(column, decimal), read_numbers(column, "," if decimal == "." else ".")
    return replace(other, is_marked=True) if other.share > own.share else own


def _texts(column: pd.Series) -> pd.Series:
    """Return the cells that are text, without spaces around them; the others are missing."""
    return column.where([isinstance(value, str) for value in column]).astype(object).str.strip()


def _to_dates(texts: pd.Series, date_format: str) -> pd.Series:
    if date_format == ISO:
        texts = texts.str.replace(r" ?(UTC|GMT)$", "Z", regex=True)
    has_zone = date_format == ISO or "%z" in date_format
    dates = pd.to_datetime(texts, format=date_format, errors="coerce", utc=has_zone)
    return pd.Series(dates.dt.tz_localize(None) if has_zone else dates).astype("datetime64[s]")


def _read_dates(column: pd.Series, date_format: str) -> Cells:
    dates = _to_dates(_texts(column), date_format)
    return Cells(dates, (dates.isna() & column.notna()).to_numpy(), np.zeros(len(column), dtype=bool))


def _read(column: pd.Series, kind: str | None, decimal: str, date_format: str | None, found: Findings) -> pd.Series:
    """Return a column of text as numbers, dates or levels, and note what was found in it."""
    name, first = str(column.name), column.dropna().iloc[0]
    n_levels, n_values = column.nunique(), int(column.notna().sum())
    is_prose = n_levels > MOST_LEVELS and n_levels > n_values / 2
    # Among levels such as "1", "2" and "other" numbers may be few; free text with as many is not meant.
    enough = 0.5 if is_prose or kind is not None else MOSTLY
    if kind in (None, Kind.CONTINUOUS, Kind.INTEGER):
        numbers = _read_best(column, decimal)
        # More different numbers than levels would have are measured.
        is_measured = numbers.share >= 0.5 and numbers.values.nunique() > MOST_NUMBERED
        if numbers.share >= enough or is_measured:
            if numbers.strange.any():
                found.problems.append(_describe_strange(column, numbers, "numbers"))
            elif numbers.large.any():
                found.problems.append(_describe_large(column[numbers.large]))
            elif len(numbers.units) > 1:
                found.problems.append(f"column {name!r} holds amounts in {list_some(numbers.units)}: use one unit.")
            elif numbers.is_marked:
                found.notes[f"read as numbers: {first!r} is {numbers.values.dropna().iloc[0]:.10g}"].append(name)
            return numbers.values
    if kind in (None, Kind.DATE, Kind.TIMESTAMP):
        dates = read_dates(column, date_format)
        if dates and dates[0].share >= enough:
            if dates[0].strange.any():
                found.problems.append(_describe_strange(column, dates[0], "dates"))
            elif len(dates) > 1:
                found.problems.append(_describe_two_dates(column))
            else:
                date = dates[0].values.dropna().iloc[0]
                in_utc = f", {date:%H:%M} UTC" if re.fullmatch(WITH_ZONE, first) else ""
                found.notes[f"read as dates: {first!r} is {date.day} {date:%B %Y}{in_utc}"].append(name)
            return dates[0].values
    if kind is not None:
        found.problems.append(f"column {name!r} is declared as {kind}, and holds {_sample(first)}.")
    elif is_prose:
        found.prose.append(name)
    return column


def is_id(column: pd.Series) -> bool:
    """Return whether a column names rows: another value in each, of one word, or whole numbers in a row."""
    n_values, is_named = int(column.notna().sum()), ID_NAME.fullmatch(str(column.name)) is not None
    # A few values may differ by chance.
    is_few = n_values <= MOST_LEVELS
    if (is_few and not is_named) or column.nunique() < n_values or n_values < len(column):
        return False
    if pd.api.types.is_integer_dtype(column.dtype):
        return bool(column.max() - column.min() == n_values - 1) or (is_named and not is_few)
    if not _is_text(column) or not all(isinstance(value, str) for value in column):
        return False
    # Numbers and dates differ from row to row too.
    return (
        not column.str.contains(r"\s").any()
        and _read_best(column, ".").share < MOSTLY / 2
        and not any(cells.share > MOSTLY / 2 for cells in read_dates(column))
    )


def _is_text(column: pd.Series) -> bool:
    if pd.api.types.is_object_dtype(column.dtype):
        return not holds_dates(column.dropna())
    return bool(pd.api.types.is_string_dtype(column.dtype))


def _find_collection(column: pd.Series) -> str | None:
    """Return why a column holds more than scalars: a Parquet file may hold lists and records."""
    for row, value in enumerate(column if pd.api.types.is_object_dtype(column.dtype) else ()):
        if not pd.api.types.is_scalar(value):
            kind = type(value).__name__
            return f"column {column.name!r} holds a {kind} in row {row}; numbers, strings, dates and booleans are read."
    return None


def _describe_strange(column: pd.Series, cells: Cells, kind: str) -> str:
    strange = column[cells.strange]
    words = strange.astype(str).str.strip().unique()
    is_short = len(words) <= MOST_LISTED and max(map(len, words)) < 20
    cure = f"use --read missing={','.join(words)!r}" if is_short else "empty them"
    return (
        f"column {column.name!r} holds {kind}, and in row {strange.index[0]} {_sample(strange.iloc[0])} "
        f"({len(strange):,} such in all): {cure}, or use --kinds {_as_text(column.name)}."
    )


def _describe_large(cells: pd.Series) -> str:
    return (
        f"column {cells.name!r} holds {_sample(cells.iloc[0])} in row {cells.index[0]}, a whole number beyond "
        f"2^53 - 1, which may be rounded: leave out with --drop {quote(str(cells.name))}, or use --kinds "
        f"{_as_text(cells.name)} if it is an id."
    )


def _describe_two_dates(column: pd.Series) -> str:
    return (
        f"column {column.name!r} holds dates such as {_sample(column.dropna().iloc[0])}, in which the day or the month "
        "may be first: use --read dates=%d/%m/%Y or --read dates=%m/%d/%Y."
    )


def _describe_prose(names: Sequence[str], table: pd.DataFrame) -> str:
    shown = quote(",".join(names[:MOST_LISTED])) + (" and so on" if len(names) > MOST_LISTED else "")
    return (
        f"{_columns(names)} {'holds' if len(names) == 1 else 'hold'} free text or names "
        f"({table[names[0]].nunique():,} different values in {names[0]!r}), about which no rule can be written: leave "
        f"out with --drop {shown}, or use --kinds {_as_text(names[0])}."
    )


def _as_text(name: object) -> str:
    """Return the value of --kinds that makes text of a column, as a shell reads it."""
    return quote(f"{name}=categorical")


def _sample(value: object) -> str:
    return repr(shorten(str(value), MOST_LETTERS))


def _columns(names: Sequence[str]) -> str:
    return f"column {names[0]!r}" if len(names) == 1 else f"{len(names)} columns ({list_some(names, MOST_LISTED)})"
