"""From labelled draws to a sequence of rule sets: grow, propose, choose by the program, measure, order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.candidates.base import Boxes
from oleander.candidates.box_program import BoxCandidate, BoxCandidates, CoverProgram
from oleander.candidates.grid import Bits, Grid, Key, Memberships
from oleander.candidates.nodes import grow_on_answers, grow_trees, lay_nodes
from oleander.candidates.proposing import Proposer, learn_lines
from oleander.draws.labelled import LabelledDraws

# Draws that measure and order the rule sets take no part in choosing them.
SHARE_HELD = 0.15
SHARE_GROWN = 0.45
# A rule must add this share of the draws to be worth reading.
MIN_GAIN = 0.003
# Thresholds on the share of right draws in a rule, from cautious to bold; those at which candidates are proposed.
THRESHOLDS = (
    *(0.995, 0.99, 0.98, 0.97, 0.96, 0.95, 0.94, 0.93, 0.92, 0.91, 0.905, 0.9, 0.89, 0.88, 0.87, 0.86, 0.85, 0.84),
    *(0.82, 0.8, 0.78, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.4, 0.3, 0.2, 0.1),
)
PROPOSED_AT = (0.99, 0.97, 0.95, 0.92, 0.9, 0.85, 0.8, 0.7, 0.5, 0.3, 0.1)
# The numbers of rules that are chosen beside the largest. The sets of one of them are widened at the next threshold.
SIZES = (1, 2, 3, 5, 7, 10, 14, 20, 28, 40)
WIDENED_SIZE = 10
# Draws in a leaf of a plain tree, at least.
MIN_LEAF = 5


@dataclass(frozen=True)
class Step:
    """A set of rules, and how it does on held-back draws."""

    # The widest first. Where several hold, the most faithful answers.
    rules: tuple[BoxCandidate, ...]
    # The minimum share of right draws that a rule was asked for, and the number of rules that were allowed.
    threshold: float
    max_rules: int
    # The terms of the lines that the rules say.
    n_terms: int = 0
    # Share of held-back draws that are answered, and share of those on which the answer is the black box's.
    mass: float = 0.0
    agreement: float = 0.0

    @classmethod
    def choose(cls, candidates: BoxCandidates, chosen: Sequence[int], threshold: float, max_rules: int) -> Self:
        """Return the step of some candidates."""
        rules = [candidates[number] for number in chosen]
        return cls(tuple(sorted(rules, key=lambda rule: -rule.n_draws)), threshold, max_rules)

    @property
    def keys(self) -> tuple[Key, ...]:
        """The boxes of the rules."""
        return tuple(rule.key for rule in self.rules)

    @property
    def labels(self) -> Ints:
        """What each rule says, as a code."""
        return np.array([rule.label for rule in self.rules], dtype=np.intp)

    @cached_property
    def size(self) -> int:
        """The number of conditions and terms to read; a rule without any counts as one."""
        return sum(max(len(rule.key), 1) for rule in self.rules) + self.n_terms


@dataclass(frozen=True, eq=False)
class RuleSequence:
    """Rule sets on one grid, and what they were learned from; a tree has no candidates that a program chose from."""

    grid: Grid
    draws: LabelledDraws
    steps: tuple[Step, ...]
    candidates: BoxCandidates | None = None
    min_gain: float = 0.0

    def lay(self, rows: Floats) -> Memberships:
        """Return where the boxes of all steps hold on some rows."""
        return Memberships.lay(self.grid, rows, {key for step in self.steps for key in step.keys})

    def find_right(self, rows: Floats, labels: Labels) -> dict[int, Bits]:
        """Return as packed bits on which rows each answer of a rule is the black box's."""
        said = sorted({rule.label for step in self.steps for rule in step.rules})
        return dict(zip(said, map(kernels.pack, self.draws.list_right(said, rows, labels)), strict=True))

    def judge(self, laid: Memberships, right: Mapping[int, Bits]) -> tuple[Bools, Bools]:
        """Return masks of shape (n_steps, n_rows): what each step answers, and answers as the black box does."""
        answered, correct = np.zeros((2, len(self.steps), laid.n_rows), dtype=bool)
        for number, judged in enumerate(judge_each(self.steps, laid, right)):
            answered[number], correct[number] = kernels.unpack(judged, laid.n_rows)
        return answered, correct

    def find_order(self, max_rules: int | None = None, *, keep_beaten: bool = False) -> list[int]:
        """Return the steps from cautious to bold, without those that another beats in both mass and agreement."""
        usable = [
            number
            for number, step in enumerate(self.steps)
            if (step.mass > 0 or (keep_beaten and step.rules)) and (max_rules is None or step.max_rules <= max_rules)
        ]
        best, kept = -1.0, []
        boldness = {n: (-self.steps[n].mass, -self.steps[n].agreement, self.steps[n].size) for n in usable}
        for number in sorted(usable, key=boldness.__getitem__):
            if keep_beaten or self.steps[number].agreement > best:
                kept.append(number)
                best = self.steps[number].agreement
        return kept[::-1]


def learn_sequence(
    draws: LabelledDraws,
    rng: np.random.Generator,
    *,
    max_rules: Sequence[int] = (10,),
    floors: Sequence[float] = (0.9,),
    limits: Boxes = Boxes(),  # noqa: B008
    min_support: int = 1,
) -> RuleSequence:
    """Learn the widest rule sets for thresholds from cautious to bold, and for each number of rules.

    The computation for more rules, or for a lower floor, begins with that for fewer, or for a higher one. So the sets
    found are the same there, and what is added can only be wider. Floors between those at which candidates are proposed
    are the exception: there, candidates are proposed that lower floors do not have. Smaller numbers of rules are tried
    too. Each set stands there as it is and with corrections, measured on held-back draws and not yet ordered.
    """
    draws = draws.hide(limits.forbid)
    grid, learns, held = split_draws(draws, rng)
    # Boxes grow on half of the draws that choose them, so that the other half corrects their optimism.
    grows = learns[: round(SHARE_GROWN * len(draws.values))]
    trees, members = grow_trees(draws, grows, grid, rng), lay_draws(grid, learns)
    min_gain = max(MIN_GAIN * len(learns), float(min_support))
    if draws.truth is not None:
        draws = learn_lines(draws, grows, learns, trees, members, limits, min_gain)
    proposer = Proposer(draws, learns, trees, members, limits, min_gain)
    sizes = {size for size in SIZES if size < max(max_rules)} | set(max_rules)
    steps: list[Step] = []
    widest: dict[int, list[int]] = {}
    for threshold in list_thresholds(floors):
        proposer.add_pool(threshold)
        if threshold in PROPOSED_AT or threshold in floors:
            proposer.propose(threshold, widest.get(WIDENED_SIZE, ()))
        program = CoverProgram(proposer.candidates, threshold, min_gain)
        fewer: list[int] = []
        for size in sorted(sizes | {size for size in SIZES if size <= WIDENED_SIZE}):
            widest[size] = program.search(size, [widest.get(size, []), fewer])
            # A number of rules that only this call asks for starts no other search, which would differ without it.
            if size in SIZES:
                fewer = widest[size]
            if size in sizes:
                kept = program.without_weak(widest[size])
                for chosen in (kept, program.with_corrections(kept, size)):
                    steps.append(Step.choose(proposer.candidates, chosen, threshold, size))
    n_terms = draws.count_terms()
    steps = [replace(step, n_terms=int(n_terms[step.labels].sum())) for step in steps]
    return RuleSequence(grid, draws, measure_steps(grid, draws, held, steps), proposer.candidates, min_gain)


def list_thresholds(floors: Sequence[float]) -> list[float]:
    """Return the thresholds from the most cautious down to the lowest floor."""
    return sorted({*(threshold for threshold in THRESHOLDS if threshold > min(floors)), *floors}, reverse=True)


def measure_steps(grid: Grid, draws: LabelledDraws, held: Ints, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps with their mass and agreement on some of the draws."""
    boxes, right, measured = lay_draws(grid, held), kernels.pack(draws.find_right(held)), []
    for step, judged in zip(steps, judge_each(steps, boxes, right), strict=True):
        n_answered, n_right = kernels.count_bits(judged).tolist()
        agreement = n_right / n_answered if n_answered else 0.0
        measured.append(replace(step, mass=n_answered / boxes.n_rows, agreement=agreement))
    return tuple(measured)


def judge_each(steps: Sequence[Step], boxes: Memberships, right: Bits | Mapping[int, Bits]) -> Iterator[Bits]:
    """Yield which rows each step answers, and answers correctly, as packed bits of shape (2, n_words).

    ``right`` says for each answer on which rows it is right. Sets of rules that several steps have are judged once.
    """
    known: dict[tuple[BoxCandidate, ...], Bits] = {}
    for step in steps:
        if step.rules not in known:
            answered, correct = np.zeros((2, boxes.n_words), dtype=np.uint64)
            for rule in sorted(step.rules, key=lambda rule: -rule.fidelity):
                inside = boxes.of_box(rule.key)
                correct |= inside & ~answered & right[rule.label]
                answered |= inside
            known[step.rules] = np.stack([answered, correct])
        yield known[step.rules]


def learn_plain_tree(draws: LabelledDraws, rng: np.random.Generator, max_leaves: int) -> RuleSequence:
    """Grow one tree that answers everywhere: a sequence of one step; of two trees, the better on held-back draws."""
    grid, learns, held = split_draws(draws, rng)
    leaves = BoxCandidates(lay_draws(grid, learns), kernels.pack(draws.find_right(learns)))
    steps = []
    for tree in grow_on_answers(draws, learns, [column.take(learns) for column in grid.columns], max_leaves, MIN_LEAF):
        keys, inside = lay_nodes(tree, leaves.draws)
        says = kernels.count_common(inside, np.arange(len(inside)), leaves.right).argmax(axis=1)
        chosen = [leaves.add(keys[leaf], int(says[leaf])) for leaf in tree.leaves.tolist()]
        steps.append(Step.choose(leaves, chosen, 0.0, max_leaves))
    measured = measure_steps(grid, draws, held, steps)
    return RuleSequence(grid, draws, (max(measured, key=lambda step: step.agreement),))


def split_draws(draws: LabelledDraws, rng: np.random.Generator) -> tuple[Grid, Ints, Ints]:
    """Return a grid, the draws to learn from, and those that measure the steps."""
    held, learns = np.split(rng.permutation(len(draws.values)), [round(SHARE_HELD * len(draws.values))])
    return Grid.learn(draws.values, draws.schema), learns, held


def lay_draws(grid: Grid, some: Ints) -> Memberships:
    """Return memberships of some of the draws that a grid was learned from."""
    return Memberships(grid, grid.codes.take(some, axis=1))
