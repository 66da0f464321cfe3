"""The stages in order: reduce, find, bound, fix, branch, decompose, cut, finish. The first proof ends the solve.

Every stage is exact by itself, so any of them can be left out and the answer stays right; it only takes
longer.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from oleander.arrays import Ints, is_smaller_packed
from oleander.selection.bounds import DualPoint, evaluate, tighten
from oleander.selection.branch import BranchTree
from oleander.selection.decompose import Decomposition
from oleander.selection.fix import still_possible
from oleander.selection.grouping import group_candidates
from oleander.selection.model import CoverageModel
from oleander.selection.reduce import merge_points, strip_forced, undominated
from oleander.selection.run import Run
from oleander.selection.search import Swaps, greedy, reach_minima, walk
from oleander.selection.solvers import Feature
from oleander.selection.solvers.highs import solve_by_highs
from oleander.selection.solvers.program import Cuts
from oleander.selection.solvers.union import cut_relaxation
from oleander.selection.union_search import offer_within_floor

STAGES = ("reduce", "find", "bound", "fix", "branch", "decompose", "cut", "finish")
# Branching by itself is fastest when fixing has left few candidates for each of a few sets.
FEW_SETS, FEW_PER_SET = 12, 20
# A model of at most this many entries goes to HiGHS when groups have tightened nothing in this many nodes.
ENTRIES_FOR_HIGHS, NODES_BEFORE_HIGHS = 150_000, 3_000
# A gap under this share is worth a solve without the floor over the union, in at most this many seconds.
NEARLY, LONGEST_WITHOUT = 0.03, 5.0
# A larger program would spend the time limit on its first linear relaxation.
MAX_ENTRIES_TO_FINISH = 3_000_000


class AutoSolver:
    """Bound first, then search only what the bound leaves open.

    Parameters
    ----------
    skip : collection of str
        Stages to leave out, of "reduce", "find", "bound", "fix", "branch", "decompose", "cut" and "finish".
    """

    name = "auto"
    handles: frozenset[Feature] = frozenset({"allowances", "costs", "groups", "union"})

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
        if work.model.wrong is not None:
            work.find(patience=100)
            self._solve_without_floor(work.model, run)
            work.cut()
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

    def _solve_without_floor(self, model: CoverageModel, run: Run) -> None:
        """Where the floor over the union hardly binds, solve without it: that bounds the answer, or is the answer."""
        if run.should_stop() or run.bound - run.value > NEARLY * abs(run.value):
            return
        part = run.part(gap=run.gap, time_limit=min(0.5 * run.time_left, LONGEST_WITHOUT))
        with run.stage("bound") as notes:
            self.solve(replace(model, wrong=None), part)
            notes.n_steps = sum(stage.n_steps for stage in part.stages)
            run.tighten(part.bound)
            chosen = model.positions(np.asarray(part.best[1], dtype=np.intp))
            if part.value > -np.inf and model.satisfies(chosen):
                run.offer(model.value(chosen), model.names(chosen))


class Work:
    """The model as the stages have left it, with the multipliers of the last bound."""

    def __init__(self, model: CoverageModel, run: Run, skip: Collection[str]) -> None:
        self.model, self.run, self.skip = strip_forced(model), run, skip
        self.point: DualPoint | None = None
        self.cuts: Cuts | None = None
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
        if not is_smaller_packed(self.model.sure.nnz, self.model.sure.shape):
            self.model = self.model.unpacked()
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
            if model.wrong is not None:
                notes.n_steps = offer_within_floor(model, run, self._starts(), patience=patience)
                return
            if model.groups is not None:
                chosen = reach_minima(model, should_stop=run.should_stop)
                if chosen is None:
                    return
            elif self.point is None:
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
                    found, n_made = walk(model, Swaps(model, start), patience=patience, should_stop=run.should_stop)
                    notes.n_steps += n_made
                    if found is not None:
                        run.offer(model.value(found), model.names(found))

    def _starts(self) -> list[Ints]:
        """Return the starts of a search under a floor over the union: the forced candidates, and the best known."""
        starts = [self.model.forced]
        if self.run.best[1]:
            starts.append(self.model.positions(np.asarray(self.run.best[1], dtype=np.intp)))
        return starts

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
            self._keep(still_possible(self.model, self.point, self.run.cutoff))
            notes.n_dropped = before - self.model.n_candidates

    def branch(self, max_nodes: int | None) -> None:
        """Branch and bound on the remaining candidates."""
        if self._skips("branch"):
            return
        model, run = self.model.unpacked(), self.run

        def on_better(value: float, chosen: tuple[int, ...]) -> None:
            run.offer(value + model.offset, model.names(np.asarray(chosen, dtype=np.intp)))

        with run.stage("branch") as notes:
            tree = BranchTree(
                model.sure,
                model.weights,
                min(model.limit, model.n_candidates),
                cutoff=run.cutoff - model.offset,
                step=run.step,
                multipliers=None if self.point is None else self.point.multipliers,
                on_better=on_better,
            )
            notes.n_steps = tree.grow(max_nodes, run.should_stop)
            run.tighten(tree.bound + model.offset)
            if tree.is_complete:
                run.exhaust()

    def decompose(self, patience: int | None) -> None:
        """Split into groups, solve these, and join them by a knapsack."""
        if self._skips("decompose") or self.model.limit < 2:
            return
        model, run = self.model.unpacked(), self.run
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

    def cut(self) -> None:
        """Solve the relaxation under a floor over the union, with cuts, and drop candidates by it."""
        if self._skips("cut") or self.model.sure.nnz > MAX_ENTRIES_TO_FINISH:
            return
        with self.run.stage("cut") as notes:
            before = self.model.n_candidates
            possible, self.cuts, notes.n_steps = cut_relaxation(self.model, self.run)
            self._keep(possible)
            notes.n_dropped = before - self.model.n_candidates

    def finish(self) -> None:
        """Hand the remaining program to HiGHS, asking only for a better choice than the best known."""
        if self._skips("finish") or self.model.sure.nnz > MAX_ENTRIES_TO_FINISH:
            return
        with self.run.stage("finish") as notes:
            with_cutoff = self.run.cutoff > -np.inf
            notes.n_steps = solve_by_highs(self.model, self.run, with_cutoff=with_cutoff, cuts=self.cuts)
