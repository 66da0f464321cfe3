"""Tables read from files. A file that cannot be used is refused in one sentence before anything is computed."""

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

PARQUET = (".parquet", ".pq")
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
THOUSANDS = re.compile(r"[+-]?\d{1,3}([.,' ]\d{3})+([.,]\d+)?")
# A column of text with more levels than this, most of them seen once, holds prose or names, not categories.
MOST_LEVELS = 30
MOST_LISTED = 5
BYTES_PER_CELL = 8


def read_table(path: Path, *, separator: str | None = None, decimal: str = ".") -> pd.DataFrame:
    """Read a CSV or Parquet file; ``CommandError`` says why a file cannot be used.

    Parameters
    ----------
    path : Path
    separator : str or None
        None finds it in the first line.
    decimal : str
        The decimal mark.
    """
    if not path.is_file():
        raise CommandError(f"{path} is not a file.")
    if path.suffix.lower() in PARQUET:
        refuse_csv_options(path, separator, decimal)
        table = _read_parquet(path)
    elif path.suffix.lower() in (".csv", ".tsv", ".txt"):
        table = _read_csv(path, separator, decimal)
    else:
        raise CommandError(f"{path} has the ending {path.suffix!r}; .csv, .tsv, .txt, .parquet and .pq are read.")
    table.columns = pd.Index([str(column) for column in table.columns])
    if not len(table):
        raise CommandError(f"{path} has a header and no rows.")
    return table


def refuse_csv_options(path: Path, separator: str | None, decimal: str) -> None:
    """Raise ``CommandError`` for options that a Parquet file has no use for."""
    for option, is_given in (("--separator", separator is not None), ("--decimal", decimal != ".")):
        if is_given:
            raise CommandError(f"{option} is for CSV files, and {path.name} is a Parquet file.", ExitCode.USAGE)


def _read_parquet(path: Path) -> pd.DataFrame:
    import_extra("pyarrow", extra="parquet", purpose="Reading a Parquet file")
    try:
        facts = import_module("pyarrow.parquet").read_metadata(path)
        n_cells = facts.num_rows * facts.num_columns
        # A few bytes can stand for a billion equal values, so their memory is estimated before they are read.
        if n_cells * BYTES_PER_CELL > _memory():
            raise CommandError(
                f"{path} has {facts.num_rows:,} rows and {facts.num_columns:,} columns, which do not fit into memory."
            )
        return pd.read_parquet(path)
    except CommandError:
        raise
    except Exception as error:
        # pandas trusts the metadata of the file, and may raise any error where they are false.
        raise CommandError(f"{path} cannot be read as Parquet: {one_line(error)}.") from error


def _memory() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        # Not every system has these values.
        return float("inf")


def _read_csv(path: Path, separator: str | None, decimal: str) -> pd.DataFrame:
    if separator is not None:
        separator = separator.replace("\\t", "\t")
    for option, mark in (("--separator", separator), ("--decimal", decimal)):
        if mark is not None and len(mark) != 1:
            raise CommandError(f"{option} {mark!r} is not allowed: give one character.", ExitCode.USAGE)
        if mark is not None and mark in '"\r\n':
            raise CommandError(f"{option} {mark!r} is not allowed: CSV files use it otherwise.", ExitCode.USAGE)
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
    repeated = [name for name, number in Counter(names).items() if number > 1]
    if repeated:
        raise CommandError(f"{path} has the column {repeated[0]!r} more than once; rename one of them.")
    try:
        with warnings.catch_warnings():
            # A row that is longer than the header would lose values.
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

    pandas (``sep=None``) and ``csv.Sniffer`` do not serve: the one splits a single column at any letter (``age`` into
    ``a`` and ``e``), needs five times as long and does not report the separator; the other prefers a comma inside a
    name to the semicolons between names.

    Examples
    --------
    >>> sniff_separator("age;sex;risk"), sniff_separator("age\tsex"), sniff_separator("age")
    (';', '\t', ',')
    """

    def n_columns(mark: str) -> int:
        try:
            return len(_split(header, mark))
        except CommandError:
            # Without this mark the line is one name, and too long for one.
            return 1

    return max(SEPARATORS, key=n_columns)


def _split(header: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([header], delimiter=separator), [])
    except csv.Error as error:
        raise CommandError(f"the first line cannot be read as names of columns: {one_line(error)}.") from error


def check_columns(table: pd.DataFrame, names: Sequence[str], option: str) -> None:
    """Raise ``CommandError`` if an option names a column that the table does not have."""
    for name in names:
        if name not in table.columns:
            hint = " Is --separator right?" if table.shape[1] == 1 else ""
            spelled = {column.strip().lower(): column for column in reversed(table.columns)}
            if not hint and (near := get_close_matches(name.strip().lower(), spelled, n=1)):
                hint = f" Did you mean {spelled[near[0]]!r}?"
            raise CommandError(
                f"{option} names the column {name!r}, and the data have {list_some(table.columns, MOST_LISTED)}.{hint}",
                ExitCode.USAGE,
            )


def check_values(table: pd.DataFrame, declared: Collection[str] = ()) -> None:
    """Raise ``CommandError`` for columns that no rule can be about: decimal commas, free text.

    A column without a value may be one that the model needs: a note says that no rule is about it.
    """
    empty = [name for name in table.columns if table[name].isna().all()]
    if len(empty) == table.shape[1]:
        raise CommandError("no column is left to explain with.")
    if empty:
        note(f"{_columns(empty)} no value: no rule is about {'it' if len(empty) == 1 else 'them'}.")
    for name in table.columns:
        _refuse_collections(table[name])
    texts = [name for name in table.columns if name not in declared and _is_text(table[name])]
    for pattern, problem in (
        (DECIMAL_COMMA, "numbers with decimal commas, such as {}: use --decimal ','."),
        (THOUSANDS, "numbers with marks between the thousands, such as {}: remove the marks."),
    ):
        odd = [name for name in texts if _matches(table[name], pattern).mean() > 0.5]
        if odd:
            values = table[odd[0]].dropna().astype(str)
            example = values[_matches(values, pattern)].iloc[0]
            raise CommandError(f"{_columns(odd)} {problem.format(repr(example))}")
    prose = [name for name in texts if _is_prose(table[name])]
    for name in prose:
        values = table[name].dropna()
        numbers = pd.to_numeric(values, errors="coerce")
        if numbers.notna().all():
            raise CommandError(f"column {name!r} holds numbers such as {values.iloc[0]!r}: use --decimal '.'.")
        if numbers.notna().mean() > 0.5:
            strange = values[numbers.isna()]
            raise CommandError(
                f"column {name!r} holds numbers, and in row {strange.index[0]} {strange.iloc[0]!r} "
                f"({len(strange):,} such in all): leave them empty, or use --kinds {name}=categorical."
            )
    if prose:
        n_levels = table[prose[0]].nunique()
        raise CommandError(
            f"{_columns(prose)} free text, names or dates ({n_levels:,} different values in {prose[0]!r}), about which "
            f"no rule can be written; leave out with --drop {','.join(prose[:MOST_LISTED])}"
            f"{' and so on' if len(prose) > MOST_LISTED else ''}, or declare them with --kinds {prose[0]}=categorical."
        )


def _refuse_collections(column: pd.Series) -> None:
    """Raise ``CommandError`` for a value that is not a scalar: a Parquet file may hold lists and records."""
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
