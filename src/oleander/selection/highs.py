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
from oleander.selection.result import Run

# A solver's tolerances are absolute. Whole weights keep their scale up to a total of this many steps; others are
# scaled to a total of about 2^20.
MAX_STEPS, SCALED = 500_000.0, 20
# HiGHS works to a tolerance of a millionth; a bound is only as good as that.
MARGIN = 1e-6
TOLERANCES = ("primal_feasibility_tolerance", "dual_feasibility_tolerance", "mip_feasibility_tolerance")
# Seconds to wait for HiGHS after a call to stop, and when the process ends.
PATIENCE, LAST_PATIENCE = 0.5, 5.0
TURN = Lock()


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """Maximise cost·v with 0 ≤ v ≤ upper and row_lower ≤ rows·v ≤ row_upper.

    Weights are multiplied by `unit`, so the objective is `unit` times the value of a choice. If they are then not
    whole and small, a solver needs finer tolerances than usual.
    """

    cost: Floats
    upper: Floats
    is_integer: Bools
    rows: sparse.csr_array
    row_lower: Floats
    row_upper: Floats
    unit: float
    is_whole: bool


def unit_of(model: CoverageModel) -> tuple[float, bool]:
    """Return the factor that brings the weights to a scale fit for a solver, and whether they are whole and small."""
    total = float(model.weights.sum())
    if model.grain and total <= MAX_STEPS * model.grain:
        return 1.0 / model.grain, True
    # A power of two changes no digit of a weight.
    return float(np.exp2(SCALED - np.floor(np.log2(total)))), False


def linear_program(model: CoverageModel, *, cutoff: float = -np.inf) -> LinearProgram:
    """Return the model as a mixed-integer program; a cutoff adds the row "value ≥ cutoff".

    Variables are the candidates, the share of each point that counts, and then the weight that each candidate counts
    of each point that it may count.

    >>> from oleander.selection.model import plain_model
    >>> linear_program(plain_model(np.eye(3), budget=2)).rows.shape
    (4, 6)
    """
    n_candidates, n_points = model.sure.shape
    unit, is_whole = unit_of(model)
    weights = unit * model.weights
    cost = [np.zeros(n_candidates), weights]
    upper = [np.ones(n_candidates + n_points)]
    # A point counts only as far as it is covered; and at most `budget` candidates are chosen.
    blocks: list[list[Any]] = [
        [-model.by_point.to_sparse(), sparse.eye_array(n_points)],
        [np.ones((1, n_candidates)), None],
    ]
    row_upper = [np.zeros(n_points), np.array([float(model.budget)])]
    if cutoff > -np.inf:
        blocks.append([None, weights[None, :]])
        row_upper.append(np.array([np.inf]))
    if model.maybe is not None and model.allowance is not None:
        n_parts = model.maybe.nnz
        owner = np.repeat(np.arange(n_candidates), np.diff(model.maybe.indptr))
        part, point = np.arange(n_parts), model.maybe.lists[1]
        counted = sparse.csr_array((-1.0 / weights[point], (point, part)), shape=(n_points, n_parts))
        taken = sparse.csr_array((np.ones(n_parts), (owner, part)), shape=(n_candidates, n_parts))
        blocks = [[*row, None] for row in blocks]
        blocks[0][2] = counted
        blocks.append([-sparse.diags_array(unit * model.allowance), None, taken])
        row_upper.append(np.zeros(n_candidates))
        cost.append(np.zeros(n_parts))
        upper.append(weights[point])
    rows = sparse.csr_array(sparse.block_array(blocks, format="csr"))
    row_lower, costs = np.full(rows.shape[0], -np.inf), np.concatenate(cost)
    if cutoff > -np.inf:
        row_lower[n_points + 1] = unit * cutoff
    return LinearProgram(
        cost=costs,
        upper=np.concatenate(upper),
        is_integer=np.arange(len(costs)) < n_candidates,
        rows=rows,
        row_lower=row_lower,
        row_upper=np.concatenate(row_upper),
        unit=unit,
        is_whole=is_whole,
    )


def solve_by_highs(model: CoverageModel, run: Run, *, with_cutoff: bool, max_nodes: int | None = None) -> int:
    """Hand the model to HiGHS until nothing better exists or time or nodes are up; return the number of nodes.

    HiGHS's own bound is good to a millionth. Where that leaves a better value possible, HiGHS is asked for
    one, and says that there is none.
    """
    n_nodes = run_highs(model, run, with_cutoff=with_cutoff, max_nodes=max_nodes)
    value = -np.inf
    while run.value > value and not run.should_stop() and run.bound - run.value <= 3.0 * MARGIN * abs(run.bound):
        value = run.value
        n_nodes += run_highs(model, run, with_cutoff=True, max_nodes=max_nodes)
    return n_nodes


def run_highs(model: CoverageModel, run: Run, *, with_cutoff: bool, max_nodes: int | None = None) -> int:
    """Hand the model to HiGHS, offer its choice and bound to the run, and return the number of nodes.

    With the row "value ≥ cutoff" an infeasible program is a proof that nothing better exists.
    """
    program = linear_program(model, cutoff=run.cutoff if with_cutoff else -np.inf)
    limit = {} if max_nodes is None else {"mip_max_nodes": max_nodes}
    highs = load(program, run.deadline, mip_rel_gap=run.gap, mip_abs_gap=0.5 * run.step * program.unit, **limit)
    if not with_cutoff:
        start = np.isin(model.origin, run.chosen).astype(np.float64)
        highs.setSolution(model.n_candidates, np.arange(model.n_candidates, dtype=np.int32), start)
    try:
        has_ended = work(highs, run.should_stop)
    except KeyboardInterrupt:
        if not highs.is_solver_running():
            _report(highs, program, model, run)
        raise
    return _report(highs, program, model, run) if has_ended else 0


def find_smallest(model: CoverageModel, least: float, deadline: float, *, max_nodes: int) -> Ints | None:
    """Return the smallest choice worth `least` that HiGHS finds in `max_nodes` nodes, or None."""
    program = linear_program(model, cutoff=least)
    # Points cost nothing here, and every candidate one.
    program = replace(program, cost=-program.is_integer.astype(np.float64))
    highs = load(program, deadline, mip_rel_gap=0.0, mip_abs_gap=0.5, mip_max_nodes=max_nodes)
    return _solution(highs, model) if work(highs, lambda: monotonic() >= deadline) else None


def load(program: LinearProgram, deadline: float, **options: float) -> Any:
    """Return HiGHS with this program, a deadline on the monotonic clock, and other options of its own."""
    highspy: Any = import_module("highspy")
    highs = highspy.Highs()
    for option, setting in {
        "output_flag": False,
        "time_limit": max(deadline - monotonic(), 0.01),
        "threads": 1,
        "random_seed": 0,
        **options,
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
        np.zeros(n_columns),
        program.upper,
        program.row_lower,
        program.row_upper,
        program.rows.indptr.astype(np.int32),
        program.rows.indices.astype(np.int32),
        program.rows.data,
        program.is_integer.astype(np.int32),
    )
    return highs


def work(highs: Any, should_stop: Callable[[], bool]) -> bool:
    """Let HiGHS work until it has ended or has to stop; return whether its results can be read.

    HiGHS checks for a stop only now and then, in a large first relaxation after seconds. A time limit is worth
    more than its results by then, so after a moment it is left to end by itself and nothing is read from it.
    """
    # Only one HiGHS works in a process. Fits in several threads take turns: HiGHS's own check fails for two that
    # look at the same moment.
    while not TURN.acquire(timeout=0.02):
        if should_stop():
            return False
    try:
        return _work_alone(highs, should_stop)
    finally:
        TURN.release()


def _work_alone(highs: Any, should_stop: Callable[[], bool]) -> bool:
    # A solve that was stopped may not have ended yet.
    while highs.is_solver_running():
        if should_stop():
            return False
        sleep(0.02)
    # The solver works in a thread of its own, so that Ctrl-C and the progress callback are heard at once.
    highs.HandleUserInterrupt = True
    thread = highs.startSolve()
    # A process that ends under a solver at work is aborted, so its end waits for it.
    atexit.register(thread.join, LAST_PATIENCE)
    try:
        has_ended = _wait(thread, should_stop)
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
