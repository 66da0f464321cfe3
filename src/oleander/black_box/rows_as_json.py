"""Rows written as JSON and labels read from JSON, both checked."""

import json
import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from oleander.arrays import Labels

Plain = str | int | float | bool | None


def write_rows(X: Any) -> bytes:
    """Return rows as JSON: names of columns and rows of values; missing values are null, never NaN or Infinity.

    Examples
    --------
    >>> write_rows(pd.DataFrame({"age": [61, 58], "dose": [0.5, np.nan]}))
    b'{"columns":["age","dose"],"rows":[[61,0.5],[58,null]]}'
    >>> write_rows(np.array([[0.5, 2.0]]))
    b'{"columns":["x0","x1"],"rows":[[0.5,2.0]]}'
    """
    is_frame = isinstance(X, pd.DataFrame)
    table = X if is_frame else pd.DataFrame(np.asarray(X))
    names = [str(column) if is_frame else f"x{column}" for column in table.columns]
    columns = [_plain_values(table.iloc[:, j], name) for j, name in enumerate(names)]
    rows = list(zip(*columns, strict=True))
    return json.dumps({"columns": names, "rows": rows}, allow_nan=False, separators=(",", ":")).encode()


def _plain_values(column: pd.Series, name: str) -> list[Plain]:
    values = column.astype(object) if isinstance(column.dtype, pd.CategoricalDtype) else column
    absent = values.isna().to_numpy()
    if pd.api.types.is_datetime64_dtype(values.dtype):
        values = values.astype(str)
    # tolist makes plain numbers of NumPy's, but not of those in a column of objects.
    plain = [value.item() if isinstance(value, np.generic) else value for value in values.tolist()]
    for i in np.flatnonzero(absent):
        plain[i] = None
    for row, value in enumerate(plain):
        if value is not None and not isinstance(value, (str, int, float)):
            raise TypeError(
                f"column {name!r} holds a {type(value).__name__} in row {row}, which cannot be sent as JSON; "
                "numbers, strings and booleans can."
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"column {name!r} holds {value} in row {row}, which cannot be sent as JSON.")
    return plain


def read_answer(body: bytes, n_rows: int) -> Labels:
    """Return the labels of an answer, or raise ``ValueError`` saying in a sentence why it holds none.

    Strings become objects, so that the dtype does not depend on the longest string of an answer.

    Examples
    --------
    >>> read_answer(b'{"labels": ["no", "yes"]}', n_rows=2)
    array(['no', 'yes'], dtype=object)
    >>> read_answer(b'{"labels": ["no"]}', n_rows=2)
    Traceback (most recent call last):
    ...
    ValueError: it answered 1 labels for 2 rows; one per row is expected
    """
    try:
        answer = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ValueError(f"it answered {len(body):,} bytes that are not JSON") from None
    if not isinstance(answer, dict) or not isinstance(answer.get("labels"), list):
        raise ValueError('its answer is not {"labels": [...]}')
    labels = answer["labels"]
    if len(labels) != n_rows:
        raise ValueError(f"it answered {len(labels):,} labels for {n_rows:,} rows; one per row is expected")
    return _as_array(labels)


def _as_array(labels: Sequence[Any]) -> Labels:
    kinds = {type(label) for label in labels}
    if kinds <= {str}:
        return np.array(labels, dtype=object)
    if kinds == {bool}:
        return np.array(labels, dtype=bool)
    if kinds <= {int, float}:
        try:
            numbers = np.array(labels, dtype=np.int64 if kinds == {int} else np.float64)
        except OverflowError:
            numbers = np.array([np.inf])
        if not np.isfinite(numbers).all():
            raise ValueError("it answered a number that is too large for a label")
        return numbers
    words = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null", list: "list"}
    found = sorted({words.get(kind, "object") for kind in kinds})
    raise ValueError(f"it answered labels of the kinds {', '.join(found)}; strings, numbers or booleans are expected")


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")
