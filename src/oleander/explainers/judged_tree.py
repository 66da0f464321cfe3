"""One tree that speaks only where it is good: its leaves ordered by what it learned, kept while one bound holds.

Which leaves are better is decided on the rows that the tree was grown on; how many of them may speak is decided on
rows that it has not seen, for all kept leaves together. One pooled bound is far tighter than one for each leaf.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats
from oleander.data.rows import Rows
from oleander.explainers import AbstainingTree
from oleander.explainers.base import encode_labels
from oleander.explainers.tree import LEAF, Tree, grow_tree
from oleander.judging.bounds import lower_bound

MIN_LEAVES = (3, 8, 15)


@dataclass(frozen=True, eq=False)
class JudgedTree:
    """A tree with the leaves that may speak, and the rows on which that was judged.

    Parameters
    ----------
    explainer : AbstainingTree
    n_right, n_spoken, n_judged : int
        The numbers of judged rows on which it is right, that it answers, and of all.
    bound : float
        The lower bound on the share of spoken rows on which it is right; 0 where it is silent everywhere.
    """

    explainer: AbstainingTree
    n_right: int
    n_spoken: int
    n_judged: int
    bound: float


def shrunk_quality(tree: Tree, strength: float = 5.0) -> Floats:
    """Return for each node how often its label is right, pulled towards its parent's as far as its draws are few.

    Examples
    --------
    >>> from oleander.explainers import UnfilteredTree
    >>> from oleander.data.schema import FeatureSchema
    >>> X = np.arange(8.0)[:, None] / 2
    >>> tree = UnfilteredTree(max_leaves=2).fit(X, np.arange(8) > 5, schema=FeatureSchema.infer(X)).tree_
    >>> shrunk_quality(tree, strength=2.0).round(3).tolist()
    [0.7, 0.925, 0.85]
    """
    quality = np.empty(len(tree.column))
    # Above the root stands the label that is right by chance.
    quality[0] = (tree.n_right[0] + strength / len(tree.classes)) / (tree.n_draws[0] + strength)
    for parent in np.flatnonzero(tree.column != LEAF).tolist():
        for child in (tree.left[parent], tree.right[parent]):
            quality[child] = (tree.n_right[child] + strength * quality[parent]) / (tree.n_draws[child] + strength)
    return quality


def keep_best_leaves(
    tree: Tree, quality: Floats, leaf_of_row: NDArray[np.intp], is_right: Bools, floor: float, level: float
) -> JudgedTree:
    """Let the best leaves speak, as many as keep the pooled lower bound at the floor.

    Parameters
    ----------
    tree : Tree
    quality : array of shape (n_nodes,)
        By which leaves are ordered; learned from other rows than the judged ones.
    leaf_of_row : int array of shape (n_judged,)
    is_right : bool array of shape (n_judged,)
        Where the tree says what the black box says.
    floor : float
    level : float
        One-sided error of the bound.
    """
    leaves = tree.leaves[np.argsort(-quality[tree.leaves], kind="stable")]
    spoken = np.bincount(leaf_of_row, minlength=len(tree.column))[leaves].cumsum()
    right = np.bincount(leaf_of_row, weights=is_right, minlength=len(tree.column))[leaves].cumsum()
    bounds = lower_bound(right, spoken, level)
    good = np.flatnonzero(bounds >= floor)
    n_kept = int(good[-1]) + 1 if len(good) else 0
    speaking = np.zeros(len(tree.column), dtype=bool)
    speaking[leaves[:n_kept]] = True
    counts = (int(right[n_kept - 1]), int(spoken[n_kept - 1]), float(bounds[n_kept - 1])) if n_kept else (0, 0, 0.0)
    return JudgedTree(AbstainingTree(tree, speaking), counts[0], counts[1], len(leaf_of_row), counts[2])


def grow_judged_tree(
    rows: Rows,
    learned_from: Bools,
    floor: float,
    *,
    max_leaves: int | None,
    level: float = 0.05,
    min_leaves: tuple[int, ...] = MIN_LEAVES,
) -> JudgedTree:
    """Grow trees with leaves of several smallest sizes on some points, judge them on the others, return the widest."""
    draws, labels = rows.repeated(learned_from)
    judged, truth = rows.repeated(~learned_from)
    classes, codes = encode_labels(labels)
    features = tuple(range(len(rows.schema)))
    trees = []
    for min_leaf in min_leaves:
        tree = grow_tree(draws, codes, classes, rows.schema, features, max_leaves, min_leaf=min_leaf, simplify=False)
        leaf = tree.apply(judged)
        right = np.asarray(classes[tree.label[leaf]] == truth)
        trees.append(keep_best_leaves(tree, shrunk_quality(tree), leaf, right, floor, level))
    return max(trees, key=lambda tree: (tree.n_spoken, tree.n_right))
