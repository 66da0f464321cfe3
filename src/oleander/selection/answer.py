"""From a stated problem to a result: run a solver, whatever ends it, and report the best choice and its proof."""

import time
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy import sparse

from oleander.arrays import Floats, Ints
from oleander.selection.fewest import Fewest, fewest_as_wide, solve_fewest, without_redundant
from oleander.selection.formulations import Statement
from oleander.selection.infeasible import (
    explain_constraints,
    explain_coverage,
    explain_exclusion,
    explain_floor,
    explain_minima_out_of_reach,
)
from oleander.selection.matching import match
from oleander.selection.model import CoverageModel
from oleander.selection.result import SelectionResult, Sense, Status
from oleander.selection.run import Run
from oleander.selection.search import greedy
from oleander.selection.solvers import Solver
from oleander.selection.sparse_rows import covered_by, listed
from oleander.selection.union_search import greedy_within_floor

Stopped = Literal["", "Stopped", "Interrupted"]
# Seconds for work around a solve, like filling in a start, that is done even if the time limit is over.
GRACE = 0.25


def answer_coverage(statement: Statement, solver: Solver, run: Run, start: Ints, tentative: Ints) -> SelectionResult:
    """Return the choice that covers the most, and of these the fewest candidates unless one is tentative."""
    model = statement.model
    if not model.n_candidates:
        return _nothing_to_choose(statement, run, "coverage")
    if short := explain_minima_out_of_reach(model, statement.constraints.minima):
        return _no_answer(statement, run, "infeasible", short, "coverage")
    stopped: Stopped = ""
    run.tighten(float(model.weights.sum()))
    try:
        _offer_start(model, run, start)
        solver.solve(model, run)
    except KeyboardInterrupt:
        stopped = "Interrupted"
    # Under a floor over the union the empty choice is always allowed, and is no answer.
    is_empty = model.wrong is not None and run.is_proven and not run.best[1]
    if is_empty or (run.value == -np.inf and run.bound == -np.inf):
        message = explain_constraints(model, statement.constraints.minima, solver, run)
        return _no_answer(statement, run, "infeasible", message, "coverage")
    stopped = stopped or _clock(run)
    if run.value == -np.inf:
        return _unknown(statement, run, stopped, "coverage", run.bound)
    chosen = model.positions(np.asarray(run.best[1], dtype=np.intp))
    if not np.isin(run.best[1], tentative).any():
        chosen = _fewest_of_equal(model, chosen, run, may_solve=stopped != "Interrupted")
    result = _assemble(statement, run, model.names(chosen), "feasible")
    return replace(result, stopped=stopped).with_bound(result.objective if run.is_proven else run.bound)


def answer_fewest(statement: Statement, solver: Solver, run: Run, min_coverage: float) -> SelectionResult:
    """Return the fewest candidates that cover a share of all weight."""
    model, minima = statement.model, statement.constraints.minima
    if not model.n_candidates:
        return _nothing_to_choose(statement, run, "fewest")
    if short := explain_minima_out_of_reach(model, minima):
        return _no_answer(statement, run, "infeasible", short, "fewest")
    total = float(statement.weights.sum())
    state = Fewest(lower=max(1, len(model.forced)))
    stopped: Stopped = ""
    try:
        solve_fewest(model, min_coverage * total, solver, run, state)
    except KeyboardInterrupt:
        stopped = "Interrupted"
    stopped = stopped or _clock(run)
    if state.upper == np.inf:
        if state.lower > model.limit:
            message = explain_coverage(model, minima, min_coverage, total, solver, run)
            return _no_answer(statement, run, "infeasible", message, "fewest")
        return _unknown(statement, run, stopped, "fewest", float(state.lower))
    bound = float(min(state.lower, state.upper))
    is_proven = bound == state.upper
    result = replace(
        _assemble(statement, run, np.asarray(state.chosen, dtype=np.intp), "optimal" if is_proven else "feasible"),
        sense="fewest",
        objective=float(state.upper),
        bound=bound,
        stopped="" if is_proven else stopped,
    )
    return replace(result, message=result.stop_message)


def _clock(run: Run) -> Stopped:
    return "Stopped" if run.time_left <= 0.0 else ""


def _offer_start(model: CoverageModel, run: Run, start: Ints) -> None:
    """Offer the forced candidates, and the user's start, mended where it is not allowed or not full."""
    if model.satisfies(model.forced):
        run.offer(model.value(model.forced), model.names(model.forced))
    wanted = model.positions(start)
    if not len(wanted):
        return
    order = np.concatenate([model.forced, np.setdiff1d(wanted, model.forced)])
    chosen = order[model.within_budget(np.cumsum(model.cost[order]))]
    if model.satisfies(chosen):
        run.offer(model.value(chosen), model.names(chosen))
    search = greedy if model.wrong is None else greedy_within_floor
    deadline = max(run.deadline, time.monotonic() + GRACE)
    chosen = search(model, start=chosen, should_stop=lambda: time.monotonic() >= deadline)
    if model.satisfies(chosen):
        run.offer(model.value(chosen), model.names(chosen))


def _fewest_of_equal(model: CoverageModel, chosen: Ints, run: Run, *, may_solve: bool) -> Ints:
    """Return a choice as wide as this one, without candidates that it can spare, and the fewest if time allows."""
    deadline = max(run.deadline if may_solve else 0.0, time.monotonic() + GRACE)
    chosen = without_redundant(model, chosen, should_stop=lambda: not run.is_proven and time.monotonic() >= deadline)
    if not may_solve or run.time_left <= 0.0:
        return chosen
    try:
        return fewest_as_wide(model, chosen, run)
    except KeyboardInterrupt:
        return chosen


def _nothing_to_choose(statement: Statement, run: Run, sense: Sense) -> SelectionResult:
    n_admissible = int(statement.rules.admissible.sum())
    message = (
        explain_exclusion(n_admissible) if n_admissible else explain_floor(statement.fidelity, statement.min_fidelity)
    )
    return _no_answer(statement, run, "infeasible", message, sense)


def _no_answer(statement: Statement, run: Run, status: Status, message: str, sense: Sense) -> SelectionResult:
    result = _assemble(statement, run, np.empty(0, dtype=np.intp), status)
    return replace(result, objective=0.0, bound=0.0, message=message, sense=sense)


def _unknown(statement: Statement, run: Run, stopped: Stopped, sense: Sense, bound: float) -> SelectionResult:
    result = _no_answer(statement, run, "unknown", "", sense)
    result = replace(result, bound=bound, stopped=stopped)
    return replace(result, message=result.stop_message)


def _assemble(statement: Statement, run: Run, chosen: Ints, status: Status) -> SelectionResult:
    """Return the result of a choice, its value computed anew."""
    counted, reached = _count(statement, chosen)
    covered = covered_by(statement.rules.sure, chosen)
    covered[counted.indices] = True
    objective, total = float(reached.sum()), float(statement.weights.sum())
    return SelectionResult(
        chosen=chosen,
        covered=covered,
        counted=counted,
        objective=objective,
        bound=objective,
        status=status,
        runtime=run.runtime,
        stages=tuple(run.stages),
        coverage=min(1.0, objective / total) if total else 0.0,
        union_fidelity=_union_fidelity(statement, chosen),
        total_weight=total,
    )


def _union_fidelity(statement: Statement, chosen: Ints) -> float | None:
    """Return the share of the covered weight where no chosen candidate is wrong; None without a floor over it."""
    rules, weights = statement.rules, statement.weights
    if rules.wrong is None:
        return None
    covered = float(weights[covered_by(rules.sure, chosen)].sum())
    wrong = float(weights[covered_by(rules.wrong, chosen)].sum())
    return 1.0 - wrong / covered if covered else 1.0


def _count(statement: Statement, chosen: Ints) -> tuple[sparse.csr_array, Floats]:
    """Return the weight that each chosen candidate counts at each point, and the weight that counts there in all."""
    rules, weights = statement.rules, statement.weights
    counted = sparse.csr_array(listed(rules.sure[chosen]) * weights[None, :])
    reached = np.where(covered_by(rules.sure, chosen), weights, 0.0)
    if rules.maybe is not None and rules.allowance is not None:
        parts = match(rules.maybe, rules.allowance, weights - reached, chosen)
        reached = reached + parts.sum(axis=0)
        counted = sparse.csr_array(counted + parts)
    return counted, reached
