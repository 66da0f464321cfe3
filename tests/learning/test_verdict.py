import numpy as np
import pytest

from oleander.judging.verdict import ABSTAINING, PLAIN
from oleander.learning.learner import judge_learned_trees
from tests.learning.making import coin, law, make_learner


def half_a_coin(X):
    return np.where(X[:, 0] < 0.5, X[:, 2] < 0.5, coin(X)).astype(int)


@pytest.mark.parametrize("by_folds", [False, True], ids=["rows apart", "folds"])
def test_both_trees_answer_a_plain_law(by_folds):
    verdict = judge_learned_trees(make_learner(by_folds=by_folds), 0.9, 4)
    assert verdict["answer"].tolist() == [PLAIN, ABSTAINING]
    assert (verdict["rules"] <= 4).all()
    plain, abstaining = verdict.set_index("answer").loc[[PLAIN, ABSTAINING]].itertuples()
    assert plain.coverage == 1.0
    assert plain.agreement > 0.97
    assert abstaining.coverage > 0.9
    assert abstaining.agreement >= abstaining.bound >= 0.9


def test_one_tree_abstains_where_the_other_guesses():
    table = judge_learned_trees(make_learner(400, labels=half_a_coin), 0.8, 6).set_index("answer")
    assert table.loc[PLAIN, "coverage"] == 1.0
    assert table.loc[PLAIN, "agreement"] < 0.9
    assert table.loc[ABSTAINING, "coverage"] < 0.8
    assert table.loc[ABSTAINING, "agreement"] >= 0.8


def test_no_tree_answers_a_coin():
    abstaining = judge_learned_trees(make_learner(labels=coin), 0.9, 4).set_index("answer").loc[ABSTAINING]
    assert (abstaining["coverage"], abstaining["bound"]) == (0.0, 0.0)
    assert np.isnan(abstaining["agreement"])


def test_the_plain_tree_is_counted_on_the_judging_rows():
    learner = make_learner(labels=law)
    tree = learner.plain_tree(4)
    line = judge_learned_trees(learner, 0.9, 4).iloc[0]
    said = learner.draws.classes[list(tree.step.labels)]
    boxes = [tree.family.grid.to_box(key).contains(learner.rows.values) for key in tree.step.keys]
    right = sum((inside & (learner.rows.labels == label)).sum() for inside, label in zip(boxes, said, strict=True))
    assert np.sum(boxes) == len(learner.rows.labels)
    assert line["agreement"] == pytest.approx(right / len(learner.rows.labels))
