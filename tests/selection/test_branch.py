"""Branching, the knapsack and the decomposition, each against enumeration."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from oleander.selection.bounds import tighten
from oleander.selection.branch import BranchTree
from oleander.selection.decompose import Decomposition
from oleander.selection.formulations import plain_model
from oleander.selection.grouping import group_candidates
from oleander.selection.knapsack import allot, rest
from oleander.selection.reduce import strip_forced
from oleander.selection.run import Run
from oleander.selection.search import greedy

# Whole values move by one; the rest is room for rounding.
STEP = 1.0 - 1e-9


def clustered(seed, n_clusters=3):
    """Sets that share points mostly within their cluster."""
    rng = np.random.default_rng(seed)
    home = np.kron(np.eye(n_clusters), np.ones((6, 10)))
    return rng.random(home.shape) < np.where(home > 0, 0.35, 0.03)


def best_of(covers, k):
    return max(covers[list(chosen)].any(axis=0).sum() for chosen in combinations(range(len(covers)), k))


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_a_tree_finds_the_best(seed, k):
    covers = np.random.default_rng(seed).random((12, 25)) < 0.25
    model = plain_model(covers, k)
    tree = BranchTree(model.sure, model.weights, k, cutoff=0.0, step=STEP)
    tree.grow()
    best = best_of(covers, k)
    assert tree.is_complete
    assert tree.value == best
    assert tree.bound == best + STEP
    assert covers[list(tree.chosen)].any(axis=0).sum() == best


@pytest.mark.parametrize("seed", range(20))
def test_a_tree_that_stops_early_has_a_bound(seed):
    covers = np.random.default_rng(seed).random((16, 40)) < 0.25
    model = plain_model(covers, 4)
    tree = BranchTree(model.sure, model.weights, 4, cutoff=0.0, step=STEP, n_steps=3)
    bounds = []
    while tree.grow(max_nodes=1):
        bounds.append(tree.bound)
        assert tree.value <= best_of(covers, 4) < tree.bound + 1e-9
    assert bounds == sorted(bounds, reverse=True)


def test_a_cutoff_over_the_optimum_finds_nothing():
    covers = np.random.default_rng(0).random((12, 25)) < 0.25
    best = best_of(covers, 3)
    tree = BranchTree(plain_model(covers, 3).sure, np.ones(25), 3, cutoff=best + STEP, step=STEP)
    tree.grow()
    assert (tree.is_complete, tree.chosen, tree.bound) == (True, (), best + STEP)


@pytest.mark.parametrize("seed", range(30))
def test_the_knapsack_is_the_best_allotment(seed):
    rng = np.random.default_rng(seed)
    tables = [np.where(rng.random(5) < 0.2, -np.inf, rng.integers(0, 50, size=5).astype(float)) for _ in range(4)]
    splits = [split for split in product(range(5), repeat=4) if sum(split) == 6]
    worths = {split: sum(table[k] for table, k in zip(tables, split, strict=True)) for split in splits}
    best, path = allot(tables, 6)
    assert best == max(worths.values())
    assert not path or (sum(path) == 6 and worths[tuple(path)] == best)
    others = rest([np.concatenate([table, [-np.inf] * 2]) for table in tables], 6)
    for number, k in product(range(4), range(5)):
        if tables[number][k] > -np.inf:
            ways = [worth - tables[number][k] for split, worth in worths.items() if split[number] == k]
            assert others[number][k] == max(ways, default=-np.inf)


@pytest.mark.parametrize("max_chosen", [1, 2, 3])
@pytest.mark.parametrize("seed", range(15))
def test_the_decomposition_proves_the_optimum(seed, max_chosen):
    covers = clustered(seed)
    model, best = plain_model(covers, 4), best_of(covers, 4)
    run = Run(model)
    run.offer(0.0, np.empty(0, dtype=np.intp))
    run.tighten(float(covers.shape[1]))
    point = tighten(model, best, n_steps=60)
    label = group_candidates(model, greedy(model), max_chosen=max_chosen)
    assert label.max() > 0
    Decomposition(model, run, point.multipliers, label).solve()
    assert run.value <= best <= run.bound
    assert run.is_settled


def test_what_was_taken_before_is_in_what_the_decomposition_offers():
    covers = clustered(3)
    model = strip_forced(replace(plain_model(covers, 4), forced=np.array([5])))
    best = max(covers[[5, *rest]].any(axis=0).sum() for rest in combinations(range(len(covers)), 3))
    run = Run(model)
    run.offer(0.0, np.empty(0, dtype=np.intp))
    label = group_candidates(model, greedy(model), max_chosen=1)
    Decomposition(model, run, tighten(model, best, n_steps=60).multipliers, label).solve()
    assert run.value == best
    assert 5 in run.best[1]


def test_groups_hold_what_overlaps():
    covers = np.kron(np.eye(3), np.ones((4, 10))) * (np.random.default_rng(1).random((12, 30)) < 0.6)
    label = group_candidates(plain_model(covers, 3), np.array([0, 4, 8]), max_chosen=1)
    assert label.tolist() == np.repeat(np.arange(3), 4).tolist()
