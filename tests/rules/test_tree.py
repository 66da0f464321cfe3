import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.rules.growth import grow_tree
from oleander.rules.tree import Tree


@pytest.fixture
def grown():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(size=400), rng.integers(0, 3, 400)]).astype(float)
    X[::9] = np.nan
    schema = FeatureSchema.infer(X, kinds={"x1": "categorical"})
    rows = schema.encode(X)
    labels = (np.nan_to_num(rows[:, 0]) > 0.5) + 2 * (rows[:, 1] == 1)
    return grow_tree(rows, labels, np.array(["a", "b", "c", "d"]), schema, (0, 1), 8), rows


def test_rules_partition_the_rows_and_give_their_labels():
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


def test_a_tree_in_which_rows_go_in_a_circle_is_refused(grown):
    data = grown[0].to_dict()
    left = data["tree"]["left"]
    left[0], left[1] = left[1], 1
    with pytest.raises(ValueError, match="do not make a tree"):
        Tree.from_dict(data, grown[0].schema)


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("left", 0, 0, "do not make a tree"),
        ("right", 0, 1, "do not make a tree"),
        ("column", 0, 2, "do not make a tree"),
        ("label", 0, 4, "do not make a tree"),
        ("label", slice(1, None), [], "do not make a tree"),
        ("level", None, 9, "a level that its column does not have"),
        ("threshold", 0, None, "a threshold that is not a number"),
    ],
)
def test_data_that_are_no_tree_are_refused(grown, name, place, value, message):
    tree, _ = grown
    data = tree.to_dict()
    nodes = data["tree"]
    nodes[name][nodes["column"].index(1) if place is None else place] = value
    with pytest.raises(ValueError, match=message):
        Tree.from_dict(data, tree.schema)
