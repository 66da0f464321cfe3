"""One column: its kind, the values that it may hold, and how they are encoded and decoded."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints
from oleander.data.checks import MOST_EXACT
from oleander.data.schema.rounding import format_days, format_number, to_dates, to_days
from oleander.files.codec import Saved
from oleander.messages import list_some, shorten, visible

Level = str | int | float | bool
# Squares of smaller distances underflow, and a standard deviation needs squares.
LEAST_SPREAD = 1e-150
# The first and the last day of the years 1 to 9999, and those that nanoseconds can hold.
YEARS, NANOSECONDS = (-719_162.0, 2_932_896.0), (-106_751.0, 106_751.0)
# Units that follow a number without a space.
NO_SPACE = ("", "%", "°")
# What pandas calls objects of one kind of levels.
PURE = {frozenset({"text"}): "string", frozenset({"truth values"}): "boolean"}
# Names as pandas and NumPy write them: int64, <U12, Int64, string, category, double[pyarrow].
DTYPE_NAME = re.compile(r"[<>|=]?[A-Za-z]{1,20}[0-9]{0,4}(\[[a-z]{1,20}\])?")


class Kind(StrEnum):
    """The kind of a column, which decides its distances, draws, bins and rules."""

    CONTINUOUS = "continuous"
    INTEGER = "integer"
    BINARY = "binary"
    CATEGORICAL = "categorical"
    DATE = "date"
    TIMESTAMP = "timestamp"


def read_dtype_name(name: Any) -> str:
    """Return the name of a dtype from a file, or raise ``ValueError``.

    NumPy parses other names as a small language, and would allocate the memory for a string of a billion characters.
    """
    if not isinstance(name, str) or not DTYPE_NAME.fullmatch(name):
        raise ValueError(f"{shorten(str(name), 40)!r} is not the dtype of a column")
    return name


def to_plain(level: Any) -> Any:
    """Return a level as a plain Python value."""
    return level.item() if isinstance(level, np.generic) else level


def kind_of_level(value: Any) -> str:
    """Return the kind of a level: "text", "truth values" or "numbers"; empty for a value that cannot be a level."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bool, np.bool_)):
        return "truth values"
    is_number = isinstance(value, (int, float, np.integer, np.floating))
    # A whole number may be larger than any float.
    return "numbers" if is_number and -math.inf < value < math.inf else ""


def _read_level(level: Any) -> Level:
    if not isinstance(level, Level) or not kind_of_level(level):
        raise TypeError("levels are finite numbers, text or truth values")
    return level


@dataclass(frozen=True)
class Feature(Saved):
    """A column of the data.

    Parameters
    ----------
    name : str
        The column's name in the data; rules print ``shown``.
    kind : Kind
        Continuous and integer columns hold numbers, and so do dates and timestamps: days since 1970-01-01. Binary and
        categorical columns hold levels.
    dtype : str
        The name of the column's dtype in pandas; the black box gets its values with this dtype.
    lower, upper : float
        Bounds of a number. Inferred bounds are rounded outward, so that they are not the value of a row.
    scale : float
        The length that one unit of radius means along a number.
    levels : tuple
        The values of a binary or categorical column; the code of a level is its position. A categorical column without
        levels holds missing values only: no rule mentions it, and the black box gets it unchanged.
    missing : bool
        Whether a missing value is allowed.
    ordered : bool
        Whether a column of dtype ``category`` is ordered.
    rare : bool
        Whether the last level stands for every level that is not named: those that few rows hold, and new ones.
    description : str
        What the column is in the user's words, which rules print instead of its name; empty for the name.
    unit : str
        The unit of a number, printed after its values.
    private : Feature or None
        The column with exact bounds and every level by its name, for draws and the black box. It is never written.
    categories : tuple
        The levels in the order of the dtype ``category``, where this is not that of the codes. Never written either.

    Examples
    --------
    >>> sex = Feature("sex", Kind.BINARY, "str", levels=("F", "M"))
    >>> sex.encode(["M", "F"])
    array([1., 0.])
    """

    name: str
    kind: Annotated[Kind, Kind]
    dtype: Annotated[str, read_dtype_name]
    lower: float = 0.0
    upper: float = 0.0
    scale: float = 1.0
    levels: tuple[Annotated[Level, _read_level], ...] = ()
    missing: bool = False
    ordered: bool = False
    rare: bool = False
    description: str = ""
    unit: str = ""
    private: "Feature | None" = field(default=None, compare=False, repr=False)
    categories: tuple[Level, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.unit and (not self.is_number or self.is_date):
            raise ValueError(f"column {self.name!r} holds no numbers, so it cannot have the unit {self.unit!r}.")
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
        needs_level = self.kind is Kind.BINARY or not self.missing
        if len(set(self.levels)) != len(self.levels) or (needs_level and not self.levels):
            raise ValueError(f"column {self.name!r} needs levels that are distinct, at least one.")
        if self.rare and (not self.levels or self.kind is not Kind.CATEGORICAL):
            raise ValueError(f"column {self.name!r} has rare levels, so it must be categorical, with a level for them.")
        if self.kind is Kind.BINARY and len(self.levels) != 2:
            raise ValueError(
                f"column {self.name!r} cannot be binary: it has {len(self.levels)} levels, {list_some(self.levels)}."
            )

    @property
    def shown(self) -> str:
        """The description as it is printed, or else the name."""
        return visible(self.description or self.name)

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers or dates, not levels."""
        return self.kind not in (Kind.BINARY, Kind.CATEGORICAL)

    @property
    def is_date(self) -> bool:
        """Whether the column holds dates, with a time or without."""
        return self.kind in (Kind.DATE, Kind.TIMESTAMP)

    @property
    def is_whole(self) -> bool:
        """Whether draws and edges are whole numbers: in integer columns, and in dates without a time."""
        return self.kind in (Kind.INTEGER, Kind.DATE)

    @cached_property
    def dtype_bounds(self) -> tuple[float, float]:
        """The smallest and the largest number that the column's dtype can hold."""
        if self.is_date:
            return NANOSECONDS if self.dtype == "datetime64[ns]" else YEARS
        dtype = pd.api.types.pandas_dtype(self.dtype)
        numpy_dtype = getattr(dtype, "numpy_dtype", dtype)
        if self.kind is Kind.CONTINUOUS or numpy_dtype.kind not in "iu":
            # A column of whole numbers that is declared continuous is drawn as floats.
            largest = float(np.finfo(numpy_dtype if numpy_dtype.kind == "f" else float).max)
            return -largest, largest
        # Whole numbers over 2^53 are not exact as floats, and one that is rounded up would not fit.
        limits = np.iinfo(numpy_dtype)
        return max(float(limits.min), -MOST_EXACT), min(float(limits.max), MOST_EXACT)

    @property
    def n_alternatives(self) -> int:
        """The number of other states that a flip can lead to: levels, and missing if it is allowed."""
        # A column without levels has one state: missing.
        return (0 if self.is_number else len(self.levels) - 1) + self.missing

    @property
    def named_levels(self) -> tuple[Level, ...]:
        """The levels without the one that stands for rare levels."""
        return self.levels[:-1] if self.rare else self.levels

    @property
    def exact(self) -> "Feature":
        """The column with exact bounds and every level, itself if unknown. Only codes of rare levels differ."""
        return self.private or self

    def changed(self, **changes: Any) -> Self:
        """Return the column with some parameters changed, also in the exact one; given levels replace all others."""
        if "levels" in changes:
            changes = {"rare": False, "categories": (), **changes}
        return replace(self, **changes, private=None if self.private is None else replace(self.private, **changes))

    def knowing(self, levels: Iterable[Any], categories: Iterable[Any] = ()) -> Self:
        """Return a column with rare levels that knows the names of more of them, with which the black box is asked."""
        known = dict.fromkeys(self.named_levels if self.private is None else self.private.levels)
        new = [level for level in map(to_plain, levels) if self._may_be_rare(level) and level not in known]
        if not new:
            return self
        names = tuple(dict.fromkeys([*self.exact.categories, *map(to_plain, categories), *known, *new]))
        private = replace(
            self.exact, levels=(*known, *new), rare=False, categories=names if self.dtype == "category" else ()
        )
        return replace(self, private=private)

    @cached_property
    def _index(self) -> pd.Index:
        return pd.Index(self.named_levels)

    @cached_property
    def _level_values(self) -> NDArray[Any]:
        is_plain = {kind_of_level(level) for level in self.levels} in ({"truth values"}, {"numbers"})
        return np.array(self.levels, dtype=None if is_plain else object)

    def encode(self, values: Any) -> Floats:
        """Return the column as floats; ``ValueError`` names the row of a value that it may not hold."""
        column = pd.Series(values)
        codes, allowed = self.read(column)
        if not allowed.all():
            row = int(allowed.argmin())
            raise ValueError(f"column {self.name!r} {self._describe_refused(column.iloc[row], row)}")
        return codes

    def read(self, values: Any) -> tuple[Floats, Bools]:
        """Return numbers as they are, levels as codes and missing values as NaN, and a mask of the values allowed."""
        column = pd.Series(values)
        if not self.is_number:
            codes = self._positions(column).astype(float)
            allowed = codes >= 0
        else:
            codes = to_days(column) if self.is_date else self._read_numbers(column)
            allowed = np.isfinite(codes)
            is_exact = self.is_date or pd.api.types.is_float_dtype(column.dtype)
            if not is_exact and (is_large := np.abs(codes) > MOST_EXACT).any():
                # A float among objects is exact as it is.
                allowed &= ~is_large | [isinstance(value, float) for value in column]
            if allowed.all():
                return codes, allowed
        absent = column.isna().to_numpy()
        codes[absent] = np.nan
        return codes, np.where(absent, self.missing, allowed)

    def read_plain(self, value: Any) -> float | None:
        """Return the code of one number or named level; None for any other value, which ``read`` may still allow."""
        kind = kind_of_level(value)
        if not self.is_number:
            return self._places.get((kind, value)) if kind else None
        if kind == "numbers" and not self.is_date and abs(value) <= MOST_EXACT:
            return float(value)
        return math.nan if self.missing and isinstance(value, float) and math.isnan(value) else None

    @cached_property
    def _places(self) -> dict[tuple[str, Any], float]:
        return {(kind_of_level(level), level): float(code) for code, level in enumerate(self.named_levels)}

    def _read_numbers(self, column: pd.Series) -> Floats:
        """Return numbers as floats, and NaN for anything else; dates and the like are refused."""
        dtype = column.dtype
        # NumPy would turn dates, spans of time and complex numbers into plain numbers.
        if isinstance(dtype, pd.DatetimeTZDtype) or (isinstance(dtype, np.dtype) and dtype.kind in "mMc"):
            raise ValueError(
                f"column {self.name!r} holds numbers, but row 0 holds {column.iloc[0]!r}: turn the column into numbers "
                "first."
            )
        if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
            # Without looking for other kinds of missing values, which takes time with many rows.
            return np.array(column.to_numpy(), dtype=float)
        if not pd.api.types.is_numeric_dtype(dtype):
            column = column.astype(object).map(_to_float)
        return np.array(column.to_numpy(dtype=float, na_value=np.nan))

    def _describe_refused(self, value: Any, row: int) -> str:
        """Return why a value is not allowed, and what can be done."""
        if pd.isna(value):
            return (
                f"has a missing value in row {row}, and its schema allows none. Fill it, or allow it: "
                f"schema.with_feature({self.name!r}, missing=True)."
            )
        if not self.is_number:
            return f"holds {value!r} in row {row}, which is not one of its levels: {list_some(self.levels)}."
        if self.is_date:
            return f"holds dates, but row {row} holds {value!r}, which is not a date without a time zone."
        code = self._read_numbers(pd.Series([value]))[0]
        if np.isnan(code):
            return f"is {self.kind}, but row {row} holds {value!r}, which is not a number."
        if np.isinf(code):
            return f"holds {code} in row {row}; values must be finite. Replace it, or mark it as missing."
        return (
            f"holds {value} in row {row}, a whole number beyond 2^53 - 1, which may be rounded. Turn it into text if "
            "it is an id, or into a larger unit."
        )

    def _positions(self, column: pd.Series) -> Ints:
        """Return the position of each value among the levels; -1 for a value that is no level."""
        if not isinstance(column.dtype, pd.CategoricalDtype):
            return self._find(column)
        # Each category is looked up once; the last entry is for rows without a category.
        places = np.append(self._find(column.cat.categories.astype(object)), -1)
        return np.asarray(places[column.cat.codes.to_numpy()])

    def _find(self, values: "pd.Series | pd.Index") -> Ints:
        places: Ints = self._index.get_indexer(values)
        if values.dtype == object and pd.api.types.infer_dtype(values) != PURE.get(self._kinds):
            # To an index, True is 1.
            is_truth = np.array([isinstance(value, (bool, np.bool_)) for value in values], dtype=bool)
            places[is_truth != np.isin(places, [k for k, one in enumerate(self.levels) if isinstance(one, bool)])] = -1
        if self.rare:
            others = np.flatnonzero(places < 0)
            allowed = [self._may_be_rare(value) for value in values.to_numpy(dtype=object)[others]]
            places[others[np.array(allowed, dtype=bool)]] = len(self.levels) - 1
        return places

    def _may_be_rare(self, value: Any) -> bool:
        """Return whether a value is of the same kind as the named levels; without any, whether it can be a level."""
        kind = kind_of_level(value)
        return kind in self._kinds if self._kinds else kind != ""

    @cached_property
    def _kinds(self) -> frozenset[str]:
        return frozenset(map(kind_of_level, self.named_levels))

    def decode(self, codes: Floats) -> Any:
        """Return the values behind the codes, with the column's dtype if it can hold them."""
        if self.private is not None:
            return self.private.decode(codes)
        if self.is_date:
            return to_dates(codes, self.dtype)
        if self.rare and (codes >= len(self.named_levels)).any():
            raise ValueError(f"column {self.name!r} has rare levels of unknown names: give rows that contain them.")
        absent = np.isnan(codes) if self.missing else np.zeros(len(codes), dtype=bool)
        has_absent = bool(absent.any())
        if self.dtype == "category":
            names = list(self.categories or self.named_levels)
            places = np.append(pd.Index(names).get_indexer(pd.Index(self.named_levels)), -1)
            positions = places[np.where(absent, -1, codes).astype(np.intp)]
            return pd.Categorical.from_codes(positions, dtype=pd.CategoricalDtype(names, self.ordered))
        if self.is_number:
            values: NDArray[Any] = codes
        elif not self.levels:
            values = codes if np.dtype(float) == self.dtype else np.full(len(codes), None, dtype=object)
        else:
            values = self._level_values[np.where(absent, 0, codes).astype(np.intp)]
            if has_absent:
                values = values.astype(float if values.dtype.kind in "iuf" else object)
                values[absent] = np.nan if values.dtype.kind == "f" else None
        return _to_dtype(values, self.dtype, has_absent, is_continuous=self.kind is Kind.CONTINUOUS)

    def describe_value(self, code: float) -> str:
        """Return the value behind a code as text that can be printed."""
        if math.isnan(code):
            return "missing"
        if self.is_number:
            return format_days(code) if self.is_date else format_number(code)
        level = self.levels[int(code)]
        return format_number(level) if isinstance(level, float) or type(level) is int else visible(level)

    def with_unit(self, text: str) -> str:
        """Return a value in words with the column's unit."""
        return f"{text}{'' if self.unit in NO_SPACE else ' '}{visible(self.unit)}"

    def check_read(self) -> None:
        """Raise ``ValueError`` if the dtype cannot hold the column's values."""
        codes = np.array([self.lower, self.upper]) if self.is_number else np.arange(float(len(self.named_levels)))
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


def _to_float(value: Any) -> float:
    """Return a number, or text that is one, as exported Python reads it; NaN for anything else."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _to_dtype(values: NDArray[Any], name: str, has_absent: bool, *, is_continuous: bool) -> Any:
    """Return the values of a column with the dtype of this name, if it can hold them."""
    if values.dtype == name:
        return values
    dtype = pd.api.types.pandas_dtype(name)
    if isinstance(dtype, np.dtype):
        # An integer column that is declared continuous, or has missing values among its draws, needs floats.
        if dtype.kind in "iu" and (has_absent or is_continuous):
            return values
        return values if dtype.kind == "b" and has_absent else values.astype(dtype)
    if is_continuous and pd.api.types.is_integer_dtype(dtype):
        return pd.array(values, dtype="Float64")
    return pd.array(values, dtype=dtype)
