"""Checks of single values and of the names of dtypes, shared by columns and files."""

import re
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Floats
from oleander.running.wording import shorten

# As pandas and NumPy write them: int64, <U12, Int64, string, category, double[pyarrow].
DTYPE_NAME = re.compile(r"[<>|=]?[A-Za-z]{1,20}[0-9]{0,4}(\[[a-z]{1,20}\])?")
# Whole numbers beyond this are not exact as floats.
MOST_EXACT = 2.0**53


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


def refuse_inexact(column: pd.Series, codes: Floats, name: str) -> None:
    """Raise ``ValueError`` naming the row of a whole number that a float may round; floats are what they are."""
    inexact = np.abs(codes) > MOST_EXACT
    if inexact.any() and not pd.api.types.is_float_dtype(column.dtype):
        row = int(inexact.argmax())
        raise ValueError(
            f"column {name!r} holds {column.iloc[row]}, a whole number beyond 2^53, which would be rounded. Turn it "
            "into text if it is an id, or into a larger unit."
        )


def refuse_infinite(values: Floats, name: str) -> None:
    """Raise ``ValueError`` naming the row if a value of the column is infinite."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise ValueError(
            f"column {name!r} holds {values[row]} in row {row}; values must be finite. "
            "Replace it, or mark it as missing."
        )
