"""Searches: greedy, swaps and the walk over them."""

import numpy as np
import pytest

from oleander.selection.heuristics import SwapState, greedy, walk
from oleander.selection.model import plain_model


@pytest.mark.parametrize("seed", range(10))
def test_swaps_change_the_value_as_announced(seed):
    rng = np.random.default_rng(seed)
    model = plain_model(rng.random((15, 30)) < 0.2, 4, weights=rng.integers(1, 4, size=30))
    state = SwapState(model, np.array([0, 1, 2, 3]))
    for _ in range(20):
        slot = int(rng.integers(4))
        candidate = int(rng.choice(np.setdiff1d(np.arange(15), state.chosen)))
        announced = state.after()[candidate, slot]
        state.swap(slot, candidate)
        assert state.value == model.value(state.chosen) == announced


@pytest.mark.parametrize("seed", range(10))
def test_a_walk_is_never_worse_than_its_start(seed):
    rng = np.random.default_rng(seed)
    model = plain_model(rng.random((40, 60)) < 0.15, 5)
    start = greedy(model)
    found, _ = walk(model, start, patience=20)
    assert len(set(found.tolist())) == len(start)
    assert model.value(found) >= model.value(start)


def test_a_walk_leaves_a_local_optimum():
    # Greedy takes the wide set first; the best pair does without it.
    covers = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 1]])
    model = plain_model(covers, 2)
    assert model.value(greedy(model)) == 5.0
    assert model.value(walk(model, greedy(model), patience=10)[0]) == 6.0


@pytest.mark.parametrize("seed", range(10))
def test_lazy_greedy_is_greedy(seed):
    rng = np.random.default_rng(seed)
    covers = rng.random((20, 40)) < 0.2
    covered, naive = np.zeros(40, dtype=bool), []
    for _ in range(5):
        gains = (covers & ~covered).sum(axis=1)
        naive.append(int(gains.argmax()))
        covered |= covers[naive[-1]]
    assert greedy(plain_model(covers, 5)).tolist() == naive
