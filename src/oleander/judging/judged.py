"""A family of answers on rows that they were not learned from, and what may be concluded from them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.judging.bounds import lower_bound, lower_bound_of_ratio, ratio_reaches

# The one-sided error of the pooled bound. It is under the usual 5% because the widest of many settings is taken.
LEVEL = 0.02


@dataclass(frozen=True, eq=False)
class Judged:
    """A family of answers on rows that they were not learned from.

    Parameters
    ----------
    answered, right : bool arrays of shape (n_settings, n_points)
    weights : int array of shape (n_points,)
        The number of rows that each point stands for.
    groups : array of shape (n_points,) or None
    """

    answered: Bools
    right: Bools
    weights: Ints
    groups: Labels | None = None

    def masks(self, setting: int) -> tuple[Bools, Bools]:
        """Return masks of the points that one setting answers, and answers correctly."""
        return self.answered[setting], self.right[setting]

    def coverage(self) -> Floats:
        """Return the share of rows that each setting answers."""
        return np.asarray(self.n_answered / self.weights.sum())

    def agreement(self) -> Floats:
        """Return the share of answered rows on which each setting is right; NaN where no row is answered."""
        answered, right = self.n_answered, self.n_right
        return np.asarray(np.divide(right, answered, out=np.full(len(answered), np.nan), where=answered > 0))

    @property
    def n_answered(self) -> Ints:
        """The number of rows that each setting answers."""
        return np.asarray(self.answered @ self.weights)

    @property
    def n_right(self) -> Ints:
        """The number of rows that each setting answers correctly."""
        return np.asarray(self.right @ self.weights)

    def count_units(self) -> tuple[Floats | Ints, Ints]:
        """Return the units that each setting answers correctly, and those that it answers: rows, or groups.

        A group with an answered row is a unit, right by its share of correct answers.
        """
        if self.groups is None:
            return self.n_right, self.n_answered
        found = [((n_right / size).sum(), len(size)) for n_right, size in self._count_by_group()]
        n_right, n_units = np.array(found, dtype=float).reshape(-1, 2).T
        return n_right, n_units.astype(np.intp)

    def certified_bounds(self, level: float) -> Floats:
        """Return the lower bound on each setting's agreement that a certificate may state.

        With groups it is about a random row of a random group, by bets on the groups' shares of correct answers: it
        holds however alike the rows of a group are. Groups of one row each are rows, for which there is an exact bound.
        """
        if not self.has_bets:
            return lower_bound(self.n_right, self.n_answered, level)
        shares = (n_right / size for n_right, size in self._count_by_group())
        return np.array([lower_bound_of_ratio(share, np.ones(len(share)), 1, level) for share in shares])

    @property
    def has_bets(self) -> bool:
        """Whether bets on groups certify, and not an exact bound on rows."""
        return self.groups is not None and self._most_rows > 1

    def expect_units(self, mass: Floats) -> Floats:
        """Return the number of units that settings are expected to answer, given the share of rows that each answers.

        A group counts as soon as one of its rows is answered.
        """
        sizes = self.weights if self.groups is None else np.bincount(self._codes, weights=self.weights)
        if self.groups is None:
            return np.asarray(np.floor(mass * sizes.sum()))
        sizes, n_groups = np.unique(sizes, return_counts=True)
        return np.asarray(np.floor((1 - (1 - np.asarray(mass)[:, None]) ** sizes) @ n_groups))

    def bounds(self, level: float = LEVEL) -> Floats:
        """Return the lower bound on each setting's agreement.

        A group is one unit, correct by its share of correct answers. Shares between 0 and 1 vary less than answers that
        are correct or wrong, for which the bound is exact. ``certified_bounds`` is the bound proven for any shares.
        """
        return lower_bound(*self.count_units(), level)

    def row_bounds(self, level: float) -> Floats:
        """Return the lower bound on each setting's share of answered rows that are right, whatever the groups' sizes.

        It holds if no group has more rows than the largest one here.
        """
        if self.groups is None:
            return lower_bound(self.n_right, self.n_answered, level)
        return np.array([lower_bound_of_ratio(*counts, self._most_rows, level) for counts in self._count_by_group()])

    def rows_reach(self, floor: float, level: float) -> Bools:
        """Return a mask of the settings whose bound on the share of rows is at least the floor."""
        if self.groups is None:
            return self.row_bounds(level) >= floor
        return np.array([ratio_reaches(*pair, self._most_rows, floor, level) for pair in self._count_by_group()])

    def part(self, settings: Ints) -> "Judged":
        """Return some of the settings."""
        return replace(self, answered=self.answered[settings], right=self.right[settings])

    @property
    def _most_rows(self) -> int:
        return int(np.bincount(self._codes, weights=self.weights).max())

    @cached_property
    def _codes(self) -> Ints:
        return np.asarray(pd.factorize(self.groups)[0], dtype=np.intp)

    def _count_by_group(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield for each setting the right and the answered rows of each group that has an answered row."""
        for answered, right in zip(self.answered, self.right, strict=True):
            size, n_right = (np.bincount(self._codes, weights=mask * self.weights) for mask in (answered, right))
            yield n_right[size > 0].astype(float), size[size > 0].astype(float)
