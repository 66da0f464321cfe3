"""Tables read from files. A file that cannot be used is refused in one sentence before anything is computed."""

import csv
import io
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from oleander.cli.options import CommandError, note, split_names, wrong_option
from oleander.data.checks import MOST_EXACT
from oleander.messages import import_extra, list_some, name_nearest, one_line

TEXT, EXCEL, PARQUET = (".csv", ".tsv", ".txt"), (".xlsx", ".xlsm"), (".parquet", ".pq")
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# What ``--read`` may say of a file, those of text files first, and of a table that stays where it is.
OF_TEXT, OF_TABLES = ("separator", "decimal", "encoding"), ("key", "labels")
OF_FILES = (*OF_TEXT, "dates", "missing")
MOST_LISTED = 5
IS_IT_RIGHT = " Is the separator right (--read separator=;)?"


def read_how(words: Sequence[str] | None, allowed: Sequence[str] = OF_FILES) -> dict[str, str]:
    """Return what ``--read`` says, by its names; cells that mean a missing value are joined.

    >>> read_how(["separator=;", "missing=n/k,-999", "missing=-"])
    {'separator': ';', 'missing': 'n/k,-999,-'}
    """
    found: dict[str, str] = {}
    for text in words or ():
        name, _, value = text.partition("=")
        value = value.replace("\\t", "\t") if name == "separator" else value
        if name not in allowed or not value:
            known = " or ".join(f"{one}=" for one in allowed) or "none for these rows"
            raise wrong_option(f"--read {text} is not allowed: write {known} and a value.")
        if name in ("separator", "decimal") and (len(value) != 1 or value in '"\r\n'):
            raise wrong_option(f"--read {text} is not allowed: give one character that is no quote.")
        found[name] = f"{found[name]},{value}" if name == "missing" and name in found else value
    return found


def is_stored(data: Path) -> bool:
    """Return whether this is a table that stays where it is: one in a database, or a folder of Parquet files."""
    return "::" in str(data) or data.is_dir()


def read_table(path: Path, how: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Read a CSV, Excel or Parquet file as ``--read`` says; ``CommandError`` says why a file cannot be used.

    ``attrs`` of the table has the decimal mark of numbers that are still text, and the format of dates that was given.
    """
    how = how or {}
    if not path.is_file():
        raise CommandError(f"{path} is not a file.")
    ending, decimal = path.suffix.lower(), "."
    if ending in TEXT:
        table, decimal = _read_text(path, how)
    elif ending in (*EXCEL, *PARQUET):
        table = _read_typed(path, how, "an Excel file" if ending in EXCEL else "a Parquet file")
    else:
        known = ", ".join((*TEXT, *EXCEL, *PARQUET))
        raise CommandError(f"{path} has the ending {path.suffix!r}; files that end in {known} are read.")
    table.columns = pd.Index([str(column) for column in table.columns])
    if not len(table):
        raise CommandError(f"{path} has a header and no rows.")
    if words := split_names(how.get("missing", "")):
        # Both, because -999 may be a number or, beside text, a word.
        numbers = pd.to_numeric(pd.Series(words), errors="coerce").dropna()
        is_none = table.map(lambda cell: cell.strip() if isinstance(cell, str) else cell).isin([*words, *numbers])
        n_cells = int(is_none.sum().sum())
        note(f"{n_cells:,} {'cell is' if n_cells == 1 else 'cells are'} read as missing.")
        table = table.mask(is_none)
    table.attrs |= {"decimal": decimal, "dates": how.get("dates")}
    return table


def _read_typed(path: Path, how: Mapping[str, str], kind: str) -> pd.DataFrame:
    for name in set(OF_TEXT) & set(how):
        raise wrong_option(f"--read {name} is for CSV files, and {path.name} is {kind}.")
    try:
        if kind == "a Parquet file":
            import_extra("pyarrow", extra="parquet", purpose=f"Reading {kind}")
            # An index that pandas wrote is no column, and rows are numbered from 0.
            return pd.read_parquet(path).reset_index(drop=True)
        import_extra("openpyxl", extra="excel", purpose=f"Reading {kind}")
        with pd.ExcelFile(path, engine="openpyxl") as book:
            if len(book.sheet_names) > 1:
                note(f"{path.name} has {len(book.sheet_names)} sheets: the first, {book.sheet_names[0]!r}, is read.")
            return pd.read_excel(book, sheet_name=0)
    except ImportError:
        raise
    except Exception as error:
        # pandas trusts the metadata of the file, and may raise any error where they are false.
        raise CommandError(f"{path} cannot be read as {kind}: {one_line(error)}.") from error


def _read_text(path: Path, how: Mapping[str, str]) -> tuple[pd.DataFrame, str]:
    """Return the table of a text file, and its decimal mark."""
    text, separator, decimal = _decode(path, how.get("encoding")), how.get("separator"), how.get("decimal")
    if (marked := re.match(r"sep=(.)\r?\n", text)) is not None:
        # Excel reads and writes such a line before the header.
        separator, text = separator or marked[1], text[marked.end() :]
    if not text.strip():
        raise CommandError(f"{path} is empty.")
    header = re.split(r"[\r\n]", text.lstrip(), maxsplit=1)[0]
    try:
        if separator is None:
            separator = sniff_separator(header)
            if separator != ",":
                note(f"{path.name} is read with a {SEPARATORS[separator]} between columns.")
        if decimal is None and separator != "," and has_decimal_commas(text, separator):
            note(f"{path.name} is read with decimal commas.")
            decimal = ","
        names = [name for name in next(csv.reader([header], delimiter=separator)) if name]
        with warnings.catch_warnings():
            # A row that is longer than the header would lose values.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            form: Any = {"sep": separator, "decimal": decimal or ".", "index_col": False, "skipinitialspace": True}
            table = pd.read_csv(io.StringIO(text), low_memory=False, **form)
            for place, name in enumerate(table):
                # Beside a missing value pandas makes floats of whole numbers. Those that it may have rounded stay text.
                if table[name].dtype.kind == "f" and table[name].abs().between(MOST_EXACT, sys.float_info.max).any():
                    table[name] = pd.read_csv(io.StringIO(text), usecols=[place], dtype=str, **form).iloc[:, 0]
    except (csv.Error, pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        mark = SEPARATORS.get(separator or ",", repr(separator))
        raise CommandError(
            f"{path} cannot be read as a table with a {mark} between columns: "
            f"{one_line(error).removeprefix('Error tokenizing data. C error: ')}.{IS_IT_RIGHT}"
        ) from error
    if repeated := pd.Series(names)[pd.Series(names).duplicated()].tolist():
        raise CommandError(f"{path} has the column {repeated[0]!r} more than once; rename one of them.")
    return table, decimal or "."


def _decode(path: Path, encoding: str | None) -> str:
    data = path.read_bytes()
    usual = ["utf-16"] if data.startswith((b"\xff\xfe", b"\xfe\xff")) else ["utf-8-sig", "cp1252"]
    for name in usual if encoding is None else [encoding]:
        try:
            text = data.decode(name)
        except LookupError:
            raise wrong_option(f"--read encoding={name} is not known; give one such as utf-8 or cp1252.") from None
        except UnicodeDecodeError:
            continue
        if name == "cp1252" and encoding is None:
            note(f"{path.name} is not UTF-8 text: it is read as cp1252; --read encoding=NAME changes that.")
        return text
    raise CommandError(f"{path} is not text in {encoding or 'UTF-8'}: name its encoding with --read encoding=NAME.")


def sniff_separator(header: str) -> str:
    r"""Return the separator that splits a header into most columns; a comma where none does.

    pandas (``sep=None``) splits a single column at any letter, ``age`` into ``a`` and ``e``, and ``csv.Sniffer``
    prefers a comma inside a name to the semicolons between names.

    >>> sniff_separator("age;sex;risk"), sniff_separator("age\tsex"), sniff_separator("age")
    (';', '\t', ',')
    """
    return max(SEPARATORS, key=re.sub(r'"[^"]*"', "", header).count)


def has_decimal_commas(text: str, separator: str) -> bool:
    r"""Return whether some cell is surely a number with a decimal comma, and none a number with a point.

    >>> has_decimal_commas("age;dose\n61;1,5", ";"), has_decimal_commas("age;cost\n61;1,500", ";")
    (True, False)
    """
    edge = re.escape(separator)
    surely, point = (
        re.search(rf'(?:^|{edge})"?[+-]?(?:{number})"?\s*(?={edge}|$)', text[:1_000_000], re.MULTILINE)
        for number in (r"0,\d+|\d+,(?:\d\d?|\d{4,})", r"\d*\.\d+")
    )
    return surely is not None and point is None


def keep_known(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the rows with a value in a column, with a note on the others."""
    known = table[name].notna()
    if not known.any():
        raise CommandError(f"column {name!r} has no value.")
    if not known.all():
        note(f"rows without a value of {name!r} are left out: {(~known).sum():,}.")
        table = table[known]
    return table


def check_columns(columns: Sequence[Any], names: Sequence[str | None], option: str) -> None:
    """Raise ``CommandError`` if an option names a column that is not there."""
    for name in names:
        if name is not None and name not in columns:
            hint = IS_IT_RIGHT if len(columns) == 1 else name_nearest(name, columns)
            raise wrong_option(
                f"{option} names the column {name!r}, and the data have {list_some(columns, MOST_LISTED)}.{hint}"
            )
