"""A family of answers on rows that they were not learned from, and the fixed-sequence test that picks one.

One step after the other, from cautious to bold, is tested at one level. The order comes from draws alone, and the first
failure ends the sequence. No correction for the number of steps is needed: a false claim needs the first step under the
floor to pass its own test.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.stats import binom

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.judging.bounds import fewest_right_groups, lower_bound, lower_bound_of_ratio, ratio_reaches

# Errors on rows are taken to be this much more frequent than on held-back draws when the start is chosen.
CAUTION = 1.5
EXTRA_ERRORS = 0.01
# The sequence starts at the boldest step that passes with this probability.
WANTED_CHANCE = 0.9


@dataclass(frozen=True, eq=False)
class Judged:
    """A family of answers on rows that they were not learned from."""

    # Masks of the points that each setting answers, and answers correctly, of shape (n_settings, n_points).
    answered: Bools
    right: Bools
    # The number of rows that each point stands for.
    weights: Ints
    groups: Labels | None = None

    @cached_property
    def n_answered(self) -> Ints:
        """The number of rows that each setting answers."""
        return self._count(self.answered)

    @cached_property
    def n_right(self) -> Ints:
        """The number of rows that each setting answers correctly."""
        return self._count(self.right)

    def _count(self, masks: Bools) -> Ints:
        # Most often no row repeats, and a count takes a tenth of the time of a sum.
        is_plain = self.weights.max(initial=1) == 1
        return np.count_nonzero(masks, axis=1) if is_plain else np.asarray(masks @ self.weights)

    def coverage(self) -> Floats:
        """Return the share of rows that each setting answers."""
        return np.asarray(self.n_answered / self.weights.sum())

    def agreement(self) -> Floats:
        """Return each setting's share of correct answers; NaN where no row is answered."""
        answered, right = self.n_answered, self.n_right
        return np.asarray(np.divide(right, answered, out=np.full(len(answered), np.nan), where=answered > 0))

    def count_units(self) -> tuple[Floats | Ints, Ints]:
        """Return the units that each setting answers correctly, and those that it answers: rows, or groups."""
        if self.groups is None:
            return self.n_right, self.n_answered
        # A group with an answered row is a unit, correct by its share of correct answers.
        found = [((n_right / size).sum(), len(size)) for n_right, size in self._count_by_group()]
        n_right, n_units = np.array(found, dtype=float).reshape(-1, 2).T
        return n_right, n_units.astype(np.intp)

    def bounds(self, level: float) -> Floats:
        """Return the lower bound on each setting's agreement, where nothing is certified."""
        # Shares of correct answers of groups vary less than answers that are correct or wrong, for which this is exact.
        return lower_bound(*self.count_units(), level)

    def certified_bounds(self, level: float) -> Floats:
        """Return the lower bound on each setting's agreement that a certificate may state.

        With groups it is about a random row of a random group, and holds however alike the rows of a group are.
        """
        if not self.has_bets:
            return lower_bound(self.n_right, self.n_answered, level)
        shares = (n_right / size for n_right, size in self._count_by_group())
        return np.array([lower_bound_of_ratio(share, np.ones(len(share)), 1, level) for share in shares])

    @property
    def has_bets(self) -> bool:
        """Whether bets on groups certify, and not an exact bound on rows."""
        return self.groups is not None and self._most_rows > 1

    def row_bounds(self, level: float) -> Floats:
        """Return the lower bound on each setting's share of correct rows, for groups no larger than those here."""
        return np.array([lower_bound_of_ratio(*counts, self._most_rows, level) for counts in self._count_by_group()])

    def rows_reach(self, floor: float, level: float) -> Bools:
        """Return a mask of the settings whose bound on the share of correct rows is at least the floor."""
        return np.array([ratio_reaches(*pair, self._most_rows, floor, level) for pair in self._count_by_group()])

    def expect_units(self, mass: Floats) -> Floats:
        """Return the number of units that settings are expected to answer, given the share of rows of each."""
        if self.groups is None:
            return np.asarray(np.floor(mass * self.weights.sum()))
        sizes, n_groups = np.unique(np.bincount(self._codes, weights=self.weights), return_counts=True)
        return np.asarray(np.floor((1 - (1 - np.asarray(mass)[:, None]) ** sizes) @ n_groups))

    def part(self, settings: Ints | Sequence[int]) -> "Judged":
        """Return some of the settings."""
        return replace(self, answered=self.answered[settings], right=self.right[settings])

    def of_points(self, points: Bools) -> "Judged":
        """Return the settings on some of the points."""
        groups = None if self.groups is None else self.groups[points]
        return Judged(self.answered[:, points], self.right[:, points], self.weights[points], groups)

    @property
    def n_units(self) -> int:
        """The number of rows, or of groups."""
        return int(self.weights.sum()) if self.groups is None else len(pd.unique(self.groups))

    @property
    def _most_rows(self) -> int:
        return int(np.bincount(self._codes, weights=self.weights).max())

    @cached_property
    def _codes(self) -> Ints:
        return np.asarray(pd.factorize(self.groups)[0], dtype=np.intp)

    def _count_by_group(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield each setting's correct and answered rows in every group that has an answered row."""
        for answered, right in zip(self.answered, self.right, strict=True):
            size, n_right = (np.bincount(self._codes, weights=mask * self.weights) for mask in (answered, right))
            yield n_right[size > 0].astype(float), size[size > 0].astype(float)


def find_passed(bounds: Floats, start: int, floor: float) -> Ints:
    """Return the steps from ``start`` on, up to the first whose bound is under the floor."""
    failed = np.flatnonzero(bounds[start:] < floor)
    end = start + int(failed[0]) if len(failed) else len(bounds)
    return np.arange(start, end)


def find_start(chances: Floats) -> int:
    """Return the boldest step that is likely to pass, or else the likeliest."""
    likely = np.flatnonzero(chances >= WANTED_CHANCE)
    return int(likely[-1]) if len(likely) else int(chances.argmax())


def pass_chances(judged: Judged, mass: Floats, agreement: Floats, floor: float, level: float) -> Floats:
    """Return the probability that each step's bound reaches the floor, estimated from held-back draws.

    Of the rows only their number counts. ``mass`` and ``agreement`` of each step are those on the draws. Groups are
    taken as all correct or all wrong, the worst case.
    """
    n_answered = judged.expect_units(mass)
    expected = np.clip(1 - CAUTION * (1 - agreement) - EXTRA_ERRORS, 0.0, 1.0)
    # The exact bound reaches the floor from the number of correct answers on that a share at the floor exceeds with a
    # probability of at most the level.
    fewest = binom.isf(level, n_answered, floor) + 1
    if judged.has_bets:
        fewest = np.array([fewest_right_groups(int(number), floor, level) for number in n_answered])
    chances: Floats = np.where(n_answered > 0, binom.sf(fewest - 1, n_answered, expected), 0.0)
    return chances
