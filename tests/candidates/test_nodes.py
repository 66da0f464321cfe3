import numpy as np
import pytest

from oleander.black_box.asking import BlackBox
from oleander.candidates import Inside, Nodes
from oleander.candidates.learning import learning_parts
from oleander.candidates.nodes import draws_by_node
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.explainers import AbstainingTree, Constant


def slanted_right(X):
    """One label where x0 ≤ 0.5; where it is more, a border that runs across x1 and x2."""
    return np.where(X[:, 0] <= 0.5, "left", np.where(X[:, 1] + X[:, 2] > 1, "above", "below"))


@pytest.fixture(scope="module")
def slanted():
    X = np.random.default_rng(0).uniform(size=(1600, 3))
    return Rows.ask(X, BlackBox(slanted_right, FeatureSchema.infer(X)))


def test_nodes_are_regions_with_what_fits_inside():
    X = np.random.default_rng(0).uniform(size=(1600, 3))
    halved_right = BlackBox(
        lambda X: np.where(X[:, 0] <= 0.5, "left", np.where(X[:, 1] > 0.5, "above", "below")), FeatureSchema.infer(X)
    )
    rows = Rows.ask(X, halved_right)
    inside = Inside(quality=0.95, max_leaves=2)
    candidates = Nodes(n_trees=2, max_leaves=2, share_of_features=1.0, inside=inside).propose(rows, 0)
    # Both trees split at x0 = 0.5: the left node has one label, the right node two.
    left = [c for c in candidates if isinstance(c.explainer, Constant)]
    assert all(c.explainer.label == "left" for c in left)
    assert all(c.region.describe().startswith("x0 ≤ 0.") for c in left)
    right = [c for c in candidates if isinstance(c.explainer, AbstainingTree) and "x0 > 0." in c.region.describe()]
    for candidate in right:
        assert candidate.explainer.features == (1,)
        judged = ~candidate.learned_from & candidate.region.contains(rows.values)
        said = candidate.explainer.predict(rows.values[judged])
        assert (said == rows.labels[judged]).mean() > 0.95
    assert left
    assert right


def test_bad_leaves_are_cut(slanted):
    inside = Inside(["tree"], quality=0.9, max_leaves=4)
    for candidate in Nodes(n_trees=6, inside=inside).propose(slanted, 0):
        assert isinstance(candidate.explainer, AbstainingTree)
        assert 1 <= candidate.explainer.complexity <= 4
        assert all(rule.share >= 0.9 for rule in candidate.explainer.rules())


def test_no_more_than_asked_for(slanted):
    assert len(Nodes(max_candidates=7).propose(slanted, 0)) == 7


def test_draws_pass_through_every_node_above_their_leaf(slanted):
    part = learning_parts(slanted, 0)[0]
    tree = part.grow(np.arange(len(part.draws)), 6, 5)
    member = draws_by_node(tree, part.draws)
    np.testing.assert_array_equal(member.sum(axis=1), tree.n_draws)
    assert member[0].all()


def test_counts_of_a_bootstrap_are_made_on_all_draws(slanted):
    part = learning_parts(slanted, 0)[0]
    tree = part.grow_randomly(np.random.default_rng(0), 6, 5, 1.0)
    leaf = tree.apply(part.draws)
    said = tree.label[leaf]
    for node in tree.leaves:
        assert tree.n_draws[node] == (leaf == node).sum()
        assert tree.n_right[node] == (said == part.labels)[leaf == node].sum()
    assert tree.n_draws[0] == len(part.draws)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_trees": 0}, "n_trees=0 is not allowed"),
        ({"min_rows": 0}, "min_rows=0 is not allowed"),
        ({"max_candidates": 0}, "max_candidates=0 is not allowed"),
        ({"share_of_features": 2.0}, "share_of_features"),
        ({"inside": Inside(["forest"])}, "kinds=\\['forest'\\] is not allowed; use some of constant, tree\\."),
        ({"inside": Inside(quality=0.0)}, "quality"),
    ],
)
def test_bad_options(slanted, options, message):
    with pytest.raises(ValueError, match=message):
        Nodes(**options).propose(slanted, 0)
