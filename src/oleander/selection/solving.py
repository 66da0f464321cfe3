"""From a stated problem to a result: run a solver, whatever ends it, and report the best choice and its proof.

Of equally wide choices the most faithful is returned, then the smallest, as far as bounded further solves find it.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy import sparse

from oleander.arrays import Floats, Ints
from oleander.selection.bounds import still_possible, tighten
from oleander.selection.highs import find_smallest
from oleander.selection.model import SHARE_TOLERANCE, CoverageModel, Statement, match, merge_points, undominated
from oleander.selection.result import Run, SelectionResult, Status
from oleander.selection.search import gains, greedy
from oleander.selection.solvers import Solver

Cell = tuple[int, float]
# Seconds for work around a solve, like filling in a start, that is done even if the time limit is over.
GRACE = 0.25
# Further solves, for a more faithful or a smaller choice that covers as much, are for programs of at most this many
# entries, and end after this many nodes: seconds at worst. Counts, so that a busy machine returns the same choice.
MAX_ENTRIES, MAX_NODES = 4_000, 50


def answer(statement: Statement, solver: Solver, run: Run, start: Ints, tentative: Ints) -> SelectionResult:
    """Return the widest choice; of equally wide ones the most faithful, unless it holds a tentative candidate."""
    model = statement.model
    if not model.n_candidates:
        return replace(_assemble(statement, run, run.chosen, "infeasible"), note=_explain_floor(statement))
    stopped: Literal["", "Stopped", "Interrupted"] = ""
    try:
        _offer_start(model, run, start)
        solver(model, run)
    except KeyboardInterrupt:
        stopped = "Interrupted"
    if not stopped and run.is_out_of_time:
        stopped = "Stopped"
    chosen = model.positions(run.chosen)
    if not np.isin(run.chosen, tentative).any():
        chosen = _best_of_equal(statement, chosen, run, tentative, may_solve=stopped != "Interrupted")
    result = replace(_assemble(statement, run, model.names(chosen), "feasible"), stopped=stopped)
    return result.with_bound(result.objective if run.is_proven else run.bound)


def _offer_start(model: CoverageModel, run: Run, start: Ints) -> None:
    """Offer the allowed part of the user's start, filled up to the limit."""
    chosen = model.positions(start)[: model.limit]
    if len(chosen):
        run.offer(model.value(chosen), model.names(chosen))
        deadline = max(run.deadline, time.monotonic() + GRACE)
        chosen = greedy(model, start=chosen, should_stop=lambda: time.monotonic() >= deadline)
        run.offer(model.value(chosen), model.names(chosen))


def _explain_floor(statement: Statement) -> str:
    """Return why no candidate may be chosen."""
    fidelity = np.zeros(0) if statement.fidelity is None else statement.fidelity
    return (
        f"min_fidelity={statement.min_fidelity:g} leaves no candidate: the best of {len(fidelity)} reaches "
        f"{fidelity.max(initial=0.0):.3g}. Lower min_fidelity, or use other radii."
    )


def _assemble(statement: Statement, run: Run, chosen: Ints, status: Status) -> SelectionResult:
    """Return the result of a choice, its value computed from the stated problem."""
    model = statement.everything
    counted = sparse.csr_array(model.sure[chosen].to_sparse() * model.weights[None, :])
    covered = model.sure.covered_by(chosen)
    reached = np.where(covered, model.weights, 0.0)
    if model.maybe is not None and model.allowance is not None:
        parts = match(model.maybe, model.allowance, model.weights - reached, chosen)
        reached = reached + parts.sum(axis=0)
        counted = sparse.csr_array(counted + parts)
    covered[counted.indices] = True
    objective, total = float(reached.sum()), float(model.weights.sum())
    return SelectionResult(
        chosen=chosen,
        covered=covered,
        counted=counted,
        objective=objective,
        bound=objective,
        status=status,
        coverage=min(1.0, objective / total) if total else 0.0,
        total_weight=total,
        runtime=run.runtime,
        stages=tuple(run.stages),
    )


def _best_of_equal(statement: Statement, chosen: Ints, run: Run, tentative: Ints, *, may_solve: bool) -> Ints:
    """Return a choice as wide as this one without redundant candidates; if time allows the most faithful, and smallest.

    Under the selective program fidelity is not a constant of a candidate, and only the size counts.
    """
    model = statement.model
    deadline = max(run.deadline if may_solve else 0.0, time.monotonic() + GRACE)
    chosen = without_redundant(model, chosen, should_stop=lambda: not run.is_proven and time.monotonic() >= deadline)
    if not may_solve or run.is_out_of_time:
        return chosen
    try:
        if statement.fidelity is not None and run.is_proven and len(chosen):
            return most_faithful_as_wide(model, chosen, statement.fidelity[model.origin], run, tentative)
        return smallest_as_wide(model, chosen, run)
    except KeyboardInterrupt:
        return chosen


def without_redundant(model: CoverageModel, chosen: Ints, *, should_stop: Callable[[], bool] = lambda: False) -> Ints:
    """Return the choice without candidates that add nothing to the others, looked at from the last to the first.

    >>> from oleander.selection.model import plain_model
    >>> model = plain_model(np.array([[1, 1, 0], [0, 1, 1], [0, 1, 0]]), budget=3)
    >>> without_redundant(model, np.array([0, 1, 2])).tolist()
    [0, 1]
    """
    least = model.value(chosen) - model.slack
    for candidate in np.sort(chosen)[::-1]:
        if should_stop():
            break
        others = chosen[chosen != candidate]
        if model.value(others) >= least:
            chosen = others
    return chosen


def most_faithful_as_wide(
    model: CoverageModel, chosen: Ints, fidelity: Floats, run: Run, tentative: Ints | None = None
) -> Ints:
    """Return the choice with the highest lowest fidelity of all that cover as much, and of these the smallest.

    The lowest fidelity of a proven optimum of plain coverage is raised as long as a choice among more faithful
    candidates covers as much, each time by the bounded search of `smallest_as_wide`. The fidelity of tentative
    candidates, indices in the stated problem, is not known, so they raise nothing.

    >>> from oleander.selection.model import plain_model
    >>> model = plain_model(np.array([[1, 1], [1, 0], [0, 1]]), budget=2)
    >>> most_faithful_as_wide(model, np.array([0]), np.array([0.9, 0.95, 1.0]), Run(model)).tolist()
    [1, 2]
    """
    least = model.value(chosen) - run.slack
    is_known = ~np.isin(model.origin, np.empty(0) if tentative is None else tentative)
    is_smallest = False
    while True:
        lowest = fidelity[chosen].min()
        stricter = model.keep(np.flatnonzero(is_known & (fidelity > lowest + SHARE_TOLERANCE)))
        found = _find_as_wide(stricter, least, run)
        if found is None:
            break
        chosen, is_smallest = model.positions(found), True
    if is_smallest:
        return chosen
    as_faithful = model.keep(np.flatnonzero(fidelity >= lowest))
    smallest = smallest_as_wide(as_faithful, as_faithful.positions(model.names(chosen)), run)
    return model.positions(as_faithful.names(smallest))


def smallest_as_wide(model: CoverageModel, chosen: Ints, run: Run) -> Ints:
    """Return the smallest choice that covers as much as this one, as far as a bounded search finds it.

    A proven optimum to which another candidate would still add is the smallest already: a smaller one that is as wide
    could take one more candidate and would be wider than the optimum. Otherwise a dual bound on one candidate less may
    prove it; and where it does not, HiGHS counts candidates in a program of at most `MAX_ENTRIES` entries for at most
    `MAX_NODES` nodes. The size is proven to be minimal unless the program is larger, the nodes are used up, or time
    runs out. For a choice without a proof, which a quick solver makes, programs that are larger from the start are
    left alone.
    """
    if len(chosen) <= 1 or (not run.is_proven and model.n_entries > MAX_ENTRIES):
        return chosen
    if run.is_proven and (gains(model, model.weights - model.counts(chosen)) > run.slack).any():
        return chosen
    found = _find_as_wide(replace(model, budget=len(chosen) - 1), model.value(chosen) - run.slack, run)
    return chosen if found is None else model.positions(found)


def _find_as_wide(model: CoverageModel, least: float, run: Run) -> Ints | None:
    """Return the smallest choice within the budget that is worth `least`, by its names; None if none is found."""
    if not model.n_candidates:
        return None
    with run.stage("smallest") as record:
        merged, _ = merge_points(model)
        point = tighten(merged, least, should_stop=lambda best: best.bound < least or run.is_out_of_time)
        record.n_steps = point.n_steps
        if point.bound < least:
            return None
        rest = merged.keep(still_possible(point, least))
        rest = rest.keep(undominated(rest, should_stop=lambda: run.is_out_of_time))
        record.n_dropped = model.n_candidates - rest.n_candidates
        if rest.n_entries > MAX_ENTRIES or run.is_out_of_time:
            return None
        found = find_smallest(rest, least, run.deadline, max_nodes=MAX_NODES)
        if found is None or len(found) > model.limit or rest.value(found) < least:
            return None
        # A search that was cut short may leave some that add nothing.
        return rest.names(without_redundant(rest, found))


def best_within(results: dict[Cell, SelectionResult], number: int, share: float) -> SelectionResult | None:
    """Return the widest, then smallest result of the cells that ask for as much or more: allowed here too."""
    within = [
        result for cell, result in results.items() if cell[0] <= number and cell[1] >= share and len(result.chosen)
    ]
    return max(within, key=lambda result: (result.objective, -len(result.chosen)), default=None)


def tightened(results: dict[Cell, SelectionResult], cell: Cell) -> SelectionResult:
    """Return a cell's result with the best choice of cells within and the smallest bound of cells around it."""
    number, share = cell
    result = results[cell]
    bounds = [
        other.bound for (n, s), other in results.items() if n >= number and s <= share and other.status != "infeasible"
    ]
    best = best_within(results, number, share)
    # A choice of the cell's own that is as wide is at least as faithful.
    if result.status != "infeasible" and best is not None and best.objective > result.objective:
        # The status of a cell without a choice of its own is "unknown"; a neighbour's choice makes it "feasible".
        names = ("chosen", "covered", "counted", "objective", "coverage")
        result = replace(result, status="feasible", **{name: getattr(best, name) for name in names})
    return result.with_bound(min([result.bound, *bounds]))
