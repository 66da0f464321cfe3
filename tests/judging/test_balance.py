import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.class_weight import compute_sample_weight

from oleander.judging.balance import balance_classes


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 9)), min_size=1, max_size=30))
def test_every_class_has_the_same_total_weight(points):
    labels, weights = np.array([label for label, _ in points]), np.array([weight for _, weight in points])
    importance = balance_classes(labels, weights)
    totals = [(importance * weights)[labels == label].sum() for label in np.unique(labels)]
    assert totals == pytest.approx([totals[0]] * len(totals))
    # The largest class keeps its weight, and no row loses any.
    assert importance.min() == pytest.approx(1.0)


def test_proportional_to_scikit_learns_weights():
    labels = np.random.default_rng(0).choice(["common", "rare", "rarest"], p=[0.8, 0.15, 0.05], size=400)
    ours = balance_classes(labels, np.ones(400, dtype=int))
    theirs = compute_sample_weight("balanced", labels)
    np.testing.assert_allclose(ours / ours.min(), theirs / theirs.min())
