"""A column of a table that stays in its engine, and the conditions of rules on it, as narwhals expressions.

A value means what it means to ``predict``: NULL and NaN are missing, and numbers are 64-bit floats. A row with an
unknown level, an infinite number or a whole number beyond 2^53 cannot be read.
"""

import sys
from datetime import date, datetime, timedelta
from functools import reduce
from operator import and_
from typing import Any

import narwhals.stable.v2 as nw

from oleander.data.checks import MOST_EXACT
from oleander.data.schema import Feature
from oleander.data.schema.feature import kind_of_level
from oleander.data.schema.rounding import MICROSECONDS
from oleander.rules.conditions import Condition, Range

EPOCH = datetime(1970, 1, 1)
ZONED = "dates with a time zone"


class TableError(ValueError):
    """A table that its engine cannot count the rules on; the message says why."""


class UncountableError(TableError):
    """Explainers of a kind that no engine counts, whatever the table."""


def kind_of(dtype: Any) -> str:
    """Return the kind of values of a column in a word; empty for a column without values.

    >>> kind_of(nw.Int16()), kind_of(nw.Categorical()), kind_of(nw.Datetime(time_zone="UTC"))
    ('numbers', 'text', 'dates with a time zone')
    """
    if isinstance(dtype, nw.Boolean):
        return "truth values"
    if dtype.is_numeric() or isinstance(dtype, nw.Decimal):
        return "numbers"
    if isinstance(dtype, (nw.String, nw.Categorical, nw.Enum)):
        return "text"
    if isinstance(dtype, nw.Datetime):
        return ZONED if dtype.time_zone else "dates"
    return "dates" if isinstance(dtype, nw.Date) else "" if isinstance(dtype, nw.Unknown) else str(dtype)


def _kind_learned(feature: Feature) -> str:
    """Return the kind of values that a feature was learned from; empty where it has no level with a name."""
    if feature.is_number:
        return "dates" if feature.is_date else "numbers"
    kinds = set(map(kind_of_level, feature.named_levels))
    if len(kinds) > 1:
        raise TableError(f"column {feature.name!r} has levels of several types, and a column of a table has one.")
    return kinds.pop() if kinds else ""


def read_number(name: str, dtype: Any) -> nw.Expr:
    """Return a column of numbers or truth values as floats, with NULL for NaN."""
    raw = nw.col(name)
    if isinstance(dtype, nw.Boolean):
        # PostgreSQL casts no truth value to a float.
        return nw.when(raw).then(nw.lit(1.0)).otherwise(nw.when(~raw).then(nw.lit(0.0)))
    value = raw.cast(nw.Float64())
    return nw.when(~value.is_nan()).then(value) if dtype.is_float() else value


class Column:
    """A column of a table as a feature reads it.

    Spark reads a moment in Python as one of the session's time zone.
    """

    def __init__(self, feature: Feature, name: str, dtype: Any, *, is_spark: bool = False) -> None:
        learned, given = _kind_learned(feature), kind_of(dtype)
        is_truth = given == "truth values" and feature.is_number and learned == "numbers"
        if given and learned and given != learned and not is_truth:
            cure = " Convert them to dates without a zone, in the zone of the rows that were learned from."
            verb = "was" if learned == "text" else "were"
            raise TableError(
                f"column {feature.name!r} holds {given} in the table, and {learned} {verb} learned: give a column of "
                f"{learned}.{cure if given == ZONED else ''}"
            )
        self.feature, self.dtype, self.is_spark = feature, dtype, is_spark
        if given in ("numbers", "truth values"):
            self.value = read_number(name, dtype)
        elif given == "text":
            self.value = nw.col(name).cast(nw.String())
        else:
            self.value = nw.col(name) if given else nw.col(name).cast(nw.Float64())
        self.is_missing = self.value.is_null()
        self._is_number = given in ("numbers", "truth values")
        levels = [one for one in feature.named_levels if isinstance(one, (int, float))]
        self._has_large = self._is_number and any(abs(level) > MOST_EXACT for level in levels)
        if self._has_large:
            # Levels that a float would round are whole numbers.
            self.value = nw.col(name).cast(nw.Int64())

    def _is_one_of(self, levels: Any) -> nw.Expr:
        return self.value.is_in([*map(int if self._has_large else float, levels)] if self._is_number else levels)

    @property
    def is_readable(self) -> nw.Expr:
        """Whether the row has a value that the schema allows."""
        feature = self.feature
        if feature.is_number or (feature.rare and self._is_number):
            # Whole numbers and decimals beyond may have been rounded.
            most = sys.float_info.max if self.dtype.is_float() or not feature.is_number else float(MOST_EXACT)
            test = ~self.is_missing if feature.is_date or not self._is_number else self.value.abs() <= most
        elif feature.rare:
            test = ~self.is_missing
        elif feature.named_levels:
            test = self._is_one_of(feature.named_levels)
        else:
            return self.is_missing
        return test | self.is_missing if feature.missing else test

    def holds(self, condition: Condition) -> nw.Expr:
        """Return whether a condition holds; false or NULL where it does not."""
        test = self._within(condition) if isinstance(condition, Range) else self._among(condition.codes)
        if test is None:
            return self.is_missing if condition.missing else nw.lit(False)
        return test | self.is_missing if condition.missing else test

    def _within(self, condition: Range) -> nw.Expr | None:
        if not condition.lower < condition.upper:
            return None
        tests = [~self.is_missing]
        if self.feature.is_date:
            for days, is_lower in ((condition.lower, True), (condition.upper, False)):
                moment = next_moment(days)
                if moment is not None:
                    end = self._literal(moment)
                    tests.append(self.value >= end if is_lower else self.value < end)
                elif (days > 0) == is_lower:
                    return None
            return reduce(and_, tests)
        if condition.lower > -sys.float_info.max:
            tests.append(self.value > condition.lower)
        if condition.upper < sys.float_info.max:
            tests.append(self.value <= condition.upper)
        return reduce(and_, tests)

    def _literal(self, moment: datetime) -> Any:
        if isinstance(self.dtype, nw.Date):
            # The first day that does not begin before the moment.
            return date(moment.year, moment.month, moment.day) + timedelta(days=moment.time() != EPOCH.time())
        return nw.lit(moment.isoformat(" ")).cast(nw.Datetime("us")) if self.is_spark else moment

    def _among(self, codes: Any) -> nw.Expr | None:
        feature = self.feature
        if not codes:
            return None
        if len(codes) == len(feature.levels):
            return ~self.is_missing
        named = feature.named_levels
        inside = [level for code, level in enumerate(named) if code in codes]
        test = self._is_one_of(inside) if inside else None
        if len(named) in codes:
            others = ~self.is_missing & ~self._is_one_of(named)
            test = others if test is None else test | others
        return test


def next_moment(days: float) -> datetime | None:
    """Return the first moment, to the microsecond, that is later than some days since 1970; None beyond the calendar.

    >>> next_moment(19783.0).isoformat()
    '2024-03-01T00:00:00.000001'
    """
    try:
        count = int(days * MICROSECONDS) - 2
        # As ``predict`` divides: the first count whose quotient is larger.
        while count / MICROSECONDS <= days:
            count += 1
        return EPOCH + timedelta(microseconds=count)
    except (OverflowError, ValueError):
        return None
