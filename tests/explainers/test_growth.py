import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from oleander.data.schema import FeatureSchema
from oleander.explainers.growth import grow_tree


def groups_of(leaf_of_draw):
    return [np.flatnonzero(leaf_of_draw == leaf) for leaf in np.unique(leaf_of_draw)]


def impurity(groups, labels, n_labels):
    """Gini impurity times size, summed over groups of draws."""
    total = 0.0
    for rows in groups:
        counts = np.bincount(labels[rows], minlength=n_labels)
        total += len(rows) - (counts**2).sum() / len(rows)
    return total


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("max_leaves", [2, 5, 12, None])
def test_splits_are_as_good_as_scikit_learns(seed, max_leaves):
    """On numbers with few values both see the same splits, so best-first growth is as pure at every size."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, size=(400, 5)).astype(float)
    labels = (X[:, 0] + X[:, 1] * (X[:, 2] > 5) + rng.integers(0, 4, 400)).astype(int) % 3
    schema = FeatureSchema.infer(X)
    tree = grow_tree(schema.encode(X), labels, np.arange(3), schema, tuple(range(5)), max_leaves, simplify=False)
    ours = groups_of(tree.apply(schema.encode(X)))
    theirs = DecisionTreeClassifier(max_leaf_nodes=max_leaves, random_state=0).fit(X, labels).apply(X)
    expected = impurity(groups_of(theirs), labels, 3)
    assert impurity(ours, labels, 3) == pytest.approx(expected, rel=0.03, abs=1e-6)
    assert max_leaves is None or len(ours) == max_leaves
    assert np.array_equal([len(rows) for rows in ours], tree.n_draws[tree.leaves])


def test_first_split_is_the_best_of_all():
    """Against every split on every column, counted by hand: numbers, levels and missing."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(0, 9, 300), rng.integers(0, 4, 300)]).astype(float)
    X[rng.random(300) < 0.2, 0] = np.nan
    labels = np.where(np.isnan(X[:, 0]), 1, (X[:, 0] > 6).astype(int)) ^ (rng.random(300) < 0.2)
    schema = FeatureSchema.infer(X, kinds={"x1": "categorical"})
    tree = grow_tree(schema.encode(X), labels, np.arange(2), schema, (0, 1), 2, simplify=False)
    found = impurity(groups_of(tree.apply(schema.encode(X))), labels, 2)
    absent = np.isnan(X[:, 0])
    sides = [X[:, 1] == level for level in range(4)]
    for threshold in range(9):
        below = np.nan_to_num(X[:, 0], nan=99) <= threshold
        sides += [below, below | absent]
    by_hand = [
        impurity([np.flatnonzero(side), np.flatnonzero(~side)], labels, 2) for side in sides if 0 < side.sum() < 300
    ]
    assert found == pytest.approx(min(by_hand))


def test_siblings_with_the_same_label_become_one_leaf():
    X = np.arange(100.0)[:, None]
    labels = np.where(np.arange(100) < 90, 0, np.arange(100) % 4 == 0).astype(int)
    schema = FeatureSchema.infer(X)
    tree = grow_tree(schema.encode(X), labels, np.arange(2), schema, (0,), 2)
    assert len(tree.leaves) == 1
    assert tree.n_draws.tolist() == [100]
