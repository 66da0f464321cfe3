import numpy as np
import pytest

from oleander.fitting.rule_learner import judge_learned_trees
from tests.candidates.making_boxes import coin, law, make_learner


def half_a_coin(X):
    return np.where(X[:, 0] < 0.5, X[:, 2] < 0.5, coin(X)).astype(int)


@pytest.mark.parametrize("by_folds", [False, True], ids=["rows apart", "folds"])
def test_both_trees_answer_a_plain_law(by_folds):
    plain, abstaining = judge_learned_trees(make_learner(by_folds=by_folds), 0.9, 4)
    assert (plain.answer, abstaining.answer) == ("one plain tree", "one tree that abstains")
    assert max(plain.rules, abstaining.rules) <= 4
    assert plain.coverage == 1.0
    assert plain.agreement > 0.97
    assert plain.bound < plain.agreement
    assert plain.questions >= 1
    assert plain.leaves_alone > 0.5
    assert abstaining.coverage > 0.9
    assert abstaining.agreement >= abstaining.bound >= 0.9


def test_one_tree_abstains_where_the_other_guesses():
    plain, abstaining = judge_learned_trees(make_learner(400, labels=half_a_coin), 0.8, 6)
    assert plain.coverage == 1.0
    assert plain.agreement < 0.9
    assert plain.leaves_alone < 1
    assert abstaining.coverage < 0.8
    assert abstaining.agreement >= 0.8


def test_a_higher_floor_never_widens_the_abstaining_tree():
    learner = make_learner(400, labels=half_a_coin)
    widths = [judge_learned_trees(learner, floor, 10)[1].coverage for floor in (0.5, 0.6, 0.7, 0.8, 0.9)]
    assert widths == sorted(widths, reverse=True)


def test_no_tree_answers_a_coin():
    _, abstaining = judge_learned_trees(make_learner(labels=coin), 0.9, 4)
    assert (abstaining.coverage, abstaining.bound) == (0.0, 0.0)
    assert np.isnan(abstaining.agreement)


def test_the_plain_tree_is_counted_on_the_judging_rows():
    learner = make_learner(labels=law)
    tree = learner.plain_tree(4)
    plain, _ = judge_learned_trees(learner, 0.9, 4)
    said = learner.draws.classes[list(tree.step.labels)]
    boxes = [tree.sequence.grid.to_box(key).contains(learner.rows.values) for key in tree.step.keys]
    right = sum((inside & (learner.rows.labels == label)).sum() for inside, label in zip(boxes, said, strict=True))
    assert np.sum(boxes) == len(learner.rows.labels)
    assert plain.agreement == pytest.approx(right / len(learner.rows.labels))
