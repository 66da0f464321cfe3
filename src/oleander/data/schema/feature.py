"""One column: its kind, the values that it may hold, and how they are encoded and decoded."""

import math
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints
from oleander.data.checks import MOST_EXACT
from oleander.data.schema.dates import day_bounds, format_days, to_dates, to_days
from oleander.data.schema.rounding import format_number
from oleander.data.schema.values import (
    find_inexact,
    read_dtype_name,
    refuse_half_pairs,
    refuse_inexact,
    refuse_infinite,
    refuse_no_numbers,
)
from oleander.running.wording import list_some

Level = str | int | float | bool
INFINITE = (math.inf, -math.inf)
# Squares of smaller distances, which a standard deviation needs, are no floats.
LEAST_SPREAD = 1e-150


class Kind(StrEnum):
    """The kind of a column, which decides its distances, draws, bins and rules."""

    CONTINUOUS = "continuous"
    INTEGER = "integer"
    BINARY = "binary"
    CATEGORICAL = "categorical"
    DATE = "date"
    TIMESTAMP = "timestamp"


@dataclass(frozen=True)
class Feature:
    """A column of the data.

    Parameters
    ----------
    name : str
        The column's name in rules and messages.
    kind : Kind
        Continuous and integer columns hold numbers, and so do dates and timestamps: days since 1970-01-01. Binary and
        categorical columns hold levels.
    dtype : str
        The column's dtype as pandas names it; the black box gets its values with this dtype.
    lower, upper : float
        Bounds of a number; no draw lies outside.
    scale : float
        The length that one unit of radius means along a number.
    levels : tuple
        The values of a binary or categorical column; a level's code is its position. A categorical column without
        levels holds missing values only: no rule speaks of it, and the black box gets it as it came.
    missing : bool
        Whether a missing value is allowed.
    ordered : bool
        Whether a column of dtype ``category`` is ordered.

    Examples
    --------
    >>> sex = Feature("sex", Kind.BINARY, "str", levels=("F", "M"))
    >>> sex.encode(["M", "F"])
    array([1., 0.])
    """

    name: str
    kind: Kind
    dtype: str
    lower: float = 0.0
    upper: float = 0.0
    scale: float = 1.0
    levels: tuple[Level, ...] = ()
    missing: bool = False
    ordered: bool = False

    def __post_init__(self) -> None:
        refuse_half_pairs(self.name, "a column's name")
        if self.is_number:
            if not (math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower <= self.upper):
                raise ValueError(
                    f"column {self.name!r} has bounds [{self.lower:g}, {self.upper:g}]; "
                    "they must be finite and in order."
                )
            is_tiny = 0 < self.upper - self.lower < LEAST_SPREAD or self.scale < LEAST_SPREAD
            if not math.isfinite(self.scale) or is_tiny:
                raise ValueError(
                    f"column {self.name!r} has scale {self.scale:g}; it must be at least {LEAST_SPREAD:g} and finite. "
                    f"Its values lie from {self.lower:g} to {self.upper:g}: if they are right, give the column in "
                    "another unit."
                )
            return
        for level in self.levels:
            refuse_half_pairs(level, f"column {self.name!r}")
        needs_level = self.kind is Kind.BINARY or not self.missing
        if len(set(self.levels)) != len(self.levels) or (needs_level and not self.levels):
            raise ValueError(f"column {self.name!r} needs levels that are distinct, at least one.")
        if self.kind is Kind.BINARY and len(self.levels) != 2:
            raise ValueError(
                f"column {self.name!r} cannot be binary: it has {len(self.levels)} levels, {list_some(self.levels)}."
            )

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers, dates included, rather than levels."""
        return self.kind not in (Kind.BINARY, Kind.CATEGORICAL)

    @property
    def is_date(self) -> bool:
        """Whether the column holds dates, with a time or without."""
        return self.kind in (Kind.DATE, Kind.TIMESTAMP)

    @property
    def is_whole(self) -> bool:
        """Whether draws and edges are whole: of whole numbers, and of dates without a time."""
        return self.kind in (Kind.INTEGER, Kind.DATE)

    @property
    def dtype_bounds(self) -> tuple[float, float]:
        """The least and the largest number that the column's dtype can hold.

        >>> Feature("age", Kind.INTEGER, "uint8", lower=18, upper=90).dtype_bounds
        (0.0, 255.0)
        """
        if self.is_date:
            return day_bounds(self.dtype)
        # A column of whole numbers that is declared continuous is drawn as floats.
        if self.kind is Kind.CONTINUOUS:
            return -math.inf, math.inf
        # Whole numbers over 2^53 are not exact as floats, and one that is rounded up would not fit.
        dtype = pd.api.types.pandas_dtype(self.dtype)
        numpy_dtype = getattr(dtype, "numpy_dtype", dtype)
        limits = np.iinfo(numpy_dtype if numpy_dtype.kind in "iu" else np.int64)
        return max(float(limits.min), -MOST_EXACT), min(float(limits.max), MOST_EXACT)

    @property
    def n_alternatives(self) -> int:
        """The number of other states that a flip can lead to: levels, and missing where allowed."""
        # A column without levels has one state: missing.
        return (0 if self.is_number else len(self.levels) - 1) + self.missing

    @property
    def is_its_own_code(self) -> bool:
        """Whether encoding leaves the values unchanged."""
        return (self.is_number and not self.is_date) or self.levels in ((0, 1), (0,))

    @cached_property
    def _index(self) -> pd.Index:
        return pd.Index(self.levels)

    @cached_property
    def _level_values(self) -> NDArray[Any]:
        if all(isinstance(level, bool) for level in self.levels):
            return np.array(self.levels, dtype=bool)
        if all(isinstance(level, (int, float)) and not isinstance(level, bool) for level in self.levels):
            return np.array(self.levels)
        return np.array(self.levels, dtype=object)

    def encode(self, values: Any) -> Floats:
        """Return the column as floats: numbers as they are, levels as codes, missing as NaN.

        Raises ``ValueError`` naming the row for a value that the column may not hold.
        """
        column = values if isinstance(values, pd.Series) else pd.Series(values)
        absent = column.isna().to_numpy()
        codes = self._number_codes(column) if self.is_number else self._level_codes(column, absent)
        if absent.any():
            if not self.missing:
                raise ValueError(
                    f"column {self.name!r} has a missing value in row {absent.argmax()}, and its schema allows none. "
                    f"Fill it, or allow it: schema.with_feature({self.name!r}, missing=True)."
                )
            codes[absent] = np.nan
        return codes

    def holds(self, values: Any) -> Bools:
        """Return a mask of the values that the column may hold, which are those that can be encoded.

        >>> Feature("sex", Kind.BINARY, "str", levels=("F", "M")).holds(["M", "X", None]).tolist()
        [True, False, False]
        """
        column = values if isinstance(values, pd.Series) else pd.Series(values)
        absent = column.isna().to_numpy()
        if self.is_date:
            allowed = np.isfinite(to_days(column))
        elif self.is_number:
            refuse_no_numbers(column, self.name)
            codes = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
            allowed = np.isfinite(codes) & ~find_inexact(column, codes)
        else:
            allowed = self._positions(column) >= 0
        return np.where(absent, self.missing, allowed)

    def _number_codes(self, column: pd.Series) -> Floats:
        if self.is_date:
            days = to_days(column)
            strange = np.isnan(days) & column.notna().to_numpy()
            if strange.any():
                row = int(strange.argmax())
                raise ValueError(
                    f"column {self.name!r} holds dates, but row {row} holds {column.iloc[row]!r}, which is not a date "
                    "without a time zone."
                )
            return days
        refuse_no_numbers(column, self.name)
        try:
            codes = np.array(column.to_numpy(dtype=float, na_value=np.nan))
        except (TypeError, ValueError):
            numbers = pd.to_numeric(column, errors="coerce")
            row = int((numbers.isna() & column.notna()).to_numpy().argmax())
            raise ValueError(
                f"column {self.name!r} is {self.kind}, but row {row} holds {column.iloc[row]!r}, which is not a number."
            ) from None
        refuse_infinite(codes, self.name)
        refuse_inexact(column, codes, self.name)
        return codes

    def _level_codes(self, column: pd.Series, absent: Bools) -> Floats:
        codes = self._positions(column).astype(float)
        unknown = (codes < 0) & ~absent
        if unknown.any():
            row = int(unknown.argmax())
            raise ValueError(
                f"column {self.name!r} holds {column.iloc[row]!r} in row {row}, "
                f"which is not one of its levels: {list_some(self.levels)}."
            )
        return codes

    def _positions(self, column: pd.Series) -> Ints:
        """Return the position of each value among the levels; -1 for a value that is no level."""
        if not isinstance(column.dtype, pd.CategoricalDtype):
            positions: Ints = self._index.get_indexer(column)
            return positions
        # Each category is looked up once; the last entry is for rows without a category.
        places = np.append(self._index.get_indexer(column.cat.categories.astype(object)), -1)
        return np.asarray(places[column.cat.codes.to_numpy()])

    def decode(self, codes: Floats) -> Any:
        """Return the values behind the codes, with the column's dtype where it can hold them."""
        if self.is_date:
            return to_dates(codes, self.dtype)
        absent = np.isnan(codes) if self.missing else np.zeros(len(codes), dtype=bool)
        has_absent = bool(absent.any())
        if self.dtype == "category":
            positions = np.where(absent, -1, codes).astype(np.intp)
            return pd.Categorical.from_codes(positions, dtype=pd.CategoricalDtype(list(self.levels), self.ordered))
        if self.is_number:
            values: NDArray[Any] = codes
        elif not self.levels:
            values = codes if np.dtype(float) == self.dtype else np.full(len(codes), None, dtype=object)
        else:
            values = self._level_values[np.where(absent, 0, codes).astype(np.intp)]
            if has_absent:
                values = values.astype(float if values.dtype.kind in "iuf" else object)
                values[absent] = np.nan if values.dtype.kind == "f" else None
        return values if values.dtype == self.dtype else self._to_dtype(values, has_absent)

    def _to_dtype(self, values: NDArray[Any], has_absent: bool) -> Any:
        dtype = pd.api.types.pandas_dtype(self.dtype)
        if isinstance(dtype, np.dtype):
            # An integer column that is declared continuous, or has missing draws, needs floats.
            if dtype.kind in "iu" and (has_absent or self.kind is Kind.CONTINUOUS):
                return values
            return values if dtype.kind == "b" and has_absent else values.astype(dtype)
        if self.kind is Kind.CONTINUOUS and pd.api.types.is_integer_dtype(dtype):
            return pd.array(values, dtype="Float64")
        return pd.array(values, dtype=dtype)

    def describe_value(self, code: float) -> str:
        """Return the value behind a code as text.

        >>> Feature("sex", Kind.BINARY, "str", levels=("F", "M")).describe_value(1.0)
        'M'
        """
        if math.isnan(code):
            return "missing"
        if self.is_number:
            return format_days(code) if self.is_date else format_number(code)
        level = self.levels[int(code)]
        return format_number(level) if isinstance(level, float) or type(level) is int else str(level)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**asdict(self), "kind": str(self.kind), "levels": list(self.levels)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the feature that ``to_dict`` wrote; ``ValueError`` or ``TypeError`` names what is wrong."""
        known = {one.name for one in fields(cls)}
        if set(data) != known:
            raise ValueError(f"a column is described by {', '.join(sorted(known))}, and by nothing else")
        name, levels = data["name"], tuple(data["levels"])
        if not isinstance(name, str):
            raise TypeError(f"a column is named by a {type(name).__name__}")
        if not all(isinstance(level, Level) and level == level and level not in INFINITE for level in levels):
            raise TypeError(f"column {name!r} has levels that are not plain numbers, strings or booleans")
        feature = cls(
            name,
            Kind(data["kind"]),
            read_dtype_name(data["dtype"]),
            float(data["lower"]),
            float(data["upper"]),
            float(data["scale"]),
            levels,
            bool(data["missing"]),
            bool(data["ordered"]),
        )
        if not all(map(math.isfinite, (feature.lower, feature.upper, feature.scale))):
            raise ValueError(f"column {name!r} has bounds or a scale that are not finite")
        feature._check_dtype()
        return feature

    def _check_dtype(self) -> None:
        """Raise ``ValueError`` if the dtype cannot hold the column's values."""
        codes = np.array([self.lower, self.upper]) if self.is_number else np.arange(float(len(self.levels)))
        try:
            dtype = pd.api.types.pandas_dtype(self.dtype)
            if isinstance(dtype, np.dtype) and dtype.kind not in ("M" if self.is_date else "biufOUS"):
                raise ValueError(f"a dtype of kind {dtype.kind}")
            with np.errstate(invalid="raise"):
                again = self.encode(self.decode(codes))
            if (self.is_date or not self.is_number) and not np.array_equal(again, codes):
                raise ValueError("levels that are changed by encoding")
        except (TypeError, ValueError, OverflowError, FloatingPointError, NotImplementedError, IndexError) as error:
            raise ValueError(f"column {self.name!r} cannot be {self.kind} with dtype {self.dtype!r}") from error
