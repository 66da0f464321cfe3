"""The only entry for tables: pandas, polars, pyarrow, DuckDB and other frames become pandas. Arrays stay arrays.

Every frame that narwhals reads goes through Arrow, so that equal values give equal columns in whatever library.
"""

from importlib import import_module
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from scipy.sparse import issparse

from oleander.arrays import Ints
from oleander.data.checks import MOST_EXACT, refuse_absent
from oleander.messages import import_extra

# The frames that a black box gets as the user gave them; it gets pandas for all others.
Frame = Literal["pandas", "polars"]
PANDAS: Frame = "pandas"
POLARS: Frame = "polars"


def to_table(X: Any) -> Any:
    """Return a frame of any library as a pandas DataFrame, and anything else unchanged.

    A lazy frame, such as a DuckDB relation, is collected: it must fit into memory. A second call may find its rows in
    another order, so every method collects once.
    """
    if X is None or isinstance(X, (pd.DataFrame, np.ndarray, list, tuple)) or issparse(X):
        return X
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        return X
    if frame.implementation.is_pandas():
        return frame.to_native()
    _refuse_repeated(pd.Index(frame.columns))
    import_extra("pyarrow", extra="parquet", purpose=f"Reading a {type(X).__module__.partition('.')[0]} frame")
    table = frame.to_arrow()
    return pd.DataFrame({name: _to_pandas(table.column(name)) for name in table.column_names})


def _to_pandas(column: Any) -> pd.Series:
    """Return a column of a pyarrow table as pandas would hold it."""
    pa = import_module("pyarrow")
    if pa.types.is_decimal(column.type):
        # Decimals that a float may round stay objects, which the schema refuses by their row.
        floats = column.cast(pa.float64())
        column = column if (np.abs(floats.to_numpy()) > MOST_EXACT).any() else floats
    own = None
    if pa.types.is_integer(column.type) and column.null_count:
        # As floats, whole numbers would lose their dtype, which the black box may need.
        own = {column.type: pd.api.types.pandas_dtype(f"{column.type}".title().replace("Ui", "UI"))}.get
    series: pd.Series = column.to_pandas(types_mapper=own, date_as_object=False)
    # Seconds mark a date without a time.
    return series.astype("datetime64[s]") if pa.types.is_date(column.type) else series


def as_table(X: Any) -> pd.DataFrame:
    """Return the data as a DataFrame; ``ValueError`` or ``TypeError`` says why they cannot be rows and columns."""
    if isinstance(X, pd.DataFrame):
        table = X
        for column in table.columns:
            if isinstance(column, bool) or not isinstance(column, (str, int)):
                raise ValueError(f"column {column!r} is named by a {type(column).__name__}; use strings.")
        _refuse_repeated(table.columns)
    else:
        if issparse(X):
            raise TypeError("sparse data are not supported: draws around a row are dense. Pass X.toarray().")
        if isinstance(X, np.ma.MaskedArray):
            raise ValueError("the data are a masked array, whose mask would be lost: pass X.filled(np.nan).")
        values = np.asarray(X)
        if values.ndim != 2:
            raise ValueError(
                f"the data have {values.ndim} dimensions; rows and columns are expected. Reshape your data: "
                "X.reshape(1, -1) is one row, X.reshape(-1, 1) one column."
            )
        if values.dtype.kind not in "biufOUS":
            raise ValueError(f"the data have dtype {values.dtype}; numbers or strings are expected.")
        # The columns of an object array may differ in dtype.
        table = pd.DataFrame(values, copy=False).infer_objects()
    if not len(table) or not table.shape[1]:
        raise ValueError(f"the data have {len(table)} rows and {table.shape[1]} columns; both must be at least 1.")
    return table


def _refuse_repeated(columns: pd.Index) -> None:
    # A column named 1 and one named "1" look the same in rules.
    twice = columns[columns.map(str).duplicated()]
    if len(twice):
        raise ValueError(f"column {twice[0]!r} occurs more than once; rename the columns so that each is unique.")


def frame_of(X: Any) -> Frame:
    """Return the kind of frame that the black box gets for rows given as X."""
    native = nw.to_native(X, pass_through=True)
    return POLARS if type(native).__module__.partition(".")[0] == "polars" else PANDAS


def columns_of(X: Any) -> list[Any] | None:
    """Return the names of a frame's columns; None for an array."""
    if isinstance(X, pd.DataFrame):
        return list(X.columns)
    frame = nw.from_native(X, pass_through=True)
    return list(frame.collect_schema().names()) if isinstance(frame, (nw.DataFrame, nw.LazyFrame)) else None


def to_frame_of(table: Any, kind: Frame) -> Any:
    """Return a pandas DataFrame as a frame of this kind, with null for missing values; an array is left as it is."""
    if kind == PANDAS or not isinstance(table, pd.DataFrame):
        return table
    pl = import_module(POLARS)
    own: dict[Any, Any] = {}
    for name, dtype in table.dtypes.items():
        if dtype == "datetime64[s]":
            own[name] = pl.Date
        elif isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
            own[name] = pl.Enum(list(dtype.categories))
    return pl.from_pandas(table).cast(own)


def take_rows(X: Any, rows: Ints) -> Any:
    """Return some rows of a table or an array, as a pandas DataFrame or an array."""
    table = to_table(X)
    return table.iloc[rows] if isinstance(table, pd.DataFrame) else np.asarray(table)[rows]


def read_column(X: Any, values: Any) -> Any:
    """Return the values of a column of a table where its name is given, and other values as they are."""
    if not isinstance(values, str):
        return values
    refuse_absent("the table", [values], columns_of(X) or [])
    return X[values]


def as_one_row(x: Any) -> Any:
    """Return a Series, a mapping, a table or a one-dimensional array as a table of one row."""
    if isinstance(x, pd.Series):
        return x.to_frame().T.infer_objects()
    if isinstance(x, dict):
        return pd.DataFrame([x])
    table = to_table(x)
    return table if isinstance(table, pd.DataFrame) else np.atleast_2d(np.asarray(table))
