"""The solvers by name. Each is imported when it is asked for, so that stating a problem loads no solver."""

from importlib import import_module
from typing import Protocol

from oleander.selection.model import CoverageModel
from oleander.selection.run import Run


class Solver(Protocol):
    """A solver offers choices and bounds of a model to a run, and stops when the run says so."""

    @property
    def name(self) -> str:
        """The name by which users choose the solver."""

    def solve(self, model: CoverageModel, run: Run) -> None:
        """Work on the model until the run is settled or stopped."""


SOLVERS = {
    "auto": ("oleander.selection.solvers.auto", "AutoSolver"),
    "highs": ("oleander.selection.solvers.highs", "HighsSolver"),
    "quick": ("oleander.selection.solvers.auto", "QuickSolver"),
    "greedy": ("oleander.selection.solvers.simple", "GreedySolver"),
    "exhaustive": ("oleander.selection.solvers.simple", "ExhaustiveSolver"),
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
