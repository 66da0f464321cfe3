"""Greedy against its guarantee; exhaustive search is for small programs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.selection import SelectionProblem
from oleander.selection.solvers.simple import GREEDY_SHARE, ExhaustiveSolver
from tests.selection.making import make_instance


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 5), formulation=st.sampled_from(["strict", "selective"]))
def test_greedy_keeps_its_guarantee(seed, k, formulation):
    rows = make_instance(seed)
    problem = SelectionProblem(rows.covers, rows.agrees)
    best = problem.solve(k, 0.75, formulation=formulation, solver="exhaustive").objective
    assert problem.solve(k, 0.75, formulation=formulation, solver="greedy").objective >= GREEDY_SHARE * best


def test_exhaustive_search_refuses_large_programs():
    rows = make_instance(5, n_candidates=30)
    with pytest.raises(ValueError, match="looks at most at 1,000"):
        SelectionProblem(rows.covers, rows.covers).solve(10, 0.1, solver=ExhaustiveSolver(max_choices=1_000))
