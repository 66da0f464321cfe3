"""Greedy: fast, at least 1 − 1/e of the optimum when explainers are counted, with the dual bound beside."""

import numpy as np

from oleander.selection.bounds import tighten
from oleander.selection.model import CoverageModel
from oleander.selection.reduce import merge_points
from oleander.selection.run import Run
from oleander.selection.search import gains_alone, greedy
from oleander.selection.solvers import Feature
from oleander.selection.union_search import offer_within_floor

# What greedy reaches at least, of the optimum, when explainers are counted and none is forced.
GREEDY_SHARE = 1.0 - 1.0 / np.e


class GreedySolver:
    """Take what adds most at every step; bound the optimum by the dual and by greedy's own guarantee.

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
        if model.wrong is not None:
            self._solve_union(model, run)
            return
        with run.stage("find") as notes:
            chosen = greedy(model)
            run.offer(model.value(chosen), model.names(chosen))
            if not model.counts_explainers:
                self._offer_best_single(model, run)
            notes.n_steps = len(chosen)
        with run.stage("bound") as notes:
            if model.counts_explainers and not len(model.forced):
                run.tighten(model.value(chosen) / GREEDY_SHARE)
            if self.n_steps:
                merged, _ = merge_points(model)
                point = tighten(merged, run.value, n_steps=self.n_steps, should_stop=lambda _: run.should_stop())
                run.tighten(point.bound)
                notes.n_steps = point.n_steps

    def _solve_union(self, model: CoverageModel, run: Run) -> None:
        """Offer the greedy choice that keeps the floor over the union, then better ones near by."""
        with run.stage("find") as notes:
            notes.n_steps = offer_within_floor(model, run, [model.forced], patience=20)
        with run.stage("bound") as notes:
            merged, _ = merge_points(model)
            point = tighten(merged, max(run.value, 0.0), n_steps=self.n_steps, should_stop=lambda _: run.should_stop())
            run.tighten(point.bound)
            notes.n_steps = point.n_steps

    @staticmethod
    def _offer_best_single(model: CoverageModel, run: Run) -> None:
        """Offer the best single candidate: with costs, greedy by ratio alone can be arbitrarily bad."""
        if len(model.forced):
            return
        gains = np.where(model.cost <= model.budget, gains_alone(model), -1.0)
        best = np.array([int(gains.argmax())])
        if gains[best[0]] > 0:
            run.offer(model.value(best), model.names(best))
