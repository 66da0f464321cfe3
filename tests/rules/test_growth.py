import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from oleander.data.schema import Feature, FeatureSchema, Kind
from oleander.rules.growth import grow_tree, make_columns, readable_edges, to_amounts

NUMBER = Feature("x", Kind.CONTINUOUS, "float64", upper=1.0)


def test_codes_are_bins_between_edges_and_missing_comes_last():
    X = np.column_stack([np.arange(40.0) / 4, np.resize([0.0, 1.0, 2.0], 40)])
    X[3, 0], X[5, 1] = np.nan, np.nan
    schema = FeatureSchema.infer(X, kinds={"x1": "categorical"})
    number, level = make_columns(schema.encode(X), schema, (0, 1))
    known = ~np.isnan(X[:, 0])
    np.testing.assert_array_equal(number.codes[known], np.searchsorted(number.edges, X[known, 0]))
    assert (number.codes[3], level.codes[5]) == (number.n_codes, 3)
    assert (number.is_number, level.is_number, level.n_codes, len(level.edges)) == (True, False, 3, 0)
    assert number.take(np.array([3, 0])).codes.tolist() == [number.n_codes, 0]


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e6, 1e200])
def test_edges_are_short_numbers_at_any_scale(scale):
    values = np.random.default_rng(0).uniform(0, scale, 5000)
    edges = readable_edges(np.sort(values), NUMBER)
    assert len(edges) > 40
    # At most three digits: a step of 1, 2 or 5 in the third digit at the finest.
    assert all(float(f"{edge:.3g}") == pytest.approx(edge, rel=1e-12) for edge in edges)
    assert edges.max() < values.max()


@pytest.mark.parametrize("values", [[0.5, 1.25, 7.3], [1.6e9 + 1, 1.6e9 + 2, 1.6e9 + 50], [-1e-5, 0.0, 3.0]])
def test_edges_keep_values_apart_and_far_from_zero(values):
    assert len(set(np.searchsorted(readable_edges(np.array(values), NUMBER), values))) == 3


def test_edges_of_heavy_tails_and_constants():
    values = np.append(np.random.default_rng(0).normal(size=5000), 1e9)
    assert 40 < len(readable_edges(np.sort(values), NUMBER)) <= 65
    for few, n_edges in ((np.full(9, 3.5), 0), (np.append(np.zeros(5000), 1.0), 1), (np.empty(0), 0)):
        assert len(readable_edges(few, NUMBER)) == n_edges


def test_whole_numbers_are_split_at_whole_numbers_and_no_edge_is_minus_zero():
    edges = readable_edges(np.linspace(-1.0, 1.0, 999), NUMBER)
    assert 0.0 in edges
    # A rule would say "up to -0".
    assert not np.signbit(edges[edges == 0.0]).any()
    feature = Feature("n", Kind.INTEGER, "int64", upper=9)
    assert readable_edges(np.arange(10.0), feature).tolist() == list(range(9))


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


def test_amounts_keep_the_order_and_a_far_answer_does_not_hide_the_others():
    answers = np.append(np.random.default_rng(0).normal(size=5_000), 1e9)
    amounts = to_amounts(answers)
    assert amounts.min() == 2
    assert (np.diff(amounts[np.argsort(answers)]) >= 0).all()
    assert len(np.unique(amounts)) > 500
    assert set(to_amounts(np.full(10, 3.0)).tolist()) == {2}
