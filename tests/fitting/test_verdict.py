import numpy as np
import pytest

from oleander.fitting.rule_learner import judge_plain_tree
from tests.candidates.making_boxes import law, make_learner


@pytest.mark.parametrize("by_folds", [False, True], ids=["rows apart", "folds"])
def test_a_tree_answers_a_plain_law(by_folds):
    tree = judge_plain_tree(make_learner(by_folds=by_folds), 0.9, 4)
    assert tree.rules <= 4
    assert tree.coverage == 1.0
    assert tree.agreement > 0.97
    assert tree.bound < tree.agreement
    assert tree.leaves_alone > 0.5


def test_the_tree_is_counted_on_the_judging_rows():
    learner = make_learner(labels=law)
    tree = learner.plain_tree(4)
    said = learner.draws.classes[list(tree.step.labels)]
    boxes = [tree.sequence.grid.to_box(key).contains(learner.rows.values) for key in tree.step.keys]
    right = sum((inside & (learner.rows.labels == label)).sum() for inside, label in zip(boxes, said, strict=True))
    assert np.sum(boxes) == len(learner.rows.labels)
    assert judge_plain_tree(learner, 0.9, 4).agreement == pytest.approx(right / len(learner.rows.labels))
