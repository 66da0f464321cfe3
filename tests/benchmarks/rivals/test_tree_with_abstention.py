"""The tree with abstention on cases whose answer is worked out by hand."""

import numpy as np
import pytest

from benchmarks.rivals.tree_with_abstention import grow_judged_tree, keep_best_leaves, shrunk_quality
from oleander.data.schema import FeatureSchema
from oleander.judging.bounds import lower_bound
from oleander.rules import UnfilteredTree
from tests.making import label


@pytest.fixture
def tree():
    """Three leaves: up to 1, up to 2, over 2."""
    X = np.repeat([0.5, 1.5, 2.5], 20)[:, None]
    labels = np.repeat(["a", "b", "a"], 20)
    return UnfilteredTree(max_leaves=3).fit(X, labels, schema=FeatureSchema.infer(X, kinds={"x0": "continuous"}))


def judge(tree, right_of, quality, floor):
    """Judge each leaf on ``n`` rows, of which ``right`` are right."""
    leaf_of_row = np.concatenate([np.full(n, leaf) for leaf, (_, n) in right_of.items()])
    is_right = np.concatenate([np.arange(n) < right for right, n in right_of.values()])
    return keep_best_leaves(tree, quality, leaf_of_row, is_right, floor, level=0.05)


def test_a_leaf_too_small_to_be_judged_alone_may_speak_with_the_others(tree):
    one, two, three = tree.leaves
    quality = np.zeros(len(tree.column))
    quality[[one, two, three]] = 0.99, 0.8, 0.9
    # The first leaf alone has a bound of 0.79 only; with the second behind it the pool has 0.96.
    judged = judge(tree, {one: (12, 12), two: (0, 20), three: (60, 60)}, quality, floor=0.9)
    assert lower_bound(12, 12, 0.05) < 0.9
    assert set(judged.leaves) == {one, three}
    # The worst leaf would take the pool under the floor.
    assert (judged.n_right, judged.n_spoken, judged.n_judged) == (72, 72, 92)
    assert judged.bound == pytest.approx(float(lower_bound(72, 72, 0.05)))


def test_no_leaf_speaks_where_no_bound_holds(tree):
    quality = shrunk_quality(tree)
    judged = judge(tree, dict.fromkeys(tree.leaves, (5, 10)), quality, floor=0.9)
    assert (judged.n_spoken, judged.bound, len(judged.leaves)) == (0, 0.0, 0)


def test_leaves_are_judged_on_rows_that_the_tree_has_not_seen():
    """With labels that are noise, what a tree learned of its own rows is worth nothing on others."""
    X = np.random.default_rng(0).uniform(size=(600, 4))
    noise = {row.tobytes(): label for row, label in zip(X, np.random.default_rng(1).integers(0, 2, 600), strict=True)}
    rows = label(X, lambda X: np.array([noise[row.tobytes()] for row in X]))
    judged = grow_judged_tree(rows, rows.folds(2, 0) == 0, 0.9, max_leaves=40)
    assert judged.n_spoken == 0
