"""Columns of a file: numbers, dates, ids and empty columns are recognised, and all others are refused together."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import quote

import pandas as pd

from oleander.cli.cells import MOSTLY, Cells, read_dates, read_numbers
from oleander.cli.errors import CommandError, note
from oleander.data.schema import FeatureSchema, Kind
from oleander.data.schema.dates import holds_dates
from oleander.running.wording import list_some, shorten

ID_NAME = re.compile(r"(.*[\W_])?(id|uuid|guid|key|index|no|nr)|.*[a-z](Id|ID)|Unnamed: 0", re.IGNORECASE)
# A column of text with more levels than this, most of them seen once, holds prose or names, not categories.
MOST_LEVELS = 30
MOST_LISTED = 5
# Levels that are numbered, such as grades, are at most this many.
MOST_NUMBERED = 20
MOST_LETTERS = 30


@dataclass
class Findings:
    """What was found in the columns, collected so that one message names all of them.

    Parameters
    ----------
    notes : mapping of str to list of str
        The columns that a note is about, by the sentence after their names.
    problems : list of str
        A sentence per column that cannot be used.
    prose : list of str
        Columns of free text or names.
    """

    notes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    problems: list[str] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)


def clean_columns(
    table: pd.DataFrame,
    *,
    declared: Mapping[str, str] | None = None,
    date_format: str | None = None,
    may_drop: bool = False,
) -> pd.DataFrame:
    """Return the table with its text read as numbers and dates; ``CommandError`` names all columns that cannot be used.

    Parameters
    ----------
    table : DataFrame
        As ``read_table`` returns it.
    declared : mapping of str to str
        The kinds of columns that the user declares. Text that is declared as levels is kept as it is.
    date_format : str or None
        The format of dates, as in ``strptime``.
    may_drop : bool
        Whether ids and empty columns are left out. A model that was trained elsewhere may need them.
    """
    kinds, found = dict(declared or {}), Findings()
    columns: dict[str, pd.Series] = {}
    decimal = table.attrs.get("decimal", ".")
    for name in table.columns:
        column = table[name]
        if (problem := _find_collection(column)) is not None:
            found.problems.append(problem)
        elif column.isna().all():
            found.notes["no value"].append(name)
            if may_drop:
                continue
        elif name not in kinds and _is_id(column):
            found.notes["id"].append(name)
            if may_drop:
                continue
        elif kinds.get(name) not in (Kind.BINARY, Kind.CATEGORICAL) and _is_text(column):
            column = _read(column, kinds.get(name), decimal, date_format, found)
        columns[name] = column
    _tell(found, may_drop)
    if all(column.isna().all() for column in columns.values()):
        raise CommandError("no column is left to explain with.")
    if found.prose:
        found.problems.append(_describe_prose(found.prose, table))
    if found.problems:
        more = len(found.problems) - MOST_LISTED
        end = f"; {more} more columns cannot be used" if more > 0 else ""
        raise CommandError("; ".join(problem.rstrip(".") for problem in found.problems[:MOST_LISTED]) + f"{end}.")
    return pd.DataFrame(columns)


def clean_like(table: pd.DataFrame, schema: FeatureSchema, *, date_format: str | None = None) -> pd.DataFrame:
    """Return the table with text read as the schema's numbers and dates; cells that cannot be read stay as they are."""
    decimal, changed = table.attrs.get("decimal", "."), table.copy()
    for feature in schema:
        if feature.name not in table.columns or not _is_text(table[feature.name]):
            continue
        column = table[feature.name]
        if feature.is_date:
            dates = read_dates(column, None if date_format is None else [date_format])
            if len(dates) > 1:
                raise CommandError(_describe_two_dates(column))
            readings = dates
        else:
            readings = [_read_best(column, decimal)] if feature.is_number else []
        for cells in readings:
            changed[feature.name] = (
                cells.values.astype(object).where(~cells.strange, column) if cells.strange.any() else cells.values
            )
    return changed


def _read(column: pd.Series, kind: str | None, decimal: str, date_format: str | None, found: Findings) -> pd.Series:
    """Return a column of text as numbers, dates or levels, and note what was found in it."""
    name = str(column.name)
    is_prose = _is_prose(column)
    # Among levels such as "1", "2" and "other" numbers may be few; free text with as many is not meant.
    enough = 0.5 if is_prose or kind is not None else MOSTLY
    if kind in (None, Kind.CONTINUOUS, Kind.INTEGER):
        numbers = _read_best(column, decimal)
        # More different numbers than levels would have are measured.
        is_measured = numbers.share >= 0.5 and numbers.values.nunique() > MOST_NUMBERED
        if numbers.share >= enough or is_measured:
            if numbers.strange.any():
                found.problems.append(_describe_strange(column, numbers, "numbers"))
            elif len(numbers.units) > 1:
                found.problems.append(f"column {name!r} holds amounts in {list_some(numbers.units)}: use one unit.")
            elif numbers.is_marked:
                text, value = column.dropna().iloc[0], numbers.values.dropna().iloc[0]
                found.notes[f"read as numbers: {text!r} is {value:.10g}"].append(name)
            return numbers.values
    if kind in (None, Kind.DATE, Kind.TIMESTAMP):
        dates = read_dates(column, None if date_format is None else [date_format])
        if dates and dates[0].share >= enough:
            if dates[0].strange.any():
                found.problems.append(_describe_strange(column, dates[0], "dates"))
            elif len(dates) > 1:
                found.problems.append(_describe_two_dates(column))
            else:
                text, date = column.dropna().iloc[0], dates[0].values.dropna().iloc[0]
                found.notes[f"read as dates: {text!r} is {date.day} {date:%B %Y}"].append(name)
            return dates[0].values
    if kind is not None:
        found.problems.append(
            f"column {name!r} is declared as {kind} and holds {_sample(column.dropna().iloc[0])}, which is none."
        )
    elif is_prose:
        found.prose.append(name)
    return column


def _tell(found: Findings, may_drop: bool) -> None:
    for sentence, names in found.notes.items():
        one = len(names) == 1
        if sentence == "no value":
            end = "left out" if may_drop else f"no rule is about {'it' if one else 'them'}"
            note(f"{_columns(names)} {'holds' if one else 'hold'} no value: {end}.")
        elif sentence == "id":
            end = "left out, as ids" if may_drop else "leave out with --drop what the model does not read"
            note(f"{_columns(names)} {'has' if one else 'have'} another value in every row: {end}.")
        else:
            note(f"{_columns(names)} {'is' if one else 'are'} {sentence}.")


def _is_id(column: pd.Series) -> bool:
    """Return whether a column names rows: another value in each, of one word, or whole numbers in a row."""
    n_values = int(column.notna().sum())
    if n_values <= MOST_LEVELS or column.nunique() < n_values or n_values < len(column):
        return False
    if pd.api.types.is_integer_dtype(column.dtype):
        return bool(column.max() - column.min() == n_values - 1) or ID_NAME.fullmatch(str(column.name)) is not None
    if not _is_text(column) or not all(isinstance(value, str) for value in column):
        return False
    # Numbers and dates differ from row to row too.
    return (
        not column.str.contains(r"\s").any()
        and _read_best(column, ".").share < MOSTLY / 2
        and not any(cells.share > MOSTLY / 2 for cells in read_dates(column))
    )


def _find_collection(column: pd.Series) -> str | None:
    """Return why a column holds more than scalars: a Parquet file may hold lists and records."""
    for row, value in enumerate(column if pd.api.types.is_object_dtype(column.dtype) else ()):
        if not pd.api.types.is_scalar(value):
            return (
                f"column {column.name!r} holds a {type(value).__name__} in row {row}; numbers, strings, dates and "
                "booleans are read."
            )
    return None


def _read_best(column: pd.Series, decimal: str) -> Cells:
    """Return the cells as numbers with the decimal mark of the file, or with the other where that fits more cells."""
    own, other = read_numbers(column, decimal), read_numbers(column, "," if decimal == "." else ".")
    return replace(other, is_marked=True) if other.share > own.share else own


def _describe_strange(column: pd.Series, cells: Cells, kind: str) -> str:
    strange = column[cells.strange]
    words = strange.astype(str).str.strip().unique()
    cure = (
        f"use --missing {','.join(words)!r}"
        if len(words) <= MOST_LISTED and max(map(len, words)) < 20
        else "empty them"
    )
    return (
        f"column {column.name!r} holds {kind}, and in row {strange.index[0]} {_sample(strange.iloc[0])} "
        f"({len(strange):,} such in all): {cure}, or use --kinds {_as_text(column.name)}."
    )


def _describe_two_dates(column: pd.Series) -> str:
    return (
        f"column {column.name!r} holds dates such as {_sample(column.dropna().iloc[0])}, in which the day or the month "
        "may be first: use --date-format, such as %d/%m/%Y."
    )


def _describe_prose(names: Sequence[str], table: pd.DataFrame) -> str:
    n_levels = table[names[0]].nunique()
    shown = quote(",".join(names[:MOST_LISTED])) + (" and so on" if len(names) > MOST_LISTED else "")
    return (
        f"{_columns(names)} {'holds' if len(names) == 1 else 'hold'} free text or names ({n_levels:,} different values "
        f"in {names[0]!r}), about which no rule can be written: leave out with --drop {shown}, or use --kinds "
        f"{_as_text(names[0])}."
    )


def _as_text(name: object) -> str:
    """Return the value of --kinds that makes text of a column, as a shell reads it."""
    return quote(f"{name}=categorical")


def _sample(value: object) -> str:
    return repr(shorten(str(value), MOST_LETTERS))


def _is_text(column: pd.Series) -> bool:
    if pd.api.types.is_object_dtype(column.dtype):
        return not holds_dates(column.dropna())
    return bool(pd.api.types.is_string_dtype(column.dtype))


def _is_prose(column: pd.Series) -> bool:
    n_levels, n_values = column.nunique(), int(column.notna().sum())
    return bool(n_levels > MOST_LEVELS and n_levels > n_values / 2)


def _columns(names: Sequence[str]) -> str:
    return f"column {names[0]!r}" if len(names) == 1 else f"{len(names)} columns ({list_some(names, MOST_LISTED)})"
