"""Groups, the knapsack over them and the whole decomposition, against enumeration."""

from itertools import product

import numpy as np
import pytest

from oleander.selection.bounds import tighten
from oleander.selection.decompose import Decomposition, Group, Share, allot, group_candidates, most_disputing
from oleander.selection.heuristics import greedy
from oleander.selection.model import plain_model
from oleander.selection.result import Run
from tests.selection.making import best_of


def clustered(seed, n_clusters=3):
    """Sets that share points mostly within their cluster."""
    rng = np.random.default_rng(seed)
    home = np.kron(np.eye(n_clusters), np.ones((6, 10)))
    return rng.random(home.shape) < np.where(home > 0, 0.35, 0.03)


@pytest.mark.parametrize("max_chosen", [1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_the_decomposition_proves_the_optimum(seed, max_chosen):
    covers = clustered(seed)
    model, best = plain_model(covers, 4), best_of(covers, 4)
    run = Run(model)
    run.offer(0.0, np.empty(0, dtype=np.intp))
    run.tighten(float(covers.shape[1]))
    point = tighten(model, best, n_steps=60)
    label = group_candidates(model, greedy(model), point.multipliers, max_chosen=max_chosen)
    assert label.max() > 0
    Decomposition(model, run, point.multipliers, label).solve()
    assert run.value <= best <= run.bound
    assert run.is_settled


def test_groups_hold_what_overlaps():
    covers = np.kron(np.eye(3), np.ones((4, 10))) * (np.random.default_rng(1).random((12, 30)) < 0.6)
    model = plain_model(covers, 3)
    label = group_candidates(model, np.array([0, 4, 8]), 0.5 * model.weights, max_chosen=1)
    assert label.tolist() == np.repeat(np.arange(3), 4).tolist()


def test_a_share_that_is_worth_just_what_is_needed_stays():
    group = Group(plain_model(np.eye(2), 1), np.arange(2))
    group.shares[1] = Share(np.arange(2), np.ones(2))
    group.reweigh(np.array([10.0, 10.0006]))
    group.meet(np.array([0]))
    group.refine(1, 10.0005, Run(plain_model(np.eye(2), 1)))
    assert group.best_met(group.weights)[0][1] == 10.0006


def test_groups_dispute_points_whose_multipliers_are_between_0_and_their_weights():
    touches = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
    multipliers, sizes = np.array([0.0, 1.0, 0.5, 0.5]), np.array([4, 1, 3])
    assert most_disputing(np.ones(4), multipliers, touches, sizes) == (0, 2)
    assert most_disputing(np.ones(4), multipliers, touches, sizes, most=5) == (0, 1)
    assert most_disputing(np.ones(4), multipliers, touches, sizes, most=4) is None


@pytest.mark.parametrize("seed", range(15))
def test_the_knapsack_is_the_best_allotment(seed):
    rng = np.random.default_rng(seed)
    tables = [np.where(rng.random(7) < 0.2, -np.inf, rng.integers(0, 50, size=7).astype(float)) for _ in range(4)]
    splits = [split for split in product(range(7), repeat=4) if sum(split) == 6]
    worths = {split: sum(table[k] for table, k in zip(tables, split, strict=True)) for split in splits}
    best, path, others = allot(tables, 6)
    assert best == max(worths.values())
    assert not path or (sum(path) == 6 and worths[tuple(path)] == best)
    for number, k in product(range(4), range(7)):
        if tables[number][k] > -np.inf:
            ways = [worth - tables[number][k] for split, worth in worths.items() if split[number] == k]
            assert others[number][k] == max(ways, default=-np.inf)
