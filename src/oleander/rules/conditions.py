"""Conditions on one column: a range of numbers or a set of levels.

Boxes and leaves of trees are conjunctions of conditions.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oleander.arrays import Bools, Floats
from oleander.data.schema import Feature, FeatureSchema

# Levels that say no, and up to how many others are listed in place of "is not none".
NEGATIVE, MOST_LISTED = re.compile(r"(no|none|not|never|nothing|without)\b", re.IGNORECASE), 3


class _OneColumn(ABC):
    """What both kinds of condition have: a column, and whether a missing value fulfils them."""

    column: int
    feature: Feature
    missing: bool

    def contains(self, rows: Floats) -> Bools:
        """Return a mask of the encoded rows that fulfil the condition."""
        return self.holds(rows[:, self.column])

    def holds(self, values: Floats) -> Bools:
        """Return a mask of the column's values that fulfil the condition."""
        inside = self.holds_known(values)
        return inside | np.isnan(values) if self.missing else inside

    @abstractmethod
    def holds_known(self, values: Floats) -> Bools:
        """Return a mask of the values that fulfil the condition and are not missing."""

    @abstractmethod
    def describe_known(self) -> str:
        """Return the condition on a value that is not missing, in words; empty where no such value fulfils it."""

    def __str__(self) -> str:
        known, name = self.describe_known(), self.feature.shown
        if not self.missing:
            return known or f"{name} is nothing"
        return f"{known} or missing" if known else f"{name} is missing"


@dataclass(frozen=True)
class Range(_OneColumn):
    """Numbers over ``lower`` and up to ``upper``, and missing values if ``missing``.

    >>> from oleander.data.schema import Kind
    >>> age = Feature("age", Kind.INTEGER, "int64", lower=18, upper=90)
    >>> print(Range(0, age, lower=60))
    age > 60
    >>> print(Range(0, age, lower=60, upper=70) & Range(0, age, lower=50, upper=65))
    60 < age ≤ 65
    """

    column: int
    feature: Feature
    lower: float = -math.inf
    upper: float = math.inf
    missing: bool = False

    def holds_known(self, values: Floats) -> Bools:
        # A missing value lies on neither side of a number. Without an end there is nothing to compare.
        if self.upper == math.inf:
            return values > self.lower
        inside: Bools = values <= self.upper
        if self.lower > -math.inf:
            inside &= values > self.lower
        return inside

    def __and__(self, other: "Range") -> "Range":
        return Range(
            self.column,
            self.feature,
            max(self.lower, other.lower),
            min(self.upper, other.upper),
            self.missing and other.missing,
        )

    def describe_known(self) -> str:
        name, lower, upper = self.feature.shown, self.lower, self.upper
        say, with_unit = self.feature.describe_value, self.feature.with_unit
        if lower >= upper:
            return ""
        if math.isinf(lower) and math.isinf(upper):
            return f"{name} is known"
        if math.isinf(upper):
            return f"{name} > {with_unit(say(lower))}"
        if math.isinf(lower):
            return f"{name} ≤ {with_unit(say(upper))}"
        if self.feature.is_whole and math.floor(upper) - math.floor(lower) == 1:
            return f"{name} = {with_unit(say(math.floor(upper)))}"
        return f"{say(lower)} < {name} ≤ {with_unit(say(upper))}"

    def form(self) -> dict[str, Any]:
        """Return plain data for the page, in which an infinite end is None."""
        if self.lower >= self.upper:
            # No number fulfils the condition, only a missing value.
            return {"column": self.column, "missing": self.missing, "codes": []}
        lower, upper = (end if math.isfinite(end) else None for end in (self.lower, self.upper))
        return {"column": self.column, "missing": self.missing, "lower": lower, "upper": upper}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, in which an infinite end is a string."""
        lower, upper = (str(end) if math.isinf(end) else end for end in (self.lower, self.upper))
        return {"column": self.column, "lower": lower, "upper": upper, "missing": self.missing}


@dataclass(frozen=True)
class Levels(_OneColumn):
    """Some levels of a binary or categorical column, by code, and missing values if ``missing``.

    >>> from oleander.data.schema import Kind
    >>> colour = Feature("colour", Kind.CATEGORICAL, "str", levels=("blue", "green", "red"))
    >>> print(Levels(0, colour, frozenset({2})))
    colour is red
    >>> print(Levels(0, colour, frozenset({0, 1})))
    colour is not red
    """

    column: int
    feature: Feature
    codes: frozenset[int]
    missing: bool = False

    def holds_known(self, values: Floats) -> Bools:
        return np.isin(values, list(self.codes))

    def __and__(self, other: "Levels") -> "Levels":
        return Levels(self.column, self.feature, self.codes & other.codes, self.missing and other.missing)

    def describe_known(self) -> str:
        name = self.feature.shown
        if not self.codes:
            return ""
        others = set(range(len(self.feature.levels))) - self.codes
        if not others:
            return f"{name} is known"
        inside, outside = (
            [self.feature.describe_value(code) for code in sorted(part)] for part in (self.codes, others)
        )
        # The shorter list reads faster, but "drug is not none" would be a double negative.
        is_double = any(NEGATIVE.match(word) for word in outside) and len(inside) <= MOST_LISTED
        negated = len(outside) < len(inside) and not is_double
        words = outside if negated else inside
        verb = "is not" if negated else "is"
        return f"{name} {verb} {words[0]}" if len(words) == 1 else f"{name} {verb} one of {', '.join(words)}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"column": self.column, "codes": sorted(self.codes), "missing": self.missing}

    form = to_dict


Condition = Range | Levels


def read_condition(data: dict[str, Any], schema: FeatureSchema) -> Condition:
    """Return the condition that its ``to_dict`` wrote."""
    column = int(data["column"])
    feature = schema[column]
    if feature.is_number:
        return Range(column, feature, float(data["lower"]), float(data["upper"]), bool(data["missing"]))
    codes = frozenset(int(code) for code in data["codes"])
    if not codes <= set(range(len(feature.levels))):
        raise ValueError(f"column {feature.name!r} has {len(feature.levels)} levels, not the codes {sorted(codes)}.")
    return Levels(column, feature, codes, bool(data["missing"]))


def conjoin(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return the conditions with those on one column joined, in the order in which columns first occur."""
    joined: dict[int, Any] = {}
    for one in conditions:
        joined[one.column] = joined[one.column] & one if one.column in joined else one
    return tuple(joined.values())


def clauses(terms: Sequence[Any]) -> list[str]:
    """Return the terms of a conjunction in words; beside others, a condition with an "or" stands in brackets."""
    if len(terms) == 1:
        return [str(terms[0])]
    has_or = [isinstance(term, Condition) and term.missing and term.describe_known() for term in terms]
    return [f"({term})" if bracketed else str(term) for term, bracketed in zip(terms, has_or, strict=True)]
