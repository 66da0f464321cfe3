"""Let a solver work on a stated problem, whatever ends it, and turn what is known then into a result."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from oleander.arrays import Floats, Ints
from oleander.selection.fewest import Fewest, solve_fewest
from oleander.selection.formulations import Statement
from oleander.selection.infeasible import (
    explain_exclusion,
    explain_floor,
    explain_min_coverage,
    explain_minima,
    explain_union,
)
from oleander.selection.matching import match
from oleander.selection.model import TOLERANCE, covered_by
from oleander.selection.result import SelectionResult, Status, relative_gap
from oleander.selection.run import Run
from oleander.selection.search import greedy
from oleander.selection.solvers import Solver
from oleander.selection.union_search import greedy_within_floor


def answer_coverage(statement: Statement, solver: Solver, run: Run, start: Ints) -> SelectionResult:
    """Return the choice that covers the most."""
    model = statement.model
    if not model.n_candidates:
        return _nothing_to_choose(statement, run)
    stopped = ""
    run.tighten(float(model.weights.sum()))
    try:
        _offer_start(statement, run, start)
        solver.solve(model, run)
    except KeyboardInterrupt:
        stopped = "Interrupted"
    status: Status = "feasible"
    if run.value == -np.inf:
        status = "infeasible" if run.bound == -np.inf else "unknown"
    elif run.bound <= run.value + (0.5 if run.grain else 2.0) * run.slack:
        status = "optimal"
    if model.wrong is not None and status == "optimal" and not run.best[1]:
        # Nobody at all keeps every floor, and says nothing.
        status = "infeasible"
    if status == "infeasible":
        return _no_answer(statement, run, status, _why_not_allowed(statement, solver, run))
    if status == "unknown":
        message = f"{stopped or 'Stopped'} after {run.runtime:.1f} s, before any choice was found. Allow more time."
        return _no_answer(statement, run, status, message)
    bound = run.value if status == "optimal" else run.bound
    if status == "feasible" and not stopped and run.time_left <= 0.0:
        stopped = "Stopped"
    message = (
        f"{stopped} after {run.runtime:.1f} s: the gap is {relative_gap(run.value, bound):.2%}." if stopped else ""
    )
    chosen = np.asarray(run.best[1], dtype=np.intp)
    return _assemble(statement, run, chosen, run.value, bound, status, message)


def answer_fewest(statement: Statement, solver: Solver, run: Run, min_coverage: float) -> SelectionResult:
    """Return the fewest candidates that cover a share of all weight."""
    model = statement.model
    if not model.n_candidates:
        return replace(_nothing_to_choose(statement, run), sense="fewest")
    total = float(statement.weights.sum())
    target = min_coverage * total
    state = Fewest(lower=max(1, len(model.forced)))
    stopped = ""
    try:
        solve_fewest(model, target, solver, run, state)
    except KeyboardInterrupt:
        stopped = "Interrupted"
    if state.upper == np.inf:
        if state.lower > model.limit:
            message = _why_not_reached(statement, solver, run, min_coverage, total)
            return replace(_no_answer(statement, run, "infeasible", message), sense="fewest")
        message = f"{stopped or 'Stopped'} after {run.runtime:.1f} s, before any choice was found. Allow more time."
        return replace(_no_answer(statement, run, "unknown", message), sense="fewest", bound=float(state.lower))
    objective, bound = float(state.upper), float(min(state.lower, state.upper))
    status: Status = "optimal" if bound == objective else "feasible"
    message = (
        "" if status == "optimal" else f"{stopped or 'Stopped'} after {run.runtime:.1f} s: {bound:g} may be enough."
    )
    chosen = np.asarray(state.chosen, dtype=np.intp)
    return replace(_assemble(statement, run, chosen, objective, bound, status, message), sense="fewest")


def _offer_start(statement: Statement, run: Run, start: Ints) -> None:
    """Offer what must be chosen anyway, and the user's start, mended where it is not allowed or not full."""
    model = statement.model
    if model.satisfies(model.forced):
        run.offer(model.value(model.forced), model.names(model.forced))
    wanted = model.positions(start)
    if not len(wanted):
        return
    order = np.concatenate([model.forced, np.setdiff1d(wanted, model.forced)])
    affordable = np.cumsum(model.cost[order]) <= model.budget + TOLERANCE
    chosen = order[affordable]
    if model.wrong is not None and model.satisfies(chosen):
        run.offer(model.value(chosen), model.names(chosen))
    chosen = greedy(model, start=chosen) if model.wrong is None else greedy_within_floor(model, start=chosen)
    if model.satisfies(chosen):
        run.offer(model.value(chosen), model.names(chosen))


def _nothing_to_choose(statement: Statement, run: Run) -> SelectionResult:
    n_admissible = int(statement.rules.admissible.sum())
    message = (
        explain_exclusion(n_admissible) if n_admissible else explain_floor(statement.fidelity, statement.min_fidelity)
    )
    return _no_answer(statement, run, "infeasible", message)


def _why_not_allowed(statement: Statement, solver: Solver, run: Run) -> str:
    model, minima = statement.model, statement.constraints.minima
    if model.wrong is not None:
        without = replace(model, wrong=None)
        part = Run(grain=run.grain, slack=run.slack, time_limit=max(1.0, run.time_left))
        if minima is not None:
            solver.solve(without, part)
        if part.bound > -np.inf:
            return explain_union(model)
    return explain_minima(model, minima, solver, run) if minima is not None else "no choice is allowed."


def _why_not_reached(statement: Statement, solver: Solver, run: Run, min_coverage: float, total: float) -> str:
    model, minima = statement.model, statement.constraints.minima
    part = Run(grain=run.grain, slack=run.slack, time_limit=max(1.0, run.time_left))
    solver.solve(model, part)
    if part.value == -np.inf and minima is not None:
        return explain_minima(model, minima, solver, run)
    limit = f", {model.limit} at a time," if model.limit < model.n_candidates else " together"
    return explain_min_coverage(model, min_coverage, total, part.bound, limit)


def _no_answer(statement: Statement, run: Run, status: Status, message: str) -> SelectionResult:
    nobody = np.empty(0, dtype=np.intp)
    bound = 0.0 if status == "infeasible" else run.bound
    return _assemble(statement, run, nobody, 0.0, bound, status, message)


def _assemble(
    statement: Statement,
    run: Run,
    chosen: Ints,
    objective: float,
    bound: float,
    status: Status,
    message: str,
) -> SelectionResult:
    counted, reached = _count(statement, chosen)
    covered = covered_by(statement.rules.sure, chosen)
    covered[counted.indices] = True
    return SelectionResult(
        chosen=chosen,
        covered=covered,
        counted=counted,
        objective=objective,
        bound=bound,
        status=status,
        runtime=run.runtime,
        stages=tuple(run.stages),
        coverage=float(reached.sum() / max(statement.weights.sum(), np.finfo(float).tiny)),
        union_fidelity=_union_fidelity(statement, chosen),
        message=message,
    )


def _union_fidelity(statement: Statement, chosen: Ints) -> float | None:
    """Return the share of the covered weight where no chosen candidate is wrong; None if nobody asked."""
    rules, weights = statement.rules, statement.weights
    if rules.wrong is None:
        return None
    covered = float(weights[covered_by(rules.sure, chosen)].sum())
    wrong = float(weights[covered_by(rules.wrong, chosen)].sum())
    return 1.0 - wrong / covered if covered else 1.0


def _count(statement: Statement, chosen: Ints) -> tuple[sparse.csr_array, Floats]:
    """Return the weight that each chosen candidate counts at each point, and what all count there."""
    rules, weights = statement.rules, statement.weights
    counted = sparse.csr_array(rules.sure[chosen] * weights[None, :])
    reached = np.where(covered_by(rules.sure, chosen), weights, 0.0)
    if rules.maybe is not None and rules.allowance is not None:
        parts = match(rules.maybe, rules.allowance, weights - reached, chosen)
        reached = reached + parts.sum(axis=0)
        counted = sparse.csr_array(counted + sparse.csr_array(parts))
    return counted, reached
