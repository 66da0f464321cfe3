"""HiGHS on the model as a mixed-integer program."""

from importlib import import_module
from threading import Thread
from time import sleep
from typing import Any

import numpy as np

from oleander.selection.model import CoverageModel
from oleander.selection.run import Run
from oleander.selection.solvers import Feature
from oleander.selection.solvers.program import linear_program

# Seconds to wait for HiGHS after it was told to stop.
PATIENCE = 0.5


def run_highs(model: CoverageModel, run: Run, *, with_cutoff: bool) -> int:
    """Hand the model to HiGHS, tell the run what it finds, and return the number of nodes.

    With the row "value ≥ cutoff" an infeasible program is a proof that nothing better exists.
    """
    highspy: Any = import_module("highspy")

    program = linear_program(model, cutoff=run.cutoff if with_cutoff else -np.inf)
    highs = highspy.Highs()
    for option, setting in {
        "output_flag": False,
        "time_limit": max(run.time_left, 0.01),
        "mip_rel_gap": run.gap,
        "mip_abs_gap": 0.5 * run.step,
        "threads": 1,
        "random_seed": 0,
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
        program.is_integer.astype(np.int32),
    )
    if not with_cutoff and run.value > -np.inf:
        start = np.isin(model.origin, run.best[1]).astype(np.float64)
        highs.setSolution(model.n_candidates, np.arange(model.n_candidates, dtype=np.int32), start)
    # The solver works in a thread of its own, so that Ctrl-C and the progress callback are heard at once.
    highs.HandleUserInterrupt = True
    # Only one HiGHS works in a process; one that was told to stop may not have heard it yet.
    while highs.is_solver_running():
        if run.should_stop():
            return 0
        sleep(0.02)
    thread = highs.startSolve()
    try:
        while thread.is_alive():
            thread.join(0.05)
            if run.should_stop():
                return _cancel(thread, highs, highspy, model, run)
    except KeyboardInterrupt:
        _cancel(thread, highs, highspy, model, run)
        raise
    return _report(highs, highspy, model, run)


def _cancel(thread: Thread, highs: Any, highspy: Any, model: CoverageModel, run: Run) -> int:
    """Ask HiGHS to stop and tell the run what it has.

    It looks up only now and then, in a large first relaxation after seconds. A time limit is worth more than
    what it would have by then, so after a moment it is left to end by itself and nothing is read from it.
    """
    highs.cancelSolve()
    thread.join(PATIENCE)
    return 0 if thread.is_alive() else _report(highs, highspy, model, run)


def _report(highs: Any, highspy: Any, model: CoverageModel, run: Run) -> int:
    """Tell the run what HiGHS found and proved."""
    status, info = highs.getModelStatus(), highs.getInfo()
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        solution = np.asarray(highs.getSolution().col_value)[: model.n_candidates]
        chosen = np.flatnonzero(solution > 0.5)
        # Trust nothing but the choice itself: its value and feasibility are computed here.
        if model.satisfies(chosen):
            run.offer(model.value(chosen), model.names(chosen))
    # The program is bounded, so presolve's "unbounded or infeasible" is the same.
    if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
        run.exhaust()
    elif np.isfinite(info.mip_dual_bound) and info.mip_node_count >= 0:
        # HiGHS works to a tolerance of a millionth; a bound is only as good as that.
        margin = 1e-6 * max(1.0, abs(info.mip_dual_bound)) if run.grain else 0.1 * run.slack
        run.tighten(info.mip_dual_bound + margin)
    return max(0, int(info.mip_node_count))


class HighsSolver:
    """The model as it is, handed to HiGHS: for comparison, and where `auto` has no special means."""

    name = "highs"
    handles: frozenset[Feature] = frozenset({"allowances", "costs", "groups", "union"})

    def solve(self, model: CoverageModel, run: Run) -> None:
        """Run HiGHS once."""
        with run.stage("highs") as notes:
            notes.n_steps = run_highs(model, run, with_cutoff=False)
