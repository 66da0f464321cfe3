"""The price of taking the widest of many answers, under several ways to pay for it.

All ways see the same rows and the same answers: trees with leaves of two smallest sizes, each silent below a bar of
quality. The tree that is taken is grown anew on all rows that it may learn from, and measured on new rows.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from benchmarks.cases import BLACK_BOXES, Case, make_case
from benchmarks.data_sets import available, from_sklearn
from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table, mean, number, percent
from oleander.arrays import Bools, Floats
from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.rows import Rows
from oleander.explainers.abstaining import shrunk_quality
from oleander.explainers.base import encode_labels
from oleander.explainers.growth import grow_tree
from oleander.judging.bounds import lower_bound
from oleander.judging.cross_fitting import BARS, cross_fit_tree
from oleander.judging.judged import LEVEL, Judged

FLOOR = 0.9
MAX_LEAVES = 40
MIN_LEAVES = (3, 8)


class Pick(NamedTuple):
    """A tree by the smallest size of its leaves and its bar, and the rows that it may learn from."""

    rows: Rows
    min_leaf: int
    bar: int


def widest(rows: Rows, seed: int, level: float, floor: float = FLOOR) -> Pick | None:
    """Return the tree and the bar that answer most with their bound at the floor."""
    judged = [cross_fit_tree(rows, MAX_LEAVES, min_leaf, seed) for min_leaf in MIN_LEAVES]
    coverage = np.array([_coverage_at(one, level, floor) for one in judged])
    tree, bar = np.unravel_index(coverage.argmax(), coverage.shape)
    return Pick(rows, MIN_LEAVES[tree], int(bar)) if coverage[tree, bar] > 0 else None


def in_sequence(rows: Rows, seed: int) -> Pick | None:
    """Choose a tree on half of the rows; on the other half lower its bar, test by test, until one fails.

    The order of the tests is fixed before the other half is looked at, so the agreement is at least the floor with 95%
    confidence: a formal guarantee.
    """
    half = rows.halves(seed)
    learned, tested = rows.part(half), rows.part(~half)
    wanted = widest(learned, seed, level=0.2)
    if wanted is None:
        return None
    answered, right = answer(wanted, *tested.repeated())
    passed = None
    for bar in range(len(BARS) - 1, -1, -1):
        n_answered = answered[bar].sum()
        if n_answered and lower_bound(right[bar].sum(), n_answered, 0.05) >= FLOOR:
            passed = bar
        elif passed is not None:
            break
    return None if passed is None else wanted._replace(bar=passed)


WAYS: dict[str, Callable[[Rows, int], Pick | None]] = {
    "level 0.05, picking not paid for": partial(widest, level=0.05),
    "level 0.05, margin 0.02": partial(widest, level=0.05, floor=FLOOR + 0.02),
    f"level {LEVEL:g} (the default)": partial(widest, level=LEVEL),
    "level 0.05 shared over the trees": partial(widest, level=0.05 / len(MIN_LEAVES)),
    "level 0.05 shared over trees and bars": partial(widest, level=0.05 / len(MIN_LEAVES) / len(BARS)),
    "fixed sequence on a held-out half": in_sequence,
}


def answer(pick: Pick, values: Floats, labels: np.ndarray) -> tuple[Bools, Bools]:
    """Grow the tree and return masks of the rows answered and answered rightly, a line for each bar."""
    draws, drawn_labels = pick.rows.repeated()
    classes, codes = encode_labels(drawn_labels)
    schema = pick.rows.schema
    tree = grow_tree(
        draws, codes, classes, schema, tuple(range(len(schema))), MAX_LEAVES, min_leaf=pick.min_leaf, simplify=False
    )
    leaf = tree.apply(values)
    answered = shrunk_quality(tree)[leaf] >= BARS[:, None]
    return answered, answered & (classes[tree.label[leaf]] == labels)


def measure_way(case: Case, way: str) -> Row:
    """Return coverage and agreement on new rows of what one way takes."""
    schema = case.schema
    box = CountingBlackBox(BlackBox(case.black_box, schema))
    groups = None if case.groups is None else case.groups.to_numpy()
    pick = WAYS[way](label_rows(schema.encode(case.explain), box, groups=groups), case.seed)
    if pick is None:
        return {"coverage": 0.0, "agreement": None, "floor reached": True}
    answered, right = (
        mask[pick.bar] for mask in answer(pick, schema.encode(case.test), case.black_box.predict(case.test))
    )
    agreement = right.sum() / answered.sum() if answered.any() else np.nan
    return {"coverage": answered.mean(), "agreement": agreement, "floor reached": not agreement < FLOOR}


class Picking(Subject):
    """Coverage and agreement of the widest answer, by the way in which the picking is paid for."""

    name = "picking"
    title = "Paying for the picking"
    asks = "What does it cost to take the widest of many answers, and how often does its agreement reach the floor?"
    docs = "quality.md"

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure split by split."""
        n_splits, max_rows = (3, 1_000) if size == "full" else (1, 130)
        for seed in range(n_splits):
            for data in available() if size == "full" else [from_sklearn("breast_cancer")]:
                for name in BLACK_BOXES:
                    make = cache(partial(make_case, data, name, seed, max_rows))
                    for way in WAYS:
                        key = {"data": data.name, "black box": name, "seed": seed, "way": way}
                        journal.once(key, lambda make=make, way=way: measure_way(make(), way))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a line for each way."""
        lines = []
        for way in dict.fromkeys(row["way"] for row in rows):
            runs = [row for row in rows if row["way"] == way]
            coverage, reached = (mean(row[name] for row in runs) for name in ("coverage", "floor reached"))
            lines.append((way, number(coverage), f"{percent(reached)} of {len(runs)}"))
        return make_table(("way", "coverage", "runs whose agreement reached the floor"), lines)


def _coverage_at(judged: Judged, level: float, floor: float) -> Floats:
    """Return the coverage of each bar, 0 where its bound is under the floor."""
    return np.where(judged.bounds(level) >= floor, judged.coverage(), 0.0)
