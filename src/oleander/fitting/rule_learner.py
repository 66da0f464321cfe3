"""Rules that are learned and chosen on draws, and judged on rows: which set is delivered, and what is claimed of it."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.candidates.base import Boxes
from oleander.candidates.box_program import CoverProgram
from oleander.candidates.grid import Bits, Memberships
from oleander.data.rows import Rows, count_units
from oleander.draws.labelled import LabelledDraws
from oleander.fitting.rule_sequence import RuleSequence, Step, learn_plain_tree, learn_sequence
from oleander.judging.bounds import level_of_widest, lower_bound, upper_bound
from oleander.judging.certificate import (
    PART_OF_AGREEMENT,
    Certificate,
    Claim,
    SystemCertificate,
    as_system,
    certify_system,
    claim_rows,
)
from oleander.judging.fixed_sequence import Judged, find_passed, find_start, pass_chances
from oleander.judging.floor import Floor
from oleander.judging.subgroups import FloorBy, JudgedSubgroups, judge_subgroups
from oleander.messages import show_lower
from oleander.results.fit_record import OneTree
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
Learn = Callable[[LabelledDraws, np.random.Generator], RuleSequence]


@dataclass(eq=False)
class RuleLearner:
    """Labelled draws to learn from, and rows to judge on."""

    draws: LabelledDraws
    # The judging rows. They made no draw, unless ``by_folds`` is set.
    rows: Rows
    # Whether the draws were made from the judging rows. Then each fold of the rows is answered by a sister sequence
    # that learns only from draws without a parent in that fold.
    by_folds: bool
    # What is compared with the floor, and the confidence of bounds.
    floor: Floor = Floor()  # noqa: RUF009 (frozen)
    # What no rule may do.
    limits: Boxes = Boxes()  # noqa: RUF009
    seed: int = 0
    n_jobs: int | None = None
    # The subgroup of each judging row, in each of which the floor must hold or the rules are silent.
    subgroups: Labels | None = None
    # Whether the rows may count as independent evidence.
    can_certify: bool = True
    # What was learned and judged so far.
    judged: dict[Any, "JudgedSequence"] = field(default_factory=dict, init=False, repr=False)

    @property
    def default_number(self) -> int:
        """The number of rules that are chosen where none is given."""
        n_classes = len(self.draws.classes) if self.draws.tolerance is None else 1
        return max(FEWEST_RULES, RULES_PER_CLASS * n_classes)

    def choose(self, max_rules: int, min_fidelity: float) -> "RuleSet | None":
        """Return the widest set that passes, or a shorter one that is nearly as wide; None where no set passes."""
        return self.judge_sets((max_rules,), (min_fidelity,)).choose(min_fidelity)

    def judge_sets(self, max_rules: Sequence[int], min_fidelity: Sequence[float]) -> "JudgedSequence":
        """Return the widest sets for these numbers of rules and floors, judged on the rows."""
        learn = partial(
            learn_sequence,
            max_rules=max_rules,
            floors=min_fidelity,
            limits=self.limits,
            min_support=self.floor.min_support,
        )
        return self.judge(("rules", tuple(max_rules), tuple(min_fidelity)), learn, max_rules)

    def plain_tree(self, max_leaves: int) -> "RuleSet":
        """Return one tree that answers every row, learned from the same draws; nothing is certified of it."""
        judged = self.judge(("plain", max_leaves), partial(learn_plain_tree, max_leaves=max_leaves))
        return judged.take(0, float(judged.answers.bounds(self.floor.level)[0]))

    def judge(self, key: Any, learn: Learn, numbers: Sequence[int | None] = (None,)) -> "JudgedSequence":
        """Return a sequence, ordered from cautious to bold for each number of rules; it is learned once."""
        if key not in self.judged:
            sisters = None
            if self.by_folds:
                sequence, sisters = self._learn_with_sisters(learn)
            else:
                with tell_progress(f"learning rules from {len(self.draws.values):,} draws"):
                    sequence = learn(self.draws, np.random.default_rng(self.seed))
            is_blind = self.by_folds and len(self.draws.values) < ENOUGH_TO_ORDER
            orders = (sequence.find_order(number, keep_beaten=is_blind) for number in numbers)
            order = list(dict.fromkeys(step for steps in orders for step in steps))
            sequence = replace(sequence, steps=tuple(sequence.steps[number] for number in order))
            self.judged[key] = JudgedSequence(self, sequence, None if sisters is None else sisters.part(order))
        return self.judged[key]

    def _learn_with_sisters(self, learn: Learn) -> tuple[RuleSequence, Judged]:
        """Return a sequence, and what its sisters say of rows that made no draw of theirs."""
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
        return sequence, Judged(answered, right, rows.weights, rows.groups)


def _learn_part(
    learn: Learn, draws: LabelledDraws, rows: Rows, fold: Ints, seed: int, number: int
) -> RuleSequence | tuple[Bools, Bools]:
    """Return the sequence of all draws, or what a sister answers, and answers correctly, of the rows of its fold."""
    rng = np.random.default_rng(seed)
    if number == WHOLE:
        return learn(draws, rng)
    values, labels = rows.values[fold == number], rows.labels[fold == number]
    sister = learn(draws.take(_find_usable(draws, fold, number)), rng)
    return sister.judge(sister.lay(values), sister.find_right(values, labels))


def _find_usable(draws: LabelledDraws, fold: Ints, number: int) -> Ints:
    """Return the draws without a parent in a fold."""
    assert draws.parents is not None
    return np.flatnonzero((fold[draws.parents] != number).all(axis=1))


@dataclass(frozen=True, eq=False)
class JudgedSequence:
    """Rule sets from cautious to bold, what the judging rows say of them, and the choice of the set to deliver."""

    # Whose rows judge.
    learner: RuleLearner
    sequence: RuleSequence
    # What sister sequences say of each row, where folds judge.
    sisters: Judged | None

    @cached_property
    def laid(self) -> Memberships:
        """Where the boxes of all rules hold on the judging rows."""
        return self.sequence.lay(self.learner.rows.values)

    @cached_property
    def right(self) -> dict[int, Bits]:
        """On which judging rows each answer of a rule is the black box's."""
        return self.sequence.find_right(self.learner.rows.values, self.learner.rows.labels)

    @cached_property
    def own(self) -> Judged:
        """What the sets themselves answer, and answer correctly, of the judging rows."""
        return Judged(*self.sequence.judge(self.laid, self.right), self.learner.rows.weights, self.learner.rows.groups)

    @property
    def answers(self) -> Judged:
        """What rules that were not learned from the judging rows answer: the sets themselves, or their sisters."""
        return self.own if self.sisters is None else self.sisters

    @property
    def level(self) -> float:
        """The error of the bounds where nothing is certified; by folds, the delivered rules are not those judged."""
        level = self.learner.floor.level
        return level if self.sisters is None else level_of_widest(level, self.learner.rows.n_units)

    @cached_property
    def bounds(self) -> Floats:
        """The bounds on agreement where nothing is certified."""
        bounds = self.answers.bounds(self.level)
        if self.sisters is None:
            return bounds
        # Folds judge other rules than those delivered, so no bound is over the share that these answer correctly.
        n_right, n_units = self.own.count_units()
        return np.minimum(bounds, n_right / np.maximum(n_units, 1))

    @property
    def measured(self) -> Floats:
        """What is compared with the floor where nothing is certified."""
        return np.nan_to_num(self.answers.agreement()) if self.learner.floor.on == "share" else self.bounds

    def choose(self, min_fidelity: float) -> "RuleSet | None":
        """Return the set to deliver: the fixed sequence certifies it where rows judge apart, or else it is judged."""
        on_share, level = self.learner.floor.on == "share", self.learner.floor.level
        if not self.sequence.steps:
            return None
        refuted = self.find_refuted(min_fidelity)
        mass, agreement = np.array([(step.mass, step.agreement) for step in self.sequence.steps]).T
        if self.learner.subgroups is not None:
            names = self.learner.subgroups
            tested = judge_subgroups(self.answers, names, mass, agreement, min_fidelity, level)
            return self._choose_by_subgroup(tested, min_fidelity, refuted)
        if self.sisters is None:
            # Only draws and the number of rows may decide where the sequence starts.
            start = find_start(pass_chances(self.answers, mass, agreement, min_fidelity, level))
            bounds = self.measured if on_share else self.answers.certified_bounds(level)
            passed = find_passed(bounds, start, min_fidelity)
            kept = passed[~refuted[passed]]
            if len(kept):
                best = self._find_best(self.answers, kept)
                return self.take(best) if on_share else self._certify(best, passed, min_fidelity)
        passed = np.flatnonzero((self.measured >= min_fidelity) & ~refuted)
        return self.take(self._find_best(self.answers, passed)) if len(passed) else None

    def choose_system(self, min_fidelity: float, target: float) -> "RuleSet | None":
        """Return the widest set with which a router says what the black box says on a share of all rows."""
        if not self.sequence.steps:
            return None
        # A sequence of its own starts at the most cautious set: a row that is not answered cannot be wrong, so a bolder
        # start would gain nothing.
        bounds = as_system(self.answers).certified_bounds(PART_OF_AGREEMENT * self.learner.floor.level)
        passed = find_passed(bounds, 0, target) if self.sisters is None else np.flatnonzero(bounds >= target)
        passed = passed[~self.find_refuted(min_fidelity)[passed]]
        return self.take(self._find_best(self.answers, passed)) if len(passed) else None

    def choose_each(
        self, max_rules: Sequence[int], min_fidelity: Sequence[float]
    ) -> dict[tuple[int, float], "RuleSet | None"]:
        """Return the widest set that is judged to keep each floor with each number of rules; nothing is certified."""
        # A set that keeps a higher floor with fewer rules is always one of those that are compared, so more rules never
        # answer fewer draws, and neither does a lower floor.
        steps, measured = self.sequence.steps, self.measured
        found: dict[tuple[int, float], RuleSet | None] = {}
        for number, floor in itertools.product(max_rules, min_fidelity):
            kept = [
                place
                for place, step in enumerate(steps)
                if step.max_rules <= number and step.threshold >= floor and measured[place] >= floor
            ]
            widest = max(kept, key=lambda place: (steps[place].mass, -steps[place].size), default=None)
            found[number, floor] = None if widest is None else self.take(widest)
        return found

    def take(self, place: int, bound: float | None = None) -> "RuleSet":
        """Return a set that is judged, by default with its bound where nothing is certified."""
        bound = float(self.bounds[place]) if bound is None else bound
        claim = replace(claim_rows(self.answers, place, bound), unit=self.learner.rows.unit)
        return RuleSet(self, place, Certificate(claim, self.learner.floor.confidence))

    def _certify(self, best: int, passed: Ints, min_fidelity: float) -> "RuleSet":
        """Return a set of which the fixed sequence shows that agreement is at least the floor, and no more."""
        rows = None
        if self.answers.groups is not None:
            # A second sequence over the same steps: the share of rows is certified if it passes as far as this step.
            before = self.answers.part(passed[passed <= best])
            reached = before.rows_reach(min_fidelity, self.learner.floor.level).all()
            rows = claim_rows(self.answers, best, min_fidelity if reached else 0.0)
        certificate = Certificate(self._claim(self.answers, best, min_fidelity), self.learner.floor.confidence, rows)
        return RuleSet(self, best, certificate, self.learner.can_certify)

    def _choose_by_subgroup(self, tested: JudgedSubgroups, min_fidelity: float, refuted: Bools) -> "RuleSet | None":
        """Return the set that answers most rows of the subgroups in which the rows show the floor."""
        answers, heard = self.answers, tested.hear()
        spoken = replace(answers, answered=answers.answered & heard, right=answers.right & heard)
        kept = np.flatnonzero(tested.speaks.any(axis=0) & ~refuted)
        if not len(kept):
            return None
        best = self._find_best(spoken, kept)
        # A mixture of subgroups that each keep the floor keeps it too.
        rows = None if answers.groups is None else claim_rows(spoken, best, 0.0)
        certificate = Certificate(self._claim(spoken, best, min_fidelity), self.learner.floor.confidence, rows)
        by = tested.describe(answers, best, is_certified=self.learner.can_certify)
        return RuleSet(self, best, certificate, by.is_certified, by, heard[best])

    def _claim(self, answers: Judged, place: int, bound: float) -> Claim:
        n_right, n_units = answers.count_units()
        return Claim(n_right[place].item(), int(n_units[place]), bound, self.learner.rows.unit)

    def _find_best(self, answers: Judged, passed: Ints) -> int:
        """Return the step to read, of those that pass: wide, saying more than one thing, with few conditions."""
        coverage, steps = answers.coverage(), self.sequence.steps
        wide = passed[coverage[passed] >= coverage[passed].max() - WORTH_MORE_ANSWERS]
        varied = np.array([len(set(steps[number].labels.tolist())) > 1 for number in wide.tolist()])
        if varied.any():
            passed = wide[varied]
        near = passed[coverage[passed] >= coverage[passed].max() - WORTH_MORE_READING]
        return int(min(near.tolist(), key=lambda number: (steps[number].size, -coverage[number])))

    def find_refuted(self, min_fidelity: float) -> Bools:
        """Return a mask of the steps of which rows show that some rule, by itself, is under the floor."""
        rows, steps = self.learner.rows, self.sequence.steps
        refuted = np.zeros(len(steps), dtype=bool)
        if self.sequence.candidates is None:
            # The leaves of a tree are not tested by themselves.
            return refuted
        for number, step in enumerate(steps):
            held = self.laid.covers(step.keys)
            right = held & kernels.unpack(np.array([self.right[rule.label] for rule in step.rules]), rows.n_points)
            n_right, n_units = Judged(held, right, rows.weights, rows.groups).count_units()
            level = self.learner.floor.level / len(step.rules)
            refuted[number] = (upper_bound(n_right, n_units, level) < min_fidelity).any()
        return refuted

    def why_nothing(self, min_fidelity: float) -> str:
        """Return a sentence that says how near the best set comes to the floor, and what to do."""
        draws, n_sets, n_units, unit = (
            self.sequence.draws,
            len(self.sequence.steps),
            self.learner.rows.n_units,
            self.learner.rows.unit,
        )
        start = f"min_fidelity={min_fidelity:g}"
        if not n_sets:
            return (
                f"{start}: no rule matches the model often enough on {len(draws.values):,} draws. Lower min_fidelity, "
                "or give more draws."
            )
        if self.learner.subgroups is not None:
            return (
                f"{start} is not shown within any subgroup of floor_by, by any of {n_sets} rule sets. Lower "
                f"min_fidelity, or give more {unit} or larger subgroups."
            )
        best = int(self.measured.argmax())
        claim = self._claim(self.answers, best, float(self.measured[best]))
        if claim.bound >= min_fidelity:
            return (
                f"{start} is not kept by every rule: in each of {n_sets} rule sets, the rows show that some rule is "
                "under it. Give a background that resembles the rows more, or lower min_fidelity."
            )
        highest, shown = "", show_lower(claim.bound)
        if self.learner.floor.on == "bound" and float(lower_bound(n_units, n_units, self.level)) < min_fidelity:
            highest = f" {describe_highest(n_units, unit, self.level)}"
        cure = f"Give min_fidelity={shown} or less" if float(shown) > 0 else "Lower min_fidelity"
        wider = "" if draws.tolerance is None else " A wider tolerance lets rules answer more."
        return (
            f"{start} is not reached: of {n_sets} rule sets, the best matches the model on "
            f"{show_counts(claim, f'answered {unit}')}, which shows {shown}.{highest} {cure}, or more {unit}, which "
            f"need no labels.{wider}"
        )


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Rules that may be delivered, and what rows say of them."""

    judged: JudgedSequence
    # Their place in the sequence.
    place: int
    # What is claimed of the answers.
    certificate: Certificate
    # Otherwise they were judged: the best of several was taken without paying for the choice.
    is_certified: bool = False
    # The subgroups that the rules speak to, with a floor in each; None where there is one floor.
    floor_by: FloorBy | None = None
    # The judging rows of these subgroups; None where all are.
    heard: Bools | None = None

    @property
    def sequence(self) -> RuleSequence:
        """The sequence that they are a step of."""
        return self.judged.sequence

    @property
    def step(self) -> Step:
        """The rules."""
        return self.sequence.steps[self.place]

    @cached_property
    def covers(self) -> Bools:
        """A mask of the judging rows where each rule holds and is heard, of shape (n_rules, n_points)."""
        covers = self.judged.laid.covers(self.step.keys)
        return covers if self.heard is None else covers & self.heard

    @property
    def coverage(self) -> float:
        """The share of the judging rows that the rules answer. By folds, their sisters answer other rows."""
        rows = self.judged.learner.rows
        return float(self.covers.any(axis=0) @ rows.weights / rows.n_rows)

    def claim_system(self, target: float | None = None) -> SystemCertificate:
        """Return what may be claimed of a router with these rules, of which a sequence has shown the target."""
        judged, n_steps = self.judged, len(self.sequence.steps)
        is_certified = judged.learner.can_certify and judged.sisters is None
        return certify_system(
            judged.answers, self.place, judged.learner.floor.level, n_steps, target=target, is_certified=is_certified
        )

    def prove(self) -> tuple[Proof, int]:
        """Return how close the rules are to the widest set of as many candidates, and how many reach the threshold."""
        candidates, rules = self.sequence.candidates, self.step.rules
        assert candidates is not None
        program = CoverProgram(candidates, self.step.threshold, self.sequence.min_gain)
        return program.prove([candidates.add(rule.key, rule.label) for rule in rules]), len(program.allowed)


def judge_plain_tree(learner: RuleLearner, floor: float, max_leaves: int) -> OneTree:
    """Return what one tree that answers every row would do, learned from the learner's draws."""
    tree = learner.plain_tree(max_leaves)
    claim = tree.certificate.answers
    return OneTree(
        rules=len(tree.step.rules),
        coverage=tree.coverage,
        agreement=claim.share,
        bound=claim.bound,
        leaves_alone=float(np.mean([leaf.reaches(floor) for leaf in tree.step.rules])),
    )
