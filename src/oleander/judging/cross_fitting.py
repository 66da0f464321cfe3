"""One tree judged by cross-fitting: grown on all folds but one, it answers that one, in turn.

Every row is judged once by a tree that did not learn from it. A family of settings, from "answers everywhere" to
"answers where it is all but certain", is judged at once, each by one pooled bound.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.rows import Rows
from oleander.data.splitting import count_units
from oleander.explainers.abstaining import shrunk_quality
from oleander.explainers.base import encode_labels
from oleander.explainers.growth import grow_tree
from oleander.judging.bounds import lower_bound

# The one-sided error of the pooled bound. It is under the usual 5% because the widest of many settings is taken.
LEVEL = 0.02
# The qualities, shrunk towards the parent's, that a leaf must have to answer: one setting each.
BARS = np.array([0.0, *np.linspace(0.5, 0.9, 9), *np.linspace(0.91, 0.995, 18)])
N_FOLDS = 5
SMALLEST_FOLD = 3
# A tree is grown on at most this many points.
MOST_LEARNED = 20_000


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
        return np.asarray(self.answered @ self.weights / self.weights.sum())

    def agreement(self) -> Floats:
        """Return the share of answered rows on which each setting is right; NaN where no row is answered."""
        answered, right = self.answered @ self.weights, self.right @ self.weights
        return np.asarray(np.divide(right, answered, out=np.full(len(answered), np.nan), where=answered > 0))

    def bounds(self, level: float = LEVEL) -> Floats:
        """Return the lower bound on each setting's agreement; dependent rows of one group count for less."""
        answered, right = self.answered @ self.weights, self.right @ self.weights
        if self.groups is None:
            return lower_bound(right, answered, level)
        codes = np.asarray(pd.factorize(self.groups)[0])
        effects = [
            design_effect(inside * self.weights, good * self.weights, codes)
            for inside, good in zip(self.answered, self.right, strict=True)
        ]
        # The effect is estimated from the groups, so Student's law takes the place of the normal one.
        n_groups = len(np.unique(codes))
        doubt = (norm.isf(level) / student.isf(level, max(n_groups - 1, 1))) ** 2
        shrink = doubt / np.array(effects)
        return lower_bound(right * shrink, answered * shrink, level)


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


def cross_fit_tree(rows: Rows, max_leaves: int, min_leaf: int, seed: int) -> Judged:
    """Judge one tree at every bar on rows that it was not grown on.

    Parameters
    ----------
    rows : Rows
    max_leaves : int
    min_leaf : int
        The fewest rows of a leaf.
    seed : int
    """
    # A fold of one row says little, and leaving it out turns a majority around.
    n_folds = max(2, min(N_FOLDS, count_units(rows.n_points, rows.groups) // SMALLEST_FOLD))
    fold = rows.folds(n_folds, seed)
    answered = np.zeros((len(BARS), rows.n_points), dtype=bool)
    right = np.zeros_like(answered)
    for number in range(n_folds):
        out = fold == number
        if out.all() or not out.any():
            continue
        values, labels = rows.part(~out).at_most(MOST_LEARNED, seed).repeated()
        classes, codes = encode_labels(labels)
        every_feature = tuple(range(len(rows.schema)))
        tree = grow_tree(
            values, codes, classes, rows.schema, every_feature, max_leaves, min_leaf=min_leaf, simplify=False
        )
        leaf = tree.apply(rows.values[out])
        answered[:, out] = shrunk_quality(tree)[leaf] >= BARS[:, None]
        right[:, out] = answered[:, out] & (classes[tree.label[leaf]] == rows.labels[out])
    return Judged(answered, right, rows.weights, rows.groups)
