import numpy as np
import pytest

from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.candidates import Inside, Nodes
from oleander.candidates.learning import learning_parts
from oleander.candidates.nodes import draws_by_node
from oleander.data.schema import FeatureSchema
from oleander.explainers import AbstainingTree, Constant


def slanted_right(X):
    """One label where x0 ≤ 0.5; where it is more, a border that runs across x1 and x2."""
    return np.where(X[:, 0] <= 0.5, "left", np.where(X[:, 1] + X[:, 2] > 1, "above", "below"))


@pytest.fixture(scope="module")
def slanted():
    X = np.random.default_rng(0).uniform(size=(1600, 3))
    return label_rows(X, CountingBlackBox(BlackBox(slanted_right, FeatureSchema.infer(X))))


def test_nodes_are_regions_with_an_explainer_that_fits():
    X = np.random.default_rng(0).uniform(size=(1600, 3))
    halved_right = BlackBox(
        lambda X: np.where(X[:, 0] <= 0.5, "left", np.where(X[:, 1] > 0.5, "above", "below")), FeatureSchema.infer(X)
    )
    rows = label_rows(X, CountingBlackBox(halved_right))
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
        answers = candidate.explainer.predict(rows.values[judged])
        assert (answers == rows.labels[judged]).mean() > 0.95
    assert left
    assert right


def test_bad_leaves_abstain(slanted):
    inside = Inside(["tree"], quality=0.9, max_leaves=4)
    for candidate in Nodes(n_trees=6, inside=inside).propose(slanted, 0):
        assert isinstance(candidate.explainer, AbstainingTree)
        assert 1 <= candidate.explainer.complexity <= 4
        assert all(rule.share >= 0.9 for rule in candidate.explainer.rules())


def test_max_candidates_is_held(slanted):
    assert len(Nodes(max_candidates=7).propose(slanted, 0)) == 7


def test_draws_pass_through_every_node_above_their_leaf(slanted):
    part = learning_parts(slanted, 0)[0]
    tree = part.grow(np.arange(len(part.draws)), 6, 5)
    member = draws_by_node(tree, part.draws)
    np.testing.assert_array_equal(member.sum(axis=1), tree.n_draws)
    assert member[0].all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_trees": 0}, "n_trees=0 is not allowed"),
        ({"min_rows": 0}, "min_rows=0 is not allowed"),
        ({"max_candidates": 0}, "max_candidates=0 is not allowed"),
        ({"max_leaves": 0}, "max_leaves=0 is not allowed"),
        ({"share_of_features": 2.0}, "share_of_features=2.0 is not allowed"),
        ({"inside": Inside(["forest"])}, "kinds='forest' is not known; use 'constant' or 'tree'"),
    ],
)
def test_bad_options(slanted, options, message):
    with pytest.raises(ValueError, match=message):
        Nodes(**options).propose(slanted, 0)
