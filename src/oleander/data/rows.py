"""The rows to be explained: encoded, equal ones merged, with the black box's answers, and split with groups whole."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.schema import FeatureSchema

# Rows that are hashed at a time: whole columns would be copied several times.
BLOCK = 10_000
# An odd number with bits everywhere mixes the bits below it, and half of a word brings the upper ones down.
FACTOR, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
# What counts as one piece of evidence.
Unit = Literal["rows", "groups"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows, which the program calls points; a program merges equal rows (of each group) into one.

    Rows that differ in a rare level only are points of their own with equal values: the black box may tell them apart.
    Arrays have an entry for each point, but ``point_of_row`` one for each of the user's rows.
    """

    schema: FeatureSchema
    # Encoded, in the order in which they first occur.
    values: Floats
    # The number of the user's rows that are equal to each point.
    weights: Ints
    point_of_row: Ints
    # The black box's answers.
    labels: Labels
    # The group of each point (one patient, one trial). Equal rows of two groups are two points.
    groups: Labels | None = None
    # Points that are copies of one another, which folds keep together where there are no groups.
    clusters: Ints | None = None
    # The rows that the black box was asked about, encoded by ``schema.exact``; None where they are the values.
    asked: Floats | None = None

    @classmethod
    def empty(cls, schema: FeatureSchema) -> Self:
        """Return ``Rows`` without a row."""
        none = np.zeros(0, dtype=np.intp)
        return cls(schema, np.empty((0, len(schema))), none, none, np.empty(0, dtype=object))

    @property
    def unit(self) -> Unit:
        """What counts as one piece of evidence."""
        return "rows" if self.groups is None else "groups"

    @property
    def exact(self) -> Floats:
        """The points as the black box was asked about them."""
        return self.values if self.asked is None else self.asked

    @property
    def n_units(self) -> int:
        """The number of pieces of evidence."""
        return self.n_rows if self.groups is None else count_units(self.n_points, self.groups)

    @property
    def n_points(self) -> int:
        """The number of points."""
        return len(self.values)

    @property
    def n_rows(self) -> int:
        """The number of the user's rows."""
        return int(self.weights.sum())

    @property
    def labels_of_rows(self) -> Labels:
        """The black box's answer for each of the user's rows, in their order."""
        return np.asarray(self.labels[self.point_of_row])

    @cached_property
    def by_hash(self) -> tuple[NDArray[np.uint64], Ints]:
        """The hashes of the points in rising order, and the point of each, the first of equal ones first."""
        hashes = hash_rows(self.exact)
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order

    def find(self, values: Floats) -> Ints:
        """Return the first point that is equal to each of some encoded rows; -1 where there is none."""
        hashes, order = self.by_hash
        wanted = hash_rows(values)
        place = np.searchsorted(hashes, wanted)
        found = np.full(len(values), -1, dtype=np.intp)
        known = np.flatnonzero(place < len(hashes))
        known = known[hashes[place[known]] == wanted[known]]
        found[known] = order[place[known]]
        return found

    def folds(self, n_folds: int, seed: int) -> Ints:
        """Return the number of each point's fold, groups and clusters of copies kept whole."""
        return assign_folds(self.n_points, n_folds, self.clusters if self.groups is None else self.groups, seed)

    def part(self, points: Bools) -> Self:
        """Return some of the points as rows of their own."""
        number, kept = np.cumsum(points) - 1, points[self.point_of_row]
        every = {name: getattr(self, name) for name in ("values", "weights", "labels", "groups", "clusters", "asked")}
        some: dict[str, Any] = {name: None if values is None else values[points] for name, values in every.items()}
        return replace(self, point_of_row=number[self.point_of_row[kept]], **some)

    def repeated(self, points: Bools | None = None) -> tuple[Floats, Labels]:
        """Return the values and labels of some points, or of all, each as often as the user's rows have it."""
        taken = np.ones(self.n_points, dtype=bool) if points is None else points
        again = np.repeat(np.flatnonzero(taken), self.weights[taken])
        return self.values[again], self.labels[again]

    def join(self, other: Self) -> Self:
        """Return the rows of both, the other's behind these, with equal points merged and without groups."""
        exact = np.concatenate([self.exact, other.exact])
        first, _, point = merge_rows(exact)
        rows = np.concatenate([self.point_of_row, self.n_points + other.point_of_row])
        point_of_row = point[rows]
        # Labels of no row have no dtype of their own.
        parts = [part for part in (self.labels, other.labels) if len(part)] or [self.labels]
        labels, exact = np.concatenate(parts)[first], exact[first]
        weights, values = np.bincount(point_of_row, minlength=len(first)), self.schema.fold(exact)
        asked = None if values is exact else exact
        return type(self)(self.schema, values, weights, point_of_row, labels, asked=asked)


def merge_rows(rows: Floats) -> tuple[Ints, Ints, Ints]:
    """Return the first row of each point in order, the number of rows equal to it, and the point of each row."""
    point_of_row = pd.factorize(hash_rows(rows))[0]
    first = np.unique(point_of_row, return_index=True)[1]
    return first, np.bincount(point_of_row, minlength=len(first)), point_of_row


def hash_rows(rows: Floats) -> NDArray[np.uint64]:
    """Return one number per row: equal where rows are equal, missing values included, and different elsewhere.

    A million different rows have two equal numbers once in forty million tables.
    """
    hashes = np.zeros(len(rows), dtype=np.uint64)
    for start in range(0, len(rows), BLOCK):
        # -0.0 and 0.0 are equal numbers with different bytes, and so are the many NaNs.
        plain = np.ascontiguousarray(rows[start : start + BLOCK] + 0.0)
        plain[np.isnan(plain)] = np.nan
        block = hashes[start : start + BLOCK]
        for column in plain.view(np.uint64).T:
            block ^= column
            block *= FACTOR
            block ^= block >> HALF
    return hashes


def split_off(n_rows: int, share: float | None, groups: Labels | None, seed: int) -> tuple[Ints, Ints]:
    """Return the indices of the rows to learn from and of the rows that are held out, groups kept whole."""
    every_row = np.arange(n_rows)
    if not share or n_rows < 2:
        return every_row, every_row[:0]
    n_units = count_units(n_rows, groups)
    if n_units < 2:
        raise ValueError("groups names one group only, so none can be held out: use holdout=None.")
    if math.ceil(share * n_units) >= n_units:
        what = "rows" if groups is None else "groups"
        raise ValueError(f"holdout={share:g} of {n_units:,} {what} leaves none to learn from: lower it.")
    units = every_row if groups is None else np.unique(groups, return_inverse=True)[1]
    # The split of scikit-learn's ShuffleSplit and GroupShuffleSplit, which take long to import.
    order = np.random.RandomState(seed % 2**32).permutation(int(units.max()) + 1)
    is_held = np.isin(units, order[: math.ceil(share * len(order))])
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def assign_folds(n_rows: int, n_folds: int, groups: Labels | None, seed: int) -> Ints:
    """Return the number of each row's fold; folds hold about equally many groups, and groups are kept whole."""
    units = np.arange(n_rows) if groups is None else pd.factorize(groups)[0]
    n_units = int(units.max()) + 1
    order = np.random.default_rng([seed, n_units]).permutation(n_units)
    folds = np.empty(n_units, dtype=np.intp)
    folds[order] = np.arange(n_units) % n_folds
    return folds[units]


def count_units(n_rows: int, groups: Labels | None) -> int:
    """Return the number of groups, or of rows where there are no groups."""
    return n_rows if groups is None else len(pd.unique(groups))
