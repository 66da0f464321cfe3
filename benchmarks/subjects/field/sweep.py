"""A sweep of coverage on sets of two labels: the rule lists of HybridCORELS beside our boxes and our tree."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.base import clone

from benchmarks.cases import Case
from benchmarks.journal import Row
from benchmarks.outside.task import SILENT
from benchmarks.rivals.abstaining_tree import learn_abstaining_tree
from benchmarks.subjects.field.contestants import ABSTAINS, Round, run_own_way
from benchmarks.subjects.field.judge import order_steps
from oleander.arrays import Ints
from oleander.fitting.rule_sequence import learn_sequence

HYBRID = "HybridCORELS"
SETS = ("breast_cancer", "heart_disease")
BOXES, TREE = "our boxes", "our tree"
FAMILIES = (HYBRID, BOXES, TREE)
FIGURES = ("rules", "coverage", "agreement")


def keep_two_labels(case: Case) -> Case:
    """Return the case with the first label against all others, which the same kind of black box learns."""
    y = (case.data.y != case.data.y.min()).astype(int)
    learned = case.parts[0]
    model = clone(case.black_box).fit(case.data.X.iloc[learned], y.iloc[learned])
    return replace(case, data=replace(case.data, y=y), black_box=model)


def measure_sweep(entry: Round) -> Row:
    """Return rules, coverage and agreement on new rows of each list, and of our steps that answer as many draws.

    Of our steps that answer at least as many held-back draws as the list does, the one with the best agreement on them
    stands beside it. The default, which our judge lets speak, is measured once.
    """
    cost = entry.run_package(HYBRID)[HYBRID]
    if "absent" in cost:
        return {"absent": cost["absent"]}
    default = run_own_way("default", entry)["forms"][ABSTAINS]
    lesson = entry.lesson
    held, learns = (lesson.draws.take(np.flatnonzero(part)) for part in (lesson.is_held, ~lesson.is_held))
    rng = np.random.default_rng(lesson.seed)
    boxes = learn_sequence(learns, rng, max_rules=(entry.budget.n_explainers,))
    tree = learn_abstaining_tree(learns, rng, entry.budget.max_rules)
    with np.load(Path(entry.folder.name) / f"{HYBRID}.npz") as arrays:
        lists, said, sizes = arrays["abstaining_held"], arrays["abstaining_new"], arrays["abstaining_rules"]
    lines = []
    for number, size in enumerate(sizes.tolist()):
        mass = float((lists[number] != SILENT).mean())
        line: Row = {"draws": mass, HYBRID: [size, *measure(said[number], lesson.truth)]}
        for name, family in ((BOXES, boxes), (TREE, tree)):
            step = find_step(family.answer(held.values), held.codes, mass)
            if step is not None:
                line[name] = [len(family.steps[step].rules), *measure(family.answer(lesson.new)[step], lesson.truth)]
        lines.append(line)
    return {"lines": lines, "default": [default[figure] for figure in FIGURES], **cost}


def find_step(said: Ints, codes: Ints, mass: float) -> int | None:
    """Return the step with the best agreement among those that answer at least this share of the draws.

    >>> find_step(np.array([[0, -1, 1], [0, 0, 1]]), np.array([0, 1, 1]), 0.5)
    0
    """
    order, masses, _ = order_steps(said, codes)
    wide = order[masses >= mass]
    return int(wide[0]) if len(wide) else None


def measure(said: Ints, truth: Ints) -> list[float | None]:
    """Return coverage and agreement."""
    answered = said != SILENT
    return [float(answered.mean()), float((said == truth)[answered].mean()) if answered.any() else None]
