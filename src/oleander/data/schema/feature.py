"""One column: its kind, what it may hold, and how it reads and writes the user's values."""

import math
import re
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.data.schema.readable import format_number
from oleander.running.wording import list_some, shorten

Level = str | int | float | bool
INFINITE = (math.inf, -math.inf)
# As pandas and NumPy write them: int64, <U12, Int64, string, category, double[pyarrow].
DTYPE_NAME = re.compile(r"[<>|=]?[A-Za-z]{1,20}[0-9]{0,4}(\[[a-z]{1,20}\])?")


class Kind(StrEnum):
    """How a column behaves: where distance, draws, bins and rules differ."""

    CONTINUOUS = "continuous"
    INTEGER = "integer"
    BINARY = "binary"
    CATEGORICAL = "categorical"


@dataclass(frozen=True)
class Feature:
    """A column of the data.

    Parameters
    ----------
    name : str
        The column's name as the user reads it.
    kind : Kind
        Continuous and integer columns are numbers; binary and categorical ones are levels.
    dtype : str
        The column's dtype as pandas writes it: what the black box expects.
    lower, upper : float
        Bounds of a number; draws respect them.
    scale : float
        The length that one unit of radius means along a number.
    levels : tuple
        The values of a binary or categorical column; a level's code is its position.
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
        if self.is_number:
            if not (math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower <= self.upper):
                raise ValueError(
                    f"column {self.name!r} has bounds [{self.lower:g}, {self.upper:g}]; "
                    "they must be finite and in order."
                )
            if not (math.isfinite(self.scale) and self.scale > 0):
                raise ValueError(f"column {self.name!r} has scale {self.scale:g}; it must be over 0.")
            return
        if len(set(self.levels)) != len(self.levels) or not self.levels:
            raise ValueError(f"column {self.name!r} needs levels that are distinct, at least one.")
        if self.kind is Kind.BINARY and len(self.levels) != 2:
            raise ValueError(
                f"column {self.name!r} cannot be binary: it has {len(self.levels)} levels, {list_some(self.levels)}."
            )

    @property
    def is_number(self) -> bool:
        """Whether the column is measured (continuous or integer) rather than named (levels)."""
        return self.kind in (Kind.CONTINUOUS, Kind.INTEGER)

    @property
    def n_alternatives(self) -> int:
        """Into how many other states a flip can move the column: levels, and missing where allowed."""
        return (0 if self.is_number else len(self.levels) - 1) + self.missing

    @property
    def is_its_own_code(self) -> bool:
        """Whether encoding leaves the values as they are."""
        return self.is_number or self.levels in ((0, 1), (0,))

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

    def encode(self, values: Any) -> NDArray[np.float64]:
        """Return the column as floats: numbers as they are, levels as codes, missing as NaN.

        Raises ``ValueError`` naming the row for what the column may not hold.
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

    def holds(self, values: Any) -> NDArray[np.bool_]:
        """Return which values the column may hold: those that can be encoded.

        >>> Feature("sex", Kind.BINARY, "str", levels=("F", "M")).holds(["M", "X", None]).tolist()
        [True, False, False]
        """
        column = values if isinstance(values, pd.Series) else pd.Series(values)
        absent = column.isna().to_numpy()
        if self.is_number:
            allowed = np.isfinite(pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan))
        else:
            allowed = self._positions(column) >= 0
        return np.where(absent, self.missing, allowed)

    def _number_codes(self, column: pd.Series) -> NDArray[np.float64]:
        try:
            codes = np.array(column.to_numpy(dtype=float, na_value=np.nan))
        except (TypeError, ValueError):
            numbers = pd.to_numeric(column, errors="coerce")
            row = int((numbers.isna() & column.notna()).to_numpy().argmax())
            raise ValueError(
                f"column {self.name!r} is {self.kind}, but row {row} holds {column.iloc[row]!r}, which is not a number."
            ) from None
        refuse_infinite(codes, self.name)
        return codes

    def _level_codes(self, column: pd.Series, absent: NDArray[np.bool_]) -> NDArray[np.float64]:
        codes = self._positions(column).astype(float)
        unknown = (codes < 0) & ~absent
        if unknown.any():
            row = int(unknown.argmax())
            raise ValueError(
                f"column {self.name!r} holds {column.iloc[row]!r} in row {row}, "
                f"which is not one of its levels: {list_some(self.levels)}."
            )
        return codes

    def _positions(self, column: pd.Series) -> NDArray[np.intp]:
        """Return where among the levels each value stands; -1 for none."""
        if not isinstance(column.dtype, pd.CategoricalDtype):
            positions: NDArray[np.intp] = self._index.get_indexer(column)
            return positions
        # Each category is looked up once; the last entry is for rows without one.
        places = np.append(self._index.get_indexer(column.cat.categories.astype(object)), -1)
        return np.asarray(places[column.cat.codes.to_numpy()])

    def decode(self, codes: NDArray[np.float64]) -> Any:
        """Return the values that the user's own column would hold, with its dtype where that can hold them."""
        absent = np.isnan(codes) if self.missing else np.zeros(len(codes), dtype=bool)
        has_absent = bool(absent.any())
        if self.dtype == "category":
            positions = np.where(absent, -1, codes).astype(np.intp)
            return pd.Categorical.from_codes(positions, dtype=pd.CategoricalDtype(list(self.levels), self.ordered))
        if self.is_number:
            values: NDArray[Any] = codes
        else:
            values = self._level_values[np.where(absent, 0, codes).astype(np.intp)]
            if has_absent:
                values = values.astype(float if values.dtype.kind in "iuf" else object)
                values[absent] = np.nan if values.dtype.kind == "f" else None
        return values if values.dtype == self.dtype else self._to_dtype(values, has_absent)

    def _to_dtype(self, values: NDArray[Any], has_absent: bool) -> Any:
        dtype = pd.api.types.pandas_dtype(self.dtype)
        if isinstance(dtype, np.dtype):
            # An integer column that was declared continuous, or holds missing draws, needs floats.
            if dtype.kind in "iu" and (has_absent or self.kind is Kind.CONTINUOUS):
                return values
            return values if dtype.kind == "b" and has_absent else values.astype(dtype)
        if self.kind is Kind.CONTINUOUS and pd.api.types.is_integer_dtype(dtype):
            return pd.array(values, dtype="Float64")
        return pd.array(values, dtype=dtype)

    def describe_value(self, code: float) -> str:
        """Return the value behind a code in the user's words.

        >>> Feature("sex", Kind.BINARY, "str", levels=("F", "M")).describe_value(1.0)
        'M'
        """
        if math.isnan(code):
            return "missing"
        if self.is_number:
            return format_number(code)
        level = self.levels[int(code)]
        return format_number(level) if isinstance(level, float) or type(level) is int else str(level)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**asdict(self), "kind": str(self.kind), "levels": list(self.levels)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote, or raise ``ValueError`` or ``TypeError`` saying what is wrong with it."""
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
            raise ValueError(f"column {name!r} has bounds or a scale that are no numbers")
        feature._check_dtype()
        return feature

    def _check_dtype(self) -> None:
        """Raise ``ValueError`` if the column's values cannot be held as the dtype says."""
        codes = np.array([self.lower, self.upper]) if self.is_number else np.arange(float(len(self.levels)))
        try:
            dtype = pd.api.types.pandas_dtype(self.dtype)
            if isinstance(dtype, np.dtype) and dtype.kind not in "biufOUS":
                raise ValueError(f"a dtype of kind {dtype.kind}")
            with np.errstate(invalid="raise"):
                again = self.encode(self.decode(codes))
            if not self.is_number and not np.array_equal(again, codes):
                raise ValueError("levels that are not what they were")
        except (TypeError, ValueError, OverflowError, FloatingPointError, NotImplementedError, IndexError) as error:
            raise ValueError(f"column {self.name!r} cannot be {self.kind} with dtype {self.dtype!r}") from error


def read_dtype_name(words: Any) -> str:
    """Return the name of a dtype that a file holds, or raise ``ValueError``.

    NumPy reads other names as little programs, and a string of a billion characters as a wish for as much memory.

    Examples
    --------
    >>> read_dtype_name("<U7"), read_dtype_name("Int64")
    ('<U7', 'Int64')
    >>> read_dtype_name("<U999999999")
    Traceback (most recent call last):
    ...
    ValueError: '<U999999999' is not the dtype of a column
    """
    if not isinstance(words, str) or not DTYPE_NAME.fullmatch(words):
        raise ValueError(f"{shorten(str(words), 40)!r} is not the dtype of a column")
    return words


def refuse_infinite(values: NDArray[np.float64], name: str) -> None:
    """Raise ``ValueError`` naming the row if a value of the column is infinite."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise ValueError(
            f"column {name!r} holds {values[row]} in row {row}; values must be finite. "
            "Replace it, or mark it as missing."
        )
