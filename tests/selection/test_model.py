"""The model: merged points and contained candidates, each against its definition."""

import numpy as np
import pytest

from oleander.selection.model import merge_points, plain_model, undominated


def naive_undominated(covers):
    n = len(covers)
    return [
        i
        for i in range(n)
        if covers[i].any()
        and not any(
            (covers[i] <= covers[j]).all() and ((covers[i] < covers[j]).any() or j < i) for j in range(n) if j != i
        )
    ]


@pytest.mark.parametrize("seed", range(20))
def test_contained_candidates_are_dropped_and_no_others(seed):
    rng = np.random.default_rng(seed)
    covers = rng.random((20, 7 + 70 * (seed % 2))) < rng.uniform(0.05, 0.5)
    model = plain_model(covers, 3)
    assert undominated(model).tolist() == undominated(model, n_words=1).tolist() == naive_undominated(covers)


@pytest.mark.parametrize("seed", range(10))
def test_merged_points_keep_every_value(seed):
    rng = np.random.default_rng(seed)
    covers = rng.random((4, 30)) < 0.4
    model = plain_model(covers, 2, weights=rng.integers(0, 5, size=30))
    merged, went_to = merge_points(model)
    assert merged.n_points <= 15
    assert (went_to >= 0).sum() == (covers.any(axis=0) & (model.weights > 0)).sum()
    for chosen in (np.array([0, 1]), np.array([2, 3]), np.array([], dtype=int)):
        assert merged.value(chosen) == model.value(chosen)
