"""A family of answers on rows that they were not learned from, and what may be concluded from them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.judging.bounds import lower_bound

# The one-sided error of the pooled bound. It is under the usual 5% because the widest of many settings is taken.
LEVEL = 0.02
# The share of wrong rows in the group that is added where groups are judged.
DOUBT = 0.25


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
        """The number of rows that each setting answers rightly."""
        return np.asarray(self.right @ self.weights)

    def count_units(self, seed: int) -> tuple[Ints, Ints]:
        """Return the units that each setting answers rightly, and those that it answers.

        Units are rows, or one random answered row of each group: one row of a group is as independent as groups are,
        however alike the rows of a group may be.
        """
        if self.groups is None:
            return self.n_right, self.n_answered
        # A point that stands for several rows is as much likelier to be the one that counts.
        luck = np.random.default_rng(seed).random(len(self.weights)) ** (1 / self.weights)
        order = np.argsort(-luck)
        codes = np.asarray(pd.factorize(self.groups)[0])
        counts = np.zeros((2, len(self.answered)), dtype=np.intp)
        for number, (answered, right) in enumerate(zip(self.answered, self.right, strict=True)):
            points = order[answered[order]]
            points = points[np.unique(codes[points], return_index=True)[1]]
            counts[:, number] = right[points].sum(), len(points)
        return counts[0], counts[1]

    def bounds(self, level: float = LEVEL) -> Floats:
        """Return the lower bound on each setting's agreement; dependent rows of one group count for less."""
        answered, right = self.n_answered, self.n_right
        if self.groups is None:
            return lower_bound(right, answered, level)
        codes = np.asarray(pd.factorize(self.groups)[0])
        effects = [
            _doubted_effect(inside * self.weights, good * self.weights, codes)
            for inside, good in zip(self.answered, self.right, strict=True)
        ]
        # The effect is estimated from the groups, so Student's law takes the place of the normal one.
        n_groups = len(np.unique(codes))
        doubt = (norm.isf(level) / student.isf(level, max(n_groups - 1, 1))) ** 2
        shrink = doubt / np.array(effects)
        return lower_bound(right * shrink, answered * shrink, level)


def _doubted_effect(n_rows: Ints, n_right: Ints, groups: Ints) -> float:
    """Return the design effect with one more group of usual size, of which a part is wrong.

    Without an error no group differs from another, and alike rows of one group would count as independent.
    """
    usual = n_rows.sum() / max(len(np.unique(groups[n_rows > 0])), 1)
    doubtful = groups.max(initial=0) + 1
    return design_effect(np.append(n_rows, usual), np.append(n_right, (1 - DOUBT) * usual), np.append(groups, doubtful))


def design_effect(n_rows: Floats | Ints, n_right: Floats | Ints, groups: Ints) -> float:
    """Return the number of grouped rows that are worth one independent row; at least 1.

    The variance of the share over groups, as of a ratio of sums, is divided by that of as many independent rows.

    Examples
    --------
    Two groups of ten rows each, one always right and one never: worth two rows.

    >>> groups = np.repeat([0, 1], 10)
    >>> design_effect(np.ones(20), np.repeat([1, 0], 10), groups)
    20.0
    """
    size, right = (np.bincount(groups, weights=counts) for counts in (n_rows, n_right))
    inside = size > 0
    n_groups, total = int(inside.sum()), size.sum()
    if n_groups < 2:
        return max(float(total), 1.0)
    share = right.sum() / total
    # A share of 0 or 1 leaves no variance to compare; half an error more keeps the question open.
    share = (right.sum() + 0.5) / (total + 1) if share in (0.0, 1.0) else share
    between = n_groups / (n_groups - 1) * np.square(right - share * size)[inside].sum() / total**2
    return float(max(between / (share * (1 - share) / total), 1.0))
