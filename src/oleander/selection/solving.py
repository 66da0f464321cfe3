"""From a model to a result: run a solver, whatever ends it, and report the best choice and its proof.

Of equally wide choices the most faithful is returned, then the smallest, as far as bounded further solves find it.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.selection.bounds import still_possible, tighten
from oleander.selection.heuristics import greedy
from oleander.selection.highs import find_smallest
from oleander.selection.model import SHARE_TOLERANCE, CoverageModel, merge_points, undominated
from oleander.selection.printed_program import SelectiveModel
from oleander.selection.result import Run, SelectionResult, Status
from oleander.selection.solvers import Solver

Cell = tuple[int, float]
# Seconds for work around a solve, like filling in a start, that is done even if the time limit is over.
GRACE = 0.25
# Further solves, for a more faithful or a smaller choice that covers as much, are for programs of at most this many
# entries, and end after this many nodes: seconds at worst. Counts, so that a busy machine returns the same choice.
MAX_ENTRIES, MAX_NODES = 4_000, 50


def answer(
    model: CoverageModel, fidelity: Floats | None, solver: Solver, run: Run, start: Ints, tentative: Ints
) -> SelectionResult:
    """Return the widest choice; of equally wide ones the most faithful, unless it holds a tentative candidate.

    The fidelity is that of all candidates of the stated problem; it is None under the selective program, where it is
    not a constant of a candidate.
    """
    stopped: Literal["", "Stopped", "Interrupted"] = ""
    try:
        _offer_start(model, run, start)
        solver(model, run)
    except KeyboardInterrupt:
        stopped = "Interrupted"
    if not stopped and run.is_out_of_time:
        stopped = "Stopped"
    if not np.isin(run.chosen, tentative).any():
        run.chosen = _best_of_equal(model, fidelity, run, tentative, may_solve=stopped != "Interrupted")
    result = replace(assemble(model, run, "feasible"), stopped=stopped)
    return result.with_bound(result.objective if run.is_proven else run.bound)


def _offer_start(model: CoverageModel, run: Run, start: Ints) -> None:
    """Offer the allowed part of the user's start, filled up to the limit."""
    chosen = model.positions(start)[: model.limit]
    if len(chosen):
        run.offer(model.value(chosen), model.names(chosen))
        deadline = max(run.deadline, time.monotonic() + GRACE)
        chosen = greedy(model, start=chosen, should_stop=lambda: time.monotonic() >= deadline)
        run.offer(model.value(chosen), model.names(chosen))


def assemble(model: CoverageModel, run: Run, status: Status) -> SelectionResult:
    """Return the result of the run's choice, its value computed from the model as it was stated."""
    chosen = model.positions(run.chosen)
    counts, total = model.counts(chosen), float(model.weights.sum())
    objective = float(counts.sum())
    return SelectionResult(
        chosen=run.chosen,
        covered=(counts > 0.0) | model.sure.covered_by(chosen),
        counted=model.share_out(chosen),
        objective=objective,
        bound=objective,
        status=status,
        coverage=objective / total,
        total_weight=total,
        runtime=run.runtime,
        stages=tuple(run.stages),
    )


def _best_of_equal(
    model: CoverageModel, fidelity: Floats | None, run: Run, tentative: Ints, *, may_solve: bool
) -> Ints:
    """Return a choice as wide as the run's without redundant candidates; if time allows the most faithful, or smallest.

    Like those of all functions below, choices are named by their indices in the stated problem.
    """
    deadline = max(run.deadline if may_solve else 0.0, time.monotonic() + GRACE)
    chosen = without_redundant(
        model, run.chosen, should_stop=lambda: not run.is_proven and time.monotonic() >= deadline
    )
    if not may_solve or run.is_out_of_time:
        return chosen
    try:
        if fidelity is None or not run.is_proven or not len(chosen):
            return smallest_as_wide(model, chosen, run)
        return most_faithful_as_wide(model, chosen, fidelity, run, tentative)
    except KeyboardInterrupt:
        return chosen


def without_redundant(model: CoverageModel, chosen: Ints, *, should_stop: Callable[[], bool] = lambda: False) -> Ints:
    """Return the choice without candidates that add nothing to the others, looked at from the last to the first.

    >>> from oleander.selection.model import plain_model
    >>> model = plain_model(np.array([[1, 1, 0], [0, 1, 1], [0, 1, 0]]), budget=3)
    >>> without_redundant(model, np.array([0, 1, 2])).tolist()
    [0, 1]
    """
    kept = model.positions(chosen)
    value = model.value(kept)
    for candidate in kept[::-1]:
        if should_stop():
            break
        others = kept[kept != candidate]
        if model.value(others) == value:
            kept = others
    return model.names(kept)


def most_faithful_as_wide(
    model: CoverageModel, chosen: Ints, fidelity: Floats, run: Run, tentative: Ints | None = None
) -> Ints:
    """Return the choice with the highest lowest fidelity of all that cover as much, and of these the smallest.

    The lowest fidelity of a proven optimum of plain coverage is raised as long as a choice among more faithful
    candidates covers as much, each time by the bounded search of `smallest_as_wide`. The fidelity of tentative
    candidates is not known, so they raise nothing.

    >>> from oleander.selection.model import plain_model
    >>> model = plain_model(np.array([[1, 1], [1, 0], [0, 1]]), budget=2)
    >>> most_faithful_as_wide(model, np.array([0]), np.array([0.9, 0.95, 1.0]), Run(model)).tolist()
    [1, 2]
    """
    value, own = model.value(model.positions(chosen)), fidelity[model.origin]
    known = np.where(np.isin(model.origin, [] if tentative is None else tentative), 0.0, own)
    found: Ints | None = chosen
    while found is not None:
        chosen, lowest = found, float(fidelity[found].min())
        found = _find_as_wide(model.keep(np.flatnonzero(known > lowest + SHARE_TOLERANCE)), value, run)
    return smallest_as_wide(model.keep(np.flatnonzero(own >= lowest)), chosen, run)


def smallest_as_wide(model: CoverageModel, chosen: Ints, run: Run) -> Ints:
    """Return the smallest choice that covers as much as this one, as far as a bounded search finds it.

    A proven optimum to which another candidate would still add is the smallest already: a smaller one that is as wide
    could take one more candidate and would be wider than the optimum. Otherwise a dual bound on one candidate less may
    prove it; and where it does not, HiGHS counts candidates in a program of at most `MAX_ENTRIES` entries for at most
    `MAX_NODES` nodes. The size is proven to be minimal unless the program is larger, the nodes are used up, or time
    runs out. For a choice without a proof, which a quick solver makes, programs that are larger from the start are
    left alone.
    """
    counts = model.counts(model.positions(chosen))
    if len(chosen) <= 1 or (not run.is_proven and model.n_entries > MAX_ENTRIES):
        return chosen
    if run.is_proven and model.gains(model.weights - counts).any():
        return chosen
    found = _find_as_wide(replace(model, budget=len(chosen) - 1), float(counts.sum()), run)
    return chosen if found is None else found


def _find_as_wide(model: CoverageModel, value: float, run: Run) -> Ints | None:
    """Return the smallest choice within the budget that is worth the value; None if none is found."""
    if not model.n_candidates:
        return None
    with run.stage("smallest") as record:
        relaxed, _ = merge_points(model.relax())
        point = tighten(relaxed, value - run.slack, should_stop=lambda _: run.is_out_of_time)
        record.n_steps = point.n_steps
        if point.bound < value - run.slack:
            return None
        possible = still_possible(point, value - run.slack)
        if isinstance(model, SelectiveModel):
            model = model.merge().keep(possible)
        else:
            model = relaxed.keep(possible)
            model = model.keep(undominated(model, should_stop=lambda: run.is_out_of_time))
        if model.n_entries > MAX_ENTRIES or run.is_out_of_time:
            return None
        found = find_smallest(model, value, run.deadline, max_nodes=MAX_NODES)
        if found is None or len(found) > model.limit or model.value(found) < value:
            return None
        # A search that was cut short may leave some that add nothing.
        return without_redundant(model, model.names(found))


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
