"""The parts of a formula that SQL and Python share: conditions, distances in a ball, and scores of weights.

Sums are written in the order in which ``predict`` adds, so that both round alike.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from oleander.data.schema import Feature, FeatureSchema
from oleander.explainers.line import Line
from oleander.explainers.linear import LimeLinear
from oleander.regions import Ball
from oleander.regions.conditions import Condition, Range


class Language(ABC):
    """A language in which conditions and numbers are written.

    Parameters
    ----------
    schema : FeatureSchema
    names : sequence of str
        How each column is written, in the order of the schema.
    """

    AND: str
    OR: str
    FALSE: str
    # Whether a comparison with a missing value is an error rather than false.
    guards_missing: bool

    def __init__(self, schema: FeatureSchema, names: Sequence[str]) -> None:
        self.schema, self.names = schema, names

    @abstractmethod
    def number(self, value: float) -> str:
        """Return a finite number that reads as the same 64-bit float."""

    @abstractmethod
    def literal(self, value: Any) -> str:
        """Return a level or a label."""

    @abstractmethod
    def is_missing(self, name: str) -> str:
        """Return the test of a missing value."""

    @abstractmethod
    def is_known(self, name: str) -> str:
        """Return the test of a value that is not missing."""

    @abstractmethod
    def is_one_of(self, name: str, levels: Sequence[Any], *, negated: bool = False) -> str:
        """Return the test of a value among levels; false for a missing value."""

    @abstractmethod
    def choose(self, test: str, yes: str, no: str) -> str:
        """Return an expression that has one of two values."""

    def all_of(self, conditions: Sequence[Condition]) -> str:
        """Return the conjunction of conditions; empty where it always holds."""
        return self.AND.join(clause for clause in map(self.holds, conditions) if clause)

    def holds(self, condition: Condition) -> str:
        """Return the test of a condition on a column that was checked; empty where it always holds."""
        name, feature = self.names[condition.column], condition.feature
        tests = self._known_tests(condition)
        if feature.missing and condition.missing:
            if tests is None:
                return self.is_missing(name)
            return f"({self.is_missing(name)}{self.OR}{self.AND.join(tests)})" if tests else ""
        if tests is None:
            return self.FALSE
        if feature.missing and (self.guards_missing or not tests):
            tests = [self.is_known(name), *tests]
        return self.AND.join(tests)

    def _known_tests(self, condition: Condition) -> list[str] | None:
        """Return the tests that a value fulfils if it is not missing; None where no value does."""
        name = self.names[condition.column]
        if isinstance(condition, Range):
            if not condition.lower < condition.upper:
                return None
            tests = []
            if condition.lower != -math.inf:
                tests.append(f"{name} > {self.number(condition.lower)}")
            if condition.upper != math.inf:
                tests.append(f"{name} <= {self.number(condition.upper)}")
            return tests
        levels = condition.feature.levels
        inside = [level for code, level in enumerate(levels) if code in condition.codes]
        outside = [level for code, level in enumerate(levels) if code not in condition.codes]
        if not inside:
            return None
        if not outside:
            return []
        # The shorter of the two lists reads faster; the value is known to be one of the levels.
        if len(outside) < len(inside):
            return [self.is_one_of(name, outside, negated=True)]
        return [self.is_one_of(name, inside)]

    def inside(self, ball: Ball) -> list[str]:
        """Return the tests that hold together inside a ball."""
        steps, flips = [], []
        units = ball.units
        for j, feature in enumerate(self.schema):
            name, middle = self.names[j], float(ball.center[j])
            is_absent = math.isnan(middle)
            if feature.missing:
                flips += self._flip(name, feature, middle)
            elif not feature.is_number:
                flips += ["1"] if is_absent else self._flip(name, feature, middle)
            if not feature.is_number or (is_absent and feature.missing):
                continue
            if is_absent:
                # A distance from a missing value is no number, and lies within no radius.
                return [self.FALSE]
            step = f"abs({name} - {self.number(middle)}) / {self.number(float(units[j]))}"
            steps.append(self.choose(self.is_missing(name), "0", step) if feature.missing else step)
        limit = ball.radius * (1 + 1e-12)
        if not steps:
            tests = []
        elif math.isinf(ball.norm):
            tests = [f"{step} <= {self.number(limit)}" for step in steps]
        elif ball.norm == 1:
            tests = [f"{' + '.join(steps)} <= {self.number(limit)}"]
        else:
            squares = [f"({step}) * ({step})" for step in steps]
            tests = [f"{' + '.join(squares)} <= {self.number(largest_square(limit))}"]
        if len(flips) > ball.n_flips_allowed:
            tests.append(f"{' + '.join(flips)} <= {ball.n_flips_allowed}")
        return tests

    def _flip(self, name: str, feature: Feature, middle: float) -> list[str]:
        """Return 0 where the value equals the center's, in level or in being missing, and 1 elsewhere."""
        if math.isnan(middle):
            return [self.choose(self.is_missing(name), "0", "1")]
        if feature.is_number:
            # It differs only by being missing.
            return [self.choose(self.is_missing(name), "1", "0")]
        return [self.choose(self.is_one_of(name, [feature.levels[int(middle)]]), "0", "1")]

    def total(self, line: Line) -> str:
        """Return the sum of a line."""
        parts = [self.number(line.intercept)]
        for term in line.terms:
            name, feature, slope = self.names[term.column], term.feature, self.number(term.slope)
            if feature.is_number:
                amount = f"{slope} * ({name} - {self.number(term.reference)})"
                parts.append(self.choose(self.is_missing(name), "0", amount) if feature.missing else amount)
            else:
                level = self.is_one_of(name, [feature.levels[int(term.reference)]])
                parts.append(self.choose(level, slope, "0"))
        return " + ".join(parts)

    def scores(self, linear: LimeLinear) -> list[str]:
        """Return the score of each class of a linear model."""
        return [self._score(linear, k) for k in range(linear.weights.shape[1])]

    def _score(self, linear: LimeLinear, k: int) -> str:
        terms = [self.number(float(linear.intercepts[k]))]
        for j in linear.used.tolist():
            name, feature = self.names[j], self.schema[j]
            weight, middle = float(linear.weights[j, k]), float(linear.reference[j])
            if weight == 0:
                continue
            if feature.is_number:
                value = f"({name} - {self.number(middle)}) / {self.number(feature.scale)} * {self.number(weight)}"
                terms.append(self.choose(self.is_missing(name), "0", value) if feature.missing else value)
            elif math.isnan(middle):
                terms.append(self.choose(self.is_missing(name), self.number(weight), "0"))
            else:
                is_level = self.is_one_of(name, [feature.levels[int(middle)]])
                terms.append(self.choose(is_level, self.number(weight), "0"))
        return " + ".join(terms)


def largest_square(limit: float) -> float:
    """Return the largest number whose square root is at most a limit, so that no root is needed elsewhere.

    Examples
    --------
    >>> largest_square(2.0)
    4.000000000000001
    """
    square = limit * limit
    while np.sqrt(square) > limit:
        square = math.nextafter(square, 0.0)
    while np.sqrt(math.nextafter(square, math.inf)) <= limit and square < math.inf:
        square = math.nextafter(square, math.inf)
    return square
