"""An exact abstaining tree as an oracle for ours: the cost of silence and of wrong answers on held-back draws."""

from pathlib import Path

import numpy as np

from benchmarks.journal import Row
from benchmarks.outside.programs import PRICES
from benchmarks.outside.task import SILENT
from benchmarks.rivals.abstaining_tree import learn_abstaining_tree
from benchmarks.subjects.field.contestants import Round
from oleander.arrays import Ints
from oleander.fitting.rule_sequence import learn_sequence

EXACT = "pystreed, abstention as a label"
# A tree of depth 4 has at most this many leaves.
N_LEAVES = 16


def measure_costs(entry: Round) -> Row:
    """Return the lowest cost of each family at each price: 1 for a silent draw, 1 + price for a wrong one, averaged."""
    cost = entry.run_package("pystreed")[EXACT]
    if "absent" in cost:
        return {"absent": cost["absent"]}
    lesson = entry.lesson
    held, learns = lesson.draws.take(np.flatnonzero(lesson.is_held)), lesson.draws.take(np.flatnonzero(~lesson.is_held))
    rng = np.random.default_rng(lesson.seed)
    with np.load(Path(entry.folder.name) / f"{EXACT}.npz") as arrays:
        families = {"exact tree": arrays["abstaining_held"]}
    families["our tree"] = learn_abstaining_tree(learns, rng, N_LEAVES).answer(held.values)
    families["our boxes"] = learn_sequence(learns, rng).answer(held.values)
    return {
        f"{name} at {price:g}": find_cost(said, held.codes, price)
        for name, said in families.items()
        for price in PRICES
    }


def find_cost(said: Ints, codes: Ints, price: float) -> float:
    """Return the lowest cost among the steps.

    >>> find_cost(np.array([[0, -1], [0, 0]]), np.array([0, 1]), 4.0)
    0.5
    """
    costs = np.where(said == SILENT, 1.0, np.where(said == codes, 0.0, 1.0 + price))
    return float(costs.mean(axis=1).min())
