"""Searches under a floor over the union."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from oleander.selection.formulations import plain_model
from oleander.selection.search import walk
from oleander.selection.union_search import UnionMoves, greedy_within_floor
from tests.selection.making import make_instance


@pytest.mark.parametrize("seed", range(10))
def test_the_walk_is_never_worse_than_greedy(seed):
    rows = make_instance(seed, n_candidates=30, n_points=80)
    wrong = sparse.csr_array((rows.covers & ~rows.agrees).astype(float))
    model = replace(plain_model(rows.covers, 5), wrong=wrong, union_fidelity=0.7)
    start = greedy_within_floor(model)
    assert model.satisfies(start)
    found, _ = walk(model, UnionMoves(model, start), patience=30)
    assert model.satisfies(found)
    assert model.value(found) >= model.value(start)


@pytest.mark.parametrize("seed", range(10))
def test_moves_change_value_and_breach_as_announced(seed):
    rows = make_instance(seed, n_candidates=10, n_points=20, max_weight=3)
    wrong = sparse.csr_array((rows.covers & ~rows.agrees).astype(float))
    groups = sparse.csr_array((np.arange(20)[None, :] < 7).astype(float))
    model = replace(
        plain_model(rows.covers, 4, rows.weights), wrong=wrong, union_fidelity=0.8, groups=groups, needs=np.array([6.0])
    )
    moves = UnionMoves(model, np.array([0, 1]))
    rng = np.random.default_rng(seed)
    for _ in range(20):
        values, breach = moves.outcomes()
        candidate, slot = divmod(int(rng.choice(np.flatnonzero(values > -np.inf))), 4)
        moves.make(slot, candidate)
        chosen = moves.choice()
        short = max(0.0, 6.0 - float((groups @ model.counts(chosen))[0]))
        assert values[candidate, slot] == moves.value == model.value(chosen)
        assert breach[candidate, slot] == pytest.approx(max(0.0, model.excess(chosen)) + short)
