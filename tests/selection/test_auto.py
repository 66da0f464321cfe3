"""The answers are the optima: against exhaustive search and HiGHS, whatever stage is left out."""

from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.instances import clustered_balls
from oleander.selection import SelectionProblem
from oleander.selection.heuristics import greedy
from oleander.selection.model import pack_matrix, plain_model
from oleander.selection.result import Run
from oleander.selection.solvers import try_every_choice
from tests.selection.making import STAGES, auto_without, make_instance

FLOORS = (0.6, 0.75, 0.9, 1.0)


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.parametrize("formulation", ["strict", "selective"])
def test_auto_equals_exhaustive_search(seed, formulation):
    rows = make_instance(seed, n_candidates=9, n_points=14, max_weight=1 + seed % 4)
    problem = SelectionProblem(rows.covers, rows.agrees, rows.weights)
    k, floor = 1 + seed % 4, FLOORS[seed % 4]
    best = problem.solve(k, floor, formulation=formulation, solver=try_every_choice)
    result = problem.solve(k, floor, formulation=formulation)
    assert (result.status, result.objective, result.bound) == (best.status, best.objective, best.bound)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("seed", range(5))
def test_any_stage_can_be_left_out(stage, seed):
    rows = make_instance(seed, n_candidates=16, n_points=40, max_weight=2)
    problem = SelectionProblem(rows.covers, rows.covers, rows.weights)
    best = problem.solve(4, solver="highs")
    result = problem.solve(4, solver=auto_without(stage))
    assert result.is_proven_optimal
    assert result.objective == best.objective


@pytest.mark.parametrize("stage", ["branch", "decompose", "finish"])
@pytest.mark.parametrize("seed", range(6))
def test_each_of_the_last_stages_can_prove_alone(stage, seed):
    rows = make_instance(seed, n_candidates=20, n_points=40)
    problem = SelectionProblem(rows.covers, rows.covers)
    result = problem.solve(5, solver=auto_without(*{"bound", "fix", "branch", "decompose", "finish"} - {stage}))
    assert result.is_proven_optimal or stage == "decompose"
    assert result.objective <= problem.solve(5, solver="highs").objective <= result.bound


@pytest.mark.parametrize("skip", [(), ("branch", "finish"), ("find",)])
@pytest.mark.parametrize("seed", range(6))
def test_clustered_balls_are_solved_as_by_highs(seed, skip):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(120, 4)) + 5.0 * rng.integers(0, 2, size=(120, 4))
    distance = np.abs(points[:, None, :] - points[None, :, :]).max(axis=2)
    covers = distance <= np.quantile(distance, 0.06)
    weights = [None, rng.integers(1, 4, size=120), rng.integers(1, 10**6, size=120)][seed % 3]
    problem = SelectionProblem(covers, covers, weights)
    best = problem.solve(7, solver="highs")
    result = problem.solve(7, solver=auto_without(*skip), time_limit=10)
    assert result.objective <= best.bound
    assert best.objective <= result.bound
    assert result.is_proven_optimal or skip == ("branch", "finish")


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 5), formulation=st.sampled_from(["strict", "selective"]))
def test_a_bound_is_never_under_the_optimum(seed, k, formulation):
    rows = make_instance(seed)
    problem = SelectionProblem(rows.covers, rows.agrees)
    best = problem.solve(k, 0.75, formulation=formulation, solver=try_every_choice).objective
    for solver in ("auto", "highs", "greedy", auto_without("branch", "decompose", "finish")):
        result = problem.solve(k, 0.75, formulation=formulation, solver=solver)
        assert result.objective <= best <= result.bound
        assert result.status != "optimal" or result.objective == best


@pytest.mark.parametrize("seed", range(4))
def test_a_quick_choice_is_nearly_the_best_and_bounded(seed):
    case = make_instance(seed, n_candidates=25, n_points=60, max_weight=3)
    problem = SelectionProblem(case.covers, case.agrees, case.weights)
    asked = {"max_explainers": 4, "min_fidelity": 0.4}
    quick, best = problem.solve(**asked, solver="quick"), problem.solve(**asked)
    assert quick.objective <= best.objective + 1e-9 <= quick.bound + 2e-9
    assert quick.objective >= 0.95 * best.objective
    again = problem.solve(**asked, solver="quick")
    assert np.array_equal(quick.chosen, again.chosen)


@pytest.mark.parametrize("n_further", [20, 60, 200, 100_000])
def test_wherever_the_search_is_stopped_the_choice_is_not_below_the_greedy_one(n_further, monkeypatch):
    covers = clustered_balls(300, 25)
    model = plain_model(pack_matrix(covers), 8)
    # Greedy looks at the clock, too.
    looks = count()
    least = model.value(greedy(model, should_stop=lambda: next(looks) < 0))
    n_looks, looks = next(looks) + n_further, count()
    monkeypatch.setattr(Run, "is_out_of_time", property(lambda run: next(looks) > n_looks))
    result = SelectionProblem(covers, covers).solve(8)
    assert least <= result.objective <= result.bound
    assert result.is_proven_optimal == (n_further == 100_000)
