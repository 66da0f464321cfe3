import numpy as np
import pytest

from benchmarks.rivals import NaiveTree


def in_thirds(X):
    return np.digitize(X[:, 0], [1 / 3, 2 / 3])


@pytest.fixture
def rows():
    return np.random.default_rng(0).uniform(size=(300, 3))


def test_one_tree_answers_every_row(rows):
    rival = NaiveTree(in_thirds, max_leaves=3).fit(rows)
    result = rival.evaluate(np.random.default_rng(1).uniform(size=(500, 3)))
    assert len(rival.explainers_) == 1
    assert result.coverage == 1
    assert result.agreement > 0.95


@pytest.mark.parametrize("most", [1, 2, 3])
def test_max_leaves(rows, most):
    assert NaiveTree(in_thirds, max_leaves=most).fit(rows).complexity == most


def test_equal_rows_count_as_often_as_they_occur():
    # Two distinct rows against one that occurs three times: the repeated row decides.
    X = np.array([[0.1], [0.2], [0.8], [0.8], [0.8]])
    assert set(NaiveTree(lambda X: X[:, 0] > 0.5, max_leaves=1).fit(X).predict(X).tolist()) == {True}
