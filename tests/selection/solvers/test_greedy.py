"""Greedy against its guarantee."""

from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.selection import SelectionProblem
from oleander.selection.solvers.greedy import GREEDY_SHARE
from tests.selection.making import make_instance


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 5), formulation=st.sampled_from(["strict", "selective"]))
def test_greedy_keeps_its_guarantee(seed, k, formulation):
    rows = make_instance(seed)
    problem = SelectionProblem(rows.covers, rows.agrees)
    best = problem.solve(k, 0.75, formulation=formulation, solver="exhaustive").objective
    assert problem.solve(k, 0.75, formulation=formulation, solver="greedy").objective >= GREEDY_SHARE * best
