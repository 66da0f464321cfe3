"""What SQL and Python share: explainers as other programs can compute them, and the parts of their formulas.

An explainer is written as rules over columns, balls and lines, and nothing else. What has no such form is refused here
in one sentence, so that no export gives another answer than ``predict``. Sums are written in the order in which
``predict`` adds, so that both round alike.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from oleander.data.schema import FeatureSchema, Kind
from oleander.messages import shorten, visible
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.rules import Ball, Line
from oleander.rules.conditions import Condition, Levels, Range, conjoin

KINDS = (Kind.CONTINUOUS, Kind.INTEGER, Kind.BINARY, Kind.CATEGORICAL)


class ExportError(ValueError):
    """The explainers have no exact form in the wanted language; the message says why."""


def check_plain(explainers: ExplainerSet) -> np.dtype[Any]:
    """Return the one dtype that ``predict`` gives all answers; ``ExportError`` for explainers without a plain form."""
    for feature in explainers.schema:
        if feature.kind not in KINDS or feature.dtype.startswith(("datetime", "timedelta", "period")):
            raise ExportError(
                f"column {shorten(repr(feature.name))} is {feature.kind} ({feature.dtype}), which cannot be exported: "
                "fit without this column, or with numbers in its place."
            )
    for number, member in enumerate(explainers.members, start=1):
        explainer, region = member.explainer, member.region
        if not explainer.is_plain:
            raise ExportError(f"explainer {number} is a {type(explainer).__name__}, which cannot be exported.")
        if region.box is None and region.ball is None:
            raise ExportError(f"explainer {number} has a region {type(region).__name__}, which cannot be exported.")
    no_rows = np.zeros((0, len(explainers.schema)))
    return np.result_type(*(member.explainer.predict(no_rows).dtype for member in explainers.members))


def name_member(number: int, member: ChosenExplainer) -> str:
    """Return the words for an explainer by its number, the first of which is 1."""
    return visible(f"rule {number}" if member.is_one_rule else f"explainer {number}: {member.region.describe()}")


def plain_value(value: Any) -> bool | int | float | str:
    """Return a level or a label as a value of one of Python's own types, whatever its class is.

    >>> plain_value(np.int64(3)), plain_value(np.str_("a"))
    (3, 'a')
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool):
        return plain
    if isinstance(plain, str):
        # The text itself: a subclass may print as something else.
        return str.__str__(plain)
    if isinstance(plain, int):
        return int(plain)
    if isinstance(plain, float) and math.isfinite(plain):
        return float(plain)
    raise ExportError(
        f"{shorten(repr(plain))} cannot be exported: levels and labels are finite numbers, text or booleans."
    )


class Language(ABC):
    """A language in which conditions and numbers are written; ``names`` are the columns' names in it."""

    AND: str
    OR: str
    TRUE: str
    FALSE: str
    IS_MISSING: str
    IS_KNOWN: str
    # Each with its negation.
    EQUALS: tuple[str, str]
    IS_IN: tuple[str, str]
    CHOICE: str
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

    def is_one_of(self, name: str, levels: Sequence[Any], *, negated: bool = False) -> str:
        """Return the test of a value among levels; false for a missing value."""
        values = [self.literal(level) for level in levels]
        if len(values) == 1:
            return f"{name} {self.EQUALS[negated]} {values[0]}"
        return f"{name} {self.IS_IN[negated]} ({', '.join(values)})"

    def choose(self, test: str, yes: str, no: str) -> str:
        """Return an expression that has one of two values."""
        return self.CHOICE.format(test=test, yes=yes, no=no)

    def all_of(self, conditions: Sequence[Condition]) -> str:
        """Return the conjunction of conditions; empty where it always holds."""
        return self.AND.join(clause for clause in map(self.holds, conditions) if clause)

    def holds(self, condition: Condition) -> str:
        """Return the test of a condition on a column that was checked; empty where it always holds."""
        name, feature = self.names[condition.column], condition.feature
        tests = self._known_tests(condition)
        if feature.missing and condition.missing:
            if tests is None:
                return self.IS_MISSING.format(name)
            return f"({self.IS_MISSING.format(name)}{self.OR}{self.AND.join(tests)})" if tests else ""
        if tests is None:
            return self.FALSE
        if feature.missing and (self.guards_missing or not tests):
            tests = [self.IS_KNOWN.format(name), *tests]
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
        if not condition.codes:
            return None
        feature = condition.feature
        if len(condition.codes) == len(feature.levels):
            return []
        levels = list(enumerate(feature.named_levels))
        inside = [level for code, level in levels if code in condition.codes]
        outside = [level for code, level in levels if code not in condition.codes]
        # The shorter of the two lists reads faster; the value is known to be one of the levels. Rare ones have no name.
        is_negated = len(condition.codes) > len(inside) if feature.rare else len(outside) < len(inside)
        return [self.is_one_of(name, outside if is_negated else inside, negated=is_negated)]

    def _is_level(self, j: int, code: float) -> str:
        """Return the test of one level of a column by its code."""
        return self.holds(Levels(j, self.schema[j], frozenset({int(code)}))) or self.TRUE

    def inside(self, ball: Ball) -> list[str]:
        """Return the tests that hold together inside a ball."""
        steps, flips, units = [], [], ball.units
        for j, feature in enumerate(self.schema):
            name, middle = self.names[j], float(ball.center[j])
            is_absent, is_missing = math.isnan(middle), self.IS_MISSING.format(name)
            if feature.missing or not feature.is_number:
                same = is_missing
                if not is_absent:
                    # A number flips only by being missing.
                    same = self.IS_KNOWN.format(name) if feature.is_number else self._is_level(j, middle)
                flips.append(self.choose(same, "0", "1"))
            if not feature.is_number or (is_absent and feature.missing):
                continue
            if is_absent:
                # A distance from a missing value is no number, and lies within no radius.
                return [self.FALSE]
            step = f"abs({name} - {self.number(middle)}) / {self.number(float(units[j]))}"
            steps.append(self.choose(is_missing, "0", step) if feature.missing else step)
        limit = self.number(ball.radius * (1 + 1e-12))
        tests = [f"{step} <= {limit}" for step in steps]
        if len(flips) > ball.n_flips_allowed:
            tests.append(f"{' + '.join(flips)} <= {ball.n_flips_allowed}")
        return tests

    def cases(self, member: ChosenExplainer, dtype: np.dtype[Any]) -> Iterator[tuple[str, str, str]]:
        """Yield each rule of an explainer: in words, its test (empty where it always holds), and what it says.

        The first rule whose test holds gives the answer, of a dtype. Outside a ball the explainer is silent.
        """
        line = member.explainer.line
        for rule in member.rules():
            said = self.literal(np.array([rule.label], dtype)[0]) if line is None else self._total(line)
            yield visible(rule), self.all_of(conjoin((*member.conditions, *rule.terms))), said

    def _total(self, line: Line) -> str:
        """Return the sum of a line."""
        parts = [self.number(line.intercept)]
        for term in line.terms:
            name, feature, slope = self.names[term.column], term.feature, self.number(term.slope)
            if feature.is_number:
                amount = f"{slope} * ({name} - {self.number(term.reference)})"
                parts.append(self.choose(self.IS_MISSING.format(name), "0", amount) if feature.missing else amount)
            else:
                parts.append(self.choose(self._is_level(term.column, term.reference), slope, "0"))
        return " + ".join(parts)
