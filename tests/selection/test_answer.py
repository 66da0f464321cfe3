"""Time limits, Ctrl-C, gaps, starts, progress: a solve cut short returns the best so far with its gap."""

import re
import time
from _thread import interrupt_main
from itertools import product
from threading import Timer

import numpy as np
import pytest
from scipy import sparse

from oleander.running.shares import show_upper_percent
from oleander.selection import SelectionProblem
from oleander.selection.solvers.auto import AutoSolver
from tests.selection.making import make_instance


@pytest.fixture(scope="module")
def hard() -> SelectionProblem:
    """One cloud without clusters: nothing proves it soon."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((700, 6))
    distance = np.abs(points[:, None, :] - points[None, :, :]).max(axis=2)
    covers = sparse.csr_array(distance <= np.quantile(distance, 0.08))
    return SelectionProblem(covers, covers)


@pytest.fixture(scope="module")
def mistaken() -> SelectionProblem:
    """Many overlapping balls with mistakes near a border, groups and costs: slow in every formulation."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((1500, 6))
    distance = np.abs(points[:1000, None, :] - points[None, :, :]).max(axis=2)
    covers = distance <= np.quantile(distance, 0.06)
    label = points[:, 0] > 0.3 * rng.standard_normal(1500)
    agrees = covers & (label[None, :] == (points[:1000, :1] > 0))
    return SelectionProblem(covers, agrees, cost=rng.integers(1, 5, 1000), groups=rng.integers(0, 4, 1500))


CASES = {
    "number": {"max_explainers": 12},
    "budget": {"budget": 20.0},
    "group minima": {"max_explainers": 12, "min_group_coverage": 0.3},
    "impossible group minima": {"max_explainers": 3, "min_group_coverage": 0.9},
    "fewest": {"min_coverage": 0.6},
    "fewest out of reach": {"min_coverage": 0.9999},
    "fewest with group minima": {"min_coverage": 0.4, "min_group_coverage": 0.3},
}
UNION = {
    "union": {"max_explainers": 12, "union_fidelity": 0.9},
    "union with group minima": {"max_explainers": 12, "union_fidelity": 0.9, "min_group_coverage": 0.2},
    "fewest under a floor over the union": {"min_coverage": 0.3, "union_fidelity": 0.9},
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formulation", "case"),
    [
        *((formulation, case) for formulation in ("strict", "selective") for case in CASES),
        *(("strict", c) for c in UNION),
    ],
)
def test_time_limits_hold_in_every_formulation(formulation, case, mistaken):
    started = time.monotonic()
    demands = (CASES | UNION)[case]
    result = mistaken.solve(min_fidelity=0.6, formulation=formulation, time_limit=1.0, **demands)
    seconds = time.monotonic() - started
    assert seconds < 2.0
    assert result.runtime == pytest.approx(seconds, abs=0.1)
    if result.stopped:
        assert f"after {result.runtime:.1f} s" in result.message
    if result.sense == "coverage" and result.status == "feasible" and result.objective:
        assert f"the gap is {show_upper_percent(result.gap, 2)}" in result.message


@pytest.mark.parametrize("formulation", ["strict", "selective"])
@pytest.mark.parametrize("case", ["number", "budget", "group minima", "fewest", "fewest with group minima"])
def test_a_stop_by_the_clock_is_never_infeasible(formulation, case, mistaken):
    for time_limit in (0.0, 0.02, 0.1):
        result = mistaken.solve(min_fidelity=0.6, formulation=formulation, time_limit=time_limit, **CASES[case])
        assert result.status in ("feasible", "unknown", "optimal")
        assert result.message.startswith("Stopped after") or result.is_proven_optimal


HOPELESS = [
    {"max_explainers": 1, "min_group_coverage": 0.5},
    {"budget": 2.0, "min_group_coverage": 0.5},
    {"max_explainers": 1, "min_coverage": 0.1, "min_group_coverage": 0.5},
]


@pytest.mark.parametrize(
    ("formulation", "demands"),
    [
        *product(["strict", "selective"], HOPELESS),
        ("strict", {"max_explainers": 1, "min_group_coverage": 0.5, "union_fidelity": 0.7}),
    ],
)
def test_minima_that_no_candidates_reach_need_no_search(formulation, demands, mistaken):
    """The widest candidate covers a fifth of a group."""
    result = mistaken.solve(min_fidelity=0.6, formulation=formulation, time_limit=0.0, **demands)
    assert result.status == "infeasible"
    assert "min_group_coverage asks for 0.5 of group" in result.message


@pytest.mark.parametrize("solver", ["auto", "quick"])
def test_the_group_out_of_reach_is_named_beside_a_floor_over_the_union(solver):
    covers = np.eye(6, dtype=bool)
    problem = SelectionProblem(covers, covers, groups=["a"] * 6)
    result = problem.solve(2, 0.9, solver=solver, time_limit=0.0, min_group_coverage=0.9, union_fidelity=0.9)
    assert result.message.startswith("min_group_coverage asks for 0.9 of group 'a', 5.4 of 6, but at most 2")


class InterruptAfter:
    """A progress callback that presses Ctrl-C at the first report of a stage."""

    def __init__(self, stage: str) -> None:
        self.stage, self.calls = stage, 0

    def __call__(self, progress) -> None:
        self.calls += 1
        if progress.stage == self.stage:
            raise KeyboardInterrupt


@pytest.mark.parametrize("solver", ["auto", "highs", "greedy", AutoSolver(skip={"branch", "decompose"})])
def test_time_limits_hold(solver, hard):
    started = time.monotonic()
    result = hard.solve(12, solver=solver, time_limit=1.5)
    assert time.monotonic() - started < 2.5
    assert result.status == "feasible"
    assert result.objective < result.bound
    # HiGHS may still be at its first linear relaxation, with nothing found.
    assert solver == "highs" or 0.0 < result.gap < 1.0
    assert len(result.chosen) <= 12


def test_a_time_limit_says_so(hard):
    result = hard.solve(12, time_limit=0.5)
    # On a busy machine the last step may end late, never early.
    assert float(re.match(r"Stopped after (\d+\.\d) s", result.message)[1]) >= 0.5
    # The gap is rounded up.
    shown = float(re.search(r"the gap is ([\d.]+)%", result.message)[1]) / 100
    assert result.gap <= shown < result.gap + 1.001e-4


def test_no_time_at_all_still_answers(hard):
    result = hard.solve(12, time_limit=0.0)
    assert result.status == "feasible"
    assert result.objective <= result.bound


@pytest.mark.parametrize(
    ("solver", "stage"),
    [
        ("auto", "find"),
        ("auto", "bound"),
        ("auto", "decompose"),
        (AutoSolver(skip={"decompose", "finish"}), "branch"),
        (AutoSolver(skip={"branch", "decompose"}), "finish"),
        ("highs", "highs"),
    ],
)
def test_ctrl_c_returns_the_best_so_far(solver, stage, hard):
    press = InterruptAfter(stage)
    result = hard.solve(12, solver=solver, time_limit=30, progress=press)
    assert press.calls
    assert result.status == "feasible"
    assert result.message.startswith("Interrupted after")
    assert result.stages[-1].name == stage
    assert result.objective <= result.bound < np.inf
    if stage not in ("find", "highs"):
        assert result.objective > 0
        assert result.gap < 0.5


def test_ctrl_c_from_outside_is_heard_inside_highs(hard):
    started = time.monotonic()
    Timer(0.7, interrupt_main).start()
    result = hard.solve(12, solver=AutoSolver(skip={"branch", "decompose"}), time_limit=30)
    assert time.monotonic() - started < 10
    assert result.message.startswith("Interrupted after")
    assert 0 < result.objective <= result.bound
    # HiGHS has stopped too: the next program need not wait for it.
    started = time.monotonic()
    small = SelectionProblem(np.eye(4), np.eye(4)).solve(2, solver="highs")
    assert time.monotonic() - started < 5
    assert small.is_proven_optimal


def test_ctrl_c_in_the_middle_of_fewest_keeps_the_best_choice(hard):
    result = hard.solve(min_coverage=0.9, progress=InterruptAfter("decompose"))
    assert result.status == "feasible"
    assert 1 <= result.bound < result.objective
    assert result.coverage >= 0.9


def test_a_gap_that_is_enough_stops_the_solve(hard):
    result = hard.solve(12, gap=0.5, time_limit=30)
    assert result.runtime < 10
    assert result.gap <= 0.5
    assert result.status == "feasible"


@pytest.mark.slow
def test_a_gap_is_valid_where_the_optimum_is_known():
    for seed in range(20):
        rows = make_instance(seed, n_candidates=14, n_points=40)
        problem = SelectionProblem(rows.covers, rows.covers)
        best = problem.solve(4).objective
        for gap in (0.05, 0.2):
            result = problem.solve(4, gap=gap)
            assert result.objective <= best <= result.bound
            assert result.gap <= gap + 1e-9


def test_progress_is_reported(hard):
    reports = []
    hard.solve(12, time_limit=1.0, progress=reports.append)
    assert len(reports) >= 3
    assert {progress.stage for progress in reports} & {"find", "bound", "branch", "decompose"}
    values = [progress.value for progress in reports]
    bounds = [progress.bound for progress in reports]
    assert values == sorted(values)
    assert bounds == sorted(bounds, reverse=True)


def test_a_start_is_kept_and_filled_in(hard):
    first = hard.solve(12, time_limit=1.0)
    again = hard.solve(12, time_limit=0.0, start=first.chosen)
    assert again.objective >= first.objective
    fewer = hard.solve(12, time_limit=0.0, start=first.chosen, must_exclude=first.chosen[:1])
    assert first.chosen[0] not in fewer.chosen
    assert len(fewer.chosen) == 12


def test_a_start_may_be_too_long():
    eye = np.eye(4, dtype=bool)
    assert SelectionProblem(eye, eye).solve(2, start=[0, 1, 2, 3]).objective == 2.0


def test_the_same_input_gives_the_same_answer():
    rows = make_instance(5, n_candidates=40, n_points=80)
    problem = SelectionProblem(rows.covers, rows.covers)
    one, two = problem.solve(6), problem.solve(6)
    assert one.chosen.tolist() == two.chosen.tolist()
    records = [[(stage.name, stage.n_steps, stage.bound) for stage in result.stages] for result in (one, two)]
    assert records[0] == records[1]


@pytest.mark.parametrize("solver", ["auto", "greedy", "exhaustive"])
def test_ties_go_to_the_first(solver):
    covers = np.repeat(np.eye(3, dtype=bool), 2, axis=0)
    assert SelectionProblem(covers, covers).solve(3, solver=solver).chosen.tolist() == [0, 2, 4]


def test_stages_record_their_work():
    rows = make_instance(0, n_candidates=30, n_points=60)
    covers = np.hstack([rows.covers, rows.covers])
    result = SelectionProblem(covers, covers).solve(5)
    assert result.stages[0].name == "reduce"
    assert result.stages[0].n_merged >= 60
    assert result.stages[-1].value == result.objective
    assert sum(stage.n_steps for stage in result.stages) > 0
    assert sum(stage.runtime for stage in result.stages) <= result.runtime
