"""The judge of the field: the same for every rival, and the same as ours."""

from typing import Any

import numpy as np

from benchmarks.journal import Row
from benchmarks.outside.task import SILENT, Steps
from benchmarks.subjects.field.lesson import Lesson
from oleander.arrays import Ints
from oleander.fitting.rule_learner import WORTH_MORE_READING
from oleander.judging.fixed_sequence import Judged, find_passed, find_start, pass_chances

LEVEL = 0.05


def pick_step(steps: Steps, lesson: Lesson, floor: float) -> int | None:
    """Return the step that rows let speak, as ``AggregateExplainer`` picks its own; None where none may.

    Held-back draws order the steps from careful to bold. One exact bound is asked of each in turn, groups counted as
    groups; where the sequence passes nowhere, any step whose bound reaches the floor will do. Of steps nearly as wide
    as the widest that passed, the one with the least to read is taken.
    """
    order, mass, agreement = order_steps(steps.held, lesson.draws.codes[lesson.is_held])
    if not len(order):
        return None
    rows = lesson.rows
    answered = steps.judged[order] != SILENT
    right = answered & (steps.judged[order] == lesson.row_codes)
    judged = Judged(answered, right, rows.weights, rows.groups)
    start = find_start(pass_chances(judged, mass, agreement, floor, LEVEL))
    passed = find_passed(judged.certified_bounds(LEVEL), start, floor)
    if not len(passed):
        passed = np.flatnonzero(judged.bounds(LEVEL) >= floor)
    if not len(passed):
        return None
    coverage = judged.coverage()
    near = passed[coverage[passed] >= coverage[passed].max() - WORTH_MORE_READING]
    return int(order[min(near.tolist(), key=lambda step: (steps.rules[order[step]], -coverage[step]))])


def order_steps(held: Ints, codes: Ints) -> tuple[Ints, Any, Any]:
    """Return the steps from careful to bold without those that another beats in mass and agreement; and both.

    >>> held = np.array([[0, 0, 0, 1], [0, 0, -1, 1], [0, -1, -1, -1], [1, -1, -1, -1]])
    >>> order, mass, agreement = order_steps(held, np.array([0, 0, 1, 1]))
    >>> order.tolist(), mass.tolist(), agreement.tolist()
    ([1, 0], [0.75, 1.0], [1.0, 0.75])
    """
    answered = held != SILENT
    mass = answered.mean(axis=1)
    agreement = (answered & (held == codes)).sum(axis=1) / np.maximum(answered.sum(axis=1), 1)
    best, kept = -1.0, []
    for step in np.lexsort((-agreement, -mass)):
        if mass[step] > 0 and agreement[step] > best:
            kept.append(step)
            best = agreement[step]
    order = np.array(kept[::-1], dtype=np.intp)
    return order, mass[order], agreement[order]


def measure_step(steps: Steps, step: int, truth: Ints, floor: float) -> Row:
    """Return the measures of one step on new rows."""
    said = steps.new[step]
    answered, right = said != SILENT, said == truth
    n_rules = int(steps.rules[step])
    if not answered.any():
        return measure_nothing()
    agreement = float(right[answered].mean())
    is_minority = truth != np.bincount(truth).argmax()
    return {
        "coverage": float(answered.mean()),
        "agreement": agreement,
        "floor reached": agreement >= floor,
        "rules": n_rules,
        "conditions": float(steps.conditions[step] / n_rules) if n_rules else None,
        "lines": int(steps.lines[step]),
        "minority right": float(right[is_minority].mean()) if is_minority.any() else None,
    }


def measure_nothing() -> Row:
    """Return the measures of silence, which is wrong on no row."""
    return {
        "coverage": 0.0,
        "agreement": None,
        "floor reached": True,
        "rules": 0,
        "conditions": None,
        "lines": 0,
        "minority right": 0.0,
    }
