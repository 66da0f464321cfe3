"""From a column of data to a Feature: its kind, its levels or bounds, and its scale."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Floats
from oleander.data.checks import MOST_EXACT, check_choice
from oleander.data.schema.feature import Feature, Kind, Level, read_dtype_name, to_plain
from oleander.data.schema.rounding import holds_dates, round_days, round_to_step, to_days

# A level is rare if fewer rows hold it than this number, or than this share of a small table.
FEWEST_HOLDERS, FEWEST_SHARE = 5, 0.1
RARE = "rare"
# Bounds are rounded outward by steps of at most this share of the range, and dates to a month if not to a year.
BOUND_STEP, BOUND_DAYS = 0.1, 10.0


def infer_feature(column: pd.Series, name: str, kind: str | None, scale: str) -> Feature:
    """Infer a feature from a column; ``kind`` overrides the inferred kind.

    Two distinct whole numbers are binary; other whole numbers are integer, also where pandas stores them as floats
    because some are missing; strings and ``category`` are categorical, or binary if there are two levels. Dates are
    dates, and timestamps if a time is not midnight. A column that is missing everywhere is categorical, without levels.

    Bounds are rounded outward, and levels that few rows hold become one level, so that a schema that is shown or saved
    reveals nothing about single rows.
    """
    check_choice("scale", scale, ("std", "none"))
    if kind is not None and kind not in list(Kind):
        raise ValueError(f"column {name!r} is declared as {kind!r}; the kinds are {', '.join(Kind)}.")
    present = column[column.notna()]
    if len(present) == len(column):
        # The values of an array's column are scattered in memory; those of this copy are contiguous.
        column = present
    if len(present) and holds_dates(present):
        return _infer_date(column, name, kind, scale)
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        raise ValueError(
            f"column {name!r} is declared as {kind} and has dtype {column.dtype}: use pandas.to_datetime first."
        )
    _refuse_unknown_dtype(column, name)
    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    if present.empty and not is_category:
        if kind not in (None, Kind.CATEGORICAL):
            raise ValueError(f"column {name!r} has no value that is not missing, so it cannot be {kind}.")
        return Feature(name, Kind.CATEGORICAL, str(column.dtype), missing=True)
    if pd.api.types.is_object_dtype(column.dtype):
        for value in present:
            _plain(value, name)
    chosen = _infer_kind(present) if kind is None else Kind(kind)
    about: dict[str, Any] = {
        "name": name,
        "kind": chosen,
        "dtype": "category" if is_category else str(column.dtype),
        "missing": len(present) < len(column),
    }
    if chosen in (Kind.BINARY, Kind.CATEGORICAL):
        if pd.api.types.is_float_dtype(column.dtype):
            # An infinite number is no level.
            Feature(name, Kind.CONTINUOUS, str(column.dtype), missing=True).encode(column)
        about["ordered"] = bool(getattr(column.dtype, "ordered", False))
        return _hide_rare(Feature(**about, levels=_levels(present, name)), present, len(column))
    if is_category:
        raise ValueError(f"column {name!r} has dtype category, so its kind is binary or categorical, not {chosen}.")
    # Encoding reads the bounds like every later row, so that bad values get the same message.
    values = Feature(**about).encode(column)
    values = values[~np.isnan(values)] if about["missing"] else values
    return _add_bounds(Feature(**about), values, len(column), scale)


def _infer_date(column: pd.Series, name: str, kind: str | None, scale: str) -> Feature:
    """Return a feature of dates: without a time where every date is at midnight."""
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        raise ValueError(
            f"column {name!r} holds dates with a time zone, which the black box would not get back: convert them with "
            ".dt.tz_convert(None) or .dt.tz_localize(None)."
        )
    days, absent = to_days(column), column.isna().to_numpy()
    unreadable = np.isnan(days) & ~absent
    if unreadable.any():
        row = int(unreadable.argmax())
        raise ValueError(f"column {name!r} holds {column.iloc[row]!r} in row {row}, which cannot be read as a date.")
    days = days[~absent]
    found = Kind.DATE if np.array_equal(days, np.round(days)) else Kind.TIMESTAMP
    if kind not in (None, found, Kind.TIMESTAMP):
        raise ValueError(f"column {name!r} holds {'dates' if found is Kind.DATE else 'times of a day'}, not {kind}.")
    # Objects of datetime.date are read as pandas' own dates.
    dtype = str(column.dtype) if pd.api.types.is_datetime64_dtype(column.dtype) else "datetime64[us]"
    feature = Feature(name, found if kind is None else Kind(kind), dtype, missing=bool(absent.any()))
    return _add_bounds(feature, days, len(column), scale)


def _add_bounds(feature: Feature, values: Floats, n_rows: int, scale: str) -> Feature:
    """Return a column of numbers with its scale, and bounds rounded outward, unless all rows share one value."""
    lower, upper = float(values.min()), float(values.max())
    feature = replace(feature, lower=lower, upper=upper, scale=1.0 if scale == "none" else measure_scale(values))
    size = upper - lower
    if not size and _are_few(len(values), n_rows):
        size = abs(upper)
    if not 0 < size < np.inf:
        return feature
    step = size * BOUND_STEP
    if feature.kind is Kind.DATE:
        step = max(step, BOUND_DAYS)
    round_to = round_days if feature.is_date else round_to_step
    least, largest = feature.dtype_bounds
    down, up = (
        float(round_to(np.array([end]), step, whole=feature.is_whole, rounding=rounding)[0])
        for end, rounding in ((lower, np.floor), (upper, np.ceil))
    )
    return replace(feature, lower=max(min(down, lower), least), upper=min(max(up, upper), largest), private=feature)


def _hide_rare(feature: Feature, present: pd.Series, n_rows: int) -> Feature:
    """Return a column of levels in which all that few rows hold are one level."""
    # 0 and 1, and False and True, name nothing.
    if set(feature.levels) <= {0, 1}:
        return feature
    counts = present.value_counts(sort=False).to_dict()
    rare = [level for level in feature.levels if _are_few(counts.get(level, 0), n_rows)]
    if not rare:
        return feature
    is_rare = set(rare)
    named = tuple(level for level in feature.levels if level not in is_rare)
    label = RARE
    while label in named:
        label += "_"
    # For a draw with an unnamed rare level, the black box gets the most frequent one.
    rare.sort(key=lambda level: -counts.get(level, 0))
    private = replace(
        feature,
        kind=Kind.CATEGORICAL,
        levels=(*named, *rare),
        categories=feature.levels if feature.dtype == "category" else (),
    )
    return replace(private, levels=(*named, label), rare=True, private=private, categories=())


def _are_few(n: int, n_rows: int) -> bool:
    return n < min(FEWEST_HOLDERS, FEWEST_SHARE * n_rows)


def _refuse_unknown_dtype(column: pd.Series, name: str) -> None:
    """Raise ``ValueError`` for a dtype that no column may have, or that cannot be made from its name."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype) or (isinstance(dtype, np.dtype) and dtype.kind not in "mc"):
        return
    try:
        if isinstance(dtype, np.dtype):
            raise ValueError
        pd.api.types.pandas_dtype(read_dtype_name(str(dtype)))
    except (NotImplementedError, TypeError, ValueError):
        raise ValueError(
            f"column {name!r} has dtype {dtype}; turn it into numbers or strings first: .astype(float) or .astype(str)."
        ) from None


def _infer_kind(present: pd.Series) -> Kind:
    dtype = present.dtype
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype):
        values = present.to_numpy(dtype=float)
        if not np.array_equal(values, np.round(values)):
            return Kind.CONTINUOUS
        if present.nunique() == 2:
            return Kind.BINARY
        # Beyond, floats are whole numbers only because they have no room for digits.
        return Kind.CONTINUOUS if np.abs(values).max() > MOST_EXACT else Kind.INTEGER
    n_levels = len(dtype.categories) if isinstance(dtype, pd.CategoricalDtype) else present.nunique()
    return Kind.BINARY if n_levels == 2 else Kind.CATEGORICAL


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
    plain = to_plain(level)
    if not isinstance(plain, (str, int, float)):
        raise ValueError(
            f"column {name!r} holds {plain!r}, a {type(plain).__name__}; turn it into numbers or strings first."
        )
    return plain


def measure_scale(values: Floats) -> float:
    """Return the standard deviation of a column of numbers, none of them missing; 1 if all values are equal."""
    # A spread that no float can hold is infinite, which the feature refuses.
    with np.errstate(over="ignore"):
        return (float(values.std()) if len(values) else 0.0) or 1.0
