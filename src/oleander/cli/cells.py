"""Cells of a file: text that is numbers or dates is read, ids and empty columns are left out, others are refused.

Every decision is a note with an example, and all columns that cannot be used are named in one error.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from numbers import Number
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd

from oleander.cli.options import CommandError, note
from oleander.cli.tables import MOST_LISTED
from oleander.data.checks import MOST_EXACT
from oleander.data.schema import FeatureSchema, Kind
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
# What every date in one of these formats begins with.
LIKE_A_DATE = r"\d{1,4}[-/. ]|[^\W\d]{3,} \d{1,2}, "
# The attributes of a table that ``read_table`` returned: its decimal mark, and the format of its dates if given.
Attrs = Mapping[Any, Any]
NO_ATTRS: Attrs = {}
# Formats are tried on this many values before they are tried on all.
N_TRIED = 200
# A column with at least this share of numbers, or of dates, is a column of them with strange cells.
MOSTLY = 0.95
# A column of text with more levels than this, most of them seen once, holds prose or names, not categories.
MOST_LEVELS = 30
# Levels that are numbered, such as grades, are at most this many.
MOST_NUMBERED = 20


def clean_columns(
    table: pd.DataFrame, *, declared: Mapping[str, str] | None = None, may_drop: bool = False
) -> pd.DataFrame:
    """Return the table with its text read as numbers and dates; ``CommandError`` names all columns that cannot be used.

    Text that is ``declared`` as levels is kept as it is. How dates and decimals are written stands in ``table.attrs``.
    With ``may_drop`` ids and empty columns are left out; a model that was trained elsewhere may need them.
    """
    kinds, columns = dict(declared or {}), {}
    notes: dict[str, list[str]] = defaultdict(list)
    problems: dict[str, str] = {}
    for name in table.columns:
        column, kind, said = table[name], kinds.get(name), ""
        is_whole = column.dtype.kind == "f" and (column.dropna() % 1 == 0).all()
        if column.isna().all() or (kind is None and is_id(column)):
            why = "no value," if column.isna().all() else "a different value in every row, as an id has:"
            notes[f"{why} {'left out' if may_drop else 'leave it out with --drop if no model reads it'}"].append(name)
            if may_drop:
                continue
        elif kind is None and is_whole and column.abs().max() > MOST_EXACT:
            problems[name] = f"column {name!r} holds whole numbers beyond 2^53 - 1, which are rounded"
        elif kind not in (Kind.BINARY, Kind.CATEGORICAL) and _is_text(column):
            try:
                column, said = read_text(column, kind, table.attrs)
            except CommandError as error:
                problems[name] = str(error)
        if said:
            notes[said].append(name)
        columns[name] = column
    for said, names in notes.items():
        start = f"column {names[0]!r}" if len(names) == 1 else f"{len(names)} columns ({list_some(names, MOST_LISTED)})"
        note(f"{start}: {said}.")
    if all(column.isna().all() for column in columns.values()):
        raise CommandError("no column is left to explain with.")
    if problems:
        shown = list(problems)[:MOST_LISTED]
        more = f"; {len(problems) - len(shown)} more columns cannot be used" if len(problems) > len(shown) else ""
        raise CommandError(
            f"{'; '.join(problems[name] for name in shown)}{more}. Otherwise leave columns out with --drop "
            f"{quote(','.join(shown))}, or keep text as it is with --kinds {quote(f'{shown[0]}=categorical')}."
        )
    return pd.DataFrame(columns)


def clean_like(table: pd.DataFrame, schema: FeatureSchema) -> pd.DataFrame:
    """Return the table with text read as the schema's numbers and dates; cells that cannot be read stay as they are."""
    changed = table.copy()
    for feature in schema:
        if feature.name not in table.columns or not feature.is_number or not _is_text(table[feature.name]):
            continue
        column = table[feature.name]
        readings = read_dates(column, table.attrs) if feature.is_date else [read_numbers(column, table.attrs)]
        _refuse_two_dates(column, readings)
        for values in readings:
            strange = values.isna() & column.notna()
            changed[feature.name] = values.astype(object).where(~strange, column) if strange.any() else values
    return changed


def read_text(column: pd.Series, kind: str | None, how: Attrs) -> tuple[pd.Series, str]:
    """Return text as numbers, dates or levels, and what to note; ``CommandError`` says why it is none of them."""
    first, n_levels, n_values = column.dropna().iloc[0], column.nunique(), column.count()
    is_prose = n_levels > MOST_LEVELS and n_levels > n_values / 2
    # Among levels such as "1", "2" and "other" numbers may be few; free text with as many is not meant.
    enough = 0.5 if is_prose or kind is not None else MOSTLY
    if kind in (None, Kind.CONTINUOUS, Kind.INTEGER):
        numbers = read_numbers(column, how)
        # More different numbers than levels would have are measured.
        is_measured = numbers.count() >= n_values / 2 and numbers.nunique() > MOST_NUMBERED
        if numbers.count() >= enough * n_values or is_measured:
            _refuse_strange(column, numbers, "numbers")
            units = column.dropna().astype(str).str.extract(f"({CURRENCY}|%)")[0]
            # 34.9% and 0.349 may be the same amount.
            if units.nunique() > 1 or (units.isna().any() and (units == "%").any()):
                raise CommandError(f"column {column.name!r} holds amounts in several units: use one")
            is_plain = pd.to_numeric(column, errors="coerce").count() == n_values
            return numbers, "" if is_plain else f"read as numbers: {first!r} is {numbers.dropna().iloc[0]:.10g}"
    if kind in (None, Kind.DATE, Kind.TIMESTAMP):
        readings = read_dates(column, how)
        if readings and readings[0].count() >= enough * n_values:
            _refuse_strange(column, readings[0], "dates")
            _refuse_two_dates(column, readings)
            date = readings[0].dropna().iloc[0]
            in_utc = f", {date:%H:%M} UTC" if re.search(r":\d\d.*(Z|UTC|GMT|[+-]\d\d:?\d\d)$", first) else ""
            return readings[0], f"read as dates: {first!r} is {date.day} {date:%B %Y}{in_utc}"
    if kind is not None:
        raise CommandError(f"column {column.name!r} is declared as {kind}, and holds {shorten(str(first), 30)!r}")
    if is_prose:
        raise CommandError(
            f"column {column.name!r} holds free text or names ({n_levels:,} different values), about which no rule can "
            "be written"
        )
    return column, ""


def read_numbers(column: pd.Series, how: Attrs = NO_ATTRS) -> pd.Series:
    """Return text as numbers, NaN where it is none: without currency, percent sign and marks between thousands.

    The decimal mark is the other one where that fits more cells. Whole numbers that a float may round are none.

    >>> read_numbers(pd.Series(["$1,570.00", "$12.5", "free"])).tolist()
    [1570.0, 12.5, nan]
    >>> read_numbers(pd.Series(["1.570 €"]), {"decimal": ","}).tolist()
    [1570.0]
    """
    levels, decimal = pd.Series(column.dropna().unique()), how.get("decimal", ".")
    own, other = (_to_numbers(levels, mark) for mark in (decimal, "," if decimal == "." else "."))
    return column.map((other if other.count() > own.count() else own).set_axis(levels))


def _to_numbers(texts: pd.Series, decimal: str) -> pd.Series:
    mark, thousands = re.escape(decimal), re.escape(MARKS.replace(decimal, ""))
    whole = rf"[1-9]\d{{0,2}}(?:[{thousands}]\d{{3}}){{1,4}}|\d{{1,15}}"
    body = rf"(?:{whole})(?:{mark}\d*)?(?:[eE][+-]?\d+)?|{mark}\d+"
    pattern = (
        rf"^(?P<sign>[+−-]?)\s*(?P<before>{CURRENCY})?\s*(?P<minus>-?)(?P<body>{body})\s*(?P<after>{CURRENCY}|%)?$"
    )
    # A cell of a workbook may be a number among texts.
    parts = texts.astype(str).astype(object).str.strip().str.extract(pattern)
    plain = parts["body"].str.translate({ord(one): None for one in MARKS.replace(decimal, "")})
    is_negative = parts["sign"].isin(["-", "−"]) | (parts["minus"] == "-")
    return plain.str.replace(decimal, ".", regex=False).astype(float) * np.where(is_negative, -1.0, 1.0)


def read_dates(column: pd.Series, how: Attrs = NO_ATTRS) -> list[pd.Series]:
    """Return text as dates, once for each format that fits at least as many cells as any other.

    Two answers that differ, such as day first and month first, mean that the cells do not say which is right. Times
    with a time zone become times in UTC. A format that is given is as in ``strptime``.

    >>> [dates.dt.strftime("%d %b").tolist() for dates in read_dates(pd.Series(["03/04/2024"]))]
    [['03 Apr'], ['04 Mar']]
    """
    texts = column.where(column.map(lambda value: isinstance(value, str))).astype(object).str.strip()
    some = texts.dropna().head(N_TRIED)
    if (known := how.get("dates")) is not None:
        formats = [known]
    elif some.str.match(LIKE_A_DATE).mean() > 0.5:
        usual = [date + time for date in DATES for time in TIMES]
        formats = [ISO, *usual] if some.str.match(r"\d{4}-\d\d-\d\d").mean() > 0.5 else usual
    else:
        # Trying all formats on free text takes long.
        formats = []
    levels = pd.Series(texts.dropna().unique(), dtype=object)
    found: list[pd.Series] = []
    for one in formats if len(some) else ():
        if _to_dates(some, one).notna().mean() > 0.5:
            dates = texts.map(_to_dates(levels, one).set_axis(levels))
            if not any(dates.equals(other) for other in found):
                found.append(dates)
    most = max((dates.count() for dates in found), default=0)
    return [dates for dates in found if dates.count() == most]


def _to_dates(texts: pd.Series, date_format: str) -> pd.Series:
    if date_format == ISO:
        texts = texts.str.replace(r" ?(UTC|GMT)$", "Z", regex=True)
    has_zone = date_format == ISO or "%z" in date_format
    dates = pd.to_datetime(texts, format=date_format, errors="coerce", utc=has_zone)
    return pd.Series(dates.dt.tz_localize(None) if has_zone else dates).astype("datetime64[s]")


def is_id(column: pd.Series) -> bool:
    """Return whether a column names rows: another value in each, of one word, or whole numbers in a row."""
    n_values, is_named = column.count(), ID_NAME.fullmatch(str(column.name)) is not None
    # A few values may differ by chance.
    is_few = n_values <= MOST_LEVELS
    is_number = pd.api.types.is_integer_dtype(column.dtype)
    if (is_few and not is_named) or n_values < len(column) or not (is_number or _is_text(column)):
        return False
    if column.nunique() < n_values:
        return False
    if is_number:
        return bool(column.max() - column.min() == n_values - 1) or (is_named and not is_few)
    if column.astype(str).str.contains(r"\s").any():
        return False
    # Numbers and dates differ from row to row too.
    return all(values.count() <= n_values / 2 for values in (read_numbers(column), *read_dates(column)))


def _is_text(column: pd.Series) -> bool:
    # A workbook may hold numbers among texts, and a Parquet file dates or lists.
    if pd.api.types.is_object_dtype(column.dtype):
        return all(isinstance(value, (str, Number)) for value in column.dropna())
    return bool(pd.api.types.is_string_dtype(column.dtype))


def _refuse_strange(column: pd.Series, values: pd.Series, kind: str) -> None:
    strange = column[values.isna() & column.notna()].astype(str).str.strip()
    if not len(strange):
        return
    words = strange.unique()
    is_short = len(words) <= MOST_LISTED and max(map(len, words)) < 20
    cure = f"use --read missing={','.join(words)!r}" if is_short else "empty them"
    raise CommandError(
        f"column {column.name!r} holds {kind}, and in row {strange.index[0]} {shorten(strange.iloc[0], 30)!r} "
        f"({len(strange):,} such in all): {cure}"
    )


def _refuse_two_dates(column: pd.Series, readings: Sequence[pd.Series]) -> None:
    if len(readings) > 1:
        raise CommandError(
            f"column {column.name!r} holds dates such as {column.dropna().iloc[0]!r}, in which the day or the month "
            "may be first: use --read dates=%d/%m/%Y or --read dates=%m/%d/%Y"
        )
