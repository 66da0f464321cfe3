"""Exhaustive search: every choice within the budget. Kept as an oracle for small problems."""

from itertools import combinations
from math import comb

import numpy as np

from oleander.selection.model import CoverageModel
from oleander.selection.run import Run
from oleander.selection.solvers import Feature


class ExhaustiveSolver:
    """Look at every choice, smallest first and in order of index.

    Parameters
    ----------
    max_choices : int
        Refuse problems with more choices than this.
    """

    name = "exhaustive"
    handles: frozenset[Feature] = frozenset({"allowances", "costs", "groups", "union"})

    def __init__(self, max_choices: int = 1_000_000) -> None:
        self.max_choices = max_choices

    def solve(self, model: CoverageModel, run: Run) -> None:
        """Offer every choice that keeps the constraints."""
        free = np.setdiff1d(np.arange(model.n_candidates), model.forced)
        most = min(model.limit, model.n_candidates) - len(model.forced)
        n_choices = sum(comb(len(free), size) for size in range(most + 1))
        if n_choices > self.max_choices:
            raise ValueError(
                f"solver='exhaustive' would have to look at {n_choices:,} choices and looks at most at "
                f"{self.max_choices:,}. Use solver='auto'."
            )
        with run.stage("enumerate") as notes:
            for size in range(most + 1):
                for rest in combinations(free.tolist(), size):
                    if run.should_stop():
                        return
                    chosen = np.concatenate([model.forced, np.asarray(rest, dtype=np.intp)])
                    notes.n_steps += 1
                    if model.satisfies(chosen):
                        run.offer(model.value(chosen), model.names(chosen))
            run.exhaust()
