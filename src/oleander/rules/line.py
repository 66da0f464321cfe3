"""Lines: a number as the sum of a constant and a few terms, each an amount per unit of a column or for one level.

They are fitted by least squares, on the draws that lie near the line.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.checks import read_count
from oleander.data.schema import Feature, FeatureSchema, Kind
from oleander.data.schema.rounding import format_number, round_number
from oleander.data.tolerance import Tolerance
from oleander.rules.base import Explainer, Rule
from oleander.rules.conditions import Condition, Levels, Range

MOST_TERMS = 4
# A level can be a term if at least this share of the draws have it, and at least this share do not.
RAREST_LEVEL = 0.02
# Each fit is repeated on the draws that lie near it, so that a line fits many draws well, not all of them roughly.
N_TRIMS, NEAR, SHARE_KEPT = 4, 2.0, 0.6
# Intercepts and slopes are rounded so that an answer changes by at most about this share of the tolerance.
STEP = 0.1
# References are rounded to steps of at most this share of the spread of a column.
REFERENCE_STEP = 0.25


@dataclass(frozen=True)
class Term:
    """What one column adds to a line."""

    column: int
    feature: Feature
    # The amount for each unit of a number, or for the level.
    slope: float
    # The number from which a value is measured, or the code of the level. A missing value adds nothing.
    reference: float

    def amounts(self, rows: Floats) -> Floats:
        """Return what each row's value adds."""
        values = rows[:, self.column]
        if not self.feature.is_number:
            return np.where(values == self.reference, self.slope, 0.0)
        return np.where(np.isnan(values), 0.0, self.slope * (values - self.reference))

    def __str__(self) -> str:
        name, reference = self.feature.shown, self.feature.describe_value(self.reference)
        sign, amount = "−" if self.slope < 0 else "+", format_number(abs(self.slope))
        if not self.feature.is_number:
            return f"{sign} ({amount} if {name} is {reference})"
        if self.reference == 0:
            return f"{sign} {amount} × {name}"
        if self.reference < 0 and not self.feature.is_date:
            return f"{sign} {amount} × ({name} + {self.feature.describe_value(-self.reference)})"
        return f"{sign} {amount} × ({name} − {reference})"


@dataclass(frozen=True)
class Line(Explainer, saved_as="line"):
    """A constant and a few terms, in numbers that a person would write.

    >>> from oleander.data.schema import Kind
    >>> age = Feature("age", Kind.INTEGER, "int64", lower=18, upper=90, scale=12.5)
    >>> line = Line(0.5, (Term(0, age, 0.02, reference=60.0),))
    >>> print(line)
    0.5 + 0.02 × (age − 60)
    >>> line.predict(np.array([[50.0], [np.nan]])).tolist()
    [0.3, 0.5]
    """

    is_one_rule = is_plain = True

    # The answer where every number equals its reference and no level applies.
    intercept: float
    terms: tuple[Term, ...]
    # The number of draws that it was learned from.
    n_draws: int = 0
    # The share of them on which it is within the tolerance of the black box.
    share: float = 0.0

    def predict(self, rows: Floats) -> Labels:
        """Return the sum for each row; terms are added in their order, as in exports."""
        total = np.full(len(rows), self.intercept)
        for term in self.terms:
            total += term.amounts(rows)
        return total

    def __str__(self) -> str:
        return " ".join([format_number(self.intercept), *map(str, self.terms)])

    @property
    def features(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(term.column for term in self.terms))

    def rules(self) -> list[Rule]:
        return [Rule((), str(self), self.n_draws, self.share)]

    def path(self, row: Floats) -> Rule:
        value = float(self.predict(row[None, :])[0])
        return Rule((), value, self.n_draws, self.share, formula=str(self))

    def within(self, conditions: Iterable[Condition]) -> Self:
        """Return a simpler line that gives the same answers for rows that fulfil conditions.

        A level that no such row has is left out, one that all have is added to the constant, and the reference of a
        number is moved into its range.
        """
        held = {one.column: one for one in conditions}
        intercept, terms = self.intercept, []
        for term in self.terms:
            one = held.get(term.column)
            if isinstance(one, Levels):
                is_only = one.codes == {term.reference} and not (one.missing and one.feature.missing)
                intercept += term.slope * is_only
                if is_only or term.reference not in one.codes:
                    continue
            elif isinstance(one, Range) and not one.missing and not one.lower < term.reference <= one.upper:
                # Ends of ranges are readable numbers, one of which is nearer to the rows.
                reference = one.upper if term.reference > one.upper else one.lower
                intercept += term.slope * (reference - term.reference)
                term = replace(term, reference=reference)
            terms.append(term)
        return replace(self, intercept=float(f"{intercept:.12g}"), terms=tuple(terms))

    @property
    def line(self) -> Self:
        return self

    def form(self) -> dict[str, Any]:
        terms = [[term.column, term.slope, term.reference] for term in self.terms]
        return {"kind": "line", "intercept": self.intercept, "terms": terms}

    def to_dict(self) -> dict[str, Any]:
        data = self.form()
        return {"intercept": data["intercept"], "terms": data["terms"], "n_draws": self.n_draws, "share": self.share}

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        intercept, terms = float(data["intercept"]), []
        for column, slope, reference in data["terms"]:
            place = int(column)
            if place not in range(len(schema)):
                raise ValueError(f"a line has a term of column {place}, and there are {len(schema)} columns")
            feature = schema[place]
            if not feature.is_number and reference not in range(len(feature.levels)):
                raise ValueError(f"a line has a term of a level that column {feature.name!r} does not have")
            terms.append(Term(place, feature, float(slope), float(reference)))
        if not np.isfinite([intercept, *(number for term in terms for number in (term.slope, term.reference))]).all():
            raise ValueError("the numbers of a line are not finite")
        return cls(intercept, tuple(terms), read_count(data["n_draws"]), float(data["share"]))


def make_inputs(draws: Floats, schema: FeatureSchema, columns: Ints) -> tuple[list[Term], Floats]:
    """Return the terms that a line may have in some columns, each with spread 1, and what each adds for each draw."""
    terms = []
    for j in columns.tolist():
        feature, own = schema[j], draws[:, j]
        if feature.is_number:
            known = own[~np.isnan(own)]
            spread = float(known.std()) if len(known) else 0.0
            if np.isfinite(spread) and spread > 0:
                terms.append(Term(j, feature, 1 / spread, float(known.mean())))
            continue
        # One of two levels is enough.
        for code in range(len(feature.levels) == 2, len(feature.levels)):
            share = float((own == code).mean())
            if RAREST_LEVEL <= share <= 1 - RAREST_LEVEL:
                terms.append(Term(j, feature, 1.0, float(code)))
    inputs = [term.amounts(draws) for term in terms]
    return terms, np.column_stack(inputs) if inputs else np.zeros((len(draws), 0))


def fit_terms(
    terms: list[Term], inputs: Floats, values: Floats, answers: Floats, tolerance: Tolerance, max_terms: int
) -> Iterator[Line]:
    """Yield readable lines with one term, two terms and so on, fitted to the answers for encoded draws.

    ``make_inputs`` returns the terms, and the inputs of these draws.
    """
    size = STEP * float(np.median(np.broadcast_to(tolerance.width(answers), answers.shape)))
    if size <= 0:
        return
    for slopes in _grow_line(inputs, answers, tolerance, max_terms):
        readable = []
        for j, slope in slopes:
            term = terms[j]
            reference, reach = _find_reference(term, values[:, term.column])
            # A rounded slope moves the answer of most draws by no more than the size.
            rounded = round_number(slope * term.slope, size / reach)
            if rounded:
                readable.append(Term(term.column, term.feature, rounded, reference))
        line = Line(0.0, tuple(readable))
        middle = float(np.median(answers - line.predict(values)))
        yield replace(line, intercept=round_number(middle, size))


def _find_reference(term: Term, own: Floats) -> tuple[float, float]:
    """Return a readable number in the middle of a column, or the level, and how far from it most draws lie."""
    if not term.feature.is_number:
        return term.reference, 1.0
    known = own[~np.isnan(own)]
    tiny = float(np.finfo(float).tiny)
    step = max(REFERENCE_STEP * float(known.std()), tiny)
    reference = round_number(float(np.median(known)), step, whole=term.feature.kind is Kind.INTEGER)
    return reference, max(float(np.quantile(np.abs(known - reference), 0.9)), tiny)


def _grow_line(
    inputs: Floats, answers: Floats, tolerance: Tolerance, max_terms: int
) -> Iterator[list[tuple[int, float]]]:
    """Yield the inputs and slopes of lines that grow by the input that correlates most with the residuals."""
    kept: Bools = np.ones(len(answers), dtype=bool)
    near = NEAR * np.broadcast_to(tolerance.width(answers), answers.shape)
    chosen: list[int] = []
    left = answers - answers.mean()
    for _ in range(min(max_terms, inputs.shape[1])):
        own = inputs[kept]
        centered = left[kept] - left[kept].mean()
        spread = own.std(axis=0)
        common = np.divide(np.abs(centered @ own), spread, out=np.zeros(len(spread)), where=spread > 1e-9)
        common[chosen] = 0.0
        best = int(common.argmax())
        if common[best] <= 0:
            return
        chosen.append(best)
        design = np.column_stack([np.ones(len(answers)), inputs[:, chosen]])
        for _ in range(N_TRIMS):
            slopes = np.linalg.lstsq(design[kept], answers[kept], rcond=None)[0]
            left = answers - design @ slopes
            size = np.abs(left)
            kept = size <= np.maximum(near, np.quantile(size, SHARE_KEPT))
        yield list(zip(chosen, slopes[1:].tolist(), strict=True))
