"""The rows to be explained: encoded, equal ones merged, with the black box's answers."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.merging import merge_rows
from oleander.data.schema import FeatureSchema
from oleander.data.splitting import Unit, assign_folds, count_units, draw_part, name_unit


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct rows (of each group), which the program calls points.

    Parameters
    ----------
    schema : FeatureSchema
    values : array of shape (n_points, n_features)
        Encoded, in the order in which they first occur.
    weights : int array of shape (n_points,)
        The number of the user's rows that are equal to each point.
    point_of_row : int array of shape (n_rows,)
    labels : array of shape (n_points,)
        The black box's answers.
    groups : array of shape (n_points,), optional
        The group of each point (one patient, one trial). Equal rows of two groups are two points.
    row_numbers : int array of shape (n_rows,), optional
        The position of each row in X, where X has more rows or others; None if these are the rows of X.
    has_copies : bool
        Whether the groups are clusters of copies, and not the user's groups.
    """

    schema: FeatureSchema
    values: Floats
    weights: Ints
    point_of_row: Ints
    labels: Labels
    groups: Labels | None = None
    row_numbers: Ints | None = None
    has_copies: bool = False

    @classmethod
    def empty(cls, schema: FeatureSchema) -> Self:
        """Return ``Rows`` without a row."""
        none = np.zeros(0, dtype=np.intp)
        return cls(schema, np.empty((0, len(schema))), none, none, np.empty(0, dtype=object))

    @property
    def unit(self) -> Unit:
        """What counts as one piece of evidence."""
        return name_unit(self.groups, has_copies=self.has_copies)

    @property
    def n_units(self) -> int:
        """The number of pieces of evidence."""
        return self.n_rows if self.groups is None else count_units(self.n_points, self.groups)

    @property
    def n_points(self) -> int:
        """The number of distinct rows."""
        return len(self.values)

    @property
    def n_rows(self) -> int:
        """The number of the user's rows."""
        return int(self.weights.sum())

    @property
    def labels_of_rows(self) -> Labels:
        """The black box's answer for each of the user's rows, in their order."""
        answers: Labels = self.labels[self.point_of_row]
        return answers

    @property
    def first_rows(self) -> Ints:
        """The position in X of the first row of each point."""
        first = np.unique(self.point_of_row, return_index=True)[1]
        return first if self.row_numbers is None else self.row_numbers[first]

    def folds(self, n_folds: int, seed: int) -> Ints:
        """Return the number of each point's fold, groups kept whole."""
        return assign_folds(self.n_points, n_folds, self.groups, seed)

    def halves(self, seed: int) -> Bools:
        """Return a mask of the points in the first of two halves, groups kept whole."""
        first: Bools = self.folds(2, seed) == 0
        return first

    def part(self, points: Bools) -> Self:
        """Return some of the points as rows of their own."""
        number = np.cumsum(points) - 1
        kept_rows = np.flatnonzero(points[self.point_of_row])
        row_numbers = kept_rows if self.row_numbers is None else self.row_numbers[kept_rows]
        return replace(
            self,
            values=self.values[points],
            weights=self.weights[points],
            point_of_row=number[self.point_of_row[kept_rows]],
            labels=self.labels[points],
            groups=None if self.groups is None else self.groups[points],
            row_numbers=row_numbers,
        )

    def at_most(self, n_points: int, seed: int) -> Self:
        """Return at most ``n_points`` random points as rows of their own, groups kept whole."""
        taken = draw_part(self.n_points, n_points, self.groups, seed)
        # A first group that is larger than the limit would leave nothing to learn from.
        return self if taken.all() or not taken.any() else self.part(taken)

    def repeated(self, points: Bools | None = None) -> tuple[Floats, Labels]:
        """Return the values and labels of some points, or of all, each as often as the user's rows have it."""
        taken = np.ones(self.n_points, dtype=bool) if points is None else points
        again = np.repeat(np.flatnonzero(taken), self.weights[taken])
        return self.values[again], self.labels[again]

    def join(self, other: Self) -> Self:
        """Return the rows of both, the other's behind these, with equal points merged and without groups."""
        first, _, point = merge_rows(np.concatenate([self.values, other.values]))
        rows = np.concatenate([self.point_of_row, self.n_points + other.point_of_row])
        point_of_row = point[rows]
        # Labels of no row have no dtype of their own.
        parts = [part for part in (self.labels, other.labels) if len(part)] or [self.labels]
        labels = np.concatenate(parts)[first]
        values = np.concatenate([self.values, other.values])[first]
        weights = np.bincount(point_of_row, minlength=len(first))
        return type(self)(self.schema, values, weights, point_of_row, labels)
