"""The model as a mixed-integer program, and HiGHS on it.

One binary per candidate, one continuous variable per point: in the reduced form of both formulations only the choice of
candidates needs to be integer. What a point counts, and what of an allowance goes where, is a flow once the candidates
are chosen.
"""

import atexit
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

import numpy as np
from scipy import sparse

from oleander.arrays import Bools, Floats, Ints
from oleander.selection.model import ROUNDING, CoverageModel
from oleander.selection.run import Run

# A solver's tolerances are absolute. Whole weights keep their scale up to a total of this many steps; others are
# scaled to a total of about 2^20.
MAX_STEPS, SCALED = 500_000.0, 20
# HiGHS works to a tolerance of a millionth; a bound is only as good as that.
MARGIN = 1e-6
TOLERANCES = ("primal_feasibility_tolerance", "dual_feasibility_tolerance", "mip_feasibility_tolerance")
# Seconds to wait for HiGHS after a call to stop.
PATIENCE = 0.5
LONG_PATIENCE = 5.0
TURN = Lock()


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """Maximise cost·v with lower ≤ v ≤ upper and row_lower ≤ rows·v ≤ row_upper.

    Weights are multiplied by `unit`, so the objective is `unit` times the value of a choice. If they are then not
    whole and small, a solver needs finer tolerances than usual.
    """

    cost: Floats
    lower: Floats
    upper: Floats
    is_integer: Bools
    rows: sparse.csr_array
    row_lower: Floats
    row_upper: Floats
    unit: float
    is_whole: bool


def unit_of(model: CoverageModel) -> tuple[float, bool]:
    """Return the factor that brings the weights to a scale fit for a solver, and whether they are small whole numbers.

    Examples
    --------
    >>> from oleander.selection.model import plain_model
    >>> unit_of(plain_model(np.eye(2), 1, [2.0, 4.0])), unit_of(plain_model(np.eye(2), 1, [0.5, 0.5]))
    ((0.5, True), (1048576.0, False))
    """
    total = float(model.weights.sum())
    if model.grain and total <= MAX_STEPS * model.grain:
        return 1.0 / model.grain, True
    # A power of two changes no digit of a weight.
    return float(np.exp2(SCALED - np.floor(np.log2(total)))), False


def linear_program(model: CoverageModel, *, cutoff: float = -np.inf) -> LinearProgram:
    """Return the model as a mixed-integer program; a cutoff adds the row "value ≥ cutoff".

    Variables are the candidates, the share of each point that counts, and then the weight that each candidate counts
    of each point that it may count.

    Examples
    --------
    >>> from oleander.selection.model import plain_model
    >>> linear_program(plain_model(np.eye(3), budget=2)).rows.shape
    (4, 6)
    """
    n_candidates, n_points = model.sure.shape
    unit, is_whole = unit_of(model)
    model = replace(
        model,
        weights=unit * model.weights,
        allowance=None if model.allowance is None else unit * model.allowance,
    )
    lower, upper = np.zeros(n_candidates + n_points), np.ones(n_candidates + n_points)
    cost = np.concatenate([np.zeros(n_candidates), model.weights])
    # A point counts only as far as it is covered.
    blocks: list[list[Any]] = [[-model.by_point.to_sparse(), sparse.eye_array(n_points)]]
    row_lower, row_upper = [np.full(n_points, -np.inf)], [np.zeros(n_points)]
    blocks.append([np.ones((1, n_candidates)), None])
    row_lower.append(np.array([-np.inf]))
    row_upper.append(np.array([float(model.budget)]))
    if cutoff > -np.inf:
        blocks.append([None, model.weights[None, :]])
        row_lower.append(np.array([unit * cutoff]))
        row_upper.append(np.array([np.inf]))
    if model.maybe is not None and model.allowance is not None:
        n_parts = model.maybe.nnz
        owner = np.repeat(np.arange(n_candidates), np.diff(model.maybe.indptr))
        part, point = np.arange(n_parts), model.maybe.lists[1]
        counted = sparse.csr_array((-1.0 / model.weights[point], (point, part)), shape=(n_points, n_parts))
        taken = sparse.csr_array((np.ones(n_parts), (owner, part)), shape=(n_candidates, n_parts))
        blocks = [[*row, None] for row in blocks]
        blocks[0][2] = counted
        blocks.append([-sparse.diags_array(model.allowance), None, taken])
        row_lower.append(np.full(n_candidates, -np.inf))
        row_upper.append(np.zeros(n_candidates))
        cost = np.concatenate([cost, np.zeros(n_parts)])
        lower = np.concatenate([lower, np.zeros(n_parts)])
        upper = np.concatenate([upper, model.weights[point]])
    return LinearProgram(
        cost=cost,
        lower=lower,
        upper=upper,
        is_integer=np.arange(len(cost)) < n_candidates,
        rows=sparse.csr_array(sparse.block_array(blocks, format="csr")),
        row_lower=np.concatenate(row_lower),
        row_upper=np.concatenate(row_upper),
        unit=unit,
        is_whole=is_whole,
    )


def solve_by_highs(model: CoverageModel, run: Run, *, with_cutoff: bool) -> int:
    """Hand the model to HiGHS until nothing better exists or time is up; return the number of nodes.

    HiGHS's own bound is good to a millionth. Where that leaves a better value possible, HiGHS is asked for
    one, and says that there is none.
    """
    n_nodes = run_highs(model, run, with_cutoff=with_cutoff)
    value = -np.inf
    while run.value > value and not run.should_stop() and run.bound - run.value <= 3.0 * MARGIN * abs(run.bound):
        value = run.value
        n_nodes += run_highs(model, run, with_cutoff=True)
    return n_nodes


def run_highs(model: CoverageModel, run: Run, *, with_cutoff: bool) -> int:
    """Hand the model to HiGHS, offer its choice and bound to the run, and return the number of nodes.

    With the row "value ≥ cutoff" an infeasible program is a proof that nothing better exists.
    """
    program = linear_program(model, cutoff=run.cutoff if with_cutoff else -np.inf)
    highs = load(program, run)
    if not with_cutoff and run.value > -np.inf:
        start = np.isin(model.origin, run.best[1]).astype(np.float64)
        highs.setSolution(model.n_candidates, np.arange(model.n_candidates, dtype=np.int32), start)
    try:
        has_ended = work(highs, run)
    except KeyboardInterrupt:
        if not highs.is_solver_running():
            _report(highs, program, model, run)
        raise
    return _report(highs, program, model, run) if has_ended else 0


def find_smallest(model: CoverageModel, least: float, run: Run, *, max_nodes: int) -> Ints | None:
    """Return the smallest choice worth `least` that HiGHS finds in `max_nodes` nodes, or None."""
    program = linear_program(model, cutoff=least)
    # Points cost nothing here, and every candidate one.
    program = replace(program, cost=-program.is_integer.astype(np.float64))
    part = run.part(LONG_PATIENCE)
    highs = load(program, part)
    highs.setOptionValue("mip_abs_gap", 0.5)
    highs.setOptionValue("mip_max_nodes", max_nodes)
    return _solution(highs, model) if work(highs, part) else None


def load(program: LinearProgram, run: Run) -> Any:
    """Return HiGHS with this program."""
    highspy: Any = import_module("highspy")
    highs = highspy.Highs()
    for option, setting in {
        "output_flag": False,
        "time_limit": max(run.time_left, 0.01),
        "mip_rel_gap": run.gap,
        "mip_abs_gap": 0.5 * run.step * program.unit,
        "threads": 1,
        "random_seed": 0,
        **({} if program.is_whole else dict.fromkeys(TOLERANCES, ROUNDING)),
    }.items():
        highs.setOptionValue(option, setting)
    n_rows, n_columns = program.rows.shape
    highs.passModel(
        n_columns,
        n_rows,
        program.rows.nnz,
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMaximize),
        0.0,
        program.cost,
        program.lower,
        program.upper,
        program.row_lower,
        program.row_upper,
        program.rows.indptr.astype(np.int32),
        program.rows.indices.astype(np.int32),
        program.rows.data,
        program.is_integer.astype(np.int32),
    )
    return highs


def work(highs: Any, run: Run) -> bool:
    """Let HiGHS work until it has ended or the run says stop; return whether its results can be read.

    HiGHS checks for a stop only now and then, in a large first relaxation after seconds. A time limit is worth
    more than its results by then, so after a moment it is left to end by itself and nothing is read from it.
    """
    # Only one HiGHS works in a process. Fits in several threads take turns: HiGHS's own check fails for two that
    # look at the same moment.
    while not TURN.acquire(timeout=0.02):
        if run.should_stop():
            return False
    try:
        return _work_alone(highs, run)
    finally:
        TURN.release()


def _work_alone(highs: Any, run: Run) -> bool:
    # A solve that was stopped may not have ended yet.
    while highs.is_solver_running():
        if run.should_stop():
            return False
        sleep(0.02)
    # The solver works in a thread of its own, so that Ctrl-C and the progress callback are heard at once.
    highs.HandleUserInterrupt = True
    thread = highs.startSolve()
    # A process that ends under a solver at work is aborted, so its end waits for it.
    atexit.register(thread.join, LONG_PATIENCE)
    try:
        has_ended = _wait(thread, run.should_stop)
    finally:
        if thread.is_alive():
            highs.cancelSolve()
            deadline = monotonic() + PATIENCE
            has_ended = _wait(thread, lambda: monotonic() >= deadline)
    if has_ended:
        atexit.unregister(thread.join)
    return has_ended


def _wait(thread: Thread, should_stop: Callable[[], bool]) -> bool:
    """Return whether the thread has ended before the stop."""
    # Ctrl-C in the middle of `join` marks a thread as ended although it works on, so sleep: a tenth of the time so far.
    started = monotonic()
    while thread.is_alive() and not should_stop():
        sleep(min(0.05, 0.0005 + 0.1 * (monotonic() - started)))
    return not thread.is_alive()


def _report(highs: Any, program: LinearProgram, model: CoverageModel, run: Run) -> int:
    """Offer to the run the choice that HiGHS found and the bound that it proved."""
    highspy: Any = import_module("highspy")
    status, info = highs.getModelStatus(), highs.getInfo()
    chosen = _solution(highs, model)
    # Trust nothing but the choice itself: its value and feasibility are computed here.
    if chosen is not None and len(chosen) <= model.limit:
        run.offer(model.value(chosen), model.names(chosen))
    # The program is bounded, so presolve's "unbounded or infeasible" is the same.
    if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
        run.exhaust()
    elif np.isfinite(info.mip_dual_bound) and info.mip_node_count >= 0:
        bound = float(info.mip_dual_bound) / program.unit
        run.tighten(bound + MARGIN * abs(bound))
    return max(0, int(info.mip_node_count))


def _solution(highs: Any, model: CoverageModel) -> Ints | None:
    """Return the choice that HiGHS found, or None."""
    highspy: Any = import_module("highspy")
    if highs.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    return np.flatnonzero(np.asarray(highs.getSolution().col_value)[: model.n_candidates] > 0.5)


class HighsSolver:
    """The model as it is, handed to HiGHS: for comparison, and where `auto` has no special means."""

    name = "highs"

    def solve(self, model: CoverageModel, run: Run) -> None:
        """Run HiGHS once."""
        with run.stage("highs") as notes:
            notes.n_steps = solve_by_highs(model, run, with_cutoff=False)
