"""Both formulations: shares at the floor, coverage that rises with K and falls with the floor."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.selection import SelectionProblem
from tests.selection.making import make_instance

FLOORS = (0.6, 0.75, 0.9, 1.0)


@pytest.mark.parametrize(
    ("right", "total", "floor"), [(9, 10, 0.9), (7, 10, 0.7), (2, 3, 2 / 3), (57, 100, 0.57), (1, 1, 1.0)]
)
def test_a_share_equal_to_the_floor_reaches_it(right, total, floor):
    covers = np.ones((1, total), dtype=bool)
    agrees = np.arange(total)[None, :] < right
    for formulation in ("strict", "selective"):
        assert SelectionProblem(covers, agrees).solve(1, floor, formulation=formulation).objective == total


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), formulation=st.sampled_from(["strict", "selective"]))
def test_coverage_rises_with_k_and_falls_with_the_floor(seed, formulation):
    rows = make_instance(seed)
    problem = SelectionProblem(rows.covers, rows.agrees)
    by_number = [problem.solve(k, 0.75, formulation=formulation).objective for k in (1, 2, 4)]
    by_floor = [problem.solve(2, floor, formulation=formulation).objective for floor in FLOORS]
    assert by_number == sorted(by_number)
    assert by_floor == sorted(by_floor, reverse=True)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), formulation=st.sampled_from(["strict", "selective"]))
def test_the_order_of_candidates_does_not_matter(seed, formulation):
    rows = make_instance(seed, n_candidates=12, n_points=30)
    order = np.random.default_rng(seed).permutation(12)
    one = SelectionProblem(rows.covers, rows.agrees).solve(3, 0.75, formulation=formulation)
    other = SelectionProblem(rows.covers[order], rows.agrees[order]).solve(3, 0.75, formulation=formulation)
    assert (one.status, one.objective) == (other.status, other.objective)
