"""The rows to be explained: encoded, equal ones merged, with the black box's answers."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.black_box.asking import BlackBox
from oleander.data.checks import draw_rows
from oleander.data.merging import merge_rows
from oleander.data.schema import FeatureSchema
from oleander.draws.in_ball import draw_between_neighbours

# A form of answer is learned from at most so many rows; judging takes all.
MOST_LEARNED = 20_000


@dataclass(frozen=True, eq=False)
class Between:
    """Draws between neighbouring points, labelled by the black box, with the two points that each lies between."""

    values: NDArray[np.float64]
    labels: NDArray[Any]
    parents: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct rows, which the program calls points.

    Parameters
    ----------
    schema : FeatureSchema
    values : array of shape (n_points, n_features)
        Encoded, in the order in which they first occur.
    weights : int array of shape (n_points,)
        How many of the user's rows each point stands for.
    point_of_row : int array of shape (n_rows,)
    labels : array of shape (n_points,)
        The black box's.
    n_queries : int
        Rows that the black box was asked about to get the labels.
    groups : array of shape (n_points,), optional
        Which points belong together (one patient, one trial); a row that occurs in several groups stands in the first.
    between : Between, optional
        More to learn from, never to judge on.
    """

    schema: FeatureSchema
    values: NDArray[np.float64]
    weights: NDArray[np.intp]
    point_of_row: NDArray[np.intp]
    labels: NDArray[Any]
    n_queries: int
    groups: NDArray[Any] | None = None
    between: Between | None = None

    @classmethod
    def ask(
        cls,
        X: Any,
        black_box: BlackBox,
        *,
        groups: NDArray[Any] | None = None,
        batch_size: int = 100_000,
        known: "Rows | None" = None,
    ) -> Self:
        """Encode the user's rows, merge equal ones, and ask the black box about each once.

        Some are asked about again: a black box that contradicts itself gets a warning. If points are known already,
        their equals are not asked about, and nothing is asked twice.

        Examples
        --------
        >>> X = np.array([[0.5], [1.5], [0.5]])
        >>> rows = Rows.ask(X, BlackBox(lambda X: X[:, 0] > 1, FeatureSchema.infer(X)))
        >>> rows.weights.tolist(), rows.labels.tolist(), rows.n_queries
        ([2, 1], [False, True], 4)
        """
        encoded = black_box.schema.encode(X)
        first, weights, point_of_row = merge_rows(encoded)
        values = encoded[first]
        belongs = None if groups is None else groups[first]
        if known is None:
            labels = np.concatenate(_ask_in_batches(values, black_box, batch_size))
            n_again = black_box.warn_if_fickle(values[:batch_size], labels)
            return cls(black_box.schema, values, weights, point_of_row, labels, len(values) + n_again, belongs)
        # Points come in the order in which they first occur, so the known ones keep their numbers.
        both = np.concatenate([known.values, values])
        first, _, point = merge_rows(both)
        new = both[first[known.n_points :]]
        labels = np.concatenate([known.labels, *_ask_in_batches(new, black_box, batch_size)])[point[known.n_points :]]
        return cls(black_box.schema, values, weights, point_of_row, labels, len(new), belongs)

    def unmerged(self, groups: NDArray[Any] | None = None) -> Self:
        """Return every row of the user's as a point of its own.

        Whoever judges on rows needs it: a new row may well equal an old one, so equal rows may be in different folds.
        """
        points = self.point_of_row
        n_rows = len(points)
        return replace(
            self,
            values=self.values[points],
            weights=np.ones(n_rows, dtype=np.intp),
            point_of_row=np.arange(n_rows),
            labels=self.labels[points],
            groups=groups,
        )

    def folds(self, n_folds: int, seed: int) -> NDArray[np.intp]:
        """Return the number of each point's fold; folds have about as many groups, and no group is torn apart."""
        units = np.arange(self.n_points) if self.groups is None else pd.factorize(self.groups)[0]
        n_units = int(units.max()) + 1
        order = np.random.default_rng([seed, n_units]).permutation(n_units)
        folds = np.empty(n_units, dtype=np.intp)
        folds[order] = np.arange(n_units) % n_folds
        return folds[units]

    def halves(self, seed: int) -> NDArray[np.bool_]:
        """Return which points are in the first of two halves, no group torn apart."""
        first: NDArray[np.bool_] = self.folds(2, seed) == 0
        return first

    def part(self, points: NDArray[np.bool_]) -> Self:
        """Return some points as rows of their own; nothing is asked again."""
        number = np.cumsum(points) - 1
        kept = self.point_of_row[points[self.point_of_row]]
        between = self.between
        if between is not None:
            # A draw tells of both its parents, so it may be learned from only where both may.
            inside = points[between.parents].all(axis=1)
            between = Between(between.values[inside], between.labels[inside], number[between.parents[inside]])
        return replace(
            self,
            values=self.values[points],
            weights=self.weights[points],
            point_of_row=number[kept],
            labels=self.labels[points],
            n_queries=0,
            groups=None if self.groups is None else self.groups[points],
            between=between,
        )

    def some(self, n_points: int, seed: int) -> NDArray[np.bool_]:
        """Return which points are taken if at most so many may be, at random and no group torn apart."""
        taken = draw_rows(self.groups, self.n_points, n_points, seed)
        # A first group that is larger than that would leave nothing to learn from.
        return taken if taken.any() else np.ones(self.n_points, dtype=bool)

    def at_most(self, n_points: int, seed: int) -> Self:
        """Return the rows, or so many points of them at most."""
        taken = self.some(n_points, seed)
        return self if taken.all() else self.part(taken)

    def with_draws(self, black_box: BlackBox, n_draws: int, seed: int) -> Self:
        """Return the rows with draws between neighbours to learn from; the black box is asked about each."""
        values, parents = draw_between_neighbours(self.values, self.schema, n_draws, np.random.default_rng(seed))
        between = Between(values, black_box.ask(values), parents)
        return replace(self, between=between, n_queries=self.n_queries + n_draws)

    def to_learn(self) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return all there is to learn from: every row, and the draws between them."""
        values, labels = self.repeated(np.ones(self.n_points, dtype=bool))
        if self.between is None:
            return values, labels
        return np.concatenate([values, self.between.values]), np.concatenate([labels, self.between.labels])

    def repeated(self, points: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return the rows and labels of some points, each as often as the user's rows had it."""
        again = np.repeat(np.flatnonzero(points), self.weights[points])
        return self.values[again], self.labels[again]

    @property
    def n_points(self) -> int:
        """How many distinct rows there are."""
        return len(self.values)


def _ask_in_batches(values: NDArray[np.float64], black_box: BlackBox, batch_size: int) -> list[NDArray[Any]]:
    return [black_box.ask(values[i : i + batch_size]) for i in range(0, len(values), batch_size)]
