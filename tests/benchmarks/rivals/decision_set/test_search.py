import numpy as np
import pytest

from benchmarks.rivals.decision_set.objective import Objective, Terms
from benchmarks.rivals.decision_set.search import local_search
from tests.benchmarks.rivals.decision_set.making import every_set, make_candidates, random_objective


@pytest.mark.parametrize("most", [None, 2])
def test_against_every_set(most):
    n_best = 0
    for seed in range(30):
        objective = random_objective(seed)
        best = max(objective.value(some) for some in every_set(9) if most is None or some.sum() <= most)
        chosen = local_search(objective, epsilon=0.0, max_rules=most)
        assert most is None or chosen.sum() <= most
        found = objective.value(chosen)
        assert found <= best + 1e-6
        n_best += found > best - 1e-3
    assert n_best >= 27


def test_all_rules_outside_are_tried():
    # Every step away from the best single rule loses, but the two others together are worth more.
    candidates = make_candidates([[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 1]], [0, 0, 0])
    objective = Objective(
        Terms(candidates, np.zeros(6, dtype=int), np.ones(6, dtype=int)), np.array([0, 0, 0.6, 0, 0, 0, 1.0])
    )
    assert local_search(objective, epsilon=0.0, max_rules=None).tolist() == [False, True, True]
    assert local_search(objective, epsilon=0.0, max_rules=1).tolist() == [True, False, False]
