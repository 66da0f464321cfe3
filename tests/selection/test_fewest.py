"""The fewest explainers for a coverage, and the fewest of equally wide choices."""

import pytest

from oleander.selection import SelectionProblem


@pytest.mark.parametrize("formulation", ["strict", "selective"])
@pytest.mark.parametrize("solver", ["auto", "highs", "exhaustive"])
@pytest.mark.parametrize("seed", range(20))
def test_the_fewest_that_reach_a_coverage(seed, solver, formulation, instance):
    rows = instance(seed, max_weight=2)
    problem = SelectionProblem(rows.covers, rows.agrees, rows.weights)
    result = problem.solve(min_fidelity=0.5, min_coverage=0.6, formulation=formulation, solver=solver)
    target = 0.6 * rows.weights.sum()
    enough = [
        k
        for k in range(1, 9)
        if problem.solve(k, 0.5, formulation=formulation, solver="exhaustive").objective >= target - 1e-9
    ]
    if not enough:
        assert result.status == "infeasible"
        assert "min_coverage=0.6 cannot be reached" in result.message or "leaves no candidate" in result.message
        return
    assert result.sense == "fewest"
    assert (result.status, result.objective, result.bound) == ("optimal", enough[0], enough[0])
    assert result.coverage >= 0.6 - 1e-9


def test_greedy_answers_fewest_with_a_gap(instance):
    rows = instance(3, n_candidates=12, n_points=40)
    problem = SelectionProblem(rows.covers, rows.covers)
    exact = problem.solve(min_coverage=0.8)
    rough = problem.solve(min_coverage=0.8, solver="greedy")
    assert rough.bound <= exact.objective <= rough.objective


@pytest.mark.parametrize("seed", range(20))
def test_the_fewest_that_reach_a_coverage_within_the_floor(seed, instance, share_right):
    rows = instance(seed, max_weight=2)
    problem = SelectionProblem(rows.covers, rows.agrees, rows.weights)
    demands = {"min_fidelity": 0.3, "union_fidelity": 0.8}
    result = problem.solve(min_coverage=0.4, **demands)
    target = 0.4 * rows.weights.sum() - 1e-9
    values = [problem.solve(k, solver="exhaustive", **demands).objective for k in range(1, 9)]
    enough = [k for k, value in enumerate(values, start=1) if value >= target]
    if enough:
        assert (result.status, result.objective) == ("optimal", enough[0])
        assert share_right(rows.covers, rows.agrees, rows.weights, result.chosen) >= 0.8 - 1e-9
    else:
        assert result.status == "infeasible"
