"""A union of boxes, learned and chosen on draws and judged on rows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from oleander.arrays import Bools, Floats, Ints
from oleander.data.rows import Rows
from oleander.data.splitting import assign_folds, count_units
from oleander.draws.labelled import LabelledDraws
from oleander.judging.bounds import level_of_widest, lower_bound
from oleander.judging.certificate import Claim, claim_rows
from oleander.judging.judged import Judged
from oleander.judging.sequence import find_passed, find_start, pass_chances
from oleander.learning.family import SILENT, Family, Step, learn_family
from oleander.learning.trees import learn_abstaining_tree, learn_plain_tree
from oleander.running.parallel import run_tasks
from oleander.running.progress import tell_progress
from oleander.running.shares import show_lower

N_FOLDS = 5
# Of choices that answer nearly as many rows as the widest, the one with the least to read is taken.
WORTH_MORE_READING = 0.005
# The most speaking leaves of a tree where no limit on rules is given.
UNLIMITED = 40
Learn = Callable[[LabelledDraws, int], Family]


@dataclass(frozen=True, eq=False)
class Union:
    """Boxes that may be delivered, and what rows say of them.

    Parameters
    ----------
    family : Family
    step : Step
        The boxes with their labels, in the order in which they answer.
    claim : Claim
        Rows, or one row of each group, that are answered, and answered rightly; and how low the true share may be.
    is_certified : bool
        Whether the claim holds with the stated confidence. Otherwise the step was judged: the best of several was taken
        without paying for the choice.
    coverage : float
        The share of the judging rows that is answered.
    answered, right : bool arrays of shape (n_points,)
        Masks of the judging rows that are answered, and answered rightly, where nothing was learned from them.
    rows : Claim or None
        The same of all rows, where groups are certified; its bound is 0 where that cannot be certified.
    """

    family: Family
    step: Step
    claim: Claim
    is_certified: bool
    coverage: float
    answered: Bools
    right: Bools
    rows: Claim | None = None


@dataclass(eq=False)
class UnionLearner:
    """Labelled draws to learn from, and rows to judge on.

    Parameters
    ----------
    draws : LabelledDraws
    rows : Rows
        The judging rows. They made no draw, unless ``by_folds`` is set.
    by_folds : bool
        Whether the draws were made from the judging rows. Then each fold of the rows is answered by a sister family
        that learns only from draws without a parent in that fold.
    level : float
        The one-sided error of the bound.
    on_share : bool
        Whether the raw share of right answers, instead of its lower bound, is compared with the floor.
    min_support : int
        The fewest draws that a box must add to the choice.
    asks_each : bool
        Whether every box must reach the floor on the draws, beside the answers together.
    is_balanced : bool
        Whether every class has the same worth.
    max_rules, max_conditions : int or None
        The most rules in all, and the most conditions of a rule.
    seed : int
    n_jobs : int or None
    """

    draws: LabelledDraws
    rows: Rows
    by_folds: bool
    level: float
    on_share: bool = False
    min_support: int = 10
    asks_each: bool = False
    is_balanced: bool = False
    max_rules: int | None = None
    max_conditions: int | None = None
    seed: int = 0
    n_jobs: int | None = None
    _known: dict[Any, tuple[Family, Judged]] = field(default_factory=dict, repr=False)

    def choose(self, max_explainers: int, min_fidelity: float) -> Union | None:
        """Return the widest step that passes, or a smaller one that is nearly as wide; None where no step passes."""
        purity = min_fidelity if self.asks_each else None
        # A floor for each rule is one for each box, and no tree is asked for.
        max_leaves = self.max_rules or UNLIMITED if purity is None else None
        n_boxes = self._most_boxes(max_explainers)

        def learn(draws: LabelledDraws, seed: int) -> Family:
            return learn_family(
                draws,
                np.random.default_rng(seed),
                max_boxes=n_boxes,
                max_leaves=max_leaves,
                max_conditions=self.max_conditions,
                min_support=self.min_support,
                min_purity=purity,
                is_balanced=self.is_balanced,
            )

        family, judged = self._judge(("union", n_boxes, purity), learn)
        return self._pick(family, judged, min_fidelity)

    def choose_tree(self, max_leaves: int, min_fidelity: float) -> Union | None:
        """Return one tree that abstains, learned from the same draws and judged like a union; None if none passes."""

        def learn(draws: LabelledDraws, seed: int) -> Family:
            return learn_abstaining_tree(draws, np.random.default_rng(seed), max_leaves)

        return self._pick(*self._judge(("abstaining", max_leaves), learn), min_fidelity)

    def plain_tree(self, max_leaves: int) -> Union:
        """Return one tree that answers every row, learned from the same draws; nothing is certified of it."""

        def learn(draws: LabelledDraws, seed: int) -> Family:
            return learn_plain_tree(draws, np.random.default_rng(seed), max_leaves)

        family, judged = self._judge(("plain", max_leaves), learn)
        claim = replace(claim_rows(judged, 0, float(judged.bounds(self.level)[0])), unit=self.rows.unit)
        return Union(family, family.steps[0], claim, False, float(judged.coverage()[0]), *judged.masks(0))

    def why_nothing(self, max_explainers: int, min_fidelity: float) -> str:
        """Return a sentence that says how near the best choice comes to the floor, and what to do."""
        purity = min_fidelity if self.asks_each else None
        family, judged = self._known["union", self._most_boxes(max_explainers), purity]
        if not family.steps:
            return (
                f"min_fidelity={min_fidelity:g}: no box is right often enough on {len(self.draws.values):,} draws. "
                "Lower min_fidelity, or give more draws."
            )
        n_right, n_units = judged.count_units(self.seed)
        best = show_lower(float(max(self._measure(n_right, n_units).max(), judged.bounds(self._level_judged).max())))
        return (
            f"min_fidelity={min_fidelity:g} is not reached: the best of {len(family.steps)} choices is at least {best} "
            f"on {n_units.max():,} of {self.rows.n_units:,} {self.rows.unit}. Lower min_fidelity, or give more "
            f"{self.rows.unit}; they need no labels."
            + ("" if self.draws.tolerance is None else " A wider tolerance lets rules answer more.")
        )

    def _most_boxes(self, max_explainers: int) -> int:
        return max_explainers if self.max_rules is None else min(max_explainers, self.max_rules)

    def _judge(self, key: Any, learn: Learn) -> tuple[Family, Judged]:
        """Return a family, ordered from careful to bold, with its answers for the rows; it is learned once."""
        if key not in self._known:
            with tell_progress(f"learning rules from {len(self.draws.values):,} draws"):
                delivered = learn(self.draws, self.seed)
            if not self.by_folds:
                delivered = delivered.ordered()
                answered, right = delivered.judge(self.rows.values, self.rows.labels)
            else:
                answered, right = self._judge_by_sisters(learn, delivered)
            judged = Judged(answered, right, self.rows.weights, self.rows.groups)
            self._known[key] = delivered, judged
        return self._known[key]

    def _judge_by_sisters(self, learn: Learn, delivered: Family) -> tuple[Bools, Bools]:
        """Return what families answer, and answer rightly, that learned from no draw with a parent among these rows."""
        rows = self.rows
        n_folds = max(2, min(N_FOLDS, count_units(rows.n_points, rows.groups)))
        fold = assign_folds(rows.n_points, n_folds, rows.groups, self.seed)
        answered, right = np.zeros((2, len(delivered.steps), rows.n_points), dtype=bool)
        shared = [learn, self.draws, rows, fold, self.seed]
        # Without a draw to learn from, as for two rows, a sister says nothing.
        tasks = [(number,) for number in range(n_folds) if len(_find_usable(self.draws, fold, number))]
        with tell_progress("learning again without each fold", len(tasks)) as tell:
            found = run_tasks(_judge_fold, shared, tasks, n_jobs=self.n_jobs)
            for done, (task, judged) in enumerate(found, start=1):
                (number,) = tasks[task]
                answered[:, fold == number], right[:, fold == number] = judged
                tell(done, "")
        return answered, right

    def _pick(self, family: Family, judged: Judged, floor: float) -> Union | None:
        steps = family.steps
        if not steps:
            return None
        n_right, n_units = judged.count_units(self.seed)
        bounds = self._measure(n_right, n_units)
        if not self.by_folds:
            passed = find_passed(bounds, self._start(steps, judged, floor), floor)
            if len(passed):
                return self._deliver(family, judged, passed, n_right, n_units, floor, is_certified=not self.on_share)
        n_right, n_units = judged.n_right, judged.n_answered
        bounds = self._measure(n_right, n_units) if self.on_share else judged.bounds(self._level_judged)
        passed = np.flatnonzero(bounds >= floor)
        if not len(passed):
            return None
        return self._deliver(family, judged, passed, n_right, n_units, floor, is_certified=False)

    def _measure(self, n_right: Ints, n_units: Ints) -> Floats:
        if self.on_share:
            return np.asarray(np.divide(n_right, n_units, out=np.zeros(len(n_right)), where=n_units > 0))
        return lower_bound(n_right, n_units, self.level)

    @property
    def _level_judged(self) -> float:
        """The error of the bounds where nothing is certified; by folds, the delivered rules are not those judged."""
        return level_of_widest(self.level, self.rows.n_units) if self.by_folds else self.level

    def _start(self, steps: tuple[Step, ...], judged: Judged, floor: float) -> int:
        """Return the step at which the sequence starts, which only draws and the number of rows may decide."""
        # A group counts as soon as one of its rows is answered.
        reach = np.array([step.mass if judged.groups is None else 1.0 for step in steps])
        agreement = np.array([step.agreement for step in steps])
        return find_start(pass_chances(np.floor(reach * self.rows.n_units), agreement, floor, self.level))

    def _deliver(
        self,
        family: Family,
        judged: Judged,
        passed: Ints,
        n_right: Ints,
        n_units: Ints,
        floor: float,
        *,
        is_certified: bool,
    ) -> Union:
        # The delivered boxes answer other rows than their sisters do.
        covers = family.answer(self.rows.values) != SILENT if self.by_folds else judged.answered
        coverage = covers @ self.rows.weights / self.rows.n_rows
        near = passed[coverage[passed] >= coverage[passed].max() - WORTH_MORE_READING]
        best = int(min(near.tolist(), key=lambda number: (family.steps[number].size, -coverage[number])))
        # The sequence shows that agreement is at the floor or over it, and no more.
        bound = floor if is_certified else float(judged.bounds(self._level_judged)[best])
        claim = Claim(int(n_right[best]), int(n_units[best]), bound, self.rows.unit)
        rows = None
        if is_certified and judged.groups is not None:
            # A second sequence over the same steps: the share of rows is certified if it passes as far as this step.
            reached = judged.part(passed[passed <= best]).rows_reach(floor, self.level).all()
            rows = claim_rows(judged, best, floor if reached else 0.0)
        figures = claim, is_certified, float(coverage[best])
        return Union(family, family.steps[best], *figures, *judged.masks(best), rows)


def _judge_fold(
    learn: Learn, draws: LabelledDraws, rows: Rows, fold: Ints, seed: int, number: int
) -> tuple[Bools, Bools]:
    """Return what a sister family answers, and answers rightly, of the rows of its fold."""
    own = fold == number
    return learn(draws.take(_find_usable(draws, fold, number)), seed).judge(rows.values[own], rows.labels[own])


def _find_usable(draws: LabelledDraws, fold: Ints, number: int) -> Ints:
    """Return the draws without a parent in a fold."""
    assert draws.parents is not None
    return np.flatnonzero((fold[draws.parents] != number).all(axis=1))
