import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.explainers import AbstainingExplainer, AbstainingTree, Spoken, UnfilteredTree
from oleander.explainers.growth import grow_tree
from oleander.explainers.saving import read_explainer, read_region_of, write_explainer
from oleander.regions import Box


@pytest.fixture
def careful():
    X = np.random.default_rng(0).uniform(size=(500, 2))
    schema = FeatureSchema.infer(X)
    tree = (
        UnfilteredTree(max_leaves=4).fit(X, np.select([X[:, 0] > 0.6, X[:, 1] > 0.5], [2, 1], 0), schema=schema).tree_
    )
    # Silent where the second column is low.
    speaking = tree.classes[tree.label] != 0
    return AbstainingTree(tree, speaking)


def test_speaks_in_its_leaves_only(careful):
    rows = np.array([[0.9, 0.1], [0.2, 0.9], [0.2, 0.1]])
    assert isinstance(careful, AbstainingExplainer)
    assert careful.speaks(rows).tolist() == [True, True, False]
    assert careful.predict(rows).tolist() == [2, 1, 0]
    assert {rule.label for rule in careful.rules()} == {1, 2}
    assert careful.complexity == len(careful.rules()) == 2
    assert careful.describe_silence() == "silent in 1 of 3 leaves"


def test_the_region_is_read_with_its_explainer(careful):
    rows = np.random.default_rng(1).uniform(size=(300, 2))
    region = Spoken(Box(()), careful)
    again = read_explainer(write_explainer(careful), careful.tree.schema)
    np.testing.assert_array_equal(
        read_region_of(region.to_dict(), careful.tree.schema, again).contains(rows), region.contains(rows)
    )
    assert region.contains(rows).sum() == careful.speaks(rows).sum()
    with pytest.raises(ValueError, match="never abstains"):
        read_region_of(region.to_dict(), careful.tree.schema, UnfilteredTree())


def test_splits_that_change_nothing_are_undone():
    X = np.random.default_rng(0).uniform(size=(600, 2))
    schema = FeatureSchema.infer(X)
    labels = (X[:, 0] > 0.5).astype(np.intp)
    labels[::9] ^= 1
    tree = grow_tree(X, labels, np.array(["no", "yes"]), schema, (0, 1), 12, simplify=False)
    speaking = tree.n_right >= 0.85 * tree.n_draws
    careful = AbstainingTree(tree, speaking)
    simple = careful.simplified()
    assert simple.complexity < careful.complexity
    np.testing.assert_array_equal(simple.speaks(X), careful.speaks(X))
    spoken = careful.speaks(X)
    np.testing.assert_array_equal(simple.predict(X[spoken]), careful.predict(X[spoken]))
    # What is left cannot be made smaller, and is a tree that can be read again.
    assert len(simple.simplified().tree.column) == len(simple.tree.column)
    again = AbstainingTree.from_dict(simple.to_dict(), schema)
    np.testing.assert_array_equal(again.speaks(X), simple.speaks(X))
    silent = AbstainingTree(tree, np.zeros(len(tree.column), dtype=bool)).simplified()
    assert len(silent.tree.column) == 1


def test_speaking_has_one_entry_per_node(careful):
    with pytest.raises(ValueError, match="nodes"):
        AbstainingTree(careful.tree, np.array([True]))
