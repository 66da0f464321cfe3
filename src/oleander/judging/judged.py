"""A family of answers on rows that they were not learned from, and what may be concluded from them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.judging.bounds import lower_bound

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
        """Return masks of the points that one setting answers, and answers rightly."""
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
        """Return the lower bound on each setting's agreement.

        Groups count as groups: a group is one unit, right by its share of right answers. However many rows a group has,
        and however alike they are, the bound is about new groups.
        """
        if self.groups is None:
            return lower_bound(self.n_right, self.n_answered, level)
        codes = np.asarray(pd.factorize(self.groups)[0])
        found = []
        for answered, right in zip(self.answered, self.right, strict=True):
            size, n_right = (np.bincount(codes, weights=mask * self.weights) for mask in (answered, right))
            inside = size > 0
            found.append(lower_bound((n_right[inside] / size[inside]).sum(), inside.sum(), level))
        return np.array(found, dtype=float)
