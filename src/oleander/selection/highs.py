"""The model as a mixed-integer program, and HiGHS on it.

One binary per candidate, one continuous variable per point: only the choice of candidates needs to be integer. What of
an allowance goes where, in the selective program, is a flow once the candidates are chosen.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from threading import Thread
from time import monotonic, sleep
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from oleander.arrays import Bools, Floats, Ints
from oleander.selection.model import CoverageModel
from oleander.selection.printed_program import SelectiveModel
from oleander.selection.result import Run

T = TypeVar("T")

# HiGHS works to a tolerance of a millionth; a bound is only as good as that.
MARGIN = 1e-6
# Seconds to wait for HiGHS after a call to stop.
PATIENCE = 0.5


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """Maximise cost·v with 0 ≤ v ≤ upper and row_lower ≤ rows·v ≤ row_upper."""

    cost: Floats
    upper: Floats
    is_integer: Bools
    rows: sparse.csr_array
    row_lower: Floats
    row_upper: Floats


def linear_program(model: CoverageModel, *, cutoff: float = -np.inf) -> LinearProgram:
    """Return the model as a mixed-integer program; a cutoff adds the row "value ≥ cutoff".

    Variables are the candidates, the share of each point that counts, and then the weight that each candidate counts
    of each point that it may count.

    >>> from oleander.selection.model import plain_model
    >>> linear_program(plain_model(np.eye(3), budget=2)).rows.shape
    (4, 6)
    """
    n_candidates, n_points = model.sure.shape
    cost, upper = [np.zeros(n_candidates), model.weights], [np.ones(n_candidates + n_points)]
    # A point counts only as far as it is covered; and at most `budget` candidates are chosen.
    blocks: list[list[Any]] = [
        [-model.by_point.to_sparse(), sparse.eye_array(n_points)],
        [np.ones((1, n_candidates)), None],
    ]
    row_upper = [np.zeros(n_points), np.array([float(model.budget)])]
    if isinstance(model, SelectiveModel):
        taker, point = model.maybe.to_sparse().nonzero()
        n_parts, part = len(point), np.arange(len(point))
        # A point without weight has nothing to share out, and any number divides that.
        weights = np.maximum(model.weights[point], 1.0)
        share = sparse.csr_array((-1.0 / weights, (point, part)), shape=(n_points, n_parts))
        taken = sparse.csr_array((np.ones(n_parts), (taker, part)), shape=(n_candidates, n_parts))
        blocks = [[*blocks[0], share], [*blocks[1], None], [-sparse.diags_array(model.allowance), None, taken]]
        cost.append(np.zeros(n_parts))
        upper.append(model.weights[point])
        row_upper.append(np.zeros(n_candidates))
    rows, costs = sparse.block_array(blocks, format="csr"), np.concatenate(cost)
    if cutoff > -np.inf:
        rows = sparse.vstack([rows, costs[None, :]], format="csr")
        row_upper.append(np.array([np.inf]))
    rows = sparse.csr_array(rows)
    row_lower = np.full(rows.shape[0], -np.inf)
    row_lower[-1] = cutoff
    return LinearProgram(
        cost=costs,
        upper=np.concatenate(upper),
        is_integer=np.arange(len(costs)) < n_candidates,
        rows=rows,
        row_lower=row_lower,
        row_upper=np.concatenate(row_upper),
    )


def solve_by_highs(model: CoverageModel, run: Run, *, with_cutoff: bool, max_nodes: int | None = None) -> int:
    """Hand the model to HiGHS, offer its choice and bound to the run, and return the number of nodes.

    With the row "value ≥ cutoff" an infeasible program is a proof that nothing better exists.
    """
    program = linear_program(model, cutoff=run.cutoff if with_cutoff else -np.inf)
    limit = {} if max_nodes is None else {"mip_max_nodes": max_nodes}
    highs = _load(program, run.deadline, mip_rel_gap=run.gap, mip_abs_gap=0.5, **limit)
    if not with_cutoff:
        start = np.isin(model.origin, run.chosen).astype(np.float64)
        highs.setSolution(model.n_candidates, np.arange(model.n_candidates, dtype=np.int32), start)
    return _work(highs, run.should_stop, lambda: _report(highs, model, run)) or 0


def find_smallest(model: CoverageModel, least: float, deadline: float, *, max_nodes: int) -> Ints | None:
    """Return the smallest choice worth `least` that HiGHS finds in `max_nodes` nodes, or None."""
    program = linear_program(model, cutoff=least)
    # Points cost nothing here, and every candidate one.
    program = replace(program, cost=-program.is_integer.astype(np.float64))
    highs = _load(program, deadline, mip_rel_gap=0.0, mip_abs_gap=0.5, mip_max_nodes=max_nodes)
    return _work(highs, lambda: monotonic() >= deadline, lambda: _solution(highs, model))


def _load(program: LinearProgram, deadline: float, **options: float) -> Any:
    """Return HiGHS with this program, a deadline on the monotonic clock, and other options of its own."""
    highspy: Any = import_module("highspy")
    highs = highspy.Highs()
    for option, setting in {
        "output_flag": False,
        "time_limit": max(deadline - monotonic(), 0.01),
        "threads": 1,
        "random_seed": 0,
        **options,
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
    highs.HandleUserInterrupt = True
    return highs


def _work(highs: Any, should_stop: Callable[[], bool], read: Callable[[], T]) -> T | None:
    """Let HiGHS work until it has ended or has to stop, also by Ctrl-C, and return what is read from it then.

    HiGHS checks for a stop only now and then, in a large first relaxation after seconds. A time limit is worth
    more than its results by then, so after a moment it is left to end by itself and nothing is read from it.
    """
    thread = Thread(target=_run, args=(highs,))
    found = None
    thread.start()
    try:
        _wait(thread, should_stop)
    finally:
        highs.cancelSolve()
        deadline = monotonic() + PATIENCE
        _wait(thread, lambda: monotonic() >= deadline)
        if not thread.is_alive():
            found = read()
    return found


def _run(highs: Any) -> None:
    highs.run()
    # A thread that ends with workers of its own may hang on Windows.
    highs.resetGlobalScheduler(False)


def _wait(thread: Thread, should_stop: Callable[[], bool]) -> None:
    """Wait for the end of a thread, or for the stop."""
    # Ctrl-C in the middle of `join` marks a thread as ended although it works on, so sleep: a tenth of the time so far.
    started = monotonic()
    while thread.is_alive() and not should_stop():
        sleep(min(0.05, 0.0005 + 0.1 * (monotonic() - started)))


def _report(highs: Any, model: CoverageModel, run: Run) -> int:
    """Offer to the run the choice that HiGHS found and the bound that it proved; return the number of nodes."""
    status, info = import_module("highspy").HighsModelStatus, highs.getInfo()
    chosen = _solution(highs, model)
    # Trust nothing but the choice itself: its value and feasibility are computed here.
    if chosen is not None and len(chosen) <= model.limit:
        run.offer(model.value(chosen), model.names(chosen))
    # The program is bounded, so presolve's "unbounded or infeasible" is the same.
    if highs.getModelStatus() in (status.kInfeasible, status.kUnboundedOrInfeasible):
        run.exhaust()
    elif np.isfinite(info.mip_dual_bound) and info.mip_node_count >= 0:
        run.tighten(float(info.mip_dual_bound) * (1.0 + MARGIN))
    return max(0, int(info.mip_node_count))


def _solution(highs: Any, model: CoverageModel) -> Ints | None:
    """Return the choice that HiGHS found, or None."""
    if highs.getInfo().primal_solution_status != import_module("highspy").SolutionStatus.kSolutionStatusFeasible:
        return None
    return np.flatnonzero(np.asarray(highs.getSolution().col_value)[: model.n_candidates] > 0.5)
