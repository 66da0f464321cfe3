"""The fewest explainers that reach a given weight, and the fewest that cover as much as a given choice."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from oleander.arrays import Ints
from oleander.selection.bounds import tighten
from oleander.selection.fix import still_possible
from oleander.selection.model import CoverageModel
from oleander.selection.reduce import merge_points, undominated
from oleander.selection.run import Run
from oleander.selection.search import gains, greedy
from oleander.selection.solvers import Solver
from oleander.selection.sparse_rows import covered_by

# The second solve, for fewer explainers that cover as much, is for programs of at most this many entries, and ends
# after this many nodes. Both are counts, so that a busy machine returns the same choice.
MAX_ENTRIES, MAX_NODES = 20_000, 200


@dataclass(eq=False)
class Fewest:
    """The least number of explainers known to be enough, the choice, and the least number not ruled out."""

    lower: int
    upper: float = np.inf
    chosen: tuple[int, ...] = ()

    def offer(self, chosen: Ints) -> None:
        """Take a choice that reaches the target, if it is smaller."""
        if len(chosen) < self.upper:
            self.upper, self.chosen = len(chosen), tuple(chosen.tolist())


def solve_fewest(model: CoverageModel, target: float, solver: Solver, run: Run, state: Fewest) -> None:
    """Ask for one more explainer until the target is reached, from the least number that the bound leaves open.

    The state is kept up to date, so that a time limit or Ctrl-C leaves what is known by then.
    """
    least = target - run.slack

    def offer(chosen: Ints) -> None:
        if model.value(chosen) >= least and model.satisfies(chosen):
            state.offer(model.names(without_redundant(model, chosen, least=least)))

    if _coverable(model) < least:
        state.lower = model.limit + 1
        return
    with run.stage("find") as notes:
        if model.groups is None and model.wrong is None:
            chosen = greedy(model, enough=target, should_stop=run.should_stop)
            offer(chosen)
            notes.n_steps = len(chosen)
    with run.stage("bound") as notes:
        guess = float(min(state.upper, model.limit))
        point = tighten(replace(model, budget=guess), target, should_stop=lambda _: run.should_stop())
        notes.n_steps = point.n_steps
        # The same multipliers bound every number of explainers.
        others = np.sort(np.delete(point.prices, model.forced))[::-1]
        base = model.offset + float((model.weights - point.multipliers).sum() + point.prices[model.forced].sum())
        is_open = base + np.concatenate([[0.0], np.cumsum(others)]) >= least
        state.lower = max(state.lower, len(model.forced) + (int(is_open.argmax()) if is_open.any() else len(is_open)))
    is_ruled_out = True
    for number in range(state.lower, model.limit + 1):
        if number >= state.upper or run.time_left <= 0.0:
            return
        part = run.part(target=target, reports=True)
        try:
            solver.solve(replace(model, budget=float(number)), part)
        finally:
            run.stages.extend(part.stages)
            offer(model.positions(np.asarray(part.best[1], dtype=np.intp)))
            is_ruled_out &= part.bound < target - 0.5 * run.slack
            state.lower = number + 1 if is_ruled_out else state.lower


def _coverable(model: CoverageModel) -> float:
    """Return an upper bound on the value of all candidates together."""
    candidates = np.arange(model.n_candidates)
    sure = covered_by(model.sure, candidates)
    value = model.offset + float(model.weights[sure].sum())
    if model.maybe is not None and model.allowance is not None:
        maybe = covered_by(model.maybe, candidates) & ~sure
        value += min(float(model.allowance.sum()), float(model.weights[maybe].sum()))
    return value


def without_redundant(
    model: CoverageModel,
    chosen: Ints,
    *,
    least: float | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Ints:
    """Return the choice without candidates that it can spare, the last in order of index first.

    A candidate can be spared if it is not forced and the others keep every constraint and are worth `least`, by
    default as much as the choice.

    Examples
    --------
    >>> from oleander.selection.formulations import plain_model
    >>> model = plain_model(np.array([[1, 1, 0], [0, 1, 1], [0, 1, 0]]), budget=3)
    >>> without_redundant(model, np.array([0, 1, 2])).tolist()
    [0, 1]
    """
    least = model.value(chosen) - model.slack if least is None else least
    for candidate in np.setdiff1d(chosen, model.forced)[::-1]:
        if should_stop():
            break
        others = chosen[chosen != candidate]
        if model.value(others) >= least and model.satisfies(others):
            chosen = others
    return chosen


def fewest_as_wide(model: CoverageModel, chosen: Ints, run: Run) -> Ints:
    """Return the fewest candidates that cover as much as a choice, as far as a bounded search finds them.

    Where the choice is a proven optimum, explainers are counted, and another candidate would still add to it, it has
    the fewest already: a smaller one that is as wide could take one more and would be wider than the optimum. Otherwise
    a dual bound on one explainer less may prove it; and where it does not, HiGHS counts explainers in a program
    of at most `MAX_ENTRIES` entries for at most `MAX_NODES` nodes. The number is proven to be the least unless
    the program is larger, the nodes are used up, or time runs out. Of a choice without a proof, which a quick solver
    makes, programs that are larger from the start are left alone.
    """
    least = model.value(chosen) - run.slack
    if len(chosen) <= max(1, len(model.forced)):
        return chosen
    if not run.is_proven and _n_entries(model) > MAX_ENTRIES:
        return chosen
    if run.is_proven and model.counts_explainers and model.wrong is None:
        open_weight = model.weights - model.counts(chosen)
        if (gains(model, open_weight) > run.slack).any():
            return chosen
    with run.stage("fewest") as notes:
        merged, _ = merge_points(model)
        counting = replace(merged, cost=np.ones(merged.n_candidates), budget=len(chosen) - 1.0)
        point = tighten(counting, least, should_stop=lambda best: best.bound < least or run.time_left <= 0.0)
        notes.n_steps = point.n_steps
        if point.bound < least:
            return chosen
        rest = merged.keep(still_possible(counting, point, least))
        rest = rest.keep(undominated(rest, should_stop=lambda: run.time_left <= 0.0))
        notes.n_dropped = model.n_candidates - rest.n_candidates
        if _n_entries(rest) > MAX_ENTRIES or run.time_left <= 0.0:
            return chosen
        from oleander.selection.solvers.highs import count_fewest

        found = count_fewest(rest, least, run, max_nodes=MAX_NODES)
        fewer = model.positions(rest.names(found)) if found is not None else chosen
        if len(fewer) < len(chosen) and model.satisfies(fewer) and model.value(fewer) >= least:
            return without_redundant(model, fewer, least=least)
        return chosen


def _n_entries(model: CoverageModel) -> int:
    return int(model.sure.nnz) + (0 if model.maybe is None else int(model.maybe.nnz))
