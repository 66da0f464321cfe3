"""Tables from files: what is wrong with one is said in a sentence before anything is computed."""

import csv
import io
import os
import re
import warnings
from collections import Counter
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

import pandas as pd

from oleander.cli.errors import CommandError, ExitCode, note
from oleander.running.extras import import_extra
from oleander.running.wording import list_some, one_line

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
THOUSANDS = re.compile(r"[+-]?\d{1,3}([.,' ]\d{3})+([.,]\d+)?")
# A column of text with more levels than this, most of them seen once, is prose or names, not categories.
MOST_LEVELS = 30
MOST_LISTED = 5
BYTES_PER_CELL = 8


def read_table(path: Path, *, separator: str | None = None, decimal: str = ".") -> pd.DataFrame:
    """Read a CSV or Parquet file, or say in a sentence why it cannot be used.

    Parameters
    ----------
    path : Path
    separator : str or None
        None looks at the first line.
    decimal : str
        What stands between whole numbers and fractions.
    """
    if not path.is_file():
        raise CommandError(f"{path} is not a file.")
    if path.suffix.lower() in (".parquet", ".pq"):
        table = _read_parquet(path)
    elif path.suffix.lower() in (".csv", ".tsv", ".txt"):
        table = _read_csv(path, separator, decimal)
    else:
        raise CommandError(f"{path} has the ending {path.suffix!r}; .csv, .tsv, .txt and .parquet are read.")
    table.columns = pd.Index([str(column) for column in table.columns])
    if not len(table):
        raise CommandError(f"{path} has a header and no rows.")
    return table


def _read_parquet(path: Path) -> pd.DataFrame:
    import_extra("pyarrow", extra="parquet", purpose="Reading a Parquet file")
    try:
        facts = import_module("pyarrow.parquet").read_metadata(path)
        n_cells = facts.num_rows * facts.num_columns
        # A few bytes can stand for a billion equal values, so what they would take is reckoned before they are read.
        if n_cells * BYTES_PER_CELL > _memory():
            raise CommandError(
                f"{path} has {facts.num_rows:,} rows and {facts.num_columns:,} columns, which do not fit into memory."
            )
        return pd.read_parquet(path)
    except CommandError:
        raise
    except Exception as error:
        # pandas believes what the file says of itself, and raises whatever it trips over.
        raise CommandError(f"{path} cannot be read as Parquet: {one_line(error)}.") from error


def _memory() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        # Not every system tells.
        return float("inf")


def _read_csv(path: Path, separator: str | None, decimal: str) -> pd.DataFrame:
    if separator is not None:
        separator = separator.replace("\\t", "\t")
    for option, mark in (("--separator", separator), ("--decimal", decimal)):
        if mark is not None and len(mark) != 1:
            raise CommandError(f"{option} {mark!r} is not allowed: it is one character.", ExitCode.USAGE)
        if mark is not None and mark in '"\r\n':
            raise CommandError(f"{option} {mark!r} is not allowed: it has a meaning of its own.", ExitCode.USAGE)
    if separator == decimal:
        raise CommandError(f"--separator and --decimal are both {decimal!r}; they must differ.", ExitCode.USAGE)
    text = _decode(path)
    if not text.strip():
        raise CommandError(f"{path} is empty.")
    header = text.lstrip().splitlines()[0]
    if separator is None:
        separator = sniff_separator(header)
        if separator != ",":
            note(f"{path.name} is read with a {SEPARATORS[separator]} between columns.")
    names = _split(header, separator)
    twice = [name for name, number in Counter(names).items() if number > 1]
    if twice:
        raise CommandError(f"{path} has the column {twice[0]!r} more than once; rename one of them.")
    try:
        with warnings.catch_warnings():
            # A row that is longer than the header loses values: that is no small thing.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(io.StringIO(text), sep=separator, decimal=decimal, low_memory=False, index_col=False)
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        raise CommandError(
            f"{path} cannot be read as a table with a {SEPARATORS.get(separator, repr(separator))} between columns: "
            f"{one_line(error).removeprefix('Error tokenizing data. C error: ')}. Is --separator right?"
        ) from error
    if not all(names):
        nameless = [str(table.columns[place]) for place, name in enumerate(names) if not name]
        note(f"{path.name} has a column without a name, here {nameless[0]!r}; if it numbers the rows, use --drop.")
    return table


def _decode(path: Path) -> str:
    data = path.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CommandError(f"{path} is not UTF-8 text (line {line}); save it as CSV in UTF-8.") from None


def sniff_separator(header: str) -> str:
    r"""Return the separator that splits a header into most columns; a comma where none does.

    Examples
    --------
    >>> sniff_separator("age;sex;risk"), sniff_separator("age\tsex"), sniff_separator("age")
    (';', '\t', ',')
    """

    def n_columns(mark: str) -> int:
        try:
            return len(_split(header, mark))
        except CommandError:
            # A long line without this mark is one name that is too long.
            return 1

    return max(SEPARATORS, key=n_columns)


def _split(header: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([header], delimiter=separator), [])
    except csv.Error as error:
        raise CommandError(f"the first line cannot be read as names of columns: {one_line(error)}.") from error


def check_columns(table: pd.DataFrame, named: Sequence[str], option: str) -> None:
    """Say which column an option names that the table does not have."""
    for name in named:
        if name not in table.columns:
            hint = " Is --separator right?" if table.shape[1] == 1 else ""
            plain = {column.strip().lower(): column for column in reversed(table.columns)}
            if not hint and (near := get_close_matches(name.strip().lower(), plain, n=1)):
                hint = f" Did you mean {plain[near[0]]!r}?"
            raise CommandError(
                f"{option} names the column {name!r}, and the data have {list_some(table.columns, MOST_LISTED)}.{hint}",
                ExitCode.USAGE,
            )


def check_values(table: pd.DataFrame, declared: Collection[str] = ()) -> None:
    """Say which columns hold what no rule could be written about: decimal commas, free text, nothing at all."""
    if not table.shape[1]:
        raise CommandError("there is no column left to explain with.")
    empty = [name for name in table.columns if table[name].isna().all()]
    if empty:
        raise CommandError(f"{_columns(empty)} no value at all; leave out with --drop {','.join(empty[:MOST_LISTED])}.")
    for name in table.columns:
        _refuse_odd(table[name])
    words = [name for name in table.columns if name not in declared and _is_text(table[name])]
    for pattern, what in (
        (DECIMAL_COMMA, "numbers with decimal commas, such as {}: use --decimal ','."),
        (THOUSANDS, "numbers with marks between the thousands, such as {}: write them without."),
    ):
        odd = [name for name in words if _matches(table[name], pattern).mean() > 0.5]
        if odd:
            values = table[odd[0]].dropna().astype(str)
            example = values[_matches(values, pattern)].iloc[0]
            raise CommandError(f"{_columns(odd)} {what.format(repr(example))}")
    prose = [name for name in words if _is_prose(table[name])]
    for name in prose:
        values = table[name].dropna()
        numbers = pd.to_numeric(values, errors="coerce")
        if numbers.notna().all():
            raise CommandError(f"column {name!r} holds numbers such as {values.iloc[0]!r}: use --decimal '.'.")
        if numbers.notna().mean() > 0.5:
            strange = values[numbers.isna()]
            raise CommandError(
                f"column {name!r} holds numbers, and in row {strange.index[0]} {strange.iloc[0]!r} "
                f"({len(strange):,} such in all): leave those empty, or declare with --kinds {name}=categorical."
            )
    if prose:
        n_levels = table[prose[0]].nunique()
        raise CommandError(
            f"{_columns(prose)} free text, names or dates ({n_levels:,} different values in {prose[0]!r}), about which "
            f"no rule can be written; leave out with --drop {','.join(prose[:MOST_LISTED])}"
            f"{' and so on' if len(prose) > MOST_LISTED else ''}, or declare with --kinds {prose[0]}=categorical."
        )


def _refuse_odd(column: pd.Series) -> None:
    """Say which row holds what is no single value: a Parquet file may hold lists and records."""
    if not pd.api.types.is_object_dtype(column.dtype):
        return
    for row, value in enumerate(column):
        if not pd.api.types.is_scalar(value):
            raise CommandError(
                f"column {column.name!r} holds a {type(value).__name__} in row {row}; numbers, strings and booleans "
                "are read."
            )


def _is_text(column: pd.Series) -> bool:
    return bool(pd.api.types.is_string_dtype(column.dtype) or pd.api.types.is_object_dtype(column.dtype))


def _matches(column: pd.Series, pattern: re.Pattern[str]) -> pd.Series:
    return column.dropna().astype(str).str.strip().str.fullmatch(pattern)


def _is_prose(column: pd.Series) -> bool:
    n_levels, n_values = column.nunique(), int(column.notna().sum())
    return bool(n_levels > MOST_LEVELS and n_levels > n_values / 2)


def _columns(names: list[str]) -> str:
    if len(names) == 1:
        return f"column {names[0]!r} holds"
    return f"{len(names)} columns ({list_some(names, MOST_LISTED)}) hold"
