"""HiGHS on the plain model: one binary per candidate, one continuous variable per point.

In the reduced form of both formulations only the choice of candidates needs to be integer: what a point
counts, and what of an allowance goes where, is a flow once the candidates are chosen.
"""

from dataclasses import dataclass
from importlib import import_module
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from oleander.selection.model import CoverageModel, Floats
from oleander.selection.run import Run
from oleander.selection.solvers import Feature

# Seconds to wait for HiGHS after it was told to stop.
PATIENCE = 0.5


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """Maximise cost·v + offset with lower ≤ v ≤ upper and row_lower ≤ rows·v ≤ row_upper."""

    cost: Floats
    lower: Floats
    upper: Floats
    is_integer: NDArray[np.bool_]
    rows: sparse.csr_array
    row_lower: Floats
    row_upper: Floats
    offset: float


def linear_program(model: CoverageModel, *, cutoff: float = -np.inf) -> LinearProgram:
    """Return the model as a mixed-integer program; a cutoff adds the row "value ≥ cutoff".

    Variables are the candidates, the share of each point that counts, and the weight that each candidate
    counts of each point that it may count.

    Examples
    --------
    >>> from oleander.selection.formulations import plain_model
    >>> linear_program(plain_model(np.eye(3), budget=2)).rows.shape
    (4, 6)
    """
    n_candidates, n_points = model.sure.shape
    lower, upper = np.zeros(n_candidates + n_points), np.ones(n_candidates + n_points)
    lower[model.forced] = 1.0
    cost = np.concatenate([np.zeros(n_candidates), model.weights])
    # A point counts only as far as it is covered.
    blocks: list[list[Any]] = [[-model.by_point, sparse.eye_array(n_points)]]
    row_lower, row_upper = [np.full(n_points, -np.inf)], [np.zeros(n_points)]
    blocks.append([model.cost[None, :], None])
    row_lower.append(np.array([-np.inf]))
    row_upper.append(np.array([model.budget]))
    if model.groups is not None and model.needs is not None:
        blocks.append([None, model.groups * model.weights[None, :]])
        row_lower.append(model.needs - model.slack)
        row_upper.append(np.full(len(model.needs), np.inf))
    if cutoff > -np.inf:
        blocks.append([None, model.weights[None, :]])
        row_lower.append(np.array([cutoff - model.offset]))
        row_upper.append(np.array([np.inf]))
    if model.maybe is not None and model.allowance is not None:
        n_parts = model.maybe.nnz
        owner = np.repeat(np.arange(n_candidates), np.diff(model.maybe.indptr))
        part, point = np.arange(n_parts), model.maybe.indices
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
        offset=model.offset,
    )


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
    handles: frozenset[Feature] = frozenset({"allowances", "costs", "groups"})

    def solve(self, model: CoverageModel, run: Run) -> None:
        """Run HiGHS once."""
        with run.stage("highs") as notes:
            notes.n_steps = run_highs(model, run, with_cutoff=False)
