"""HiGHS on the model as a mixed-integer program."""

import atexit
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

import numpy as np

from oleander.arrays import Ints
from oleander.selection.model import ROUNDING, CoverageModel
from oleander.selection.run import Run
from oleander.selection.solvers import Feature
from oleander.selection.solvers.program import Cuts, LinearProgram, linear_program

# HiGHS works to a tolerance of a millionth; a bound is only as good as that.
MARGIN = 1e-6
TOLERANCES = ("primal_feasibility_tolerance", "dual_feasibility_tolerance", "mip_feasibility_tolerance")
# Seconds to wait for HiGHS after a call to stop.
PATIENCE = 0.5
LONG_PATIENCE = 5.0
TURN = Lock()


def solve_by_highs(model: CoverageModel, run: Run, *, with_cutoff: bool, cuts: Cuts | None = None) -> int:
    """Hand the model to HiGHS until nothing better exists or time is up; return the number of nodes.

    HiGHS's own bound is good to a millionth. Where that leaves a better value possible, HiGHS is asked for
    one, and says that there is none.
    """
    n_nodes = run_highs(model, run, with_cutoff=with_cutoff, cuts=cuts)
    value = -np.inf
    while run.value > value and not run.should_stop() and run.bound - run.value <= 3.0 * MARGIN * abs(run.bound):
        value = run.value
        n_nodes += run_highs(model, run, with_cutoff=True, cuts=cuts)
    return n_nodes


def run_highs(model: CoverageModel, run: Run, *, with_cutoff: bool, cuts: Cuts | None = None) -> int:
    """Hand the model to HiGHS, offer its choice and bound to the run, and return the number of nodes.

    With the row "value ≥ cutoff" an infeasible program is a proof that nothing better exists.
    """
    program = linear_program(model, cutoff=run.cutoff if with_cutoff else -np.inf, cuts=cuts)
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


def count_fewest(model: CoverageModel, least: float, run: Run, *, max_nodes: int) -> Ints | None:
    """Return the fewest candidates worth `least` that HiGHS finds in `max_nodes` nodes, or None."""
    program = linear_program(model, cutoff=least)
    # Points cost nothing here, and every candidate one.
    program = replace(program, cost=-program.is_integer.astype(np.float64), offset=0.0)
    part = run.part(time_limit=LONG_PATIENCE)
    highs = load(program, part)
    highs.setOptionValue("mip_abs_gap", 0.5)
    highs.setOptionValue("mip_max_nodes", max_nodes)
    return _solution(highs, model) if work(highs, part) else None


def load(program: LinearProgram, run: Run, *, relaxed: bool = False) -> Any:
    """Return HiGHS with this program, or with its linear relaxation."""
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
        program.offset,
        program.cost,
        program.lower,
        program.upper,
        program.row_lower,
        program.row_upper,
        program.rows.indptr.astype(np.int32),
        program.rows.indices.astype(np.int32),
        program.rows.data,
        np.zeros(n_columns, dtype=np.int32) if relaxed else program.is_integer.astype(np.int32),
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
    if chosen is not None and model.satisfies(chosen):
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
    handles: frozenset[Feature] = frozenset({"allowances", "costs", "groups", "union"})

    def solve(self, model: CoverageModel, run: Run) -> None:
        """Run HiGHS once."""
        with run.stage("highs") as notes:
            notes.n_steps = solve_by_highs(model, run, with_cutoff=False)
