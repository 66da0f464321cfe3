"""The only entry for tables: pandas, polars, pyarrow, DuckDB and other frames become pandas. Arrays stay arrays.

Every frame that narwhals reads is converted column by column, so that equal values give equal columns, whatever library
holds them.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from scipy.sparse import issparse

from oleander.arrays import Ints
from oleander.data.checks import MOST_EXACT, refuse_absent, refuse_half_pairs
from oleander.messages import list_some

# The frames that a black box gets as the user gave them; it gets pandas for all others.
Frame = Literal["pandas", "polars"]
PANDAS: Frame = "pandas"
POLARS: Frame = "polars"


def to_table(X: Any) -> Any:
    """Return a frame of any library as a pandas DataFrame, and anything else unchanged.

    A lazy frame, such as a DuckDB relation, is collected: it must fit into memory. A second call may find its rows in
    another order, so every method collects once.

    >>> import pyarrow
    >>> to_table(pyarrow.table({"age": [61, 58], "sex": ["F", "M"]}))
       age sex
    0   61   F
    1   58   M
    """
    rows = X if isinstance(X, (list, tuple)) else (X,)
    if any(isinstance(row, np.ma.MaskedArray) for row in rows):
        # Other code would read the masked values.
        raise ValueError(
            "the data are a masked array, whose mask would be lost: mark missing values with .filled(np.nan)."
        )
    if X is None or isinstance(X, (pd.DataFrame, np.ndarray, list, tuple)) or issparse(X):
        return X
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = collect(frame)
    if not isinstance(frame, nw.DataFrame):
        return X
    if frame.implementation.is_pandas():
        return frame.to_native()
    names = list(frame.columns)
    _refuse_repeated(pd.Index(names))
    columns = {name: _to_pandas(frame[name], name) for name in names}
    unreadable = [name for name, column in columns.items() if column is None]
    if unreadable:
        kinds = ", ".join(sorted({str(frame[name].dtype) for name in unreadable}))
        raise ValueError(
            f"columns hold values of other kinds than numbers, strings, truth values and dates ({kinds}): "
            f"{list_some(unreadable)}. Leave them out, or convert them."
        )
    return pd.DataFrame(columns)


def as_table(X: Any) -> pd.DataFrame:
    """Return the data as a DataFrame; ``ValueError`` or ``TypeError`` says why they cannot be rows and columns."""
    if isinstance(X, pd.DataFrame):
        table = X
        for column in table.columns:
            if isinstance(column, bool) or not isinstance(column, (str, int)):
                raise ValueError(f"column {column!r} is named by a {type(column).__name__}; use strings.")
            refuse_half_pairs(column, "a column's name")
        _refuse_repeated(table.columns)
    else:
        if issparse(X):
            raise TypeError("sparse data are not supported: draws around a row are dense. Pass X.toarray().")
        values = np.asarray(X)
        if values.ndim != 2:
            raise ValueError(
                f"the data have {values.ndim} dimensions; rows and columns are expected. Reshape your data: "
                "X.reshape(1, -1) is one row, X.reshape(-1, 1) one column."
            )
        if values.dtype.kind not in "biufOUS":
            raise ValueError(f"the data have dtype {values.dtype}; numbers or strings are expected.")
        if values.dtype.kind in "OU":
            # pandas would fail on such text without naming it.
            for position, column in enumerate(values.T.tolist()):
                for value in set(filter(lambda value: isinstance(value, str), column)):
                    refuse_half_pairs(value, f"column 'x{position}'")
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
    return pl.DataFrame([_to_polars(table.iloc[:, j], str(name), pl) for j, name in enumerate(table.columns)])


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


def collect(frame: Any) -> Any:
    """Return the rows of a lazy frame: as Arrow where that is installed, which keeps whole numbers with gaps whole."""
    if frame.implementation.is_duckdb():
        return frame.collect(backend="pyarrow" if find_spec("pyarrow") else PANDAS)
    return frame.collect()


def _to_pandas(column: Any, name: str) -> pd.Series | None:
    """Return a column of a narwhals frame as pandas would hold it; None for values that no column may hold."""
    dtype, absent = column.dtype, column.is_null().to_numpy()
    has_absent = bool(absent.any())
    if isinstance(dtype, nw.Decimal):
        return _read_decimals(column, name)
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        levels = column.cat.get_categories().to_list()
        kind = pd.CategoricalDtype(levels, ordered=isinstance(dtype, nw.Enum))
        return pd.Series(pd.Categorical(column.cast(nw.String()).to_list(), dtype=kind))
    if dtype.is_integer() and has_absent:
        # As floats, whole numbers would lose their dtype, which the black box may need.
        plain = pd.array(column.fill_null(0).to_numpy(), dtype=str(dtype))
        plain[absent] = pd.NA
        return pd.Series(plain)
    if isinstance(dtype, nw.Boolean):
        return pd.Series(column.to_list(), dtype=object if has_absent else bool)
    if dtype.is_numeric():
        return pd.Series(column.to_numpy())
    if isinstance(dtype, nw.String):
        return pd.Series(column.to_list())
    if isinstance(dtype, nw.Date):
        return pd.Series(column.to_numpy().astype("datetime64[s]"))
    if isinstance(dtype, nw.Datetime):
        if dtype.time_zone:
            return pd.Series(column.to_list())
        # Seconds mark a date without a time.
        unit = "us" if dtype.time_unit == "s" else dtype.time_unit
        return pd.Series(column.to_numpy().astype(f"datetime64[{unit}]"))
    return None if not isinstance(dtype, nw.Unknown) or not absent.all() else pd.Series([None] * len(column))


def _read_decimals(column: Any, name: str) -> pd.Series:
    """Return decimals as floats; ``ValueError`` names a row whose value is too large to be exact."""
    codes = column.cast(nw.Float64()).to_numpy()
    inexact = np.abs(codes) > MOST_EXACT
    if inexact.any():
        row = int(inexact.argmax())
        raise ValueError(
            f"column {name!r} holds the decimal {column[row]} in row {row}, beyond 2^53 - 1, which may be rounded. "
            "Turn it into text if it is an id, or into a larger unit."
        )
    return pd.Series(codes)


def _to_polars(column: pd.Series, name: str, pl: Any) -> Any:
    """Return a column as polars holds it."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = [str(level) for level in dtype.categories]
        kind = pl.Enum(levels) if dtype.ordered else pl.Categorical()
        return pl.Series(name, [None if code < 0 else levels[code] for code in column.cat.codes], dtype=kind)
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return pl.Series(name, column.to_numpy(), nan_to_null=True)
    if isinstance(dtype, np.dtype) and dtype.kind == "M":
        unit = np.datetime_data(dtype)[0]
        return pl.Series(name, column.to_numpy().astype("datetime64[D]") if unit == "s" else column.to_numpy())
    plain = [None if value is pd.NA or value != value else value for value in column.tolist()]
    if not pd.api.types.is_extension_array_dtype(dtype):
        return pl.Series(name, plain)
    # The other dtypes, such as Int32, have the same name in both libraries.
    own = {"str": "String", "string": "String", "boolean": "Boolean"}
    return pl.Series(name, plain, dtype=getattr(pl, own.get(str(dtype), str(dtype)), None))
