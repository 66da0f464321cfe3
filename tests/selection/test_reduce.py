"""A reduced model is smaller and has the same answer."""

from dataclasses import replace

import numpy as np
import pytest

from oleander.selection.model import pack_matrix, plain_model
from oleander.selection.reduce import merge_points, undominated


def naive_undominated(covers):
    n = len(covers)
    keep = []
    for i in range(n):
        better = [
            j
            for j in range(n)
            if j != i and (covers[i] <= covers[j]).all() and ((covers[i] < covers[j]).any() or j < i)
        ]
        if covers[i].any() and not better:
            keep.append(i)
    return keep


@pytest.mark.parametrize("seed", range(20))
def test_contained_candidates_are_dropped_and_no_others(seed):
    rng = np.random.default_rng(seed)
    covers = rng.random((20, 7 + 70 * (seed % 2))) < rng.uniform(0.05, 0.5)
    model = plain_model(covers, 3)
    assert undominated(model).tolist() == naive_undominated(covers)
    assert undominated(model, n_words=1).tolist() == naive_undominated(covers)


def test_points_that_may_count_do_not_dominate():
    model = replace(
        plain_model([[1, 0, 0], [1, 0, 0], [1, 1, 0]], 2),
        maybe=pack_matrix(np.array([[0, 1.0, 0], [0, 1, 1], [0, 0, 1]])),
        allowance=np.ones(3),
    )
    # The third surely counts all that the first may; the second may count one point more.
    assert undominated(model).tolist() == [1, 2]


@pytest.mark.parametrize("seed", range(10))
def test_merged_points_keep_every_value(seed):
    rng = np.random.default_rng(seed)
    covers = rng.random((4, 30)) < 0.4
    model = plain_model(covers, 2, weights=rng.integers(1, 5, size=30))
    merged, went_to = merge_points(model)
    assert merged.n_points <= 15
    assert (went_to >= 0).sum() == covers.any(axis=0).sum()
    for chosen in (np.array([0, 1]), np.array([2, 3]), np.array([], dtype=int)):
        assert merged.value(chosen) == model.value(chosen)
