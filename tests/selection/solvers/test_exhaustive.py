"""Exhaustive search is for small programs."""

import numpy as np
import pytest

from oleander.selection import SelectionProblem
from oleander.selection.solvers.exhaustive import ExhaustiveSolver


def rows(seed, n_candidates=9, n_points=20):
    rng = np.random.default_rng(seed)
    covers = rng.random((n_candidates, n_points)) < 0.3
    return covers, covers & (rng.random(covers.shape) < 0.8)


def test_exhaustive_search_refuses_large_programs():
    covers, agrees = rows(5, n_candidates=30)
    with pytest.raises(ValueError, match="looks at most at 1,000"):
        SelectionProblem(covers, agrees).solve(10, 0.1, solver=ExhaustiveSolver(max_choices=1_000))
