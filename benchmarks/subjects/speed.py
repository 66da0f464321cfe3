"""The time of our own work in units of the black box's: each line has an aim, and all are measured in one run."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks.cases import Case, numeric_cases, typical_radius
from benchmarks.journal import Journal, Row
from benchmarks.measuring import WatchedBlackBox
from benchmarks.own_process import measure_apart
from benchmarks.subjects.base import Size, Subject
from benchmarks.subjects.one_explanation import OURS, explain_rows
from benchmarks.subjects.stages import make_data
from benchmarks.tables import make_table, number
from oleander import AggregateExplainer, NothingFoundError
from oleander.data.schema import FeatureSchema
from oleander.draws import Draws
from oleander.draws.in_ball import draw_in_ball
from oleander.rules import Ball, UnfilteredTree
from studies.data import make_ppmi_like

# The black box's time is 1, unless a unit is named. Whether the figure must be at most or at least the aim comes first.
AIMS: dict[str, tuple[str, float, str]] = {
    "one explanation": ("at most", 0.3, "× black box, without it"),
    "fit with the paper's settings": ("at most", 3.0, "× black box"),
    "the paper's own size": ("at most", 3.0, "× black box"),
    "default fit, 20,000 draws": ("at most", 1.5, "s besides the black box"),
    "default fit, many rows, forest": ("at most", 3.0, "s of processor time"),
    "default fit, many rows, cheap box": ("at most", 30.0, "s of processor time"),
    "predict": ("at least", 5.0, "million rows × explainers a second"),
    "whole tree": ("at least", 5.0, "× as fast as scikit-learn's"),
}
# The aim of one explanation where the forest is the cheapest of the three.
CHEAPEST, MOST_BESIDE_CHEAPEST = "breast_cancer", 0.5
MOST_GIGABYTES = {"default fit, many rows, forest": 1.0, "default fit, many rows, cheap box": 4.0}
N_REPEATS = 3


def best_of(work: Callable[[], float]) -> float:
    """Return the best of several figures, after one to warm up: other work of the machine only adds."""
    work()
    return min(work() for _ in range(N_REPEATS))


def processor_time(work: Callable[[], Any]) -> float:
    """Return the processor's seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def compare_fit(
    make: Callable[[Any], AggregateExplainer], model: Any, given: dict[str, Any], n_repeats: int = N_REPEATS
) -> Row:
    """Return the processor time of a fit besides the black box, as a ratio and in seconds; the best of several."""
    lines = []
    for _ in range(n_repeats):
        box = WatchedBlackBox(model)

        def fit(box: WatchedBlackBox = box) -> None:
            with suppress(NothingFoundError):
                make(box).fit(**given)

        taken = processor_time(fit)
        lines.append({"rest": taken - box.cpu_seconds, "ratio": taken / box.cpu_seconds, "queries": box.n_rows})
    return min(lines, key=lambda line: line["rest"])


def fit_as_paper(case: Case, n_draws: int) -> Row:
    """Return the cost of a fit with the paper's settings."""
    radius = typical_radius(case.data)
    make = partial(AggregateExplainer.paper, radius=radius, n_draws=n_draws, random_state=0)
    found = compare_fit(make, case.black_box, {"X": case.rows}, n_repeats=1 if n_draws > 1_000 else N_REPEATS)
    return {"figure": found["ratio"], "queries": found["queries"]}


def fit_paper_size(n_rows: int, n_draws: int) -> Row:
    """Return the cost of a fit of the paper's size: the synthetic cohort, five groups, 50 bagged trees, r = 7."""
    cohort = make_ppmi_like(0)
    train = np.random.default_rng(0).random(len(cohort.X)) < 0.5
    assert cohort.group is not None
    model = BaggingClassifier(n_estimators=50, random_state=0, n_jobs=1).fit(cohort.X[train], cohort.group[train])
    make = partial(AggregateExplainer.paper, radius=7.0, n_draws=n_draws, random_state=0)
    # Millions of rows are asked about: one repeat.
    found = compare_fit(make, model, {"X": cohort.X[:n_rows]}, n_repeats=1)
    return {"figure": found["ratio"], "queries": found["queries"]}


def fit_by_asking(n_rows: int, has_background: bool, n_draws: int) -> Row:
    """Return our own seconds of a default fit on 30 columns, with other rows as the background or without any."""
    X, y = make_data(3 * n_rows, np.random.default_rng(0))
    X = X[:, :30]
    forest = RandomForestClassifier(50, random_state=0, n_jobs=1).fit(X[n_rows:], y[n_rows:])
    given = {"X": X[:n_rows], "background": X[n_rows:] if has_background else None}
    found = compare_fit(partial(AggregateExplainer, draws=Draws(n_draws), random_state=0), forest, given)
    return {"figure": found["rest"], "queries": found["queries"]}


def fit_many_rows(box: str, rows: int, n_draws: int) -> Row:
    """Return the processor time and the memory of a default fit on many rows, in a process of its own."""
    given = {"box": box, "rows": rows, "columns": 30, "classes": 3, "K": 10, "n_draws": n_draws}
    found = measure_apart("benchmarks.subjects.growth:fit_default", **given)
    return {"figure": found["cpu seconds"], "peak GB": found["peak GB"], "queries": found["queries"]}


def predict_rows(n_rows: int) -> Row:
    """Return the millions of rows times explainers that ``predict`` answers in a second of the processor."""
    X, y = make_classification(3_000, 30, n_informative=10, n_redundant=5, n_classes=3, random_state=0)
    forest = RandomForestClassifier(20, random_state=0, n_jobs=1).fit(X[1000:], y[1000:])
    atlas = AggregateExplainer(forest, random_state=0).fit(X[:1000], background=X[1000:])
    many = np.resize(X, (n_rows, X.shape[1]))
    with threadpool_limits(1):
        taken = best_of(lambda: processor_time(lambda: atlas.predict(many)))
    return {"figure": n_rows * len(atlas.explainers_) / taken / 1e6, "explainers": len(atlas.explainers_)}


def grow_whole_tree(n_draws: int) -> Row:
    """Return how many times as long scikit-learn takes for a whole tree on the same draws."""
    X, y = make_data(1_500, np.random.default_rng(0))
    forest = RandomForestClassifier(50, random_state=0, n_jobs=1).fit(X, y)
    schema = FeatureSchema.infer(X)
    ball = Ball(schema, schema.encode(X)[0], radius=1.0, max_flips=5)
    draws = draw_in_ball(ball, n_draws, np.random.default_rng(0))
    labels = forest.predict(schema.decode(draws))
    ours = UnfilteredTree(max_leaves=None)
    theirs = DecisionTreeClassifier(random_state=0)
    own = best_of(lambda: processor_time(lambda: ours.fit(draws, labels, schema=schema)))
    n_leaves = ours.fit(draws, labels, schema=schema).complexity
    other = best_of(lambda: processor_time(lambda: theirs.fit(draws, labels)))
    return {"figure": other / own, "leaves": n_leaves}


class Speed(Subject):
    """One line per aim, in processor time, the best of several."""

    name = "speed"
    title = "Our own work beside the black box"
    docs = "evidence/speed.md"
    asks = "How long does our own work take, in units of the black box's time for the same rows?"

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure short work first."""
        is_full = size == "full"
        n_asked = Draws.n if is_full else 500

        def note(work: str, of: str, measure: Callable[[], Row]) -> None:
            journal.once({"work": work, "of": of}, measure)

        for n_draws in (2_000, 10_000) if is_full else (200,):
            note("whole tree", f"{n_draws:,} draws × 31", partial(grow_whole_tree, n_draws))
        n_rows = 1_000 if is_full else 100
        for has_background in (True, False):
            of = f"{n_rows:,} × 30, " + ("a background" if has_background else "no background")
            note("default fit, 20,000 draws", of, partial(fit_by_asking, n_rows, has_background, n_asked))
        for case in numeric_cases(size):
            for n_draws in (2_000, 10_000) if is_full else (200,):
                for method in OURS:
                    of = f"{case.data.name}, {n_draws:,} draws, {method}"
                    note("one explanation", of, partial(_explain, method, case, 9 if is_full else 2, n_draws))
            # The paper has 10,000 draws in a ball; with fewer, the program's own time weighs more.
            for n_draws in (1_000, 10_000) if is_full else (50,):
                of = f"{case.data.name}, {n_draws:,} draws"
                note("fit with the paper's settings", of, partial(fit_as_paper, case, n_draws))
        n_rows = 5_000_000 if is_full else 5_000
        note("predict", f"{n_rows:,} rows", partial(predict_rows, n_rows))
        n_rows, n_draws = (779, 10_000) if is_full else (40, 100)
        note("the paper's own size", f"{n_rows} × 31, {n_draws:,} draws", partial(fit_paper_size, n_rows, n_draws))
        for work, box, n_rows in (
            ("default fit, many rows, forest", "forest", 100_000),
            ("default fit, many rows, cheap box", "cheap", 1_000_000),
        ):
            n_rows = n_rows if is_full else n_rows // 500
            note(work, f"{n_rows:,} × 30", partial(fit_many_rows, box, n_rows, n_asked))

    def write(self, rows: Sequence[Row]) -> str:
        """Return the table: one line per figure, with its aim."""
        lines = []
        for row in rows:
            side, aim, unit = AIMS[row["work"]]
            if row["work"] == "one explanation" and row["of"].startswith(CHEAPEST):
                aim = MOST_BESIDE_CHEAPEST
            reached = row["figure"] <= aim if side == "at most" else row["figure"] >= aim
            goal, figure = f"{side} {aim:g} {unit}", number(row["figure"])
            if row["work"] in MOST_GIGABYTES:
                most = MOST_GIGABYTES[row["work"]]
                reached, goal = reached and row["peak GB"] <= most, f"{goal}, {most:g} GB"
                figure = f"{figure}; {number(row['peak GB'])} GB"
            lines.append((row["work"], row["of"], figure, goal, "yes" if reached else "no"))
        return (
            make_table(("work", "of", "measured", "aim", "reached"), lines) if lines else "Nothing is measured yet.\n"
        )


def _explain(method: str, case: Case, n_points: int, n_draws: int) -> Row:
    found = explain_rows(method, case, n_points, n_draws)
    return {"figure": found["rest"], "queries": found["queries"]}
