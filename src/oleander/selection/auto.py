"""The stages in order: reduce, find, bound, fix, branch, decompose, finish. The first proof ends the solve.

Every stage is exact by itself, so any of them can be left out and the answer stays right; it only takes
longer.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from oleander.arrays import Ints
from oleander.selection.bounds import DualPoint, evaluate, still_possible, tighten
from oleander.selection.branch import BranchTree
from oleander.selection.decompose import Decomposition, group_candidates
from oleander.selection.highs import solve_by_highs
from oleander.selection.model import CoverageModel
from oleander.selection.reduce import merge_points, undominated
from oleander.selection.run import Run
from oleander.selection.search import greedy, walk
from oleander.selection.solvers import ExhaustiveSolver, count_choices

STAGES = ("reduce", "find", "bound", "fix", "branch", "decompose", "finish")
# Branching by itself is fastest when fixing has left few candidates for each of a few sets.
FEW_SETS, FEW_PER_SET = 12, 20
# A model of at most this many entries goes to HiGHS when groups have tightened nothing in this many nodes.
ENTRIES_FOR_HIGHS, NODES_BEFORE_HIGHS = 150_000, 3_000
# So few choices are looked at one by one. HiGHS can turn in circles on a small program whose weights span decades.
FEW_CHOICES = 1_000
# A larger program would spend the time limit on its first linear relaxation.
MAX_ENTRIES_TO_FINISH = 3_000_000
# The second search of `quick` ends after this many moves without a better choice.
QUICK_PATIENCE = 30
# Steps and nodes of `bounding`. Where candidates overlap as much as boxes do, multipliers end up far under the weights
# of points; starting there saves most of the steps.
N_STEPS, MOST_NODES, FIRST_SHARE = 200, 100, 0.05


class AutoSolver:
    """Bound first, then search only what the bound leaves open.

    Parameters
    ----------
    skip : collection of str
        Stages to leave out, of "reduce", "find", "bound", "fix", "branch", "decompose" and "finish".
    """

    name = "auto"

    def __init__(self, skip: Collection[str] = ()) -> None:
        unknown = set(skip) - set(STAGES)
        if unknown:
            raise ValueError(f"skip names {sorted(unknown)[0]!r}; stages are {', '.join(STAGES)}.")
        self.skip = frozenset(skip)

    def solve(self, model: CoverageModel, run: Run) -> None:
        """Run the stages until the run is settled or stopped."""
        work = Work(model, run, self.skip)
        work.merge()
        work.find(patience=0)
        work.bound(n_steps=200)
        work.fix()
        work.reduce()
        if work.model.is_plain:
            # Better choices sharpen the next bound and the next fixing; a smaller model makes all of them cheaper.
            for patience in (30, max(100, 6 * work.model.limit)):
                work.find(patience=patience)
                work.bound(n_steps=200)
                work.fix()
                work.reduce()
            if work.model.limit <= FEW_SETS and work.model.n_candidates <= FEW_PER_SET * work.model.limit:
                work.branch(max_nodes=3_000)
            if work.model.sure.nnz <= ENTRIES_FOR_HIGHS:
                # Data in one piece have no groups to find, and a small program is HiGHS's own ground.
                work.decompose(patience=NODES_BEFORE_HIGHS)
                work.finish()
            else:
                work.decompose(patience=None)
            work.branch(max_nodes=None)
        work.finish()


class QuickSolver:
    """Find a choice, bound it, drop what the bound rules out, and search once more; the clock changes nothing."""

    name = "quick"

    def solve(self, model: CoverageModel, run: Run) -> None:
        """Run the stages once."""
        work = Work(model, run, ())
        work.merge()
        work.find(patience=0)
        work.bound(n_steps=200)
        work.fix()
        work.reduce()
        work.find(patience=QUICK_PATIENCE)


class BoundingSolver:
    """Bound what the start leaves to gain; the clock changes nothing, and better choices on the way are taken."""

    name = "bounding"

    def solve(self, model: CoverageModel, run: Run) -> None:
        """Run the stages once."""
        work = Work(model, run, ())
        work.merge()
        # Boxes that lie in others are most of the candidates, and a smaller model makes every step cheaper.
        work.reduce()
        work.point = evaluate(work.model, FIRST_SHARE * work.model.weights)
        for _ in range(2):
            work.bound(n_steps=N_STEPS)
            work.fix()
            work.reduce()
        if work.model.is_plain and work.model.limit <= FEW_SETS:
            work.branch(max_nodes=MOST_NODES)


class Work:
    """The model as the stages have left it, with the multipliers of the last bound."""

    def __init__(self, model: CoverageModel, run: Run, skip: Collection[str]) -> None:
        self.model, self.run, self.skip = model, run, skip
        self.point: DualPoint | None = None
        # The number of candidates when the model was last reduced, and merged: with as many it stays so.
        self._n_reduced = self._n_merged = -1

    def _skips(self, stage: str) -> bool:
        return stage in self.skip or self.run.should_stop()

    def merge(self) -> None:
        """Merge equal points."""
        if self._skips("reduce"):
            return
        with self.run.stage("reduce") as notes:
            notes.n_merged = self._merge()

    def _merge(self) -> int:
        before = self.model.n_points
        self._n_merged = self.model.n_candidates
        self.model, went_to = merge_points(self.model)
        if self.point is not None:
            # Multipliers of merged points add up, as their weights do, and the bound stays what it was.
            stays = went_to >= 0
            summed = np.bincount(went_to[stays], self.point.multipliers[stays], minlength=self.model.n_points).astype(
                np.float64
            )
            self.point = replace(evaluate(self.model, summed), average=self.point.average)
        return before - self.model.n_points

    def reduce(self) -> None:
        """Drop contained candidates and merge points that differed only in dropped candidates."""
        if self._skips("reduce") or self.model.n_candidates == self._n_reduced:
            return
        with self.run.stage("reduce") as notes:
            before = self.model.n_candidates
            self._keep(undominated(self.model, should_stop=self.run.should_stop))
            notes.n_dropped = before - self.model.n_candidates
            if notes.n_dropped or before < self._n_merged:
                notes.n_merged = self._merge()
            self._n_reduced = self.model.n_candidates

    def _keep(self, candidates: Ints) -> None:
        if len(candidates) == self.model.n_candidates:
            return
        self.model = self.model.keep(candidates)
        if self.point is not None:
            average = self.point.average[candidates]
            self.point = replace(evaluate(self.model, self.point.multipliers), average=average)
        if not len(candidates):
            self.run.exhaust()

    def find(self, patience: int) -> None:
        """Search for a better choice from greedy, or from the candidates that the bound bought most often."""
        if self._skips("find") or not self.model.n_candidates:
            return
        model, run = self.model, self.run
        with run.stage("find") as notes:
            if self.point is None:
                chosen = greedy(model, should_stop=run.should_stop)
            else:
                likely = np.argsort(-self.point.average, kind="stable")[: model.limit]
                chosen = greedy(model, start=likely if model.is_plain else None, should_stop=run.should_stop)
            run.offer(model.value(chosen), model.names(chosen))
            if model.is_plain and len(chosen) > 1 and patience:
                starts = [chosen]
                known = model.positions(np.asarray(run.best[1], dtype=np.intp))
                if len(known) == len(chosen) and set(known.tolist()) != set(chosen.tolist()):
                    starts.append(known)
                for start in starts:
                    found, n_made = walk(model, start, patience=patience, should_stop=run.should_stop)
                    notes.n_steps += n_made
                    run.offer(model.value(found), model.names(found))

    def bound(self, n_steps: int) -> None:
        """Tighten the Lagrangian bound."""
        if self._skips("bound") or not self.model.n_candidates:
            return
        with self.run.stage("bound") as notes:

            def should_stop(point: DualPoint) -> bool:
                self.run.tighten(point.bound)
                return self.run.should_stop()

            start = None if self.point is None else self.point.multipliers
            target = max(self.run.value, 0.0)
            self.point = tighten(self.model, target, start, n_steps=n_steps, should_stop=should_stop)
            self.run.tighten(self.point.bound)
            notes.n_steps = self.point.n_steps

    def fix(self) -> None:
        """Drop candidates by reduced cost."""
        if self._skips("fix") or self.point is None:
            return
        with self.run.stage("fix") as notes:
            before = self.model.n_candidates
            self._keep(still_possible(self.point, self.run.cutoff))
            notes.n_dropped = before - self.model.n_candidates

    def branch(self, max_nodes: int | None) -> None:
        """Branch and bound on the remaining candidates."""
        if self._skips("branch"):
            return
        model, run = self.model, self.run

        def on_better(value: float, chosen: tuple[int, ...]) -> None:
            run.offer(value, model.names(np.asarray(chosen, dtype=np.intp)))

        with run.stage("branch") as notes:
            tree = BranchTree(
                model.sure,
                model.weights,
                model.limit,
                cutoff=run.cutoff,
                step=run.step,
                multipliers=None if self.point is None else self.point.multipliers,
                on_better=on_better,
            )
            notes.n_steps = tree.grow(max_nodes, run.should_stop)
            run.tighten(tree.bound)
            if tree.is_complete:
                run.exhaust()

    def decompose(self, patience: int | None) -> None:
        """Split into groups, solve these, and join them by a knapsack."""
        if self._skips("decompose") or self.model.limit < 2:
            return
        model, run = self.model, self.run
        with run.stage("decompose") as notes:
            if self.point is None:
                self.point = tighten(model, max(run.value, 0.0), n_steps=50)
            known = model.positions(np.asarray(run.best[1], dtype=np.intp))
            chosen = greedy(model, start=known)
            label = group_candidates(model, chosen, max_chosen=max(3, 2 + model.limit // 12))
            if label.max() > 0:
                decomposition = Decomposition(model, run, self.point.multipliers, label)
                decomposition.solve(patience)
                notes.n_steps = decomposition.n_nodes

    def finish(self) -> None:
        """Look at every choice if few are left; else hand the program to HiGHS, asking only for a better choice."""
        if self._skips("finish") or self.model.sure.nnz > MAX_ENTRIES_TO_FINISH:
            return
        if count_choices(self.model) <= FEW_CHOICES:
            ExhaustiveSolver().solve(self.model, self.run)
            return
        with self.run.stage("finish") as notes:
            with_cutoff = self.run.cutoff > -np.inf
            notes.n_steps = solve_by_highs(self.model, self.run, with_cutoff=with_cutoff)
