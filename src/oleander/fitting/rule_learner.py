"""A set of rules, learned and chosen on draws and judged on rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints
from oleander.candidates.box_program import NO_LIMITS, CoverProgram, Limits
from oleander.candidates.grid import Bits, Key, Memberships
from oleander.data.rows import Rows, count_units
from oleander.data.tolerance import Tolerance
from oleander.draws.labelled import LabelledDraws, take_as_draws
from oleander.fitting.rule_sequence import RuleSequence, Step, learn_abstaining_tree, learn_plain_tree, learn_sequence
from oleander.judging.bounds import level_of_widest, lower_bound, upper_bound
from oleander.judging.certificate import (
    PART_OF_AGREEMENT,
    Claim,
    SystemCertificate,
    as_system,
    certify_system,
    claim_rows,
)
from oleander.judging.fixed_sequence import Judged, find_passed, find_start, pass_chances
from oleander.judging.floor import Floor
from oleander.judging.subgroups import FloorBy, GivenSubgroups, Subgroup, judge_subgroups
from oleander.messages import show_lower
from oleander.results.fit_record import OneTree
from oleander.rules.conditions import count_cuts
from oleander.running.parallel import run_tasks
from oleander.running.progress import tell_progress
from oleander.selection.result import Proof
from oleander.words.claims import describe_highest, show_counts

N_FOLDS = 5
# In the place of a fold's number: the sequence that learns from all draws.
WHOLE = -1
# With fewer draws, those that are held back are too few to tell which steps are better: by folds, rows judge them all.
ENOUGH_TO_ORDER = 2_000
# Of sets that answer nearly as many rows as the widest, the one with the fewest conditions is taken.
WORTH_MORE_READING = 0.005
# A set that says one thing only gives way to one that says more, if that one answers nearly as many rows.
WORTH_MORE_ANSWERS = 0.02
# The number of rules that are chosen where none is given: at least this many, and this many for each answer.
FEWEST_RULES, RULES_PER_CLASS = 10, 2
# Cells of the masks that are counted at once.
MOST_CELLS = 2**23
Learn = Callable[[LabelledDraws, np.random.Generator], RuleSequence]


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Rules that may be delivered, and what rows say of them."""

    sequence: RuleSequence
    # The rules.
    step: Step
    # Rows or groups that are answered, and answered correctly; and how low the true share may be.
    claim: Claim
    # Otherwise the step was judged: the best of several was taken without paying for the choice.
    is_certified: bool
    # The share of the judging rows that is answered.
    coverage: float
    # Masks of the judging rows that are answered, and answered correctly, where nothing was learned from them.
    answered: Bools
    right: Bools
    # The claim about all rows, where groups are certified; its bound is 0 where that cannot be certified.
    rows: Claim | None = None
    # The subgroups that the rules speak to, with a floor in each; None where there is one floor.
    floor_by: FloorBy | None = None
    # The judging rows of these subgroups; None where all are.
    heard: Bools | None = None

    def prove(self) -> tuple[Proof, int]:
        """Return how close the rules are to the widest set of as many candidates, and the number of candidates.

        Candidates are those that reach the threshold of these rules.
        """
        candidates, rules = self.sequence.candidates, self.step.rules
        assert candidates is not None
        program = CoverProgram(candidates, self.step.threshold, self.sequence.min_gain)
        return program.prove([candidates.add(rule.key, rule.label) for rule in rules]), len(program.allowed)


@dataclass(eq=False)
class RuleLearner:
    """Labelled draws to learn from, and rows to judge on."""

    draws: LabelledDraws
    # The judging rows. They made no draw, unless ``by_folds`` is set.
    rows: Rows
    # Whether the draws were made from the judging rows. Then each fold of the rows is answered by a sister sequence
    # that learns only from draws without a parent in that fold.
    by_folds: bool
    # The one-sided error of the bound.
    level: float
    # Whether the raw share of correct answers, instead of its lower bound, is compared with the floor.
    on_share: bool = False
    # The minimum number of draws that a rule must add to the others.
    min_support: int = 10
    # What no rule may do.
    limits: Limits = NO_LIMITS
    seed: int = 0
    n_jobs: int | None = None
    # Subgroups of the judging rows, in each of which the floor must hold or the rules are silent.
    subgroups: GivenSubgroups | None = None
    _known: dict[Any, tuple[RuleSequence, Judged]] = field(default_factory=dict, init=False, repr=False)
    _laid: dict[RuleSequence, tuple[Memberships, dict[int, Bits]]] = field(default_factory=dict, init=False, repr=False)

    @property
    def default_number(self) -> int:
        """The number of rules that are chosen where none is given."""
        n_classes = len(self.draws.classes) if self.draws.tolerance is None else 1
        return max(FEWEST_RULES, RULES_PER_CLASS * n_classes)

    def choose(self, max_rules: int, min_fidelity: float) -> RuleSet | None:
        """Return the widest set that passes, or a shorter one that is nearly as wide; None where no set passes."""
        judged = self._judge_sets((max_rules,), (min_fidelity,))
        if self.subgroups is not None:
            return self._pick_by_subgroup(*judged, min_fidelity, self.subgroups)
        return self._pick(*judged, min_fidelity)

    def choose_system(
        self, max_rules: int, min_fidelity: float, target: float
    ) -> tuple[RuleSet, SystemCertificate] | None:
        """Return the widest set with which a router says what the black box says on a share of all rows.

        A fixed sequence of its own shows the target, from the most cautious set on: a row that is not answered cannot
        be wrong, so a bolder start would gain nothing. None where no set reaches it.
        """
        sequence, judged = self._judge_sets((max_rules,), (min_fidelity,))
        if not sequence.steps:
            return None
        system, level = as_system(judged), PART_OF_AGREEMENT * self.level
        bounds = system.certified_bounds(level)
        passed = np.flatnonzero(bounds >= target) if self.by_folds else find_passed(bounds, 0, target)
        passed = passed[~self._find_refuted(sequence, min_fidelity)[passed]]
        if not len(passed):
            return None
        best = self._find_best(sequence, judged, passed)
        rules = self._make_set(sequence, judged, best, float(self._bound_judged(sequence, judged)[best]))
        n_steps, is_certified = len(sequence.steps), not self.by_folds
        certificate = certify_system(judged, best, self.level, n_steps, target=target, is_certified=is_certified)
        return rules, certificate

    def claim_system(self, rules: RuleSet, max_rules: int, min_fidelity: float) -> SystemCertificate:
        """Return what may be claimed of a router with the set that ``choose`` returns."""
        sequence, judged = self._judge_sets((max_rules,), (min_fidelity,))
        place = next(number for number, step in enumerate(sequence.steps) if step is rules.step)
        return certify_system(judged, place, self.level, len(sequence.steps), is_certified=not self.by_folds)

    def choose_each(
        self, max_rules: Sequence[int], min_fidelity: Sequence[float]
    ) -> dict[tuple[int, float], RuleSet | None]:
        """Return the widest set that is judged to keep each floor with each number of rules; nothing is certified.

        A set that keeps a higher floor with fewer rules is always one of those that are compared, so more rules never
        answer fewer draws, and neither does a lower floor.
        """
        sequence, judged = self._judge_sets(max_rules, min_fidelity)
        bounds = self._measure_judged(sequence, judged)
        found: dict[tuple[int, float], RuleSet | None] = {}
        for number in max_rules:
            for floor in min_fidelity:
                steps = [
                    place
                    for place, step in enumerate(sequence.steps)
                    if step.max_rules <= number and step.threshold >= floor and bounds[place] >= floor
                ]
                found[number, floor] = None
                if steps:
                    widest = max(steps, key=lambda place: (sequence.steps[place].mass, -sequence.steps[place].size))
                    found[number, floor] = self._make_set(sequence, judged, widest, float(bounds[widest]))
        return found

    def judged_by(self, rows: Rows) -> Self:
        """Return a learner of the same sequences, judged on other rows that made no draw; nothing is learned again."""
        assert not self.by_folds, "sequences of draws from the judging rows are judged by folds only"
        other = replace(self, rows=rows)
        other._known = {key: (sequence, other._judge_rows(sequence)) for key, (sequence, _) in self._known.items()}
        return other

    def choose_tree(self, max_leaves: int, min_fidelity: float) -> RuleSet | None:
        """Return one tree that abstains, learned from the same draws and judged like rules; None if none passes."""
        learn = partial(learn_abstaining_tree, max_leaves=max_leaves)
        return self._pick(*self._judge(("abstaining", max_leaves), learn), min_fidelity, asks_each=False)

    def plain_tree(self, max_leaves: int) -> RuleSet:
        """Return one tree that answers every row, learned from the same draws; nothing is certified of it."""
        sequence, judged = self._judge(("plain", max_leaves), partial(learn_plain_tree, max_leaves=max_leaves))
        return self._make_set(sequence, judged, 0, float(judged.bounds(self.level)[0]))

    def why_nothing(self, max_rules: int, min_fidelity: float) -> str:
        """Return a sentence that says how near the best set comes to the floor, and what to do."""
        sequence, judged = self._judge_sets((max_rules,), (min_fidelity,))
        if self.subgroups is not None and sequence.steps:
            return (
                f"min_fidelity={min_fidelity:g} is not shown within any subgroup of floor_by, by any of "
                f"{len(sequence.steps)} rule sets. Lower min_fidelity, or give more {self.rows.unit} or larger "
                "subgroups."
            )
        if not sequence.steps:
            return (
                f"min_fidelity={min_fidelity:g}: no rule matches the model often enough on "
                f"{len(self.draws.values):,} draws. Lower min_fidelity, or give more draws."
            )
        measured, n_units, unit = self._measure_judged(sequence, judged), self.rows.n_units, self.rows.unit
        best = int(measured.argmax())
        n_right, n_answered = (count[best].item() for count in judged.count_units())
        claim = Claim(n_right, n_answered, float(measured[best]), unit)
        highest, shown = "", show_lower(claim.bound)
        if not self.on_share and float(lower_bound(n_units, n_units, self._level_judged)) < min_fidelity:
            highest = f" {describe_highest(n_units, unit, self._level_judged)}"
        if claim.bound >= min_fidelity:
            return (
                f"min_fidelity={min_fidelity:g} is not kept by every rule: in each of {len(sequence.steps)} rule sets, "
                "the rows show that some rule is under it. Give a background that resembles the rows more, or lower "
                "min_fidelity."
            )
        return (
            f"min_fidelity={min_fidelity:g} is not reached: of {len(sequence.steps)} rule sets, the best matches the "
            f"model on {show_counts(claim, f'answered {unit}')}, which shows {shown}.{highest} "
            + (f"Give min_fidelity={shown} or less" if float(shown) > 0 else "Lower min_fidelity")
            + f", or more {unit}, which need no labels."
            + ("" if self.draws.tolerance is None else " A wider tolerance lets rules answer more.")
        )

    def _judge_sets(self, max_rules: Sequence[int], min_fidelity: Sequence[float]) -> tuple[RuleSequence, Judged]:
        learn = partial(
            learn_sequence,
            max_rules=max_rules,
            floors=min_fidelity,
            limits=self.limits,
            min_support=self.min_support,
        )
        return self._judge(("rules", tuple(max_rules), tuple(min_fidelity)), learn, max_rules)

    def _judge(self, key: Any, learn: Learn, numbers: Sequence[int | None] = (None,)) -> tuple[RuleSequence, Judged]:
        """Return a sequence, ordered from cautious to bold for each number of rules, with its answers for the rows.

        It is learned once.
        """
        if key not in self._known:
            if self.by_folds:
                sequence, answered, right = self._learn_with_sisters(learn)
            else:
                with tell_progress(f"learning rules from {len(self.draws.values):,} draws"):
                    sequence = learn(self.draws, np.random.default_rng(self.seed))
            is_blind = self.by_folds and len(self.draws.values) < ENOUGH_TO_ORDER
            orders = (sequence.find_order(number, keep_beaten=is_blind).tolist() for number in numbers)
            steps = dict.fromkeys(step for order in orders for step in order)
            order = np.array(list(steps), dtype=np.intp)
            if self.by_folds:
                judged = Judged(answered[order], right[order], self.rows.weights, self.rows.groups)
                self._known[key] = sequence.take(order), judged
            else:
                sequence = sequence.take(order)
                self._known[key] = sequence, self._judge_rows(sequence)
        return self._known[key]

    def covers(self, rules: RuleSet) -> Bools:
        """Return a mask of the judging rows where each rule holds and is heard, of shape (n_rules, n_points)."""
        covers = self._lay(rules.sequence)[0].covers(rules.step.keys)
        return covers if rules.heard is None else covers & rules.heard

    def _lay(self, sequence: RuleSequence) -> tuple[Memberships, dict[int, Bits]]:
        """Return where the boxes of a sequence hold, and its answers are right, on the judging rows: laid once."""
        if sequence not in self._laid:
            self._laid[sequence] = (
                sequence.lay(self.rows.values),
                sequence.find_right(self.rows.values, self.rows.labels),
            )
        return self._laid[sequence]

    def _judge_rows(self, sequence: RuleSequence) -> Judged:
        """Return what the sets of a sequence answer, and answer correctly, of the judging rows."""
        return Judged(*sequence.judge_laid(*self._lay(sequence)), self.rows.weights, self.rows.groups)

    def _learn_with_sisters(self, learn: Learn) -> tuple[RuleSequence, Bools, Bools]:
        """Return a sequence, and what its sisters answer, and answer correctly, of rows that made no draw of theirs."""
        rows = self.rows
        n_folds = max(2, min(N_FOLDS, count_units(rows.n_points, rows.groups)))
        fold = rows.folds(n_folds, self.seed)
        # Without a draw to learn from, as for two rows, a sister says nothing.
        tasks = [(WHOLE,), *((number,) for number in range(n_folds) if len(_find_usable(self.draws, fold, number)))]
        shared = [learn, self.draws, rows, fold, self.seed]
        found: dict[int, Any] = {}
        title = f"learning rules from {len(self.draws.values):,} draws, and again without each fold"
        with tell_progress(title, len(tasks)) as tell:
            for task, result in run_tasks(_learn_part, shared, tasks, n_jobs=self.n_jobs, on_threads=True):
                found[tasks[task][0]] = result
                tell(len(found), "")
        sequence: RuleSequence = found.pop(WHOLE)
        answered, right = np.zeros((2, len(sequence.steps), rows.n_points), dtype=bool)
        for number, judged in found.items():
            answered[:, fold == number], right[:, fold == number] = judged
        return sequence, answered, right

    def _pick(self, sequence: RuleSequence, judged: Judged, floor: float, *, asks_each: bool = True) -> RuleSet | None:
        """Return the set that is delivered: certified by the sequence where rows judge apart, or else judged."""
        if not sequence.steps:
            return None
        refuted = self._find_refuted(sequence, floor) if asks_each else np.zeros(len(sequence.steps), dtype=bool)
        if not self.by_folds:
            bounds = np.nan_to_num(judged.agreement()) if self.on_share else judged.certified_bounds(self.level)
            passed = find_passed(bounds, self._start(sequence.steps, judged, floor), floor)
            kept = passed[~refuted[passed]]
            if len(kept):
                best = self._find_best(sequence, judged, kept)
                if self.on_share:
                    return self._make_set(sequence, judged, best, float(self._bound_judged(sequence, judged)[best]))
                return self._certify(sequence, judged, best, passed, floor)
        bounds = self._measure_judged(sequence, judged)
        passed = np.flatnonzero((bounds >= floor) & ~refuted)
        if not len(passed):
            return None
        best = self._find_best(sequence, judged, passed)
        return self._make_set(sequence, judged, best, float(self._bound_judged(sequence, judged)[best]))

    def _pick_by_subgroup(
        self, sequence: RuleSequence, judged: Judged, floor: float, given: GivenSubgroups
    ) -> RuleSet | None:
        """Return the set that answers most rows of the subgroups in which the rows show the floor."""
        if not sequence.steps:
            return None
        mass, agreement = np.array([(step.mass, step.agreement) for step in sequence.steps]).T
        tested = judge_subgroups(judged, given.names, mass, agreement, floor, self.level)
        heard = np.vstack([tested.speaks, np.zeros_like(tested.speaks[:1])])[tested.codes].T
        spoken = replace(judged, answered=judged.answered & heard, right=judged.right & heard)
        kept = np.flatnonzero(tested.speaks.any(axis=0) & ~self._find_refuted(sequence, floor))
        if not len(kept):
            return None
        best = self._find_best(sequence, spoken, kept)
        found = []
        for number, name in enumerate(tested.names):
            own = judged.of_points(tested.codes == number)
            counts = int(own.weights.sum()), int(own.n_answered[best]), int(own.n_right[best])
            found.append(Subgroup(name, *counts, bool(tested.speaks[number, best]), tested.needed[number]))
        n_unnamed = int(judged.weights[tested.codes < 0].sum())
        n_right, n_units = spoken.count_units()
        # A mixture of subgroups that each keep the floor keeps it too.
        claim = Claim(n_right[best].item(), int(n_units[best]), floor, self.rows.unit)
        figures = float(spoken.coverage()[best]), spoken.answered[best], spoken.right[best]
        rows = None if judged.groups is None else claim_rows(spoken, best, 0.0)
        by = FloorBy(given.columns, tuple(found), n_unnamed, is_certified=True)
        return RuleSet(sequence, sequence.steps[best], claim, True, *figures, rows, by, heard[best])

    def _find_refuted(self, sequence: RuleSequence, floor: float) -> Bools:
        """Return a mask of the steps of which rows show that some rule, by itself, is under the floor."""
        laid, right = self._lay(sequence)
        rows, rules = self.rows, list({(rule.key, rule.label) for step in sequence.steps for rule in step.rules})
        alone: dict[tuple[Key, int], list[float]] = {}
        size = max(1, MOST_CELLS // max(rows.n_points, 1))
        for block in (rules[start : start + size] for start in range(0, len(rules), size)):
            inside = laid.of_boxes([key for key, _ in block])
            correct = inside & np.array([right[label] for _, label in block])
            held, right_there = kernels.unpack(inside, rows.n_points), kernels.unpack(correct, rows.n_points)
            counts = Judged(held, right_there, rows.weights, rows.groups).count_units()
            alone |= zip(block, np.column_stack(counts).tolist(), strict=True)
        refuted = np.zeros(len(sequence.steps), dtype=bool)
        for number, step in enumerate(sequence.steps):
            n_right, n_units = np.array([alone[rule.key, rule.label] for rule in step.rules]).reshape(-1, 2).T
            refuted[number] = (upper_bound(n_right, n_units, self.level / max(len(step.rules), 1)) < floor).any()
        return refuted

    def _measure_judged(self, sequence: RuleSequence, judged: Judged) -> Floats:
        """Return what is compared with the floor where nothing is certified."""
        return np.nan_to_num(judged.agreement()) if self.on_share else self._bound_judged(sequence, judged)

    def _bound_judged(self, sequence: RuleSequence, judged: Judged) -> Floats:
        """Return the bounds where nothing is certified.

        Folds judge other rules than those delivered, so no bound is over the share of the rows, or groups, that these
        answer correctly themselves.
        """
        bounds = judged.bounds(self._level_judged)
        if not self.by_folds:
            return bounds
        n_right, n_units = self._judge_rows(sequence).count_units()
        return np.minimum(bounds, n_right / np.maximum(n_units, 1))

    @property
    def _level_judged(self) -> float:
        """The error of the bounds where nothing is certified; by folds, the delivered rules are not those judged."""
        return level_of_widest(self.level, self.rows.n_units) if self.by_folds else self.level

    def _start(self, steps: tuple[Step, ...], judged: Judged, floor: float) -> int:
        """Return the step at which the sequence starts, which only draws and the number of rows may decide."""
        n_units = judged.expect_units(np.array([step.mass for step in steps]))
        agreement = np.array([step.agreement for step in steps])
        return find_start(pass_chances(n_units, agreement, floor, self.level, has_bets=judged.has_bets))

    def _find_best(self, sequence: RuleSequence, judged: Judged, passed: Ints) -> int:
        """Return the step to read, of those that pass: wide, saying more than one thing, with few conditions."""
        coverage = judged.coverage()
        wide = passed[coverage[passed] >= coverage[passed].max() - WORTH_MORE_ANSWERS]
        varied = np.array([len(set(sequence.steps[number].labels.tolist())) > 1 for number in wide.tolist()])
        if varied.any():
            passed = wide[varied]
        near = passed[coverage[passed] >= coverage[passed].max() - WORTH_MORE_READING]
        return int(min(near.tolist(), key=lambda number: (sequence.steps[number].size, -coverage[number])))

    def _certify(self, sequence: RuleSequence, judged: Judged, best: int, passed: Ints, floor: float) -> RuleSet:
        """Return a certified set: the sequence shows that agreement is at the floor or over it, and no more."""
        n_right, n_units = judged.count_units()
        claim = Claim(n_right[best].item(), int(n_units[best]), floor, self.rows.unit)
        rows = None
        if judged.groups is not None:
            # A second sequence over the same steps: the share of rows is certified if it passes as far as this step.
            reached = judged.part(passed[passed <= best]).rows_reach(floor, self.level).all()
            rows = claim_rows(judged, best, floor if reached else 0.0)
        coverage = float(judged.coverage()[best])
        return RuleSet(
            sequence, sequence.steps[best], claim, True, coverage, judged.answered[best], judged.right[best], rows
        )

    def _make_set(self, sequence: RuleSequence, judged: Judged, best: int, bound: float) -> RuleSet:
        """Return a set that is judged."""
        claim = replace(claim_rows(judged, best, bound), unit=self.rows.unit)
        # The delivered rules answer other rows than their sisters do.
        covers = self._lay(sequence)[0].covers(sequence.steps[best].keys).any(axis=0)
        coverage = float(covers @ self.rows.weights / self.rows.n_rows)
        return RuleSet(
            sequence, sequence.steps[best], claim, False, coverage, judged.answered[best], judged.right[best]
        )


def judge_learned_trees(learner: RuleLearner, floor: float, max_leaves: int) -> tuple[OneTree, ...]:
    """Return what one plain tree and one tree that abstains would do, both learned from the learner's draws.

    The abstaining tree is a large tree that is cut back exactly to ``max_leaves`` leaves, at the boldest price whose
    bound reaches the floor.
    """
    plain, abstaining = learner.plain_tree(max_leaves), learner.choose_tree(max_leaves, floor)
    found = [OneTree("one plain tree", *_read_tree(plain, floor))]
    nothing = OneTree("one tree that abstains", max_leaves, 0.0, np.nan, 0.0, 0, np.nan)
    found.append(nothing if abstaining is None else OneTree(nothing.answer, *_read_tree(abstaining, floor)))
    return tuple(found)


def _read_tree(tree: RuleSet, floor: float) -> tuple[int, float, float, float, int, float]:
    """Return the figures of a tree, in the order of ``OneTree``."""
    boxes = [tree.sequence.grid.to_box(leaf.key) for leaf in tree.step.rules]
    n_questions = count_cuts(condition for box in boxes for condition in box.conditions)
    alone = float(np.mean([leaf.reaches(floor) for leaf in tree.step.rules]))
    return len(tree.step.keys), tree.coverage, tree.claim.share, tree.claim.bound, n_questions, alone


def learn_from_rows(rows: Rows, seed: int, tolerance: Tolerance | None = None) -> RuleLearner:
    """Return a learner with rows as draws, judged by folds, for explainers that a program chose."""
    return RuleLearner(take_as_draws(rows, seed, tolerance), rows, by_folds=True, level=Floor().level, seed=seed)


def _learn_part(
    learn: Learn, draws: LabelledDraws, rows: Rows, fold: Ints, seed: int, number: int
) -> RuleSequence | tuple[Bools, Bools]:
    """Return the sequence of all draws, or what a sister answers, and answers correctly, of the rows of its fold."""
    rng = np.random.default_rng(seed)
    if number == WHOLE:
        return learn(draws, rng)
    own = fold == number
    return learn(draws.take(_find_usable(draws, fold, number)), rng).judge(rows.values[own], rows.labels[own])


def _find_usable(draws: LabelledDraws, fold: Ints, number: int) -> Ints:
    """Return the draws without a parent in a fold."""
    assert draws.parents is not None
    return np.flatnonzero((fold[draws.parents] != number).all(axis=1))
