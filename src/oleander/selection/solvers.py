"""The solvers by name, and the two simplest: greedy, with its guarantee, and every choice one by one, an oracle.

The others are imported when they are asked for, so that stating a problem loads no solver.
"""

import math
from importlib import import_module
from itertools import combinations
from typing import Protocol

import numpy as np

from oleander.selection.bounds import tighten
from oleander.selection.model import CoverageModel
from oleander.selection.reduce import merge_points
from oleander.selection.run import Run
from oleander.selection.search import greedy

# Greedy reaches at least this share of the optimum.
GREEDY_SHARE = 1.0 - 1.0 / math.e


class Solver(Protocol):
    """A solver offers choices and bounds of a model to a run, and stops when the run says so."""

    @property
    def name(self) -> str:
        """The name by which users choose the solver."""

    def solve(self, model: CoverageModel, run: Run) -> None:
        """Work on the model until the run is settled or stopped."""


SOLVERS = {
    "auto": ("oleander.selection.auto", "AutoSolver"),
    "highs": ("oleander.selection.highs", "HighsSolver"),
    "quick": ("oleander.selection.auto", "QuickSolver"),
    "greedy": ("oleander.selection.solvers", "GreedySolver"),
    "exhaustive": ("oleander.selection.solvers", "ExhaustiveSolver"),
}


def get_solver(solver: str | Solver) -> Solver:
    """Return the solver of this name, or the solver itself.

    Examples
    --------
    >>> get_solver("greedy").name
    'greedy'
    >>> get_solver("simplex")
    Traceback (most recent call last):
    ...
    ValueError: solver='simplex' is not known: use one of 'auto', 'highs', 'quick', 'greedy', 'exhaustive'.
    """
    if not isinstance(solver, str):
        return solver
    if solver not in SOLVERS:
        known = ", ".join(repr(name) for name in SOLVERS)
        raise ValueError(f"solver={solver!r} is not known: use one of {known}.")
    module, name = SOLVERS[solver]
    made: Solver = getattr(import_module(module), name)()
    return made


class GreedySolver:
    """Take the candidate that adds most at every step; bound the optimum by the dual and by greedy's guarantee.

    Parameters
    ----------
    n_steps : int
        Steps of the bound; 0 leaves only the guarantee.
    """

    name = "greedy"

    def __init__(self, n_steps: int = 50) -> None:
        self.n_steps = n_steps

    def solve(self, model: CoverageModel, run: Run) -> None:
        """Offer the greedy choice and a bound."""
        guarantee = np.inf
        with run.stage("find") as notes:
            chosen = greedy(model, should_stop=run.should_stop)
            run.offer(model.value(chosen), model.names(chosen))
            if not run.should_stop():
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


def count_choices(model: CoverageModel) -> int:
    """Return the number of choices of at most `limit` candidates."""
    return sum(math.comb(model.n_candidates, size) for size in range(model.limit + 1))


class ExhaustiveSolver:
    """Look at every choice, smallest first and in order of index.

    Parameters
    ----------
    max_choices : int
        Refuse problems with more choices than this.
    """

    name = "exhaustive"

    def __init__(self, max_choices: int = 1_000_000) -> None:
        self.max_choices = max_choices

    def solve(self, model: CoverageModel, run: Run) -> None:
        """Offer every choice."""
        n_choices = count_choices(model)
        if n_choices > self.max_choices:
            raise ValueError(
                f"solver='exhaustive' would have to look at {n_choices:,} choices and looks at most at "
                f"{self.max_choices:,}. Use solver='auto'."
            )
        with run.stage("enumerate") as notes:
            for size in range(model.limit + 1):
                for members in combinations(range(model.n_candidates), size):
                    if run.should_stop():
                        return
                    chosen = np.asarray(members, dtype=np.intp)
                    notes.n_steps += 1
                    run.offer(model.value(chosen), model.names(chosen))
            run.exhaust()
