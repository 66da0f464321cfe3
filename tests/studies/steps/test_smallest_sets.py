import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from studies.steps.smallest_sets import compare_sets, information


def test_information_is_scikit_learns():
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 3, (3, 500)), rng.integers(0, 4, 500)
    assert information(codes, labels, (1,)) == pytest.approx(mutual_info_score(codes[1], labels))
    joint = codes[0] * 9 + codes[1] * 3 + codes[2]
    assert information(codes, labels, (0, 1, 2)) == pytest.approx(mutual_info_score(joint, labels))
    assert information(codes, labels, ()) == 0.0


def test_a_greedy_order_may_need_one_more():
    """The label is whether two bits differ; a third bit says a little and is picked first."""
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 2, (2, 4_000))
    labels = one ^ other
    hint = np.where(rng.random(4_000) < 0.7, labels, 1 - labels)
    codes = np.array([hint, one, other])
    assert compare_sets(codes, labels, (0, 1, 2), 0.95) == (2, 3)
    assert compare_sets(codes, labels, (1, 2, 0), 0.95) == (2, 2)
