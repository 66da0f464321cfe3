"""The subject: every method on every data set, on training rows, under other budgets, and with many judged rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.cases import BLACK_BOXES, Case, make_case
from benchmarks.data_sets import LAWS, available, from_sklearn, normal_rows
from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.subjects.quality.figures import draw_quality
from benchmarks.subjects.quality.measures import measure_run
from benchmarks.subjects.quality.methods import METHODS, OURS, TINY, TREES, Budget, Effort
from benchmarks.tables import make_pivot, make_table, mean, number, percent, seconds
from studies.data import DataSet

# Methods of the smaller parts; without other rows than those to explain there is no background.
ALONE = ("without background", "tree with abstention")
FEW = ("default", "without background", "abstaining tree on draws, 20 leaves")
DRAWS = (1_000, 5_000, 20_000, 100_000)
JUDGED = (60, 200, 1_000, 5_000, 50_000)
N_BACKGROUND, N_NEW = 1_000, 50_000
BUDGETS = (
    *(Budget(max_explainers=number) for number in (1, 2, 5, 10, 20)),
    *(Budget(min_fidelity=floor) for floor in (0.8, 0.85, 0.95)),
)


class Quality(Subject):
    """Coverage, agreement and size of every method's answers on new rows."""

    name = "quality"
    title = "Quality"
    asks = "How much do answers cover on new rows, and in which share of runs does their agreement reach the floor?"
    docs = "quality.md"
    figure_size = (18, 6)

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure the main part first; split by split, so that a run that is stopped has every data set and method."""
        effort = Effort() if size == "full" else TINY
        for key, make in _runs(size):
            for method in (*OURS, *TREES):
                # The paper's system takes a minute a run, so it has one split.
                if method != "paper" or key["seed"] == 0:
                    self._measure({"part": "main", **key}, method, Budget(), make, effort, journal)
        for key, make in _runs(size, n_splits=2, on_training_rows=True):
            for method in ALONE:
                self._measure({"part": "trained", **key}, method, Budget(), make, effort, journal)
        for key, make in _runs(size, n_splits=1):
            for budget in BUDGETS if size == "full" else BUDGETS[:1]:
                for method in FEW:
                    self._measure({"part": "budgets", **key}, method, budget, make, effort, journal)
        for key, make in _runs(size, n_splits=1):
            for n_draws in DRAWS if size == "full" else DRAWS[:1]:
                own = {"part": "draws", **key, "draws": n_draws}
                self._measure(own, "default", Budget(), make, replace(effort, n_learned_from=n_draws), journal)
        for key, make in _judged_runs(size):
            for method in (*FEW, "tree with abstention"):
                self._measure({"part": "judged", **key}, method, Budget(), make, effort, journal)

    @staticmethod
    def _measure(
        key: Row, method: str, budget: Budget, make: Callable[[], Case], effort: Effort, journal: Journal
    ) -> None:
        key = {**key, "method": method, "budget": str(budget)}
        journal.once(key, lambda: measure_run(METHODS[method], make(), budget, effort))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a section for each part."""
        sections = {"main": "All methods", "trained": "On rows that the black box was trained on"}
        parts = [NOTES]
        for part, title in sections.items():
            found = [row for row in rows if row["part"] == part]
            if found:
                parts += [f"### {title}\n", *_tables(found)]
        budgets = [row for row in rows if row["part"] == "budgets"]
        if budgets:
            parts += ["### Other budgets and floors\n", "One split. The columns are K / rules / floor.\n"]
            parts += _pivots(budgets, ["method"], "budget", ("coverage", "floor reached"))
        draws = [row for row in rows if row["part"] == "draws"]
        if draws:
            parts += ["### Other numbers of draws\n", "One split.\n"]
            parts += _pivots(draws, ["method"], "draws", ("coverage", "floor reached", "processor seconds"))
        judged = [row for row in rows if row["part"] == "judged"]
        if judged:
            parts += ["### Few and many judged rows\n", JUDGED_NOTES]
            parts += _pivots(judged, ["data", "method"], "judged", ("coverage", "floor reached"))
        return "\n".join(parts)

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw coverage against the share of runs that reached the floor, and against judged rows."""
        draw_quality(rows, figure)


NOTES = """\
A black box (a forest, or gradient boosting) is trained on a third of the rows, explained on a second that is new to
it, and all is measured on the last; rows of one trial or patient are in one third. At most 1,000 rows in each part,
floor 0.9, K = 10, 20 rules; trees that learn from the rows may have 40 leaves. *Coverage* is the share of the last
third that is answered; *floor reached* is the share of runs whose agreement reached the floor, where a run without an
answer counts as reached. *Rules* are the rules to read; *conditions* are those of a rule, its region's included, and a
ball has one for each column. *Minority right* is the share of rows outside the largest class that are answered
rightly. Queries are counted at the black box. The paper's method has raw units, one radius (a ball around a typical
row holds a fifth of the rows), every row as a center, 10,000 draws in each ball, and whole trees; it has one split,
16 runs instead of 80.
"""
JUDGED_NOTES = f"""\
Two known laws of 10 columns as black boxes, three seeds; the background has {N_BACKGROUND:,} rows. The columns are
judging rows.
"""
COLUMNS = {
    "coverage": number,
    "floor reached": percent,
    "silent": percent,
    "agreement": number,
    "certified": percent,
    "rules": partial(number, digits=0),
    "conditions": partial(number, digits=1),
    "minority right": number,
    "queries": partial(number, digits=0),
    "processor seconds": seconds,
}


def _runs(size: Size, n_splits: int = 5, *, on_training_rows: bool = False) -> Iterator[tuple[Row, Callable[[], Case]]]:
    """Yield the key of each run and a function that makes its case, once for all methods."""
    sets, max_rows = (available(), 1_000) if size == "full" else ([from_sklearn("breast_cancer")], 100)
    for seed in range(n_splits if size == "full" else 1):
        for data in sets:
            for name in BLACK_BOXES if size == "full" else BLACK_BOXES[:1]:
                key = {"data": data.name, "black box": name, "seed": seed}
                yield key, cache(partial(_make_case, data, name, seed, max_rows, on_training_rows))


def _make_case(data: DataSet, name: str, seed: int, max_rows: int, on_training_rows: bool) -> Case:
    case = make_case(data, name, seed, max_rows)
    if not on_training_rows:
        return case
    train, _, test = case.parts
    return Case(data, case.black_box, (train, train, test), seed)


def _judged_runs(size: Size) -> Iterator[tuple[Row, Callable[[], Case]]]:
    """Yield runs with more and more rows to explain, whose black box is a known law."""
    sizes, n_new, n_splits = (JUDGED, N_NEW, 3) if size == "full" else (JUDGED[:1], 500, 1)
    for seed in range(n_splits):
        for n_judged in sizes:
            for law in LAWS if size == "full" else ("steps",):
                key = {"data": law, "seed": seed, "judged": n_judged}
                yield key, cache(partial(_make_judged_case, law, n_judged, n_new, seed))


def _make_judged_case(law: str, n_judged: int, n_new: int, seed: int) -> Case:
    table = normal_rows(N_BACKGROUND + n_judged + n_new, seed)
    # A law is not trained, so the first part is a background only.
    background, judged, new = np.split(np.arange(len(table)), [N_BACKGROUND, N_BACKGROUND + n_judged])
    parts = background, judged, new
    return Case(DataSet(law, table, pd.Series(LAWS[law].predict(table))), LAWS[law], parts, seed)


def _tables(rows: Sequence[Row]) -> list[str]:
    methods = list(dict.fromkeys(row["method"] for row in rows))
    lines = []
    for method in methods:
        runs = [row | {"silent": row["agreement"] is None} for row in rows if row["method"] == method]
        cells = [write(mean(run[name] for run in runs)) for name, write in COLUMNS.items()]
        lines.append((method, len(runs), *cells))
    reached = [row["floor reached"] for row in rows if row["certified"]]
    return [
        make_table(("method", "runs", *COLUMNS), lines),
        f"Certified answers that reached the floor: {sum(reached)} of {len(reached)}.\n",
        *_pivots(rows, ["method"], "data", ("coverage", "floor reached", "minority right")),
    ]


def _pivots(rows: Sequence[Row], lines: Sequence[str], columns: str, values: Sequence[str]) -> Iterator[str]:
    for value in values:
        yield f"{value.capitalize()}:\n"
        yield make_pivot(rows, lines, columns, value)
