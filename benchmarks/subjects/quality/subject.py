"""The subject: every method on every data set, many splits of the rows that judge, other budgets, many judged rows."""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.cases import BLACK_BOXES, Case, make_case
from benchmarks.data_sets import CLINICAL, LAWS, PUBLIC, SHARED, from_sklearn, normal_rows
from benchmarks.journal import Journal, Row
from benchmarks.rivals.abstaining_tree import choose_tree
from benchmarks.subjects.base import Size, Subject
from benchmarks.subjects.quality.figures import draw_quality
from benchmarks.subjects.quality.measures import measure_run
from benchmarks.subjects.quality.methods import METHODS, OURS, TINY, TREES, Budget, Effort
from benchmarks.subjects.quality.resplits import (
    LEARNED,
    N_STUDENT_TREES,
    SWEEPS,
    make_learner,
    measure_choice,
    measure_resplits,
    measure_sweep,
    pool_rows,
)
from benchmarks.tables import make_goals, make_pivot, make_table, mean, number, percent, seconds
from studies.data import DataSet

# Methods of the smaller parts; without other rows than those to explain there is no background.
ALONE = ("without background", "tree with abstention")
FEW = ("default", "without background", "abstaining tree on draws, 20 leaves")
DRAWS = (1_000, 5_000, 20_000, 100_000)
JUDGED = (60, 200, 1_000, 5_000, 50_000)
N_BACKGROUND, N_NEW = 1_000, 50_000
# Sizes at which the program is compared with a greedy choice on the draws.
CHOSEN = (3, 5, 10, 20)
N_RESPLITS = {"full": 20, "tiny": 2}


class Quality(Subject):
    """Coverage, agreement and size of every method's answers on new rows."""

    name = "quality"
    title = "Quality"
    asks = "How much do answers cover on new rows, and in which share of runs does their agreement reach the floor?"
    docs = "evidence/quality.md"
    figure_size = (18, 6)
    is_parallel = True

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure split by split, so that a run that is stopped has every data set and method."""
        # Kernels are compiled here, once for all processes. The paper's system takes minutes, so it comes first.
        warm_up()
        keys = sorted(list_keys(size), key=lambda key: (key["seed"], key.get("method") != "paper"))
        journal.once_each(keys, partial(measure_line, size))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a section for each part."""
        parts, rows = [NOTES], sorted(rows, key=find_place)
        for part, write in SECTIONS.items():
            found = [row for row in rows if row["part"] == part]
            if found:
                parts += write(found)
        return "\n".join([*parts, "### Aims\n", make_goals(list_goals(rows))])

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw coverage against the share of runs that reached the floor, and against judged rows."""
        draw_quality(rows, figure)


def list_keys(size: Size) -> Iterator[Row]:
    """Yield the key of every line."""
    is_full = size == "full"
    for case in _list_cases(size):
        for method in (*OURS, *TREES):
            # The paper's system asks about millions of draws, so it has one split.
            if method != "paper" or case["seed"] == 0:
                yield {"part": "main", **case, "method": method}
        for method in LEARNED:
            yield {"part": "resplits", **case, "method": method}
        if case["seed"] < 2:
            for method in ALONE:
                yield {"part": "trained", **case, "method": method}
        if case["seed"] < 1:
            for way in SWEEPS:
                yield {"part": "sweep", **case, "method": way}
            for n_rules in CHOSEN if is_full else CHOSEN[:1]:
                yield {"part": "choice", **case, "K": n_rules}
            for n_draws in DRAWS if is_full else DRAWS[:1]:
                yield {"part": "draws", **case, "draws": n_draws, "method": "default"}
    for seed in range(3 if is_full else 1):
        for n_judged in JUDGED if is_full else JUDGED[:1]:
            for law in LAWS if is_full else ("steps",):
                for method in (*FEW, "tree with abstention"):
                    yield {"part": "judged", "data": law, "seed": seed, "judged": n_judged, "method": method}


def find_place(row: Row) -> tuple[int, ...]:
    """Return what puts lines in the order of the tables, whichever process was done first."""
    sets, methods = [*PUBLIC, *CLINICAL, *LAWS], list(OURS | TREES | LEARNED | SWEEPS)
    places = sets.index(row["data"]), methods.index(row.get("method", "default"))
    return row["seed"], *places, *(row.get(name, 0) for name in ("K", "draws", "judged"))


def _list_cases(size: Size) -> Iterator[Row]:
    is_full = size == "full"
    sets = [*PUBLIC, *(CLINICAL if SHARED.is_dir() else ())] if is_full else ["breast_cancer"]
    for seed in range(5 if is_full else 1):
        for data in sets:
            for box in BLACK_BOXES if is_full else BLACK_BOXES[:1]:
                yield {"data": data, "black box": box, "seed": seed}


def measure_line(size: Size, **key: Any) -> Row:
    """Return the line of one key."""
    warm_up()
    part, method = key["part"], key.get("method", "")
    effort, n_splits = Effort() if size == "full" else TINY, N_RESPLITS[size]
    if part == "judged":
        n_new = N_NEW if size == "full" else 500
        return measure_run(
            METHODS[method], make_judged_case(key["data"], key["judged"], n_new, key["seed"]), Budget(), effort
        )
    case = make_quality_case(key["data"], key["black box"], key["seed"], 1_000 if size == "full" else 100)
    if part == "resplits":
        return measure_resplits(method, case, Budget(), effort, n_splits)
    if part == "sweep":
        return measure_sweep(method, case, effort, n_splits)
    if part == "choice":
        return measure_choice(case, Budget(), effort, key["K"])
    if part == "draws":
        effort = replace(effort, n_learned_from=key["draws"])
    if part == "trained":
        train, _, test = case.parts
        case = replace(case, parts=(train, train, test))
    return measure_run(METHODS[method], case, Budget(), effort)


@cache
def warm_up() -> None:
    """Learn a little of everything: compiling is no part of learning."""
    case = make_case(from_sklearn("wine"), "forest", 0)
    learner = make_learner(pool_rows(case, TINY))
    for found in (learner.choose(2, 0.5), choose_tree(learner, 2, 0.5)):
        assert found is not None
    METHODS["default"](case, Budget(min_fidelity=0.5), TINY)


# Lines of one case follow one another.
@lru_cache(maxsize=4)
def make_quality_case(data: str, black_box: str, seed: int, max_rows: int) -> Case:
    """Return a case of a data set by name."""
    return make_case((PUBLIC | CLINICAL)[data](), black_box, seed, max_rows)


@lru_cache(maxsize=4)
def make_judged_case(law: str, n_judged: int, n_new: int, seed: int) -> Case:
    """Return a case whose black box is a known law."""
    table = normal_rows(N_BACKGROUND + n_judged + n_new, seed)
    # A law is not trained, so the first part is a background only.
    background, judged, new = np.split(np.arange(len(table)), [N_BACKGROUND, N_BACKGROUND + n_judged])
    parts = background, judged, new
    return Case(DataSet(law, table, pd.Series(LAWS[law].predict(table))), LAWS[law], parts, seed)


NOTES = """\
A black box (a forest, or gradient boosting) is trained on a third of the rows, explained on a second that is new to
it, and all is measured on the last; rows of one trial or patient are in one third. At most 1,000 rows in each part,
floor 0.9. *Default* has K = 10, or twice the number of classes if that is more. Trees that learn from the rows may have
40 leaves. Every figure is a mean over data sets, and ± is its standard error over them. *Coverage* is the share of new
rows that is answered, *beside the default* its difference to the default on the same data sets. *Floor reached* is the
share of runs whose agreement reached the floor, where a run without an answer counts as reached; *certified, missed* is
the share of runs with a certificate whose agreement on new rows is under the floor. *Rules* are the rules to read;
*conditions in all* are those of all rules together, a range of one column being one and a ball having one for each
column, and for trees the distinct questions above the leaves that speak. *Worst rule alone* is the lowest share of
right answers, over the rules of a fit, on all new rows where the rule's conditions hold; *rules under .8 alone* are the
rules of all runs with a lower share than .8. In a ball, a tree is one rule. *Minority right* is the share of rows
outside the largest class that are answered correctly. *Gap* is how far the chosen set is from the bound of its program.
Queries are counted at the black box; seconds are of the processor, without the black box.
"""
RESPLITS = """\
What is learned depends on the draws only. So each sequence is learned once from the training third; then the other two
thirds are pooled and split again {n_splits} times: one part lets a set speak, and its answers are measured on the
other. *Program* and *greedy* choose among the same candidate rules, which are learned from 85% of the draws; the other
15% order the sets. *Equal reading* is the widest tree, on the judging rows, that asks no more questions than the
default's rules have conditions; the widest of several is not certified. *Forest* is the ceiling: {n_trees} trees on the
draws that answer where their vote exceeds a threshold; it is too large to read.
"""
MAIN = """\
Each method fitted by itself. The trees on draws learn from the same draws as the default and are judged on the same
rows. The paper's method has raw units, one radius (a ball around a typical row holds a fifth of the rows), every row as
a center, 10,000 draws in each ball, and whole trees; it has one split.
"""
CHOICE = """\
The share of the draws that the widest sets cover whose rules are each right on 0.9 of all draws inside, and the bound
that no set of as many of these candidates exceeds. One split.
"""
SWEEP = """\
Coverage of new rows by K and floor, each set judged on {n_splits} splits. *Fits* are fits of their own, each certified;
*trade-off* is what `tradeoff()` compares in one computation. One split of the training rows. Of sets that are nearly as
wide a fit takes the shorter one, so that with more rules it may cover a little less.
"""
JUDGED_NOTES = f"""\
Two known laws of 10 columns as black boxes, three seeds; the background has {N_BACKGROUND:,} rows. The columns are
judging rows.
"""


def write_main(rows: Sequence[Row]) -> list[str]:
    """Return the table of all methods, and tables by data set."""
    found = [row | {"gap, %": None if row["gap"] is None else 100 * row["gap"]} for row in rows]
    ours = [row for row in found if row["method"].startswith("default")]
    return [
        "### All methods\n",
        MAIN,
        *make_tables(found, ("queries", "processor seconds")),
        *make_pivots(found, ["method"], "data", ("coverage",)),
        *make_pivots(ours, ["method"], "data", ("gap, %", "processor seconds")),
    ]


def write_resplits(rows: Sequence[Row]) -> list[str]:
    """Return the table of what was learned once, and tables by data set."""
    notes = RESPLITS.format(n_splits=rows[0]["splits"], n_trees=N_STUDENT_TREES)
    values = ("coverage", "worst rule alone", "minority right")
    return [
        "### Learned once, judged on many splits\n",
        notes,
        *make_tables(rows, ("processor seconds",)),
        *make_pivots(rows, ["method"], "data", values),
    ]


def write_trained(rows: Sequence[Row]) -> list[str]:
    """Return the table of methods on rows that the black box was trained on."""
    return ["### On rows that the black box was trained on\n", *make_tables(rows, ("processor seconds",))]


def write_choice(rows: Sequence[Row]) -> list[str]:
    """Return what a greedy choice and the program cover of the draws, and the gap by data set."""
    found = [row for row in rows if row["candidates"]]
    lines = []
    for n_rules in dict.fromkeys(row["K"] for row in found):
        runs = [row for row in found if row["K"] == n_rules]
        means = [mean(row[name] for row in runs) for name in ("greedy", "program", "bound", "gap")]
        n_candidates = number(mean(row["candidates"] for row in runs), 0)
        lines.append((n_rules, len(runs), n_candidates, *(number(value, 3) for value in means)))
    return [
        "### What the program adds over a greedy choice\n",
        CHOICE,
        make_table(("K", "runs", "candidates", "greedy", "program", "bound", "gap"), lines),
    ]


def write_sweep(rows: Sequence[Row]) -> list[str]:
    """Return coverage by K and floor, and how often it is not monotone on the draws."""
    cells = [
        {"sets": row["method"], "K": n_rules, "floor": floor, "coverage": coverage, "floor reached": reached}
        for row in rows
        for n_rules, floor, coverage, reached in row["cells"]
    ]
    cells.sort(key=lambda cell: (cell["sets"] != "trade-off", cell["K"], cell["floor"]))
    lines = []
    for way in dict.fromkeys(cell["sets"] for cell in cells):
        runs = [row for row in rows if row["method"] == way]
        counts = (f"{sum(row[name] for row in runs):,}" for name in ("pairs", "violations"))
        lines.append((way, *counts, number(max(row["largest"] for row in runs), 3)))
    head = ("sets", "pairs of cells", "more rules or a lower floor cover fewer draws", "by at most")
    return [
        "### Other budgets and floors\n",
        SWEEP.format(n_splits=N_RESPLITS["full"]),
        *make_pivots(cells, ["sets", "K"], "floor", ("coverage",)),
        make_table(head, lines),
    ]


def write_draws(rows: Sequence[Row]) -> list[str]:
    """Return figures by the number of draws."""
    values = ("coverage", "processor seconds")
    return ["### Other numbers of draws\n", "One split.\n", *make_pivots(rows, ["method"], "draws", values)]


def write_judged(rows: Sequence[Row]) -> list[str]:
    """Return figures by the number of judging rows."""
    values = ("coverage",)
    return ["### Few and many judged rows\n", JUDGED_NOTES, *make_pivots(rows, ["data", "method"], "judged", values)]


SECTIONS = {
    "resplits": write_resplits,
    "main": write_main,
    "choice": write_choice,
    "sweep": write_sweep,
    "trained": write_trained,
    "draws": write_draws,
    "judged": write_judged,
}


def list_goals(rows: Sequence[Row]) -> Iterator[tuple[str, str, bool | None]]:
    """Yield each aim of the default, what was measured, and whether it is met."""

    def find(part: str, method: str) -> list[Row]:
        return [row for row in rows if (row["part"], row.get("method")) == (part, method)]

    def compare(goal: str, value: float | None, aim: float, *, at_least: bool = True) -> tuple[str, str, bool | None]:
        met = None if value is None else value >= aim if at_least else value <= aim
        return goal, number(value, 3), met

    runs, fits = find("resplits", "default"), find("main", "default")
    yield compare("worst rule alone ≥ .90 on average", average(runs, "worst rule alone")[0], 0.9)
    n_low, n_rules = (sum(row[name] for row in runs) for name in ("rules under .8 alone", "rules"))
    yield compare("rules under .8 alone ≤ 1%", n_low / n_rules if n_rules else None, 0.01, at_least=False)
    difference = subtract(find("resplits", "program, same candidates"), find("resplits", "greedy, same candidates"))
    yield compare("program ≥ .02 wider than greedy on new rows", difference[0], 0.02)
    yield compare("floor reached ≥ 97%", average(runs, "floor reached")[0], 0.97)
    certified, missed = (sum(row[name] for row in runs) for name in ("certified", "certified, missed"))
    yield compare(
        "certified, floor missed ≤ 5% of the certified", missed / certified if certified else None, 0.05, at_least=False
    )
    violations = [row["violations"] for row in find("sweep", "trade-off")]
    yield compare("trade-off monotone on draws", float(sum(violations)) if violations else None, 0.0, at_least=False)
    yield compare("mean gap of the final set ≤ .5%", mean(row["gap"] for row in fits), 0.005, at_least=False)


def average(rows: Sequence[Row], name: str) -> tuple[float | None, float | None]:
    """Return the mean over data sets, and its standard error; the error is None for fewer than two sets."""
    sets = dict.fromkeys(row["data"] for row in rows)
    means = [mean(row[name] for row in rows if row["data"] == data) for data in sets]
    known = [value for value in means if value is not None]
    error = statistics.stdev(known) / math.sqrt(len(known)) if len(known) > 1 else None
    return mean(known), error


def subtract(rows: Sequence[Row], others: Sequence[Row]) -> tuple[float | None, float | None]:
    """Return by how much coverage is higher than that of others on the same runs, and the standard error."""
    run = ("data", "black box", "seed")
    known = {tuple(row[name] for name in run): row["coverage"] for row in others}
    pairs = [
        {"data": row["data"], "difference": row["coverage"] - known[key]}
        for row in rows
        if (key := tuple(row[name] for name in run)) in known
    ]
    return average(pairs, "difference")


def make_tables(rows: Sequence[Row], costs: Sequence[str]) -> list[str]:
    """Return the table of all methods, with their costs, and what became of certificates."""
    default = [row for row in rows if row["method"] == "default"]
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        runs = [row for row in rows if row["method"] == method]
        weights = [row.get("splits", 1) for row in runs]
        n_low, n_rules = (
            sum(weight * row[name] for weight, row in zip(weights, runs, strict=True) if row[name] is not None)
            for name in ("rules under .8 alone", "rules")
        )
        lines.append(
            (
                method,
                sum(weights),
                write_average(average(runs, "coverage")),
                write_average(subtract(runs, default)) if default else "–",
                *(write(average(runs, name)[0]) for name, write in SHARES.items()),
                write_average(average(runs, "worst rule alone")),
                f"{n_low:.0f} ({n_low / n_rules:.1%})" if n_rules else "–",
                write_average(average(runs, "minority right")),
                *(COSTS[name](average(runs, name)[0]) for name in costs),
            )
        )
    head = ("coverage", "beside the default", *SHARES, "worst rule alone", "rules under .8 alone", "minority right")
    return [make_table(("method", "runs", *head, *costs), lines)]


SHARES = {
    "floor reached": percent,
    "silent": percent,
    "agreement": number,
    "certified": percent,
    "certified, missed": partial(number, digits=3),
    "rules": partial(number, digits=1),
    "conditions in all": partial(number, digits=0),
}
COSTS = {"queries": partial(number, digits=0), "processor seconds": seconds}


def write_average(value: tuple[float | None, float | None]) -> str:
    """Return a mean with its standard error in a cell.

    Examples
    --------
    >>> write_average((0.771, 0.0213))
    '0.771 ± 0.021'
    """
    figure, error = value
    return number(figure, 3) if error is None else f"{number(figure, 3)} ± {number(error, 3)}"


def make_pivots(rows: Sequence[Row], lines: Sequence[str], columns: str, values: Sequence[str]) -> Iterator[str]:
    """Yield a table of means of each value under its name."""
    for value in values:
        yield f"{value.capitalize()}:\n"
        yield make_pivot(rows, lines, columns, value)
