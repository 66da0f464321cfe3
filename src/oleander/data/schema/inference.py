"""From a column of data to a Feature: its kind, its levels or bounds, and its scale."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Floats
from oleander.data.schema.dates import holds_dates, to_days
from oleander.data.schema.feature import Feature, Kind, Level
from oleander.data.schema.values import read_dtype_name, refuse_infinite

SCALES: dict[str, Callable[[Floats], float]] = {
    "none": lambda values: 1.0,
    "std": lambda values: float(values.std()),
    "iqr": lambda values: float(np.subtract(*np.percentile(values, [75, 25]))),
    "range": lambda values: float(np.ptp(values)),
}


def infer_feature(column: pd.Series, name: str, kind: str | None, scale: str) -> Feature:
    """Infer a feature from a column; ``kind`` overrides the inferred kind.

    Two distinct whole numbers are binary; other whole numbers are integer, also where pandas stores them as floats
    because some are missing; strings and ``category`` are categorical, or binary if there are two levels. Dates are
    dates, and timestamps if a time is not midnight. A column that is missing everywhere is categorical, without levels.
    """
    if scale not in SCALES:
        raise ValueError(f"scale={scale!r} is not known; use one of {', '.join(SCALES)}.")
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "mc":
        raise ValueError(f"column {name!r} has dtype {dtype}; turn it into numbers or strings first.")
    present = column[column.notna()]
    if len(present) and holds_dates(present):
        return _infer_date(column, present, name, kind, scale)
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        raise ValueError(f"column {name!r} is declared as {kind} and has dtype {dtype}: use pandas.to_datetime first.")
    _refuse_unknown_dtype(column, name)
    if present.empty and not isinstance(dtype, pd.CategoricalDtype):
        if kind not in (None, Kind.CATEGORICAL):
            raise ValueError(f"column {name!r} has no value that is not missing, so it cannot be {kind}.")
        return Feature(name, Kind.CATEGORICAL, str(dtype), missing=True)
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype):
        refuse_infinite(column.to_numpy(dtype=float, na_value=np.nan), name)
    if pd.api.types.is_object_dtype(dtype):
        for value in present:
            _plain(value, name)
    chosen = _given_kind(name, kind) if kind is not None else _infer_kind(present)
    about: dict[str, Any] = {
        "name": name,
        "kind": chosen,
        "dtype": "category" if isinstance(dtype, pd.CategoricalDtype) else str(dtype),
        "missing": len(present) < len(column),
    }
    if chosen in (Kind.BINARY, Kind.CATEGORICAL):
        return Feature(**about, levels=_levels(present, name), ordered=bool(getattr(dtype, "ordered", False)))
    if isinstance(dtype, pd.CategoricalDtype):
        raise ValueError(f"column {name!r} has dtype category, so its kind is binary or categorical, not {chosen}.")
    # Encoding reads the bounds like every later row, so that bad values get the same message.
    values = Feature(**about).encode(present)
    return Feature(
        **about,
        lower=float(values.min()),
        upper=float(values.max()),
        # A constant column has no spread; any unit will do, since nothing is ever measured along it.
        scale=measure_scale(values, scale),
    )


def _infer_date(column: pd.Series, present: pd.Series, name: str, kind: str | None, scale: str) -> Feature:
    """Return a feature of dates: without a time where every date is at midnight."""
    if isinstance(present.dtype, pd.DatetimeTZDtype):
        raise ValueError(
            f"column {name!r} holds dates with a time zone, which the black box would not get back: convert them with "
            ".dt.tz_convert(None) or .dt.tz_localize(None)."
        )
    days = to_days(present)
    if np.isnan(days).any():
        row = int(np.isnan(days).argmax())
        raise ValueError(f"column {name!r} holds {present.iloc[row]!r}, which cannot be read as a date.")
    found = Kind.DATE if np.array_equal(days, np.round(days)) else Kind.TIMESTAMP
    if kind not in (None, found, Kind.TIMESTAMP):
        raise ValueError(f"column {name!r} holds {'dates' if found is Kind.DATE else 'times of a day'}, not {kind}.")
    return Feature(
        name,
        found if kind is None else Kind(kind),
        # Objects of datetime.date are read as pandas' own dates.
        str(column.dtype) if pd.api.types.is_datetime64_dtype(column.dtype) else "datetime64[us]",
        float(days.min()),
        float(days.max()),
        measure_scale(days, scale),
        missing=len(present) < len(column),
    )


def _refuse_unknown_dtype(column: pd.Series, name: str) -> None:
    """Raise ``ValueError`` for a dtype that its name does not give back, such as Arrow's decimals: no file holds it."""
    dtype = column.dtype
    if isinstance(dtype, (np.dtype, pd.CategoricalDtype)):
        return
    try:
        pd.api.types.pandas_dtype(read_dtype_name(str(dtype)))
    except (NotImplementedError, TypeError, ValueError):
        raise ValueError(
            f"column {name!r} has dtype {dtype}; turn it into plain numbers or strings first: .astype(float) or "
            ".astype(str)."
        ) from None


def _given_kind(name: str, kind: str) -> Kind:
    try:
        return Kind(kind)
    except ValueError:
        raise ValueError(f"column {name!r} is declared as {kind!r}; the kinds are {', '.join(Kind)}.") from None


def _infer_kind(present: pd.Series) -> Kind:
    if isinstance(present.dtype, pd.CategoricalDtype):
        return Kind.BINARY if len(present.dtype.categories) == 2 else Kind.CATEGORICAL
    if pd.api.types.is_bool_dtype(present.dtype):
        return Kind.BINARY if present.nunique() == 2 else Kind.CATEGORICAL
    if pd.api.types.is_numeric_dtype(present.dtype):
        values = present.to_numpy(dtype=float)
        if not np.array_equal(values, np.round(values)):
            return Kind.CONTINUOUS
        return Kind.BINARY if len(np.unique(values)) == 2 else Kind.INTEGER
    return Kind.BINARY if present.nunique() == 2 else Kind.CATEGORICAL


def _levels(present: pd.Series, name: str) -> tuple[Level, ...]:
    if isinstance(present.dtype, pd.CategoricalDtype):
        # Declared levels count, even those that no row has.
        return tuple(_plain(level, name) for level in present.dtype.categories)
    levels = [_plain(level, name) for level in present.unique()]
    # Values of mixed types cannot be compared.
    is_mixed = len({isinstance(level, str) for level in levels}) > 1
    return tuple(sorted(levels, key=str) if is_mixed else sorted(levels))


def _plain(level: Any, name: str) -> Level:
    """Return a level as a plain Python value that JSON can hold."""
    plain = level.item() if isinstance(level, np.generic) else level
    if not isinstance(plain, (str, int, float)):
        raise ValueError(
            f"column {name!r} holds {plain!r}, a {type(plain).__name__}; turn it into numbers or strings first."
        )
    return plain


def measure_scale(values: Floats, scale: str) -> float:
    """Return the unit of a number column; 1 where all values are equal.

    Parameters
    ----------
    values : array
        Without missing ones.
    scale : {"std", "iqr", "range", "none"}
    """
    if not len(values):
        return 1.0
    # A spread that no float can hold is infinite, which the feature refuses.
    with np.errstate(over="ignore"):
        return SCALES[scale](values) or float(values.std()) or 1.0
