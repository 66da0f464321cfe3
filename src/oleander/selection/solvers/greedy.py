"""Greedy: fast, at least 1 − 1/e of the optimum when explainers are counted, with the dual bound beside it."""

import math

import numpy as np

from oleander.selection.bounds import tighten
from oleander.selection.model import CoverageModel
from oleander.selection.reduce import merge_points
from oleander.selection.run import Run
from oleander.selection.search import gains, greedy
from oleander.selection.solvers import Feature
from oleander.selection.union_search import offer_within_floor

# The least share of the optimum that greedy reaches when explainers are counted and none is forced.
GREEDY_SHARE = 1.0 - 1.0 / math.e


class GreedySolver:
    """Take the candidate that adds most at every step; bound the optimum by the dual and by greedy's guarantee.

    Parameters
    ----------
    n_steps : int
        Steps of the bound; 0 leaves only the guarantee.
    """

    name = "greedy"
    handles: frozenset[Feature] = frozenset({"allowances", "costs", "union"})

    def __init__(self, n_steps: int = 50) -> None:
        self.n_steps = n_steps

    def solve(self, model: CoverageModel, run: Run) -> None:
        """Offer the greedy choice and a bound."""
        guarantee = np.inf
        with run.stage("find") as notes:
            if model.wrong is not None:
                notes.n_steps = offer_within_floor(model, run, [model.forced], patience=20)
            else:
                chosen = greedy(model, should_stop=run.should_stop)
                run.offer(model.value(chosen), model.names(chosen))
                if not model.counts_explainers:
                    _offer_best_single(model, run)
                elif not len(model.forced) and not run.should_stop():
                    guarantee = model.value(chosen) / GREEDY_SHARE
                notes.n_steps = len(chosen)
        with run.stage("bound") as notes:
            run.tighten(guarantee)
            if self.n_steps and not run.should_stop():
                merged, _ = merge_points(model)
                target = max(run.value, 0.0)
                point = tighten(merged, target, n_steps=self.n_steps, should_stop=lambda _: run.should_stop())
                run.tighten(point.bound)
                notes.n_steps = point.n_steps


def _offer_best_single(model: CoverageModel, run: Run) -> None:
    """Offer the best single candidate: with costs, greedy by ratio alone can be arbitrarily bad."""
    if len(model.forced):
        return
    alone = np.where(model.within_budget(model.cost), gains(model, model.weights), -1.0)
    best = np.array([int(alone.argmax())])
    if alone[best[0]] > 0:
        run.offer(model.value(best), model.names(best))
