"""Checks of single values and of the names of dtypes, shared by columns and files."""

import re
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats
from oleander.data.checks import MOST_EXACT
from oleander.running.wording import shorten

# As pandas and NumPy write them: int64, <U12, Int64, string, category, double[pyarrow].
DTYPE_NAME = re.compile(r"[<>|=]?[A-Za-z]{1,20}[0-9]{0,4}(\[[a-z]{1,20}\])?")


def read_dtype_name(name: Any) -> str:
    """Return the name of a dtype from a file, or raise ``ValueError``.

    NumPy parses other names as a small language, and allocates the memory that a string of a billion characters needs.

    Examples
    --------
    >>> read_dtype_name("<U7"), read_dtype_name("Int64")
    ('<U7', 'Int64')
    >>> read_dtype_name("<U999999999")
    Traceback (most recent call last):
    ...
    ValueError: '<U999999999' is not the dtype of a column
    """
    if not isinstance(name, str) or not DTYPE_NAME.fullmatch(name):
        raise ValueError(f"{shorten(str(name), 40)!r} is not the dtype of a column")
    return name


def find_inexact(column: pd.Series, codes: Floats) -> Bools:
    """Return a mask of the whole numbers that a float may round; floats are what they are."""
    inexact = np.asarray(np.abs(codes) > MOST_EXACT)
    if pd.api.types.is_float_dtype(column.dtype):
        return np.zeros(len(codes), dtype=bool)
    if column.dtype == object:
        inexact &= [not isinstance(value, float) for value in column]
    return inexact


def refuse_inexact(column: pd.Series, codes: Floats, name: str) -> None:
    """Raise ``ValueError`` naming the row of a whole number that a float may round."""
    inexact = find_inexact(column, codes)
    if inexact.any():
        row = int(inexact.argmax())
        raise ValueError(
            f"column {name!r} holds {column.iloc[row]} in row {row}, a whole number beyond 2^53 - 1, which may be "
            "rounded. Turn it into text if it is an id, or into a larger unit."
        )


def refuse_no_numbers(column: pd.Series, name: str) -> None:
    """Raise ``ValueError`` for dates, spans of time and complex numbers, which NumPy would turn into plain numbers."""
    is_zoned = isinstance(column.dtype, pd.DatetimeTZDtype)
    if is_zoned or (isinstance(column.dtype, np.dtype) and column.dtype.kind in "mMc"):
        raise ValueError(
            f"column {name!r} holds numbers, but row 0 holds {column.iloc[0]!r}: turn the column into numbers first."
        )


def refuse_half_pairs(text: Any, what: str) -> None:
    r"""Raise ``ValueError`` for text with half of a pair of surrogates, which no file can hold.

    Examples
    --------
    >>> refuse_half_pairs("age\ud800", "a column")
    Traceback (most recent call last):
    ...
    ValueError: a column has the text 'age\ud800', which is not Unicode (half of a pair of surrogates): rename it.
    """
    if not isinstance(text, str):
        return
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{what} has the text {shorten(text)!r}, which is not Unicode (half of a pair of surrogates): rename it."
        ) from None


def refuse_infinite(values: Floats, name: str) -> None:
    """Raise ``ValueError`` naming the row if a value of the column is infinite."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise ValueError(
            f"column {name!r} holds {values[row]} in row {row}; values must be finite. "
            "Replace it, or mark it as missing."
        )
