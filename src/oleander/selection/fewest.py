"""Coverage turned round: the fewest explainers that reach a given weight."""

from dataclasses import dataclass, replace

import numpy as np

from oleander.arrays import Ints
from oleander.selection.bounds import tighten
from oleander.selection.model import CoverageModel
from oleander.selection.run import Run
from oleander.selection.search import greedy
from oleander.selection.solvers import Solver


@dataclass(eq=False)
class Fewest:
    """The least number of explainers known to be enough, who they are, and the least number not ruled out."""

    lower: int
    upper: float = np.inf
    chosen: tuple[int, ...] = ()

    def offer(self, chosen: tuple[int, ...]) -> None:
        """Take a choice that reaches the target, if it is smaller."""
        if len(chosen) < self.upper:
            self.upper, self.chosen = len(chosen), chosen


def solve_fewest(model: CoverageModel, target: float, solver: Solver, run: Run, state: Fewest) -> None:
    """Ask for one more explainer until the target is reached, starting where the bound no longer says no.

    The state is kept up to date, so that a time limit or Ctrl-C leaves what is known by then.
    """
    with run.stage("find") as notes:
        if model.groups is None and model.wrong is None:
            chosen = _shortest_prefix(model, greedy(model), target, run.slack)
            if chosen is not None:
                state.offer(tuple(model.names(chosen).tolist()))
            notes.n_steps = 0 if chosen is None else len(chosen)
    with run.stage("bound") as notes:
        guess = int(min(state.upper, model.limit))
        point = tighten(replace(model, budget=float(guess)), target, should_stop=lambda _: run.should_stop())
        notes.n_steps = point.n_steps
        # The same multipliers bound every number of explainers.
        others = np.sort(np.delete(point.prices, model.forced))[::-1]
        base = model.offset + float((model.weights - point.multipliers).sum() + point.prices[model.forced].sum())
        enough = np.flatnonzero(base + np.concatenate([[0.0], np.cumsum(others)]) >= target - run.slack)
        state.lower = max(state.lower, len(model.forced) + (int(enough[0]) if len(enough) else len(others)))
    is_ruled_out = True
    for number in range(state.lower, model.limit + 1):
        if number >= state.upper or run.time_left <= 0.0:
            return
        part = Run(
            grain=run.grain,
            slack=run.slack,
            time_limit=run.time_left,
            target=target,
            progress=run.progress,
        )
        try:
            solver.solve(replace(model, budget=float(number)), part)
        finally:
            run.stages.extend(part.stages)
            if part.value >= target - run.slack:
                state.offer(part.best[1])
            is_ruled_out &= part.bound < target - 0.5 * run.slack
            state.lower = number + 1 if is_ruled_out else state.lower


def _shortest_prefix(model: CoverageModel, order: Ints, target: float, slack: float) -> Ints | None:
    """Return as many of these candidates as it takes to reach the target; None if all are not enough."""
    for size in range(len(model.forced), len(order) + 1):
        if model.value(order[:size]) >= target - slack:
            return order[:size]
    return None
