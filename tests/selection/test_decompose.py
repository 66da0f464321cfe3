"""The decomposition against enumeration."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from oleander.selection.bounds import tighten
from oleander.selection.decompose import Decomposition
from oleander.selection.formulations import plain_model
from oleander.selection.grouping import group_candidates
from oleander.selection.reduce import strip_forced
from oleander.selection.run import Run
from oleander.selection.search import greedy
from tests.selection.making import best_of


def clustered(seed, n_clusters=3):
    """Sets that share points mostly within their cluster."""
    rng = np.random.default_rng(seed)
    home = np.kron(np.eye(n_clusters), np.ones((6, 10)))
    return rng.random(home.shape) < np.where(home > 0, 0.35, 0.03)


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


def test_the_decomposition_offers_forced_candidates_too():
    covers = clustered(3)
    model = strip_forced(replace(plain_model(covers, 4), forced=np.array([5])))
    best = max(covers[[5, *rest]].any(axis=0).sum() for rest in combinations(range(len(covers)), 3))
    run = Run(model)
    run.offer(0.0, np.empty(0, dtype=np.intp))
    label = group_candidates(model, greedy(model), max_chosen=1)
    Decomposition(model, run, tighten(model, best, n_steps=60).multipliers, label).solve()
    assert run.value == best
    assert 5 in run.best[1]
