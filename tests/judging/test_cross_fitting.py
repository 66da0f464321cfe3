"""Cross-fitting of one tree: no row is judged by a tree that learned from it."""

import numpy as np
import pytest
from scipy.stats import binom

from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.schema import FeatureSchema
from oleander.judging.cross_fitting import BARS, N_FOLDS, cross_fit_tree

X = np.random.default_rng(0).uniform(size=(300, 3))


def rows_of(X, labels, groups=None):
    """Label the rows, which are all different, with the given labels."""
    answers = {row.tobytes(): label for row, label in zip(X, labels, strict=True)}
    box = BlackBox(lambda X: np.array([answers[row.tobytes()] for row in X]), FeatureSchema.infer(X))
    return label_rows(X, CountingBlackBox(box), groups=groups)


def test_settings_go_from_all_rows_to_fewer():
    judged = cross_fit_tree(rows_of(X, X[:, 0] + X[:, 1] > 1), 12, 3, seed=0)
    assert judged.answered.shape == (len(BARS), 300)
    assert judged.answered[0].all()
    # A higher bar answers a part of what a lower one answers.
    assert (judged.answered[:-1] >= judged.answered[1:]).all()
    assert not (judged.right & ~judged.answered).any()
    assert judged.agreement()[0] > 0.85
    assert judged.agreement()[20] > judged.agreement()[0]


@pytest.mark.parametrize("grouped", [False, True])
def test_other_labels_on_a_fold_change_no_answer_in_it(grouped):
    groups = np.arange(300) // 10 if grouped else None
    labels = np.digitize(X[:, 0], [0.3, 0.6])
    rows = rows_of(X, labels, groups)
    one = cross_fit_tree(rows, 12, 3, seed=0)
    fold = rows.folds(N_FOLDS, 0)
    if grouped:
        assert all(len(set(fold[groups == group])) == 1 for group in range(30))
    for number in range(N_FOLDS):
        out = fold == number
        other = cross_fit_tree(rows_of(X, np.where(out, (labels + 1) % 3, labels), groups), 12, 3, seed=0)
        np.testing.assert_array_equal(one.answered[:, out], other.answered[:, out])
        # The answers are the same, so no answer is right under both labels.
        assert not (one.right & other.right)[:, out].any()


def test_labels_that_are_noise_are_right_by_chance():
    labels = np.random.default_rng(1).integers(0, 2, 300)
    judged = cross_fit_tree(rows_of(X, labels), 40, 3, seed=0)
    low, high = binom.ppf([0.001, 0.999], 300, 0.5)
    assert low <= judged.n_right[0] <= high


def test_groups_and_weights_of_the_rows_are_kept():
    groups = np.arange(360) % 30
    rows = label_rows(
        np.concatenate([X, X[:60]]),
        CountingBlackBox(BlackBox(lambda X: X[:, 0] > 0.5, FeatureSchema.infer(X))),
        groups=groups,
    )
    judged = cross_fit_tree(rows, 4, 3, seed=0)
    assert judged.weights.sum() == 360
    np.testing.assert_array_equal(judged.groups, rows.groups)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 7])
def test_few_rows(n_rows):
    judged = cross_fit_tree(rows_of(X[:n_rows], np.arange(n_rows) % 2), 4, 3, seed=0)
    assert judged.answered.shape == (len(BARS), n_rows)
    # One row leaves none to learn from, and is not answered.
    assert judged.answered[0].all() == (n_rows > 1)
