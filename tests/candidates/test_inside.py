import numpy as np
import pytest

from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.candidates import Inside
from oleander.candidates.learning import learning_parts
from oleander.data.schema import FeatureSchema
from oleander.explainers import AbstainingTree, Constant


@pytest.fixture(scope="module")
def part():
    """Rows with one label where x0 ≤ 0.5, and with two that x1 tells apart elsewhere."""
    X = np.random.default_rng(0).uniform(size=(800, 2))
    box = BlackBox(
        lambda X: np.where(X[:, 0] <= 0.5, "left", np.where(X[:, 1] > 0.5, "above", "below")), FeatureSchema.infer(X)
    )
    return learning_parts(label_rows(X, CountingBlackBox(box)), 0)[0]


def learn(part, mask, **options):
    return list(Inside(**options).learn(part, np.flatnonzero(mask)))


def test_a_constant_where_one_label_is_enough(part):
    left = part.draws[:, 0] <= 0.5
    (explainer,) = learn(part, left)
    assert isinstance(explainer, Constant)
    assert (explainer.label, explainer.n_draws, explainer.share) == ("left", left.sum(), 1.0)


def test_a_tree_where_it_is_not(part):
    right = part.draws[:, 0] > 0.5
    (explainer,) = learn(part, right)
    assert isinstance(explainer, AbstainingTree)
    answers = explainer.predict(part.draws[right])
    assert (answers == part.classes[part.labels[right]])[explainer.speaks(part.draws[right])].mean() > 0.95


@pytest.mark.parametrize(
    ("kinds", "side", "kind"),
    [(["constant"], "left", Constant), (["constant"], "right", None), (["tree"], "left", AbstainingTree)],
)
def test_only_the_given_kinds_are_tried(part, kinds, side, kind):
    mask = (part.draws[:, 0] <= 0.5) == (side == "left")
    assert [type(explainer) for explainer in learn(part, mask, kinds=kinds)] == ([] if kind is None else [kind])


def test_few_rows_are_not_taken_for_quality(part):
    """Six of six right is shrunk to (6 + 5/3) / 11 = 0.70, and 60 of 60 to 0.95."""
    left = np.flatnonzero(part.draws[:, 0] <= 0.5)
    inside = Inside(["constant"], quality=0.9)
    assert list(inside.learn(part, left[:6])) == []
    assert len(list(inside.learn(part, left[:60]))) == 1
    (small,) = Inside(["constant"], quality=(6 + 5 / 3) / 11).learn(part, left[:6])
    assert small.n_draws == 6


def test_limits_of_the_tree_are_held(part):
    for explainer in learn(part, np.ones(len(part.draws), dtype=bool), kinds=["tree"], max_leaves=2, min_leaf=40):
        assert explainer.complexity <= 2
        assert all(rule.n_draws >= 40 for rule in explainer.rules())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": ["forest"]}, "kinds='forest' is not known; use 'constant' or 'tree'"),
        ({"kinds": []}, r"kinds=\[\] is not allowed: give a sequence of at least one value"),
        ({"kinds": "tree"}, "kinds='tree' is not allowed: give a sequence"),
        ({"quality": 0.0}, "quality=0.0 is not allowed: give a number over 0 and up to 1"),
        ({"max_leaves": 0}, "max_leaves=0 is not allowed"),
        ({"min_leaf": 2.5}, "min_leaf=2.5 is not allowed: give a whole number"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        Inside(**options).check()
