"""The predicates of rules, over learning rows that are cut into a few cells per column.

A column's value is a code: a bin between two quantiles, a level, or missing. A predicate allows some codes of a column,
written as the bits of a whole number, so that two are joined by one `&` and equal rules have equal keys.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Floats
from oleander.data.rows import Rows
from oleander.data.schema import Feature, FeatureSchema
from oleander.data.schema.rounding import round_days, round_to_step
from oleander.rules import Box
from oleander.rules.conditions import Condition, Levels, Range

Predicate = tuple[int, int]
# Column and allowed codes, ordered by column: at most one entry for each.
Conjunction = tuple[Predicate, ...]


@dataclass(frozen=True, eq=False)
class Grid:
    """The learning rows as codes, and every predicate that one of them fulfils.

    Examples
    --------
    >>> import pandas as pd
    >>> from oleander.black_box import BlackBox, CountingBlackBox
    >>> from oleander.black_box.labelling import label_rows
    >>> X = pd.DataFrame({"age": [20, 30, 40, 50, 60, 70, 80, 90], "sex": list("FMFMFMFM")})
    >>> box = CountingBlackBox(BlackBox(lambda X: X["age"] > 50, FeatureSchema.infer(X)))
    >>> grid = Grid.cut(label_rows(box.schema.encode(X), box), n_bins=4)
    >>> [grid.box((grid.predicates[i],)).describe() for i in grid.predicates_of(2)]
    ['age > 30', 'age ≤ 50', 'age ≤ 70', 'sex is F']
    """

    schema: FeatureSchema
    # The cuts of a number; empty for levels.
    edges: tuple[Floats, ...]
    # Missing has the code after the last bin or level, of shape (n_points, n_features).
    codes: NDArray[np.intp]

    @classmethod
    def cut(cls, rows: Rows, n_bins: int) -> Self:
        """Cut the numbers of the rows at their quantiles."""
        edges, codes = [], np.empty(rows.values.shape, dtype=np.intp)
        for j, feature in enumerate(rows.schema):
            values = rows.values[:, j]
            absent = np.isnan(values)
            ends = quantile_edges(rows.values[rows.point_of_row, j], n_bins, feature)
            # A value on an edge is in the bin below it, as in a Range.
            codes[:, j] = np.searchsorted(ends, values) if feature.is_number else np.where(absent, 0, values)
            codes[absent, j] = n_codes_of(feature, ends)
            edges.append(ends)
        return cls(rows.schema, tuple(edges), codes)

    @cached_property
    def predicates(self) -> list[Predicate]:
        """Every predicate that some learning rows fulfil and others do not."""
        found = []
        for j, feature in enumerate(self.schema):
            n_codes = n_codes_of(feature, self.edges[j])
            present = np.unique(self.codes[:, j])
            known = (1 << n_codes) - 1
            wanted = [1 << n_codes, known]
            if feature.is_number:
                for i in range(len(self.edges[j])):
                    under = (1 << (i + 1)) - 1
                    wanted += [known & ~under, under]
            else:
                wanted += [1 << code for code in range(n_codes)]
            for bits in dict.fromkeys(wanted):
                n_allowed = sum(bits >> int(code) & 1 for code in present)
                if 0 < n_allowed < len(present):
                    found.append((j, bits))
        return found

    @cached_property
    def fulfils(self) -> NDArray[np.bool_]:
        """A mask of the learning rows that fulfil each predicate, of shape (n_predicates, n_points)."""
        fulfils = np.zeros((len(self.predicates), len(self.codes)), dtype=bool)
        for line, predicate in zip(fulfils, self.predicates, strict=True):
            line[:] = self.allows(predicate)
        return fulfils

    def allows(self, predicate: Predicate) -> NDArray[np.bool_]:
        """Return a mask of the learning rows that have one of the allowed codes."""
        column, bits = predicate
        allowed = np.array([bits >> code & 1 for code in range(bits.bit_length())], dtype=bool)
        codes = self.codes[:, column]
        inside = codes < len(allowed)
        return np.asarray(inside & allowed[np.where(inside, codes, 0)])

    def predicates_of(self, point: int) -> NDArray[np.intp]:
        """Return the positions of the predicates that a learning row fulfils."""
        return np.flatnonzero(self.fulfils[:, point])

    def box(self, rule: Conjunction) -> Box:
        """Return the rule as a box with conditions in the user's words."""
        return Box(tuple(self._condition(column, bits) for column, bits in rule))

    def _condition(self, column: int, bits: int) -> Condition:
        feature, edges = self.schema[column], self.edges[column]
        n_codes = n_codes_of(feature, edges)
        allowed = [code for code in range(n_codes) if bits >> code & 1]
        missing = bool(bits >> n_codes & 1)
        if not feature.is_number:
            return Levels(column, feature, frozenset(allowed), missing)
        if not allowed:
            return Range(column, feature, math.inf, -math.inf, missing)
        ends = [-math.inf, *edges.tolist(), math.inf]
        return Range(column, feature, ends[allowed[0]], ends[allowed[-1] + 1], missing)


def extend(rule: Conjunction, predicate: Predicate) -> Conjunction | None:
    """Return the rule with one more predicate, or None where the predicate adds nothing.

    Examples
    --------
    >>> extend(((0, 0b0111),), (0, 0b1110)), extend(((0, 0b0011),), (0, 0b0111))
    (((0, 6),), None)
    """
    column, bits = predicate
    joined = dict(rule)
    before = joined.get(column)
    joined[column] = bits if before is None else before & bits
    return None if joined[column] == before else tuple(sorted(joined.items()))


def quantile_edges(values: Floats, n_bins: int, feature: Feature) -> Floats:
    """Return the edges of bins that are about equally full, at readable numbers.

    Quantiles are rounded up to a step of about a fiftieth of their spread; whole numbers stay whole.

    Examples
    --------
    >>> from oleander.data.schema import Kind
    >>> dose = Feature("dose", Kind.CONTINUOUS, "float64", lower=0, upper=10)
    >>> quantile_edges(np.linspace(0.0, 10.0, 777), 4, dose).tolist()
    [2.5, 5.0, 7.5]
    """
    present = np.sort(values[~np.isnan(values)])
    if not feature.is_number or not len(present):
        return np.empty(0)
    quantiles = present[np.arange(1, n_bins) * (len(present) - 1) // n_bins]
    spread = float(np.ptp(quantiles) or np.ptp(present))
    if not spread:
        return np.empty(0)
    if feature.is_date:
        edges = round_days(quantiles, spread / 50, whole=feature.is_whole)
    else:
        edges = round_to_step(
            quantiles, spread / 50, whole=feature.is_whole, rounding=lambda steps: np.ceil(steps - 1e-9)
        )
    edges = np.unique(edges)
    # An edge with no value above it, or none below it, cuts nothing off.
    return np.asarray(edges[(edges < present[-1]) & (edges >= present[0])])


def n_codes_of(feature: Feature, edges: Floats) -> int:
    """Return the number of bins or levels of a column, missing not counted."""
    return len(edges) + 1 if feature.is_number else len(feature.levels)
