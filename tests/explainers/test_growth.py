import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from oleander.data.schema import Feature, FeatureSchema, Kind
from oleander.explainers.growth import grow, make_columns, readable_edges, readable_step
from oleander.explainers.tree import grow_tree

NUMBER = Feature("x", Kind.CONTINUOUS, "float64", upper=1.0)


def leaves_of(node):
    return [node] if node.children is None else leaves_of(node.children[0]) + leaves_of(node.children[1])


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
    columns = make_columns(schema.encode(X), schema, tuple(range(5)))
    ours = [leaf.rows for leaf in leaves_of(grow(columns, labels, 3, max_leaves))]
    theirs = DecisionTreeClassifier(max_leaf_nodes=max_leaves, random_state=0).fit(X, labels).apply(X)
    expected = impurity([np.flatnonzero(theirs == leaf) for leaf in np.unique(theirs)], labels, 3)
    assert impurity(ours, labels, 3) == pytest.approx(expected, rel=0.03, abs=1e-6)
    assert max_leaves is None or len(ours) == max_leaves
    assert np.array_equal(np.sort(np.concatenate(ours)), np.arange(400))


def test_first_split_is_the_best_of_all():
    """Against every split on every column, counted by hand: numbers, levels and missing."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(0, 9, 300), rng.integers(0, 4, 300)]).astype(float)
    X[rng.random(300) < 0.2, 0] = np.nan
    labels = np.where(np.isnan(X[:, 0]), 1, (X[:, 0] > 6).astype(int)) ^ (rng.random(300) < 0.2)
    schema = FeatureSchema.infer(X, kinds={"x1": "categorical"})
    columns = make_columns(schema.encode(X), schema, (0, 1))
    found = impurity([leaf.rows for leaf in leaves_of(grow(columns, labels, 2, 2))], labels, 2)
    absent = np.isnan(X[:, 0])
    sides = [X[:, 1] == level for level in range(4)]
    for threshold in range(9):
        below = np.nan_to_num(X[:, 0], nan=99) <= threshold
        sides += [below, below | absent]
    by_hand = [
        impurity([np.flatnonzero(side), np.flatnonzero(~side)], labels, 2) for side in sides if 0 < side.sum() < 300
    ]
    assert found == pytest.approx(min(by_hand))


@pytest.mark.parametrize(
    ("size", "step"), [(0.034, 0.02), (0.05, 0.05), (1.0, 1.0), (9.9, 5.0), (1234.0, 1000.0), (1e-7, 1e-7)]
)
def test_readable_step(size, step):
    assert readable_step(size)[0] == pytest.approx(step)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e6, 1e200])
def test_edges_are_short_numbers_at_any_scale(scale):
    values = np.random.default_rng(0).uniform(0, scale, 5000)
    edges = readable_edges(np.sort(values), NUMBER)
    assert len(edges) > 40
    # At most three digits: a step of 1, 2 or 5 in the third digit at the finest.
    assert all(float(f"{edge:.3g}") == pytest.approx(edge, rel=1e-12) for edge in edges)
    assert edges.max() < values.max()


def test_edges_keep_values_apart_and_far_from_zero():
    for values in ([0.5, 1.25, 7.3], [1.6e9 + 1, 1.6e9 + 2, 1.6e9 + 50], [-1e-5, 0.0, 3.0]):
        edges = readable_edges(np.array(values), NUMBER)
        assert len(set(np.searchsorted(edges, values))) == 3


def test_edges_of_heavy_tails_and_constants():
    values = np.append(np.random.default_rng(0).normal(size=5000), 1e9)
    assert 40 < len(readable_edges(np.sort(values), NUMBER)) <= 65
    assert len(readable_edges(np.full(9, 3.5), NUMBER)) == 0
    assert len(readable_edges(np.append(np.zeros(5000), 1.0), NUMBER)) >= 1
    assert len(readable_edges(np.empty(0), NUMBER)) == 0


def test_no_edge_is_minus_zero():
    """A rule would say "up to -0"."""
    edges = readable_edges(np.linspace(-1.0, 1.0, 999), NUMBER)
    assert 0.0 in edges
    assert not np.signbit(edges[edges == 0.0]).any()


def test_whole_numbers_are_split_at_whole_numbers():
    feature = Feature("n", Kind.INTEGER, "int64", upper=9)
    assert readable_edges(np.arange(10.0), feature).tolist() == list(range(9))


def test_what_the_rule_says_is_what_the_tree_does():
    """Rules are a partition: every row fulfils the conditions of exactly one rule, and that one gives its label."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(3000, 3)) * [1, 100, 1e-4]
    labels = ((X[:, 0] > 0.37) + (X[:, 1] > 61.8) * (X[:, 2] > 3e-5)).astype(int)
    schema = FeatureSchema.infer(X)
    rows = schema.encode(X)
    tree = grow_tree(rows, labels, np.arange(3), schema, (0, 1, 2), 12)
    rules = [tree.rule(int(leaf)) for leaf in tree.leaves]
    fulfilled = np.array([np.all([term.contains(rows) for term in rule.terms], axis=0) for rule in rules])
    np.testing.assert_array_equal(fulfilled.sum(axis=0), 1)
    said = np.array([rule.label for rule in rules])[fulfilled.argmax(axis=0)]
    np.testing.assert_array_equal(said, tree.classes[tree.label[tree.apply(rows)]])
    np.testing.assert_array_equal([rule.n_draws for rule in rules], fulfilled.sum(axis=1))


def test_siblings_that_say_the_same_are_one_leaf():
    X = np.arange(100.0)[:, None]
    labels = np.where(np.arange(100) < 90, 0, np.arange(100) % 4 == 0).astype(int)
    schema = FeatureSchema.infer(X)
    tree = grow_tree(schema.encode(X), labels, np.arange(2), schema, (0,), 2)
    assert len(tree.leaves) == 1
    assert tree.n_draws.tolist() == [100]
