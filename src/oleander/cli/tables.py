"""Tables read from files. A file that cannot be used is refused in one sentence before anything is computed."""

import csv
import io
import os
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import pandas as pd

from oleander.cli.options import CommandError, note, split_names, wrong_option
from oleander.data.checks import MOST_EXACT
from oleander.messages import import_extra, list_some, name_nearest, one_line

PARQUET = (".parquet", ".pq")
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
EXCEL = (".xlsx", ".xlsm")
TEXT = (".csv", ".tsv", ".txt")
# Numbers with a comma that is surely no mark between thousands.
WITH_COMMA = re.compile(r"\D{0,4}\d+(\.\d{3})*,\d+\D{0,4}")
SURELY_DECIMAL = re.compile(r".*(^|\D)0,\d+\D*|.*,(\d{1,2}|\d{4,})\D*|.*\.\d{3},\d+\D*")
# Whole numbers that a float may round.
LONG_WHOLE = re.compile(r"\s*[+-]?\d{16,}\s*")
MOST_LISTED = 5
BYTES_PER_CELL = 8
OF_FILES, OF_TABLES = ("separator", "decimal", "encoding", "dates", "missing"), ("key", "labels")
IS_IT_RIGHT = " Is the separator right (--read separator=;)?"


@dataclass(frozen=True)
class FileOptions:
    """How a file is read; None where it is found out.

    The separator, decimal mark and encoding are those of text files, the format of dates is as in ``strptime``, and
    ``missing`` are cells that stand for a missing value, besides those that are empty. A table that stays where it is
    has a ``key``, a different whole number in each row, and may have ``labels``, the model's answers.
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    dates: str | None = None
    missing: tuple[str, ...] = ()
    key: str | None = None
    labels: str | None = None

    @classmethod
    def parse(cls, read: Sequence[str] | None, *, is_table: bool = False) -> Self:
        """Return what ``--read`` says, of a file or of a table that stays where it is.

        >>> FileOptions.parse(["separator=;", "missing=n/k,-999", "missing=-"]).missing
        ('n/k', '-999', '-')
        """
        found: dict[str, str] = {}
        *more, last = OF_TABLES if is_table else OF_FILES
        for text in read or ():
            name, is_pair, value = text.partition("=")
            if not is_pair or name not in (*more, last):
                raise wrong_option(f"--read {text} is not allowed: write {'=, '.join(more)}= or {last}= and a value.")
            if name == "missing":
                value = f"{found.get(name, '')},{value}"
            elif name in found:
                raise wrong_option(f"--read {name} is given more than once.")
            found[name] = value.replace("\\t", "\t") if name == "separator" else value
        for name in ("separator", "decimal"):
            mark = found.get(name)
            if mark is not None and (len(mark) != 1 or mark in '"\r\n'):
                raise wrong_option(f"--read {name}={mark} is not allowed: give one character that is no quote.")
        if "separator" in found and found["separator"] == found.get("decimal"):
            raise wrong_option(f"--read separator and decimal are both {found['decimal']!r}; they must differ.")
        return cls(missing=split_names(found.pop("missing", "")), **found)

    def refuse_for(self, path: Path, kind: str) -> None:
        """Raise ``CommandError`` for options of text files."""
        for name in ("separator", "decimal", "encoding"):
            if getattr(self, name) is not None:
                raise wrong_option(f"--read {name} is for CSV files, and {path.name} is {kind}.")


NO_OPTIONS = FileOptions()


def read_table(path: Path, options: FileOptions = NO_OPTIONS) -> pd.DataFrame:
    """Read a CSV, Excel or Parquet file; ``CommandError`` says why a file cannot be used.

    ``attrs`` of the table has the decimal mark of numbers that are still text, and the format of dates that was given.
    """
    if not path.is_file():
        raise CommandError(f"{path} is not a file.")
    ending, decimal = path.suffix.lower(), "."
    if ending in PARQUET or ending in EXCEL:
        kind, read = ("a Parquet file", _read_parquet) if ending in PARQUET else ("an Excel file", _read_excel)
        options.refuse_for(path, kind)
        try:
            table = read(path)
        except (CommandError, ImportError):
            raise
        except Exception as error:
            # pandas trusts the metadata of the file, and may raise any error where they are false.
            raise CommandError(f"{path} cannot be read as {kind}: {one_line(error)}.") from error
    elif ending in TEXT:
        table, decimal = _read_csv(path, options)
    else:
        known = ", ".join((*TEXT, *EXCEL, *PARQUET))
        raise CommandError(f"{path} has the ending {path.suffix!r}; files that end in {known} are read.")
    table.columns = pd.Index([str(column) for column in table.columns])
    if not len(table):
        raise CommandError(f"{path} has a header and no rows.")
    table = _empty_cells(table, options.missing)
    table.attrs |= {"decimal": decimal, "dates": options.dates}
    return table


def _empty_cells(table: pd.DataFrame, words: tuple[str, ...]) -> pd.DataFrame:
    """Return the table without the cells that stand for a missing value."""
    if not words:
        return table
    numbers = pd.to_numeric(pd.Series(words), errors="coerce").dropna().tolist()

    def stands_for_none(column: pd.Series) -> pd.Series:
        is_number = pd.api.types.is_numeric_dtype(column.dtype)
        return column.isin(numbers) if is_number else column.astype(str).str.strip().isin(words)

    cleaned = table.mask(table.apply(stands_for_none))
    n_cells = int(cleaned.isna().sum().sum() - table.isna().sum().sum())
    note(f"{n_cells:,} {'cell is' if n_cells == 1 else 'cells are'} read as missing.")
    return cleaned


def _read_excel(path: Path) -> pd.DataFrame:
    import_extra("openpyxl", extra="excel", purpose="Reading an Excel file")
    with pd.ExcelFile(path, engine="openpyxl") as book:
        if len(book.sheet_names) > 1:
            note(f"{path.name} has {len(book.sheet_names)} sheets: the first, {book.sheet_names[0]!r}, is read.")
        return pd.read_excel(book, sheet_name=0)


def _read_parquet(path: Path) -> pd.DataFrame:
    import_extra("pyarrow", extra="parquet", purpose="Reading a Parquet file")
    facts = import_module("pyarrow.parquet").read_metadata(path)
    # A few bytes can stand for a billion equal values, so their memory is estimated before they are read.
    if facts.num_rows * facts.num_columns * BYTES_PER_CELL > _memory():
        raise CommandError(
            f"{path} has {facts.num_rows:,} rows and {facts.num_columns:,} columns, which do not fit into memory."
        )
    # An index that pandas wrote is no column, and rows are numbered from 0.
    return pd.read_parquet(path).reset_index(drop=True)


def _memory() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        # Not every system has these values.
        return float("inf")


def _read_csv(path: Path, options: FileOptions) -> tuple[pd.DataFrame, str]:
    """Return the table of a text file, and its decimal mark."""
    separator, decimal = options.separator, options.decimal
    text = _decode(path, options.encoding)
    if (marked := re.match(r"sep=(.)\r?\n", text)) is not None:
        # Excel reads and writes such a line before the header.
        separator, text = separator or marked[1], text[marked.end() :]
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
    table = _parse(path, text, separator, decimal or ".")
    if decimal is None and separator != "," and has_decimal_commas(table):
        note(f"{path.name} is read with decimal commas.")
        table, decimal = _parse(path, text, separator, ","), ","
    if not all(names):
        nameless = [str(table.columns[place]) for place, name in enumerate(names) if not name]
        note(f"{path.name} has a column without a name, here {nameless[0]!r}.")
    return table, decimal or "."


def _parse(path: Path, text: str, separator: str, decimal: str) -> pd.DataFrame:
    read = partial(pd.read_csv, sep=separator, decimal=decimal, low_memory=False, index_col=False)
    try:
        with warnings.catch_warnings():
            # A row that is longer than the header would lose values.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = read(io.StringIO(text))
            # Beside a missing value pandas makes floats of whole numbers, which rounds them, and objects of those
            # beyond 64 bits. A column that holds such numbers is kept as text.
            large = [name for name, column in table.items() if _may_be_rounded(column)]
            cells = read(io.StringIO(text), usecols=large, dtype=str) if large else table
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        raise CommandError(
            f"{path} cannot be read as a table with a {SEPARATORS.get(separator, repr(separator))} between columns: "
            f"{one_line(error).removeprefix('Error tokenizing data. C error: ')}.{IS_IT_RIGHT}"
        ) from error
    for name in large:
        if cells[name].str.fullmatch(LONG_WHOLE).any():
            table[name] = cells[name]
    return table


def _may_be_rounded(column: pd.Series) -> bool:
    is_float = pd.api.types.is_float_dtype(column.dtype)
    return column.dtype == object or bool(is_float and (column.abs() > MOST_EXACT).any())


def has_decimal_commas(table: pd.DataFrame) -> bool:
    """Return whether numbers of a table have decimal commas: some columns are such numbers, and none has points.

    >>> has_decimal_commas(pd.DataFrame({"dose": ["1,5", "0,25"]}))
    True
    >>> has_decimal_commas(pd.DataFrame({"cost": ["1,500", "2,250"]}))
    False
    """
    floats = [table[name].dropna() for name in table.select_dtypes("float")]
    if any((column != column.round()).any() for column in floats):
        return False
    for name in table.select_dtypes(["object", "string"]):
        cells = table[name].dropna().astype(str).str.strip()
        with_comma = cells.str.fullmatch(WITH_COMMA) if len(cells) else pd.Series([False])
        if with_comma.mean() > 0.5 and cells[with_comma].str.fullmatch(SURELY_DECIMAL).any():
            return True
    return False


def _decode(path: Path, encoding: str | None) -> str:
    data, line = path.read_bytes(), 0
    usual = ("utf-16",) if data.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-8-sig", "cp1252")
    for name in usual if encoding is None else (encoding,):
        try:
            text = data.decode(name)
        except LookupError:
            raise wrong_option(f"--read encoding={name} is not known; give one such as utf-8 or cp1252.") from None
        except UnicodeDecodeError as error:
            line = line or data[: error.start].count(b"\n") + 1
            continue
        if line:
            note(
                f"{path.name} is not UTF-8 text (line {line}): it is read as cp1252; --read encoding=NAME changes that."
            )
        return text
    if encoding is not None:
        raise CommandError(f"{path} is not text in the encoding {encoding} (line {line}).")
    raise CommandError(f"{path} is not UTF-8 text (line {line}): name its encoding with --read encoding=NAME.")


def sniff_separator(header: str) -> str:
    r"""Return the separator that splits a header into most columns; a comma where none does.

    pandas (``sep=None``) splits a single column at any letter, ``age`` into ``a`` and ``e``, and ``csv.Sniffer``
    prefers a comma inside a name to the semicolons between names.

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


def is_stored(data: Path) -> bool:
    """Return whether this is a table that stays where it is: one in a database, or a folder of Parquet files."""
    return "::" in str(data) or data.is_dir()


def keep_known(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the rows with a value in a column, with a note on the others."""
    known = table[name].notna()
    if not known.any():
        raise CommandError(f"column {name!r} has no value.")
    if not known.all():
        note(f"rows without a value of {name!r} are left out: {(~known).sum():,}.")
        table = table[known]
    return table


def check_columns(columns: Sequence[Any], names: Sequence[str], option: str) -> None:
    """Raise ``CommandError`` if an option names a column that is not there."""
    for name in names:
        if name not in columns:
            hint = IS_IT_RIGHT if len(columns) == 1 else name_nearest(name, columns)
            raise wrong_option(
                f"{option} names the column {name!r}, and the data have {list_some(columns, MOST_LISTED)}.{hint}"
            )
