"""Sequences of rule sets, learned once and judged on many splits of the rows, so that no single split decides.

They depend on the draws only. The judging rows and the new rows of a case are pooled and split again: one part lets a
set speak, and its answers are measured on the other.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.cases import Case
from benchmarks.journal import Row
from benchmarks.outside.task import SILENT, Steps, Student, make_steps
from benchmarks.rivals.abstaining_tree import choose_tree
from benchmarks.subjects.field.judge import measure_step, pick_step
from benchmarks.subjects.field.lesson import Lesson, Widening
from benchmarks.subjects.quality.measures import NO_ANSWER, count_cuts, measure_answers
from benchmarks.subjects.quality.methods import Budget, Effort
from benchmarks.tables import mean
from oleander import kernels
from oleander.arrays import Bools, Floats, Ints
from oleander.candidates.box_program import CoverProgram
from oleander.data.rows import Rows, count_units
from oleander.fitting.rule_learner import RuleLearner, RuleSet
from oleander.fitting.rule_sequence import SIZES, RuleSequence, Step, learn_sequence, list_thresholds
from oleander.fitting.rules_on_draws import deliver_rules

# Speaking leaves of the trees among which the one is taken that asks no more than the rules do.
LEAVES = (2, 3, 5, 7, 10, 14, 20, 28, 40, 56)
N_STUDENT_TREES = 100
NUMBERS, FLOORS = (1, 2, 3, 5, 10, 20), (0.8, 0.85, 0.9, 0.95)
# Takes a mask of the rows that judge, and measures the answers on the others.
Measure = Callable[[Bools], Row]
Search = Callable[[CoverProgram, int, list[list[int]]], list[int]]


def pool_rows(case: Case, effort: Effort) -> Lesson:
    """Return draws around the background, and the rows to explain and to measure on as the rows of one lesson."""
    train, explain, test = case.parts
    return Lesson.draw(replace(case, parts=(train, np.concatenate([explain, test]), test)), effort.n_learned_from)


def split_again(case: Case, rows: Rows, n_splits: int) -> Iterator[Bools]:
    """Yield masks of the rows that judge: as many rows as in the case, or groups, drawn at random."""
    n_judges = count_units(len(case.explain), None if case.groups is None else case.groups.to_numpy())
    unit = np.arange(rows.n_points) if rows.groups is None else np.unique(rows.groups, return_inverse=True)[1]
    for number in range(n_splits):
        drawn = np.random.default_rng([case.seed, number]).permutation(unit.max() + 1)[:n_judges]
        yield np.isin(unit, drawn)


def measure_resplits(method: str, case: Case, budget: Budget, effort: Effort, n_splits: int) -> Row:
    """Learn once and return the means of the measures over the splits; seconds are those of learning."""
    lesson = pool_rows(case, effort)
    start = time.process_time()
    measure = LEARNED[method](lesson, budget)
    seconds = time.process_time() - start
    lines = [measure(judges) for judges in split_again(case, lesson.rows, n_splits)]
    # A share of no row is left out.
    means = {name: mean(value for line in lines if (value := line[name]) == value) for name in NO_ANSWER}
    return {**means, "splits": n_splits, "processor seconds": seconds}


def make_learner(lesson: Lesson) -> RuleLearner:
    """Return the learner of the default."""
    return RuleLearner(lesson.draws, lesson.rows, by_folds=False, seed=lesson.seed)


def learn_rules(lesson: Lesson, budget: Budget, max_rules: int | None = None) -> Measure:
    """Learn as the default does."""
    learner = make_learner(lesson)
    number = max_rules or learner.default_number
    return measure_each(learner, lambda learner: learner.choose(number, budget.min_fidelity), budget)


def learn_tree(lesson: Lesson, budget: Budget, max_leaves: int) -> Measure:
    """Learn one tree that abstains."""

    def choose(learner: RuleLearner) -> RuleSet | None:
        return choose_tree(learner, max_leaves, budget.min_fidelity)

    return measure_each(make_learner(lesson), choose, budget, is_tree=True)


def learn_equal_tree(lesson: Lesson, budget: Budget) -> Measure:
    """Learn trees that abstain; the widest on the judging rows speaks that asks no more than the default's rules do."""

    def choose(learner: RuleLearner) -> RuleSet | None:
        rules = learner.choose(learner.default_number, budget.min_fidelity)
        most = math.inf if rules is None else rules.step.size
        trees = [choose_tree(learner, max_leaves, budget.min_fidelity) for max_leaves in LEAVES]
        short = [tree for tree in trees if tree is not None and count_tree_questions(tree) <= most]
        widest = max(short, key=lambda tree: tree.coverage, default=None)
        # Each tree was certified for itself, the widest of several was not.
        return None if widest is None else replace(widest, is_certified=False)

    return measure_each(make_learner(lesson), choose, budget, is_tree=True)


def count_tree_questions(tree: RuleSet) -> int:
    """Return the number of distinct questions above the speaking leaves."""
    boxes = [tree.sequence.grid.to_box(leaf.key) for leaf in tree.step.rules]
    return count_cuts(condition for box in boxes for condition in box.conditions)


def measure_each(
    learner: RuleLearner, choose: Callable[[RuleLearner], RuleSet | None], budget: Budget, *, is_tree: bool = False
) -> Measure:
    """Learn, and return what measures the set that is chosen with some rows as judges."""
    choose(learner)

    def measure(judges: Bools) -> Row:
        own, new = learner.rows.part(judges), learner.rows.part(~judges)
        return measure_set(choose(judge_by(learner, own)), new, budget.min_fidelity, is_tree=is_tree)

    return measure


def judge_by(learner: RuleLearner, rows: Rows) -> RuleLearner:
    """Return a learner of the same sequences, judged on other rows that made no draw; nothing is learned again."""
    assert not learner.by_folds, "sequences of draws from the judging rows are judged by folds only"
    other = replace(learner, rows=rows)
    other.judged.update({key: replace(judged, learner=other) for key, judged in learner.judged.items()})
    return other


def measure_set(found: RuleSet | None, new: Rows, floor: float, *, is_tree: bool = False) -> Row:
    """Return the measures of a set that some rows let speak, on new rows."""
    if found is None:
        return NO_ANSWER
    explainers = deliver_rules(found)[0]
    return measure_answers(
        explainers.evaluate(new.values, new.labels),
        explainers.members,
        new.values,
        new.labels,
        floor,
        is_certified=found.is_certified,
        is_tree=is_tree,
    )


def learn_forest(lesson: Lesson, budget: Budget) -> Measure:
    """Learn a forest, which answers where the share of its trees that agree exceeds a threshold: too large to read."""
    held, widen = lesson.is_held, Widening.learn(lesson.draws.values, lesson.rows.schema).apply
    forest = RandomForestClassifier(N_STUDENT_TREES, random_state=lesson.seed, n_jobs=1)
    forest.fit(widen(lesson.draws.values[~held]), lesson.draws.codes[~held])

    def answer(values: Floats) -> tuple[Ints, Floats]:
        votes = forest.predict_proba(widen(values))
        return forest.classes_[votes.argmax(axis=1)], votes.max(axis=1)

    student = Student(answer, np.zeros(0, dtype=np.intp), 0)
    steps = make_steps([student], list_parts(lesson), budget.max_rules)
    return partial(measure_steps, steps, lesson, budget.min_fidelity)


def list_parts(lesson: Lesson) -> list[Floats]:
    """Return held-back draws, the pooled rows and new rows, which ``Steps`` asks for and ``measure_steps`` replaces."""
    return [lesson.draws.values[lesson.is_held], lesson.rows.values, lesson.new]


def learn_again(lesson: Lesson, budget: Budget, search: Search) -> Measure:
    """Learn candidates as the default does, and choose among them again; held-back draws order what is chosen."""
    sequence = propose(lesson, budget)
    steps = tuple(choose_again(sequence, max(step.max_rules for step in sequence.steps), budget.min_fidelity, search))
    sequence = replace(sequence, steps=steps)
    held, rows, new = (find_answers(sequence, part) for part in list_parts(lesson))
    n_rules, sizes = np.array([(len(step.rules), step.size) for step in steps]).T
    return partial(measure_steps, Steps(held, rows, new, n_rules, sizes, sizes), lesson, budget.min_fidelity)


def find_answers(sequence: RuleSequence, rows: Floats) -> Ints:
    """Return codes of answers of shape (n_steps, n_rows); -1 where a step is silent."""
    laid, said = sequence.lay(rows), np.full((len(sequence.steps), len(rows)), SILENT)
    for step, line in zip(sequence.steps, said, strict=True):
        # The most faithful rule answers, and of equal ones the first.
        ranked = sorted(step.rules, key=lambda rule: -rule.fidelity)[::-1]
        for rule, inside in zip(ranked, laid.covers([rule.key for rule in ranked]), strict=True):
            line[inside] = rule.label
    return said


def propose(lesson: Lesson, budget: Budget, max_rules: int | None = None) -> RuleSequence:
    """Return a sequence, with its candidates, that is learned from the draws that are not held back."""
    learns = replace(lesson, draws=lesson.draws.take(np.flatnonzero(~lesson.is_held)))
    learner, rng = make_learner(learns), np.random.default_rng(lesson.seed)
    number = max_rules or budget.max_explainers or learner.default_number
    return learn_sequence(
        learner.draws, rng, max_rules=(number,), floors=(budget.min_fidelity,), min_support=learner.floor.min_support
    )


def choose_again(sequence: RuleSequence, max_rules: int, floor: float, search: Search) -> Iterator[Step]:
    """Yield the sets that a search chooses at every threshold, of every size, with and without corrections."""
    assert sequence.candidates is not None
    widest: dict[int, list[int]] = {}
    for threshold in list_thresholds([floor]):
        program = CoverProgram(sequence.candidates, threshold, sequence.min_gain)
        fewer: list[int] = []
        for size in sorted({*(size for size in SIZES if size < max_rules), max_rules}):
            fewer = widest[size] = search(program, size, [widest.get(size, []), fewer])
            kept = program.without_weak(fewer)
            for chosen in (kept, program.with_corrections(kept, size)):
                yield Step.choose(sequence.candidates, chosen, threshold, size)


def search_greedily(program: CoverProgram, max_rules: int, _: list[list[int]]) -> list[int]:
    """Return at most ``max_rules`` candidates, each of which adds as many draws as possible to those before."""
    bits, every_one = program.candidates.bits(program.allowed), np.arange(len(program.allowed))
    left = ~np.zeros(bits.shape[1:], dtype=np.uint64)
    chosen: list[int] = []
    while len(chosen) < min(max_rules, len(bits)):
        gains = kernels.count_common(bits, every_one, left[None])[:, 0]
        best = int(gains.argmax())
        if not gains[best]:
            break
        chosen.append(int(program.allowed[best]))
        left &= ~bits[best]
    return chosen


def measure_steps(steps: Steps, lesson: Lesson, floor: float, judges: Bools) -> Row:
    """Return the measures of the step that some rows let speak, as the judge of the field picks it."""
    part = replace(lesson, rows=lesson.rows.part(judges), row_codes=lesson.row_codes[judges])
    own = replace(steps, judged=steps.judged[:, judges], new=steps.judged[:, ~judges])
    picked = pick_step(own, part, floor)
    unknown = dict.fromkeys(("certified", "certified, missed", "worst rule alone", "rules under .8 alone"))
    if picked is None:
        return NO_ANSWER | unknown
    found = measure_step(own, picked, lesson.row_codes[~judges], floor)
    # A forest has no rule to read.
    sizes = {"rules": found["rules"] or None, "conditions in all": int(own.conditions[picked]) or None}
    return NO_ANSWER | unknown | found | sizes | {"silent": found["coverage"] == 0}


SEARCHES: dict[str, Search] = {"greedy": search_greedily, "program": CoverProgram.search}
LEARNED: dict[str, Callable[[Lesson, Budget], Measure]] = {
    "default": learn_rules,
    "default, K = 10": partial(learn_rules, max_rules=10),
    "program, same candidates": partial(learn_again, search=SEARCHES["program"]),
    "greedy, same candidates": partial(learn_again, search=SEARCHES["greedy"]),
    "abstaining tree on draws, 10 leaves": partial(learn_tree, max_leaves=10),
    "abstaining tree on draws, 20 leaves": partial(learn_tree, max_leaves=20),
    "abstaining tree on draws, equal reading": learn_equal_tree,
    "forest on draws": learn_forest,
}


def measure_choice(case: Case, budget: Budget, effort: Effort, max_rules: int) -> Row:
    """Return what the widest sets at the floor cover of the draws: chosen greedily, by the program, and its bound."""
    sequence = propose(pool_rows(case, effort), budget, max_rules)
    candidates = sequence.candidates
    assert candidates is not None
    program = CoverProgram(candidates, budget.min_fidelity, sequence.min_gain)
    found = {}
    for name, search in SEARCHES.items():
        steps = choose_again(sequence, max_rules, budget.min_fidelity, search)
        sets = [step.rules for step in steps if step.threshold == budget.min_fidelity]
        numbers = ([candidates.add(rule.key, rule.label) for rule in rules] for rules in sets)
        found[name] = max(numbers, key=candidates.count)
    if not found["program"]:
        return {"candidates": 0}
    proof = program.prove(found["program"])
    return {
        "candidates": len(program.allowed),
        **{name: candidates.count(chosen) / candidates.n_draws for name, chosen in found.items()},
        "bound": proof.bound / candidates.n_draws,
        "gap": proof.gap,
    }


def measure_sweep(way: str, case: Case, effort: Effort, n_splits: int) -> Row:
    """Return the coverage of new rows by K and floor, and how often more rules or a lower floor cover fewer draws."""
    lesson = pool_rows(case, effort)
    learner, choose = make_learner(lesson), SWEEPS[way]
    choose(learner)
    cells: dict[tuple[int, float], list[Row]] = {}
    drops: list[float] = []
    for judges in split_again(case, lesson.rows, n_splits):
        own, new = lesson.rows.part(judges), lesson.rows.part(~judges)
        found = choose(judge_by(learner, own))
        drops += list_drops({cell: 0.0 if one is None else one.step.mass for cell, one in found.items()})
        for cell, one in found.items():
            cells.setdefault(cell, []).append(measure_set(one, new, cell[1]))
    return {
        "cells": [[*cell, *(mean(line[name] for line in lines) for name in SWEPT)] for cell, lines in cells.items()],
        "pairs": len(drops),
        "violations": sum(drop > 0 for drop in drops),
        "largest": max(0.0, *drops),
    }


def list_drops(masses: Mapping[tuple[int, float], float]) -> list[float]:
    """Return, for each pair of cells that differ in K or in the floor, by how much the looser one covers fewer draws.

    Examples
    --------
    >>> list_drops({(1, 0.9): 0.5, (2, 0.9): 0.25, (2, 0.8): 0.75})
    [0.25, -0.5]
    """
    return [
        masses[tight] - masses[loose]
        for tight in masses
        for loose in masses
        if (tight[1] == loose[1] and tight[0] < loose[0]) or (tight[0] == loose[0] and tight[1] > loose[1])
    ]


def sweep_fits(learner: RuleLearner) -> dict[tuple[int, float], RuleSet | None]:
    """Return what fits of their own deliver, each of which is certified for itself."""
    cells = [*((number, 0.9) for number in NUMBERS), *((10, floor) for floor in FLOORS if floor != 0.9)]
    return {cell: learner.choose(*cell) for cell in cells}


SWEPT = ("coverage", "floor reached")
SWEEPS: dict[str, Callable[[RuleLearner], dict[tuple[int, float], RuleSet | None]]] = {
    "fits": sweep_fits,
    "trade-off": lambda learner: learner.judge_sets(NUMBERS, FLOORS).choose_each(NUMBERS, FLOORS),
}
