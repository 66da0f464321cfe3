"""The first stages of `auto` alone: a good choice with a bound, by the same steps on every machine."""

from oleander.selection.model import CoverageModel
from oleander.selection.run import Run
from oleander.selection.solvers import Feature
from oleander.selection.solvers.auto import AutoSolver, Work

# The second search ends after this many moves without a better choice.
PATIENCE = 30


class QuickSolver:
    """Find a choice, bound it, drop what the bound rules out, and search once more; the clock changes nothing."""

    name = "quick"
    handles: frozenset[Feature] = AutoSolver.handles

    def solve(self, model: CoverageModel, run: Run) -> None:
        """Run the stages once."""
        work = Work(model, run, ())
        work.merge()
        work.find(patience=0)
        work.bound(n_steps=200)
        work.fix()
        work.reduce()
        work.find(patience=PATIENCE)
