"""Branch and bound against enumeration."""

import numpy as np
import pytest

from oleander.selection.branch import BranchTree
from oleander.selection.model import plain_model
from tests.selection.making import best_of

# Whole values move by one; the rest is room for rounding.
STEP = 1.0 - 1e-9


@pytest.mark.parametrize("seed", range(10))
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


@pytest.mark.parametrize("seed", range(8))
def test_a_tree_that_stops_early_has_a_bound(seed):
    covers = np.random.default_rng(seed).random((16, 40)) < 0.25
    model = plain_model(covers, 4)
    tree = BranchTree(model.sure, model.weights, 4, cutoff=0.0, step=STEP, n_steps=3)
    bounds = []
    while tree.grow(max_nodes=1):
        bounds.append(tree.bound)
        assert tree.value <= best_of(covers, 4) < tree.bound + 1e-9
    # A better choice raises the cutoff, which may pass an open bound, but never the next whole value.
    wholes = np.floor(bounds).tolist()
    assert wholes == sorted(wholes, reverse=True)


def test_a_cutoff_over_the_optimum_finds_nothing():
    covers = np.random.default_rng(0).random((12, 25)) < 0.25
    best = best_of(covers, 3)
    tree = BranchTree(plain_model(covers, 3).sure, np.ones(25), 3, cutoff=best + STEP, step=STEP)
    tree.grow()
    assert (tree.is_complete, tree.chosen, tree.bound) == (True, (), best + STEP)
