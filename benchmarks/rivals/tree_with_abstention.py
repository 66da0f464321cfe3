"""One tree that is silent where it is not sure enough: a surrogate with a floor."""

from dataclasses import dataclass

import numpy as np

from benchmarks.rivals.base import Baseline, choose
from oleander.arrays import Bools, Floats, Ints
from oleander.black_box.asking import BlackBox
from oleander.data.rows import Rows
from oleander.judging.bounds import lower_bound
from oleander.results.explainer_set import ChosenExplainer
from oleander.rules import Box, Constant
from oleander.rules.base import encode_labels
from oleander.rules.growth import grow_tree
from oleander.rules.tree import LEAF, Tree

# Smallest sizes of a leaf that are tried.
MIN_LEAVES = (3, 8, 15)


@dataclass(eq=False, repr=False, kw_only=True)
class TreeWithAbstention(Baseline):
    """Mimic the black box with one tree, silent in the leaves where it is not sure enough.

    Half of the rows grow the tree and rank its leaves; the other half decides how many of them may speak. Both halves
    take both roles, several smallest sizes of a leaf are tried, and the widest answer is kept.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> rival = TreeWithAbstention(lambda X: X[:, 0] > 0.5, random_state=0).fit(X)
    >>> rival.evaluate(X).coverage > 0.95
    True
    """

    # The floor for the answers together.
    min_fidelity: float = 0.9
    # The maximum number of leaves, silent ones included.
    max_leaves: int | None = 40
    # The bound must exceed the floor by this margin, because the widest of a few trees is taken.
    margin: float = 0.005
    # One-sided error of the pooled bound.
    level: float = 0.05

    def _find(self, rows: Rows, box: BlackBox, seed: int) -> tuple[list[ChosenExplainer], int]:
        if rows.n_points < 2:
            return [], 0
        half = rows.folds(2, seed) == 0
        floor = min(self.min_fidelity + self.margin, 1.0)
        judged = [
            grow_judged_tree(rows, part, floor, max_leaves=self.max_leaves, level=self.level) for part in (half, ~half)
        ]
        best = max(judged, key=lambda tree: tree.n_spoken / max(tree.n_judged, 1))
        if not best.n_spoken:
            return [], 0
        self.n_nodes_ = len(best.tree.column)
        return [choose(rows, *take_leaf(best.tree, leaf), "tree with abstention") for leaf in best.leaves.tolist()], 0


def take_leaf(tree: Tree, leaf: int) -> tuple[Box, Constant]:
    """Return a leaf as a rule of its own."""
    rule = tree.rule(leaf)
    return Box(rule.terms), Constant(rule.label, rule.n_draws, rule.share, tree.classes.dtype)


@dataclass(frozen=True, eq=False)
class JudgedTree:
    """A tree with the leaves that may speak, and the rows on which that was judged."""

    tree: Tree
    # The nodes that are leaves and may speak.
    leaves: Ints
    # The judged rows: those it answers correctly, those it answers, and all.
    n_right: int
    n_spoken: int
    n_judged: int
    # The lower bound on the share of spoken rows on which it is right; 0 where it is silent everywhere.
    bound: float


def keep_best_leaves(
    tree: Tree, quality: Floats, leaf_of_row: Ints, is_right: Bools, floor: float, level: float
) -> JudgedTree:
    """Let the best leaves speak, as many as keep the pooled lower bound at the floor.

    Leaves are ordered by ``quality``, one number per node, learned from other rows than the judged ones. ``is_right``
    says where the tree says what the black box says, and ``level`` is the one-sided error of the bound.
    """
    leaves = tree.leaves[np.argsort(-quality[tree.leaves], kind="stable")]
    spoken = np.bincount(leaf_of_row, minlength=len(tree.column))[leaves].cumsum()
    right = np.bincount(leaf_of_row, weights=is_right, minlength=len(tree.column))[leaves].cumsum()
    bounds = lower_bound(right, spoken, level)
    good = np.flatnonzero(bounds >= floor)
    n_kept = int(good[-1]) + 1 if len(good) else 0
    counts = (int(right[n_kept - 1]), int(spoken[n_kept - 1]), float(bounds[n_kept - 1])) if n_kept else (0, 0, 0.0)
    return JudgedTree(tree, np.sort(leaves[:n_kept]), counts[0], counts[1], len(leaf_of_row), counts[2])


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


def shrunk_quality(tree: Tree, strength: float = 5.0) -> Floats:
    """Return the share of each node's draws on which its label is correct, shrunk towards its parent's share.

    The fewer draws a node has, the stronger it is shrunk: the parent's share counts as ``strength`` draws.

    Examples
    --------
    >>> from oleander.data.schema import FeatureSchema
    >>> from oleander.rules import UnfilteredTree
    >>> X = np.arange(8.0)[:, None] / 2
    >>> tree = UnfilteredTree(max_leaves=2).fit(X, np.arange(8) > 5, schema=FeatureSchema.infer(X))
    >>> shrunk_quality(tree, strength=2.0).round(3).tolist()
    [0.7, 0.925, 0.85]
    """
    quality = np.empty(len(tree.column))
    # The root is shrunk towards the share of a random label.
    quality[0] = (tree.n_right[0] + strength / len(tree.classes)) / (tree.n_draws[0] + strength)
    for parent in np.flatnonzero(tree.column != LEAF).tolist():
        for child in (tree.left[parent], tree.right[parent]):
            quality[child] = (tree.n_right[child] + strength * quality[parent]) / (tree.n_draws[child] + strength)
    return quality
