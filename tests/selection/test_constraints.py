"""Side constraints: each kind against exhaustive search."""

import numpy as np
import pytest

from oleander.selection import SelectionProblem
from tests.selection.making import make_instance, same


@pytest.mark.parametrize("formulation", ["strict", "selective"])
@pytest.mark.parametrize("solver", ["auto", "highs"])
@pytest.mark.parametrize("seed", range(25))
def test_must_include_and_must_exclude_hold(seed, solver, formulation):
    rows = make_instance(seed)
    problem = SelectionProblem(rows.covers, rows.agrees)
    able = np.flatnonzero(problem.fidelity >= 0.5)
    assert len(able) >= 3
    demands = {"must_include": able[[0]], "must_exclude": able[[1]], "formulation": formulation}
    best = problem.solve(3, 0.5, solver="exhaustive", **demands)
    result = problem.solve(3, 0.5, solver=solver, **demands)
    assert same(result, best)
    assert able[0] in result.chosen
    assert able[1] not in result.chosen


@pytest.mark.parametrize("formulation", ["strict", "selective"])
@pytest.mark.parametrize("solver", ["auto", "highs"])
@pytest.mark.parametrize("seed", range(40))
def test_group_minima(seed, solver, formulation):
    rows = make_instance(seed, max_weight=2)
    groups = np.random.default_rng(seed).choice(["a", "b", "c"], size=12)
    problem = SelectionProblem(rows.covers, rows.agrees, rows.weights, groups=groups)
    demands = {"min_group_coverage": (0.2, 0.4, 0.6)[seed % 3], "formulation": formulation}
    best = problem.solve(3, 0.5, solver="exhaustive", **demands)
    result = problem.solve(3, 0.5, solver=solver, **demands)
    assert same(result, best)
    if result.status == "infeasible":
        assert "min_group_coverage" in result.message or "min_fidelity" in result.message


@pytest.mark.parametrize("formulation", ["strict", "selective"])
@pytest.mark.parametrize("solver", ["auto", "highs"])
@pytest.mark.parametrize("seed", range(25))
def test_costs_and_a_budget(seed, solver, formulation):
    rows = make_instance(seed)
    cost = np.random.default_rng(seed).integers(1, 6, size=8) / 2
    problem = SelectionProblem(rows.covers, rows.agrees, cost=cost)
    demands = {"budget": 3.0, "formulation": formulation, "min_fidelity": 0.5}
    best = problem.solve(solver="exhaustive", **demands)
    result = problem.solve(solver=solver, **demands)
    assert same(result, best)
    assert cost[result.chosen].sum() <= 3.0


@pytest.mark.parametrize("seed", range(25))
def test_all_constraints_at_once(seed):
    rows = make_instance(seed, n_candidates=9, max_weight=3)
    rng = np.random.default_rng(seed)
    problem = SelectionProblem(
        rows.covers, rows.agrees, rows.weights, cost=rng.uniform(0.5, 2.0, 9), groups=rng.integers(2, size=12)
    )
    able = np.flatnonzero((problem.fidelity >= 0.5) & (problem.cost < 2.0))
    demands = {
        "min_fidelity": 0.5,
        "budget": 4.0,
        "must_include": able[:1],
        "min_group_coverage": 0.3,
        "formulation": ("strict", "selective")[seed % 2],
    }
    assert same(problem.solve(**demands), problem.solve(solver="exhaustive", **demands))


def test_groups_may_overlap():
    covers = np.array([[1, 1, 0], [0, 0, 1]], dtype=bool)
    groups = {"old": [True, False, True], "ill": [False, True, True]}
    problem = SelectionProblem(covers, covers, groups=groups)
    assert problem.solve(1, min_group_coverage=0.5).chosen.tolist() == [0]
    assert problem.solve(2, min_group_coverage=1.0).chosen.tolist() == [0, 1]


def test_a_mask_names_candidates_too():
    covers = np.eye(3, dtype=bool)
    result = SelectionProblem(covers, covers).solve(1, must_exclude=np.array([True, False, True]))
    assert result.chosen.tolist() == [1]
