from itertools import combinations

import numpy as np
import pytest

from benchmarks.rivals import SubmodularPick
from benchmarks.rivals.submodular_pick import pick_by_features


def objective(weights, picked):
    importance = np.sqrt(weights.sum(axis=0))
    return importance[(weights[picked] > 0).any(axis=0)].sum()


def test_picks_by_the_root_of_summed_weights():
    # Importances: 3, 2 and 1. The first pick takes 3 + 1, the second adds 2.
    weights = np.array([[5.0, 0.0, 1.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    assert pick_by_features(weights, 2) == [0, 2]


@pytest.mark.parametrize("seed", range(20))
def test_greedy_is_near_the_enumerated_optimum(seed):
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=(8, 6)) * (rng.random((8, 6)) < 0.4)
    best = max(objective(weights, list(choice)) for choice in combinations(range(8), 3))
    assert objective(weights, pick_by_features(weights, 3)) >= (1 - 1 / np.e) * best


def test_ties_go_to_the_wider_region_and_more_picks_than_explanations_are_all():
    weights = np.ones((3, 2))
    assert pick_by_features(weights, 5, support=np.array([4, 9, 7])) == [1, 2, 0]


def test_a_radius_is_the_widest_that_is_faithful():
    X = np.random.default_rng(0).uniform(-3, 3, size=(300, 2))
    options = {"radius": [0.3, 3.0], "n_draws": 400, "max_candidates": 30, "random_state": 0}
    # Exclusive or is linear nowhere but in small balls.
    for black_box, radius in ((lambda X: (X[:, 0] > 0) ^ (X[:, 1] > 0), 0.3), (lambda X: X[:, 0] > 0, 3.0)):
        pick = SubmodularPick(black_box, **options).fit(X)
        assert {member.region.radius for member in pick.explainers_} == {radius}
