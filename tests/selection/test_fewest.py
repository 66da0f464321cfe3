"""The fewest explainers for a coverage, and the fewest of equally wide choices."""

from itertools import combinations

import numpy as np
import pytest

from oleander.selection import SelectionProblem
from oleander.selection.fewest import fewest_as_wide, without_redundant
from oleander.selection.formulations import plain_model
from oleander.selection.run import Run
from tests.selection.making import make_instance, share_right

ROWS_AND_COLUMNS = np.array(
    [[1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1], [1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1]]
)


@pytest.mark.parametrize("formulation", ["strict", "selective"])
@pytest.mark.parametrize("solver", ["auto", "highs", "exhaustive"])
@pytest.mark.parametrize("seed", range(20))
def test_the_fewest_that_reach_a_coverage(seed, solver, formulation):
    rows = make_instance(seed, max_weight=2)
    problem = SelectionProblem(rows.covers, rows.agrees, rows.weights)
    result = problem.solve(min_fidelity=0.5, min_coverage=0.6, formulation=formulation, solver=solver)
    target = 0.6 * rows.weights.sum()
    values = (problem.solve(k, 0.5, formulation=formulation, solver="exhaustive").objective for k in range(1, 9))
    fewest = next((k for k, value in enumerate(values, start=1) if value >= target - 1e-9), None)
    if fewest is None:
        assert result.status == "infeasible"
        assert "min_coverage=0.6 cannot be reached" in result.message or "leaves no candidate" in result.message
        return
    assert result.sense == "fewest"
    assert (result.status, result.objective, result.bound) == ("optimal", fewest, fewest)
    assert result.coverage >= 0.6 - 1e-9


def test_greedy_answers_fewest_with_a_gap():
    rows = make_instance(3, n_candidates=12, n_points=40)
    problem = SelectionProblem(rows.covers, rows.covers)
    exact = problem.solve(min_coverage=0.8)
    rough = problem.solve(min_coverage=0.8, solver="greedy")
    assert rough.bound <= exact.objective <= rough.objective


@pytest.mark.parametrize("seed", range(20))
def test_the_fewest_that_reach_a_coverage_within_the_floor(seed):
    rows = make_instance(seed, max_weight=2)
    problem = SelectionProblem(rows.covers, rows.agrees, rows.weights)
    demands = {"min_fidelity": 0.3, "union_fidelity": 0.8}
    result = problem.solve(min_coverage=0.4, **demands)
    target = 0.4 * rows.weights.sum() - 1e-9
    values = (problem.solve(k, solver="exhaustive", **demands).objective for k in range(1, 9))
    fewest = next((k for k, value in enumerate(values, start=1) if value >= target), None)
    if fewest is not None:
        assert (result.status, result.objective) == ("optimal", fewest)
        assert share_right(rows.covers, rows.agrees, rows.weights, result.chosen) >= 0.8 - 1e-9
    else:
        assert result.status == "infeasible"


@pytest.mark.parametrize("formulation", ["strict", "selective"])
@pytest.mark.parametrize("solver", ["auto", "highs", "quick", "greedy"])
def test_of_equally_wide_choices_the_smallest_is_returned(solver, formulation):
    """200 random programs against every choice of theirs, also where the choice is not the widest."""
    n_optimal = 0
    for seed in range(200):
        rows = make_instance(seed, n_candidates=9, n_points=14, max_weight=1 + seed % 3)
        problem = SelectionProblem(rows.covers, rows.agrees, rows.weights)
        k, floor = 3 + seed % 4, (0.5, 0.6, 0.75)[seed % 3]
        result = problem.solve(k, floor, formulation=formulation, solver=solver)
        if result.status == "infeasible":
            continue
        # Exhaustive search looks at small choices first, and takes a larger one only if it is wider.
        best = problem.solve(k, floor, formulation=formulation, solver="exhaustive")
        n_optimal += result.status == "optimal"
        if result.status == "optimal":
            assert (result.objective, len(result.chosen)) == (best.objective, len(best.chosen)), seed
        else:
            model = problem._state(formulation, floor, problem._constraints(k, None, None, None, None, None)).model
            smaller = combinations(range(model.n_candidates), len(result.chosen) - 1)
            assert all(model.value(np.array(one, dtype=np.intp)) < result.objective for one in smaller), seed
    assert n_optimal >= (190 if solver in ("auto", "highs") else 100)


@pytest.mark.parametrize("solver", ["auto", "highs"])
@pytest.mark.parametrize("seed", range(50))
def test_the_smallest_is_returned_with_every_constraint(seed, solver):
    rows = make_instance(seed, n_candidates=8, max_weight=2)
    rng = np.random.default_rng(seed)
    problem = SelectionProblem(
        rows.covers, rows.agrees, rows.weights, cost=rng.integers(1, 4, 8), groups=rng.integers(2, size=12)
    )
    limits = {
        "cost": {"budget": 7.0},
        "groups": {"max_explainers": 5, "min_group_coverage": 0.3},
        "union": {"max_explainers": 5, "union_fidelity": 0.7},
        "all": {"budget": 7.0, "min_group_coverage": 0.2, "union_fidelity": 0.6},
    }
    for demands in limits.values():
        best = problem.solve(min_fidelity=0.4, solver="exhaustive", **demands)
        result = problem.solve(min_fidelity=0.4, solver=solver, **demands)
        assert (result.status, result.objective, len(result.chosen)) == (best.status, best.objective, len(best.chosen))


@pytest.mark.parametrize("solver", ["auto", "quick", "greedy", "highs"])
@pytest.mark.parametrize("formulation", ["strict", "selective"])
@pytest.mark.parametrize("seed", range(15))
def test_no_chosen_candidate_can_be_spared(seed, formulation, solver):
    rows = make_instance(seed, n_candidates=25, n_points=40)
    problem = SelectionProblem(rows.covers, rows.agrees)
    result = problem.solve(12, 0.6, formulation=formulation, solver=solver, time_limit=0.2)
    statement = problem._state(formulation, 0.6, problem._constraints(12, None, None, None, None, None))
    chosen = statement.model.positions(result.chosen)
    assert statement.model.value(chosen) == result.objective
    assert all(statement.model.value(chosen[chosen != one]) < result.objective for one in chosen)


@pytest.mark.parametrize("formulation", ["strict", "selective"])
def test_must_include_stays_though_it_adds_nothing(formulation):
    covers = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
    problem = SelectionProblem(covers, covers)
    assert problem.solve(3, formulation=formulation).chosen.tolist() == [0]
    assert problem.solve(3, formulation=formulation, must_include=[1]).chosen.tolist() == [0, 1]
    assert problem.solve(3, formulation=formulation, must_exclude=[0]).chosen.tolist() == [1, 2]


def test_a_candidate_that_counts_nothing_is_not_chosen():
    covers, agrees = np.ones((2, 4), dtype=bool), np.array([[True] * 4, [False] * 4])
    for solver in ("auto", "highs", "greedy", "quick", "exhaustive"):
        result = SelectionProblem(covers, agrees).solve(2, formulation="selective", solver=solver, start=[0, 1])
        assert result.chosen.tolist() == [0]


def test_a_cover_by_two_sets_beats_one_by_three():
    # Greedy takes the widest set, and then needs both others.
    covers = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 1]], dtype=bool)
    greedy = SelectionProblem(covers, covers).solve(3, solver="greedy")
    assert greedy.chosen.tolist() == [1, 2]
    model = plain_model(covers, 3)
    assert without_redundant(model, np.array([0, 1, 2])).tolist() == [1, 2]
    # Two sets of three points against three of two: no set of the larger choice can be spared.
    model = plain_model(ROWS_AND_COLUMNS, 3)
    columns = np.array([2, 3, 4])
    assert without_redundant(model, columns).tolist() == [2, 3, 4]
    run = Run(model)
    assert fewest_as_wide(model, columns, run).tolist() == [0, 1]
    assert [stage.name for stage in run.stages] == ["fewest"]


def test_no_second_solve_where_another_candidate_would_add():
    model = plain_model(np.eye(4), 2)
    run = Run(model)
    run.offer(2.0, np.array([0, 1]))
    run.tighten(2.0)
    assert run.is_proven
    assert fewest_as_wide(model, np.array([0, 1]), run).tolist() == [0, 1]
    assert not run.stages


def test_a_program_too_large_for_the_second_solve_keeps_its_choice(monkeypatch):
    monkeypatch.setattr("oleander.selection.fewest.MAX_ENTRIES", 0)
    model = plain_model(ROWS_AND_COLUMNS, 3)
    assert fewest_as_wide(model, np.array([2, 3, 4]), Run(model)).tolist() == [2, 3, 4]
