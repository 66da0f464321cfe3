"""The solvers by name, and the stages they are made of: reduce, find, bound, fix, branch, decompose, finish.

Every stage is exact by itself, so any of them can be left out and the answer stays correct; it only takes longer. The
first proof ends the solve.
"""

import math
import time
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.selection.bounds import evaluate, still_possible, tighten
from oleander.selection.branching import BranchTree
from oleander.selection.decompose import Decomposition, group_candidates
from oleander.selection.heuristics import greedy, walk
from oleander.selection.highs import solve_by_highs
from oleander.selection.model import CoverageModel, merge_points, undominated
from oleander.selection.printed_program import SelectiveModel
from oleander.selection.result import Run

if TYPE_CHECKING:
    from oleander.kernels import Dual

# A solver offers choices and bounds of a model to a run, and stops when the run says so.
Solver = Callable[[CoverageModel, Run], None]
# Greedy reaches at least this share of the optimum.
GREEDY_SHARE = 1.0 - 1.0 / math.e
# Branching by itself is fastest when fixing has left few candidates for each of a few sets.
FEW_SETS, FEW_PER_SET = 12, 20
# A model of at most this many entries goes to HiGHS when groups have tightened nothing in this many nodes.
ENTRIES_FOR_HIGHS, NODES_BEFORE_HIGHS = 150_000, 5_000
# So few choices are looked at one by one. HiGHS can turn in circles on a small program whose weights span decades.
FEW_CHOICES = 1_000
# A larger program would spend the time limit on its first linear relaxation.
MAX_ENTRIES_TO_FINISH = 3_000_000
# Steps of a bound; moves without a better choice after which the search of `solve_quickly` ends.
N_STEPS, QUICK_PATIENCE = 200, 30
# Nodes without a tighter bound after which the plain programs around a selective one are left.
SIDE_NODES = 500
# Nodes of `bound_choice`, and where its multipliers start: where candidates overlap as much as boxes do, they end up
# far below the weights of points, and starting there saves most of the steps.
MOST_NODES, FIRST_SHARE = 100, 0.05


def get_solver(solver: str | Solver) -> Solver:
    """Return the solver of this name, or the solver itself.

    >>> get_solver("simplex")
    Traceback (most recent call last):
    ...
    ValueError: solver='simplex' is not known: use one of 'auto', 'highs', 'quick', 'greedy'.
    """
    if not isinstance(solver, str):
        return solver
    if solver not in SOLVERS:
        known = ", ".join(repr(name) for name in SOLVERS)
        raise ValueError(f"solver={solver!r} is not known: use one of {known}.")
    return SOLVERS[solver]


def solve_auto(model: CoverageModel, run: Run, max_nodes: int | None = None) -> None:
    """Bound first, then search what the bound leaves open, each search within `max_nodes`."""
    if isinstance(model, SelectiveModel):
        solve_selective(model, run, max_nodes)
        return
    work = Stages(model, run)
    work.narrow()
    if work.model.limit <= FEW_SETS and work.model.n_candidates <= FEW_PER_SET * work.model.limit:
        work.branch(max_nodes=3_000)
    if work.model.sure.nnz <= ENTRIES_FOR_HIGHS:
        # Data in one piece have no groups to find, and HiGHS is at its best on a small program.
        work.decompose(patience=NODES_BEFORE_HIGHS)
        work.finish(max_nodes)
    else:
        work.decompose(patience=max_nodes)
    work.branch(max_nodes)
    work.finish(max_nodes)


def solve_selective(model: SelectiveModel, run: Run, max_nodes: int | None = None) -> None:
    """Solve plain coverage of what surely counts and of all that may, and leave the rest to HiGHS.

    Choices of both are often the best here, and the second one's bound holds here too.
    """
    model = model.merge()
    with run.stage("find") as record:
        chosen = greedy(model, should_stop=run.should_stop)
        run.offer(model.value(chosen), model.names(chosen))
        for side in (model.surely(), model.relax()):
            own = Run(side, time_limit=run.deadline - time.monotonic())
            work = Stages(side, own)
            work.narrow()
            work.decompose(SIDE_NODES)
            run.offer(model.value(model.positions(own.chosen)), own.chosen)
            record.n_steps += sum(stage.n_steps for stage in own.stages)
        run.tighten(own.bound)
    if not run.should_stop():
        point = tighten(side, run.value, should_stop=lambda _: run.should_stop())
        rest = Stages(model.keep(still_possible(point, run.cutoff)), run)
        if not rest.model.n_candidates:
            run.exhaust()
        elif max_nodes != 0:
            rest.finish(max_nodes)


def solve_quickly(model: CoverageModel, run: Run) -> None:
    """Find a choice, bound it, drop what the bound rules out, and search once more; the clock changes nothing."""
    if isinstance(model, SelectiveModel):
        solve_selective(model, run, max_nodes=0)
        return
    work = Stages(model, run)
    work.merge()
    work.find(patience=0)
    work.bound_and_drop()
    work.find(QUICK_PATIENCE)


def bound_choice(model: CoverageModel, run: Run) -> None:
    """Bound what the start leaves to gain; the clock changes nothing, and better choices on the way are taken."""
    work = Stages(model, run)
    work.merge()
    # Boxes that lie in others are most of the candidates, and a smaller model makes every step cheaper.
    work.reduce()
    work.point = evaluate(work.model, FIRST_SHARE * work.model.weights)
    for _ in range(2):
        work.bound_and_drop()
    if work.model.limit <= FEW_SETS:
        work.branch(max_nodes=MOST_NODES)


def solve_greedily(model: CoverageModel, run: Run, n_steps: int = 50) -> None:
    """Take the candidate that adds most at every step; bound the optimum by greedy's guarantee and by the dual."""
    with run.stage("find") as record:
        chosen = greedy(model, should_stop=run.should_stop)
        run.offer(model.value(chosen), model.names(chosen))
        is_whole = not run.should_stop()
        record.n_steps = len(chosen)
    with run.stage("bound") as record:
        relaxed = model.relax()
        if is_whole and relaxed is model:
            run.tighten(model.value(chosen) / GREEDY_SHARE)
        if n_steps and not run.should_stop():
            relaxed, _ = merge_points(relaxed)
            point = tighten(relaxed, run.value, n_steps=n_steps, should_stop=lambda _: run.should_stop())
            run.tighten(point.bound)
            record.n_steps = point.n_steps


def solve_highs(model: CoverageModel, run: Run) -> None:
    """Hand the model to HiGHS as it is: for comparison."""
    with run.stage("highs") as record:
        record.n_steps = solve_by_highs(model, run, with_cutoff=False)


def try_every_choice(model: CoverageModel, run: Run) -> None:
    """Look at every choice, smallest first and in order of index: for few choices, and as the oracle of tests."""
    with run.stage("enumerate") as record:
        for size in range(model.limit + 1):
            for members in combinations(range(model.n_candidates), size):
                if run.should_stop():
                    return
                chosen = np.asarray(members, dtype=np.intp)
                record.n_steps += 1
                run.offer(model.value(chosen), model.names(chosen))
        run.exhaust()


SOLVERS: dict[str, Solver] = {
    "auto": solve_auto,
    "highs": solve_highs,
    "quick": solve_quickly,
    "greedy": solve_greedily,
}


class Stages:
    """The model as the stages have left it, with the multipliers of the last bound."""

    def __init__(self, model: CoverageModel, run: Run) -> None:
        self.model, self.run = model, run
        self.point: Dual | None = None
        # The number of candidates when the model was last reduced: with as many it stays so.
        self._n_reduced = -1

    def merge(self) -> None:
        """Merge equal points."""
        if self.run.should_stop():
            return
        self.model, went_to = merge_points(self.model)
        if self.point is not None:
            # Multipliers of merged points add up, as their weights do, and the bound stays what it was.
            stays = went_to >= 0
            summed = np.bincount(went_to[stays], self.point.multipliers[stays], minlength=self.model.n_points)
            self._evaluate(summed.astype(np.float64), self.point.average)

    def _evaluate(self, multipliers: Floats, average: Floats) -> None:
        self.point = evaluate(self.model, multipliers)
        self.point.average[:] = average

    def narrow(self) -> None:
        """Search, bound and drop in turns: better choices sharpen the bound, and a smaller model is cheaper."""
        self.merge()
        for patience in (0, 30, max(100, 6 * self.model.limit)):
            self.find(patience)
            self.bound_and_drop()

    def reduce(self) -> None:
        """Drop contained candidates and merge points that differed only in dropped candidates."""
        if self.run.should_stop() or self.model.n_candidates == self._n_reduced:
            return
        with self.run.stage("reduce") as record:
            record.n_steps = self._keep(undominated(self.model, should_stop=self.run.should_stop))
            self.merge()
            self._n_reduced = self.model.n_candidates

    def _keep(self, candidates: Ints) -> int:
        """Keep only these candidates; return how many were dropped."""
        n_dropped = self.model.n_candidates - len(candidates)
        if n_dropped:
            self.model = self.model.keep(candidates)
            if not len(candidates):
                self.run.exhaust()
            elif self.point is not None:
                self._evaluate(self.point.multipliers, self.point.average[candidates])
        return n_dropped

    def find(self, patience: int) -> None:
        """Search for a better choice from greedy, or from the candidates that the bound bought most often."""
        if self.run.should_stop() or not self.model.n_candidates:
            return
        model, run = self.model, self.run
        with run.stage("find") as record:
            likely = None
            if self.point is not None:
                likely = np.argsort(-self.point.average, kind="stable")[: model.limit]
            chosen = greedy(model, start=likely, should_stop=run.should_stop)
            run.offer(model.value(chosen), model.names(chosen))
            if len(chosen) > 1 and patience:
                starts = [chosen]
                known = model.positions(run.chosen)
                if len(known) == len(chosen) and set(known.tolist()) != set(chosen.tolist()):
                    starts.append(known)
                for start in starts:
                    found, n_made = walk(model, start, patience=patience, should_stop=run.should_stop)
                    record.n_steps += n_made
                    run.offer(model.value(found), model.names(found))

    def bound_and_drop(self) -> None:
        """Tighten the bound, and drop the candidates that it rules out and those that others contain."""
        self.bound()
        self.fix()
        self.reduce()

    def bound(self) -> None:
        """Tighten the Lagrangian bound."""
        if self.run.should_stop() or not self.model.n_candidates:
            return

        def should_stop(point: "Dual") -> bool:
            self.run.tighten(point.bound)
            return self.run.should_stop()

        with self.run.stage("bound") as record:
            start = None if self.point is None else self.point.multipliers
            self.point = tighten(self.model, self.run.value, start, n_steps=N_STEPS, should_stop=should_stop)
            self.run.tighten(self.point.bound)
            record.n_steps = self.point.n_steps

    def fix(self) -> None:
        """Drop candidates by reduced cost."""
        if not self.run.should_stop() and self.point is not None:
            with self.run.stage("fix") as record:
                record.n_steps = self._keep(still_possible(self.point, self.run.cutoff))

    def branch(self, max_nodes: int | None) -> None:
        """Branch and bound on the remaining candidates."""
        if self.run.should_stop():
            return
        model, run = self.model, self.run
        with run.stage("branch") as record:
            tree = BranchTree(
                model.sure,
                model.weights,
                model.limit,
                np.arange(model.n_candidates),
                0.5 * model.weights if self.point is None else self.point.multipliers,
                cutoff=run.cutoff,
                step=run.step,
                on_better=lambda value, chosen: run.offer(value, model.names(np.asarray(chosen, dtype=np.intp))),
            )
            record.n_steps = tree.grow(max_nodes, run.should_stop)
            run.tighten(tree.bound)
            if tree.is_complete:
                run.exhaust()

    def decompose(self, patience: int | None) -> None:
        """Split into groups, solve these, and join them by a knapsack."""
        if self.run.should_stop() or self.model.limit < 2:
            return
        model, run = self.model, self.run
        with run.stage("decompose") as record:
            if self.point is None:
                self.point = tighten(model, run.value, n_steps=50)
            chosen = greedy(model, start=model.positions(run.chosen))
            most = max(3, 2 + model.limit // 12)
            label = group_candidates(model, chosen, self.point.multipliers, max_chosen=most)
            if label.max() > 0:
                decomposition = Decomposition(model, run, self.point.multipliers, label)
                decomposition.solve(patience)
                record.n_steps = decomposition.n_nodes

    def finish(self, max_nodes: int | None = None) -> None:
        """Look at every choice if few are left; else hand the program to HiGHS, asking only for a better choice."""
        model = self.model
        if self.run.should_stop() or model.n_entries > MAX_ENTRIES_TO_FINISH:
            return
        if sum(math.comb(model.n_candidates, size) for size in range(model.limit + 1)) <= FEW_CHOICES:
            try_every_choice(model, self.run)
            return
        with self.run.stage("finish") as record:
            record.n_steps = solve_by_highs(model, self.run, with_cutoff=True, max_nodes=max_nodes)
