import numpy as np
import pytest

from benchmarks.outside.regressors import PACKAGES, ask_regressors, find_questions

RNG = np.random.default_rng(0)
X, NEW = RNG.uniform(size=(600, 3)), RNG.uniform(size=(50, 3))


def steps(X):
    return 10.0 * (X[:, 0] > 0.5) + 3.0 * (X[:, 1] > 0.3)


def test_questions_are_the_splits_of_a_tree():
    columns = {column for column, _ in find_questions(X, steps(X))}
    assert columns == {0, 1}


@pytest.mark.slow
def test_each_package_answers_or_says_why_not():
    found = ask_regressors(X, steps(X), NEW, 4)
    assert set(found) == set(PACKAGES)
    for answers in found.values():
        if not isinstance(answers, str):
            assert np.abs(answers - steps(NEW)).mean() < 1
        else:
            assert answers == "not installed"
