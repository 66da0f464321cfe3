"""A number as a sum: a constant, and an amount for each unit of a few columns or for a level."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from oleander.arrays import Floats, Labels
from oleander.data.schema import Feature, FeatureSchema
from oleander.data.schema.rounding import format_number
from oleander.explainers.base import Rule
from oleander.regions.conditions import Condition, Levels, Range


@dataclass(frozen=True)
class Term:
    """What one column adds to a line.

    Parameters
    ----------
    column : int
    feature : Feature
    slope : float
        The amount for each unit of a number, or for the level.
    reference : float
        The number from which a value is measured, or the code of the level. A missing value adds nothing.

    Examples
    --------
    >>> from oleander.data.schema import Kind
    >>> age = Feature("age", Kind.INTEGER, "int64", lower=18, upper=90, scale=12.5)
    >>> print(Term(0, age, -0.25, reference=60.0))
    − 0.25 × (age − 60)
    """

    column: int
    feature: Feature
    slope: float
    reference: float

    def amounts(self, rows: Floats) -> Floats:
        """Return what each row's value adds."""
        values = rows[:, self.column]
        if not self.feature.is_number:
            return np.where(values == self.reference, self.slope, 0.0)
        amounts: Floats = self.slope * (values - self.reference)
        return np.where(np.isnan(values), 0.0, amounts)

    def __str__(self) -> str:
        name, reference = self.feature.name, self.feature.describe_value(self.reference)
        amount = f"{'−' if self.slope < 0 else '+'} {format_number(abs(self.slope))}"
        if not self.feature.is_number:
            return f"{amount} if {name} is {reference}"
        if self.reference == 0:
            return f"{amount} × {name}"
        if self.reference < 0 and not self.feature.is_date:
            return f"{amount} × ({name} + {self.feature.describe_value(-self.reference)})"
        return f"{amount} × ({name} − {reference})"


@dataclass(frozen=True)
class Line:
    """A constant and a few terms, in numbers that a person would write.

    Parameters
    ----------
    intercept : float
        The answer where every number equals its reference and no level applies.
    terms : tuple of Term
    n_draws : int
        The number of draws that it was learned from.
    share : float
        The share of them on which it is within the tolerance of the black box.

    Examples
    --------
    >>> from oleander.data.schema import Kind
    >>> age = Feature("age", Kind.INTEGER, "int64", lower=18, upper=90, scale=12.5)
    >>> line = Line(0.5, (Term(0, age, 0.02, reference=60.0),))
    >>> print(line)
    0.5 + 0.02 × (age − 60)
    >>> line.predict(np.array([[50.0], [np.nan]])).tolist()
    [0.3, 0.5]
    """

    intercept: float
    terms: tuple[Term, ...]
    n_draws: int = 0
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
        """The columns of the terms."""
        return tuple(dict.fromkeys(term.column for term in self.terms))

    @property
    def complexity(self) -> int:
        """One rule; its terms are read like conditions."""
        return 1

    def rules(self) -> list[Rule]:
        """Return the one rule, whose label is the line in words."""
        return [Rule((), str(self), self.n_draws, self.share)]

    def path(self, row: Floats) -> Rule:
        """Return the rule with the number that the line gives to one row."""
        value = float(self.predict(row[None, :])[0])
        return Rule((), value, self.n_draws, self.share, formula=str(self))

    def within(self, conditions: Iterable[Condition]) -> Self:
        """Return the same line for rows that fulfil conditions, without what these make needless.

        A level that no such row has is left out, one that all have is part of the constant, and the constant is the
        answer at a place among these rows.
        """
        held = {one.column: one for one in conditions}
        intercept, terms = self.intercept, []
        for term in self.terms:
            one = held.get(term.column)
            if isinstance(one, Levels):
                is_only = one.codes == {int(term.reference)} and not (one.missing and one.feature.missing)
                if is_only:
                    intercept += term.slope
                if is_only or int(term.reference) not in one.codes:
                    continue
            elif isinstance(one, Range) and not one.missing and not one.lower < term.reference <= one.upper:
                # Ends of ranges are readable numbers, one of which is nearer to the rows.
                reference = one.upper if term.reference > one.upper else one.lower
                intercept += term.slope * (reference - term.reference)
                term = replace(term, reference=reference)
            terms.append(term)
        return replace(self, intercept=float(f"{intercept:.12g}"), terms=tuple(terms))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "explainer": "line",
            "intercept": self.intercept,
            "terms": [[term.column, term.slope, term.reference] for term in self.terms],
            "n_draws": self.n_draws,
            "share": self.share,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Return the line that ``to_dict`` wrote; ``ValueError`` if the data are none."""
        terms = []
        for column, slope, reference in data["terms"]:
            place = int(column)
            if not 0 <= place < len(schema):
                raise ValueError(f"a line has a term of column {place}, and there are {len(schema)}")
            feature = schema[place]
            if not feature.is_number and float(reference) not in range(len(feature.levels)):
                raise ValueError(f"a line has a term of a level that column {feature.name!r} does not have")
            terms.append(Term(place, feature, float(slope), float(reference)))
        found = [float(data["intercept"]), *(number for term in terms for number in (term.slope, term.reference))]
        if not np.isfinite(found).all():
            raise ValueError("the numbers of a line are not finite")
        return cls(found[0], tuple(terms), int(data["n_draws"]), float(data["share"]))
