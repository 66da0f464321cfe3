"""The floor over the union: against exhaustive search, with every other constraint, and its own examples."""

import time
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from oleander.selection import SelectionProblem
from oleander.selection.formulations import plain_model
from oleander.selection.run import Run
from oleander.selection.solvers.auto import AutoSolver
from oleander.selection.solvers.union import cut_relaxation
from tests.selection.making import make_instance, overlapping, same, share_right


def test_overlap_can_break_the_union_while_each_holds():
    covers, agrees = overlapping()
    problem = SelectionProblem(covers, agrees)
    assert problem.fidelity.tolist() == [0.9, 0.9, 1.0]
    each = problem.solve(2, 0.9)
    assert each.objective == 13.0
    two = problem.solve(2, 0.9, must_include=[0, 1])
    assert share_right(covers, agrees, np.ones(16), two.chosen) == pytest.approx(10 / 12)
    together = problem.solve(3, 0.9, union_fidelity=0.9)
    assert problem.solve(3, 0.9).objective == 15.0
    assert (together.objective, together.status) == (13.0, "optimal")
    assert together.union_fidelity == pytest.approx(12 / 13)


def test_mistakes_that_are_shared_count_once():
    # Alone neither reaches 0.9; together 16 of 17 are right.
    covers = np.zeros((2, 17), dtype=bool)
    covers[0, :9], covers[1, 8:] = True, True
    agrees = covers & (np.arange(17) != 8)
    problem = SelectionProblem(covers, agrees)
    for solver in ("auto", "highs", "exhaustive", "greedy"):
        assert problem.solve(2, 0.1, union_fidelity=0.9, solver=solver).objective == 17.0
    assert problem.solve(1, 0.1, union_fidelity=0.9).status == "infeasible"


def test_being_contained_does_not_make_an_explainer_superfluous():
    covers = np.array([[1] * 10, [1] * 8 + [0] * 2], dtype=bool)
    agrees = covers & (np.arange(10) < 8)
    result = SelectionProblem(covers, agrees).solve(1, 0.1, union_fidelity=0.9)
    assert result.chosen.tolist() == [1]
    assert (result.objective, result.is_proven_optimal, result.union_fidelity) == (8.0, True, 1.0)


def test_union_fidelity_is_reported_only_with_a_floor():
    covers, agrees = overlapping()
    assert SelectionProblem(covers, agrees).solve(2).union_fidelity is None


@pytest.mark.parametrize("seed", range(10))
def test_a_floor_that_does_not_bind_changes_nothing(seed):
    rows = make_instance(seed, n_candidates=25, n_points=60)
    problem = SelectionProblem(rows.covers, rows.covers)
    with_floor, without = problem.solve(5, union_fidelity=0.9), problem.solve(5)
    assert same(with_floor, without)
    assert with_floor.union_fidelity == 1.0


@pytest.mark.parametrize("solver", ["auto", "highs"])
@pytest.mark.parametrize("seed", range(150))
def test_the_answer_is_that_of_exhaustive_search(seed, solver):
    rows = make_instance(seed, n_candidates=9, n_points=14 + 10 * (seed % 2), max_weight=1 + seed % 4)
    problem = SelectionProblem(rows.covers, rows.agrees, rows.weights)
    k, floor = 1 + seed % 5, (0.7, 0.8, 0.9, 1.0)[seed % 4]
    demands = {"min_fidelity": (0.01, 0.6)[seed % 2], "union_fidelity": floor}
    best = problem.solve(k, solver="exhaustive", **demands)
    result = problem.solve(k, solver=solver, **demands)
    assert same(result, best)
    if result.status == "infeasible":
        assert "union_fidelity=" in result.message or "min_fidelity=" in result.message
    else:
        right = share_right(rows.covers, rows.agrees, rows.weights, result.chosen)
        assert result.union_fidelity == pytest.approx(right)
        assert right >= floor - 1e-9


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    floor=st.sampled_from([0.5, 0.75, 0.9]),
    kind=st.sampled_from(["number", "budget"]),
    minimum=st.sampled_from([None, 0.2, 0.4]),
    n_forced=st.integers(0, 2),
    weigh=st.sampled_from(["equal", "whole", "any"]),
)
def test_a_floor_over_the_union_goes_with_every_other_constraint(seed, floor, kind, minimum, n_forced, weigh):
    rows = make_instance(seed)
    rng = np.random.default_rng(seed)
    weights = {"equal": np.ones(12), "whole": rng.integers(0, 4, 12), "any": rng.random(12)}[weigh]
    problem = SelectionProblem(
        rows.covers, rows.agrees, weights, cost=rng.integers(1, 5, 8) / 2, groups=rng.integers(2, size=12)
    )
    able = np.flatnonzero((problem.fidelity >= 0.2) & (problem.cost <= 1.5))
    demands = {
        "min_fidelity": 0.2,
        "union_fidelity": floor,
        "must_include": able[:n_forced],
        "must_exclude": able[n_forced : n_forced + 1],
        "min_group_coverage": minimum,
        **({"budget": 3.0} if kind == "budget" else {"max_explainers": 3}),
    }
    best = problem.solve(solver="exhaustive", **demands)
    for solver in ("auto", "highs"):
        result = problem.solve(solver=solver, **demands)
        assert result.status == best.status
        assert result.objective == pytest.approx(best.objective, rel=3e-6)
        assert np.isin(able[:n_forced], result.chosen).all() or result.status == "infeasible"
    if minimum is None:
        rough = problem.solve(solver="greedy", **demands)
        assert rough.status in ("unknown", "infeasible") or rough.objective <= best.objective * (1 + 3e-6)
        assert rough.bound >= best.objective * (1 - 3e-6)


def test_must_include_can_be_mended():
    covers, agrees = overlapping()
    covers, agrees = np.pad(covers, ((0, 0), (0, 9))), np.pad(agrees, ((0, 0), (0, 9)))
    covers[2, 12:] = agrees[2, 12:] = True
    for solver in ("auto", "highs", "greedy"):
        result = SelectionProblem(covers, agrees).solve(3, 0.9, union_fidelity=0.9, must_include=[0, 1], solver=solver)
        assert (result.chosen.tolist(), result.objective) == ([0, 1, 2], 25.0)


@pytest.mark.parametrize(
    ("demands", "message"),
    [
        ({"union_fidelity": 0.9, "formulation": "selective"}, "union_fidelity stands for the strict formulation only"),
        ({"union_fidelity": 1.2}, r"union_fidelity=1\.2 is not a share"),
    ],
)
def test_invalid_constraints_are_refused(demands, message):
    covers, agrees = overlapping()
    with pytest.raises(ValueError, match=message):
        SelectionProblem(covers, agrees).solve(2, **demands)


@pytest.fixture(scope="module")
def hard() -> SelectionProblem:
    """Many overlapping balls with mistakes near a border: nothing proves it soon."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((500, 5))
    distance = np.abs(points[:, None, :] - points[None, :, :]).max(axis=2)
    covers = distance <= np.quantile(distance, 0.08)
    label = points[:, 0] > 0.3 * rng.standard_normal(500)
    return SelectionProblem(covers, covers & (label[:, None] == label[None, :]))


@pytest.mark.parametrize("solver", ["auto", "highs", "greedy"])
def test_time_limits_hold(solver, hard):
    started = time.monotonic()
    result = hard.solve(10, 0.01, union_fidelity=0.9, solver=solver, time_limit=1.0)
    assert time.monotonic() - started < 2.5
    assert result.status == "feasible"
    assert result.objective < result.bound < np.inf
    assert len(result.chosen) <= 10
    assert result.union_fidelity >= 0.9 - 1e-9
    assert solver == "highs" or result.objective > 0


def test_no_time_at_all_still_answers(hard):
    result = hard.solve(10, 0.01, union_fidelity=0.9, time_limit=0.0)
    assert result.status == "feasible"
    assert result.objective <= result.bound


@pytest.mark.slow
def test_a_start_is_kept_and_mended(hard):
    first = hard.solve(10, 0.01, union_fidelity=0.9, time_limit=1.0)
    again = hard.solve(10, 0.01, union_fidelity=0.9, time_limit=0.0, start=first.chosen)
    assert again.objective >= first.objective
    relaxed = hard.solve(10, 0.01, time_limit=1.0)
    assert hard.solve(10, 0.01, union_fidelity=0.9, time_limit=0.0, start=relaxed.chosen).status == "feasible"


@pytest.mark.parametrize("seed", range(15))
def test_cuts_lower_the_bound_and_drop_no_candidate_that_is_needed(seed):
    rows = make_instance(seed, n_candidates=12, n_points=30)
    problem = SelectionProblem(rows.covers, rows.agrees)
    best = problem.solve(4, 0.3, union_fidelity=0.8, solver="highs")
    without = problem.solve(4, 0.3, union_fidelity=0.8, solver=AutoSolver(skip={"find", "cut", "finish"}))
    cut = problem.solve(4, 0.3, union_fidelity=0.8, solver=AutoSolver(skip={"find", "finish"}))
    assert best.objective <= cut.bound <= without.bound
    assert problem.solve(4, 0.3, union_fidelity=0.8).objective == best.objective
    assert problem.solve(4, 0.3, union_fidelity=0.8, solver=AutoSolver(skip={"cut"})).objective == best.objective


@pytest.mark.parametrize("seed", range(25))
def test_the_relaxation_drops_no_candidate_of_a_choice_worth_it(seed):
    rows = make_instance(seed, n_candidates=8, n_points=30)
    wrong = sparse.csr_array((rows.covers & ~rows.agrees).astype(float))
    model = replace(plain_model(rows.covers, 3), wrong=wrong, union_fidelity=0.8)
    choices = [np.flatnonzero(mask) for mask in product([False, True], repeat=8) if sum(mask) <= 3]
    values = {tuple(chosen): model.value(chosen) for chosen in choices if model.satisfies(chosen)}
    run = Run(model)
    best = max(values.values())
    run.offer(best - 1.0, np.empty(0, dtype=int))
    possible, _, n_rounds = cut_relaxation(model, run)
    assert n_rounds
    assert run.bound >= best
    for chosen, value in values.items():
        assert value < best or set(chosen) <= set(possible.tolist())
