"""Numbers and dates as a person writes them: in few characters, or rounded to a short step.

Dates are numbers: days since 1970-01-01, with times as parts of a day.
"""

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Floats

MICROSECONDS = 86_400_000_000
MINUTES = (1, 5, 15, 30, 60, 180, 360, 720)


def format_number(value: float) -> str:
    """Return a number as text of few characters, to at most ten digits."""
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.10g}"


def round_to_step(
    values: Floats, at_most: float, *, whole: bool = False, rounding: Callable[[Floats], Floats] = np.round
) -> Floats:
    """Return the values as multiples of the largest of 1, 2 and 5 times a power of ten up to a size.

    Values that must stay whole have a step of at least 1; ``rounding`` turns numbers of steps into whole numbers.
    """
    step, decimals = (1.0, 0) if whole and at_most < 1 else readable_step(at_most)
    rounded: Floats = np.round(rounding(values / step) * step, decimals)
    # Adding 0 turns -0 into 0.
    return rounded + 0.0


def round_number(
    value: float, at_most: float, *, whole: bool = False, rounding: Callable[[Floats], Floats] = np.round
) -> float:
    """Return one number as ``round_to_step`` rounds it."""
    return float(round_to_step(np.array([value]), at_most, whole=whole, rounding=rounding)[0])


def readable_step(at_most: float) -> tuple[float, int]:
    """Return the largest of 1, 2, 5 times a power of ten up to this size, and its number of decimals."""
    power = math.floor(math.log10(at_most))
    factor = max(factor for factor in (1, 2, 5) if factor * 10.0**power <= at_most * (1 + 1e-9))
    decimals = max(-power, 0)
    return round(factor * 10.0**power, decimals), decimals


def holds_dates(column: pd.Series) -> bool:
    """Return whether a column holds dates: pandas' own, or objects of ``datetime``."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return True
    is_object = bool(pd.api.types.is_object_dtype(column.dtype))
    return is_object and pd.api.types.infer_dtype(column, skipna=True) in ("date", "datetime", "datetime64")


def to_days(column: pd.Series) -> Floats:
    """Return dates, or text in ISO 8601, as days since 1970-01-01; NaN for what is missing or no date."""
    if pd.api.types.is_numeric_dtype(column.dtype) or isinstance(column.dtype, pd.DatetimeTZDtype):
        return np.full(len(column), np.nan)
    if not pd.api.types.is_datetime64_dtype(column.dtype):
        column = pd.to_datetime(column.astype(object), format="ISO8601", errors="coerce")
        if not pd.api.types.is_datetime64_dtype(column.dtype):
            return np.full(len(column), np.nan)
    moments = column.to_numpy(dtype="datetime64[us]")
    return np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / MICROSECONDS)


def to_dates(days: Floats, dtype: str) -> NDArray[Any]:
    """Return days since 1970-01-01 as dates of a dtype, to the microsecond."""
    absent = np.isnan(days)
    moments = np.round(np.where(absent, 0.0, days) * MICROSECONDS).astype(np.int64).astype("datetime64[us]")
    moments[absent] = np.datetime64("NaT", "us")
    return moments.astype(dtype)


def format_days(days: float) -> str:
    """Return a date, with the time unless it is midnight."""
    seconds = round(days * 86_400)
    text = str(np.datetime64(seconds, "s")).replace("T", " ")
    return text.removesuffix(" 00:00:00").removesuffix(":00")


def round_days(days: Floats, at_most: float, *, whole: bool, rounding: Callable[[Floats], Floats] = np.ceil) -> Floats:
    """Return the dates rounded to the first of a year or a month, to a day, or to an hour or some minutes.

    The step is about ``at_most`` days, and at least a day for whole ones; ``rounding`` is ``np.ceil`` or ``np.floor``.
    """
    units: tuple[tuple[int, Literal["Y", "M"]], ...] = ((120, "Y"), (10, "M"))
    for least, unit in units:
        if at_most >= least:
            starts = to_dates(rounding(days), "datetime64[D]")
            rounded = starts.astype(f"datetime64[{unit}]")
            if rounding is np.ceil:
                rounded = np.where(rounded < starts, rounded + np.timedelta64(1, unit), rounded)
            return rounded.astype("datetime64[D]").astype(np.int64).astype(float)
    steps = [step for step in MINUTES if step <= at_most * 1440]
    per_day = 1 if whole or at_most >= 1 else 1440 // max(steps, default=1)
    return rounding(np.round(days * per_day, 6)) / per_day
