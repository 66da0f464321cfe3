"""The time of our own work beside the black box's: each line has an aim, and all are measured in one run."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks import fresh, history
from benchmarks.cases import Case, numeric_cases, typical_radius
from benchmarks.journal import Journal, Row
from benchmarks.machine import name_commit
from benchmarks.measuring import WatchedBlackBox
from benchmarks.own_process import measure_apart
from benchmarks.stage_times import share_out
from benchmarks.subjects.base import Size, Subject
from benchmarks.subjects.one_explanation import OURS, explain_rows
from benchmarks.tables import make_table, number
from oleander import AggregateExplainer, NothingFoundError
from oleander.data.schema import FeatureSchema
from oleander.draws import Draws
from oleander.draws.between_neighbours import find_neighbours
from oleander.draws.in_ball import draw_in_ball
from oleander.rules import Ball, UnfilteredTree
from studies.data import make_ppmi_like


@dataclass(frozen=True)
class Aim:
    """The most, or with ``at_least`` the least, that a figure may be, and its unit; None for a line to compare with."""

    limit: float | None
    unit: str
    at_least: bool = False
    # Further aims of the same line: the name of a figure, the most that it may be, its unit.
    also: tuple[tuple[str, float, str], ...] = ()


BOX = "× the black box"
AIMS: dict[str, Aim] = {
    "first fit, no kernel compiled": Aim(3.0, "s by the clock more than with compiled kernels"),
    "first fit of a process": Aim(0.8, "s by the clock besides the black box"),
    "second fit of a process": Aim(None, "s by the clock besides the black box"),
    "default fit, 20,000 draws": Aim(1.5, "s of processor time besides the black box"),
    "fit by folds": Aim(2.0, "× the clock time of a fit with a background"),
    "proposing and choosing": Aim(0.15, "s of processor time in a default fit"),
    "neighbours of draws": Aim(0.03, "s of processor time, all threads"),
    "realism and verdict": Aim(0.0, "s of processor time in a default fit"),
    "predict": Aim(0.1, "s of processor time a million rows"),
    "explain one row": Aim(1.0, "ms of processor time"),
    "explain one row, and what would change the answer": Aim(3.0, "ms of processor time"),
    "default fit, many rows, forest": Aim(3.0, "s of processor time", also=(("peak GB", 1.0, "GB"),)),
    "default fit, many rows, cheap box": Aim(5.0, "s of processor time", also=(("times data", 4.0, "× the data"),)),
    "black box of a GPU, 20,000 rows in 5 ms": Aim(
        0.3, "s of processor time besides it", also=(("calls", 3, "calls"),)
    ),
    "import": Aim(1.2, "× scikit-learn's own parts"),
    "oleander explain": Aim(2.5, "s by the clock"),
    "one explanation": Aim(0.3, f"{BOX}, without it"),
    "fit with the paper's settings": Aim(3.0, f"{BOX}, without it"),
    "the paper's own size": Aim(3.0, f"{BOX}, without it"),
    "whole tree": Aim(5.0, "× as fast as scikit-learn's", at_least=True),
}
# The aim of one explanation where the forest is the cheapest of the three.
CHEAPEST, BESIDE_CHEAPEST = "breast_cancer", Aim(0.5, f"{BOX}, without it")
N_REPEATS = 3
# Turns of both versions beside an earlier commit.
N_TURNS = 2
# Seconds that a GPU takes for a row, in batches.
GPU_SECONDS = 0.005 / 20_000


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
    """Return what a fit takes besides the black box, as a ratio and in seconds, by processor and clock; the best."""
    lines = []
    for _ in range(n_repeats):
        box = WatchedBlackBox(model)
        start, cpu_start = time.perf_counter(), time.process_time()
        with suppress(NothingFoundError):
            make(box).fit(**given)
        wall, rest = time.perf_counter() - start, time.process_time() - cpu_start - box.cpu_seconds
        ratio = rest / box.cpu_seconds
        lines.append({"rest": rest, "ratio": ratio, "wall": wall, "queries": box.n_rows, "calls": box.n_calls})
    return {**min(lines, key=lambda line: line["rest"]), "wall": min(line["wall"] for line in lines)}


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


def make_data(n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return 11 numbers and 20 bits with five classes that depend on a dozen columns."""
    X = np.hstack([rng.normal(size=(n_rows, 11)), rng.integers(0, 2, size=(n_rows, 20))])
    scores = [
        X[:, k] + X[:, k + 3] * X[:, 11 + k] + 0.5 * X[:, 16 + k] + 0.3 * rng.normal(size=n_rows) for k in range(5)
    ]
    return X, np.argmax(scores, axis=0)


class Tables:
    """Rows of 30 columns to explain, twice as many others, and a forest that was trained on these."""

    def __init__(self, n_rows: int) -> None:
        X, y = make_data(3 * n_rows, np.random.default_rng(0))
        X = X[:, :30]
        self.rows, self.others, self.n_rows = X[:n_rows], X[n_rows:], n_rows
        self.forest = RandomForestClassifier(50, random_state=0, n_jobs=1).fit(self.others, y[n_rows:])

    def given(self, has_background: bool) -> dict[str, Any]:
        """Return what a fit gets."""
        return {"X": self.rows, "background": self.others if has_background else None}

    def fit(self, has_background: bool, n_draws: int) -> Row:
        """Return our own processor time of a default fit, with a background or by folds."""
        make = partial(AggregateExplainer, draws=Draws(n_draws), random_state=0)
        found = compare_fit(make, self.forest, self.given(has_background))
        return {"figure": found["rest"], "wall": found["wall"], "queries": found["queries"]}

    def stages(self, n_draws: int) -> dict[str, float]:
        """Return the processor time of a default fit by stage."""
        box = WatchedBlackBox(self.forest)
        atlas = AggregateExplainer(box, draws=Draws(n_draws), random_state=0)

        def fit() -> None:
            with suppress(NothingFoundError):
                atlas.fit(**self.given(True))

        return share_out(fit, N_REPEATS)

    def find_neighbours(self) -> Row:
        """Return the processor time of the search for the neighbours between which draws are made."""
        schema = FeatureSchema.infer(self.others)
        rows = schema.encode(self.others)
        return {"figure": best_of(lambda: processor_time(lambda: find_neighbours(rows, schema)))}

    def ask_gpu(self, n_draws: int) -> Row:
        """Return the processor time besides a black box that waits for its answers, and its calls."""
        slow = WaitingBox(np.linspace(-1.0, 1.0, 30))
        make = partial(AggregateExplainer, draws=Draws(n_draws), random_state=0)
        found = compare_fit(make, slow, self.given(True))
        return {"figure": found["rest"], "calls": found["calls"], "queries": found["queries"]}


class WaitingBox:
    """A linear model that takes as long as one on a GPU, nearly all of it without the processor."""

    def __init__(self, weights: np.ndarray) -> None:
        self.weights = weights

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return labels, after the time that a batch takes."""
        time.sleep(GPU_SECONDS * len(X))
        return (np.asarray(X) @ self.weights > 0).astype(int)


class Fitted:
    """Rules on 30 columns, for what is done with them."""

    def __init__(self) -> None:
        X, y = make_classification(3_000, 30, n_informative=10, n_redundant=5, n_classes=3, random_state=0)
        forest = RandomForestClassifier(20, random_state=0, n_jobs=1).fit(X[1000:], y[1000:])
        self.X, self.atlas = X, AggregateExplainer(forest, random_state=0).fit(X[:1000], background=X[1000:])
        # The same rules, for a table with names.
        self.frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(30)])
        self.named = AggregateExplainer(lambda table: forest.predict(np.asarray(table)), random_state=0)
        self.named.fit(self.frame[:1000], background=self.frame[1000:])

    def predict(self, of: str, n_rows: int) -> Row:
        """Return the processor's seconds of ``predict`` for a million rows, on one thread."""
        many = np.resize(self.X, (n_rows, 30))
        atlas, table = (
            (self.atlas, many) if of == "array" else (self.named, pd.DataFrame(many, columns=self.frame.columns))
        )
        with threadpool_limits(1):
            taken = best_of(lambda: processor_time(lambda: atlas.predict(table)))
        return {"figure": taken / n_rows * 1e6, "explainers": len(atlas.explainers_)}

    def explain(self, of: str, n_rows: int, *, with_change: bool) -> Row:
        """Return the milliseconds of one explanation, the black box not asked."""
        if of == "array":
            atlas, rows = self.atlas, list(self.X[:n_rows])
        else:
            atlas, rows = self.named, [self.frame.iloc[[i]] for i in range(n_rows)]

        def work() -> None:
            for row in rows:
                atlas.explain(row, ask=False, change=with_change)

        return {"figure": 1_000 * best_of(lambda: processor_time(work)) / n_rows}


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
    """One line per aim, the processor time of the main paths by stage, and both beside an earlier commit."""

    name = "speed"
    title = "Our own work beside the black box"
    docs = "evidence/speed.md"
    asks = "How long does our own work take, in units of the black box's time for the same rows?"
    # The commit or tag to compare with; None takes the last release, if there is one.
    before: str | None = None

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure short work first."""
        is_full, commit = size == "full", name_commit()

        def note(work: str, of: str, measure: Callable[[], Mapping[str, Any]]) -> Row:
            def watch() -> Row:
                found = dict(measure())
                return {**found, "load": round(os.getloadavg()[0], 1), "commit": commit}

            return journal.once({"work": work, "of": of}, watch)

        n_asked, n_rows = (Draws.n, 1_000) if is_full else (500, 100)
        n_starts = N_REPEATS if is_full else 1
        self._note_fits(note, n_rows, n_asked, n_starts)
        self._note_uses(note, *((1_000_000, 50) if is_full else (5_000, 5)))
        note("import", "`from oleander import AggregateExplainer`", partial(fresh.compare_imports, n_starts))
        note(
            "oleander explain",
            f"{n_rows:,} rows of the clinic in a CSV file",
            partial(fresh.time_command, n_rows, n_starts),
        )
        for n_draws in (2_000, 10_000) if is_full else (200,):
            note("whole tree", f"{n_draws:,} draws × 31", partial(grow_whole_tree, n_draws))
        for case in numeric_cases(size):
            for n_draws in (2_000, 10_000) if is_full else (200,):
                for method in OURS:
                    of = f"{case.data.name}, {n_draws:,} draws, {method}"
                    note("one explanation", of, partial(_explain, method, case, 9 if is_full else 2, n_draws))
            # The paper has 10,000 draws in a ball; with fewer, the program's own time weighs more.
            for n_draws in (1_000, 10_000) if is_full else (50,):
                of = f"{case.data.name}, {n_draws:,} draws"
                note("fit with the paper's settings", of, partial(fit_as_paper, case, n_draws))
        n_rows, n_draws = (779, 10_000) if is_full else (40, 100)
        note("the paper's own size", f"{n_rows} × 31, {n_draws:,} draws", partial(fit_paper_size, n_rows, n_draws))
        for work, box, n_rows in (
            ("default fit, many rows, forest", "forest", 100_000),
            ("default fit, many rows, cheap box", "cheap", 1_000_000),
        ):
            n_rows = n_rows if is_full else n_rows // 500
            given = {"box": box, "n_rows": n_rows, "n_draws": n_asked}
            note(work, f"{n_rows:,} × 30", partial(measure_apart, "benchmarks.fresh:fit_many", **given))
        journal.once({"part": "stages"}, partial(history.profile, size))
        before = self.before or history.find_last_release()
        if before is not None:
            key = {"part": "history", "before": before}
            journal.once(key, partial(history.take_turns, before, size, n_turns=N_TURNS if is_full else 1))

    def _note_fits(self, note: Callable[..., Row], n_rows: int, n_draws: int, n_starts: int) -> None:
        """Note default fits: the first ones of processes, and what is in them."""
        of, tables = f"{n_rows:,} × 30", Tables(n_rows)
        firsts: Row = {}

        def find_first(name: str) -> Row:
            firsts.update(firsts or fresh.compare_first_fits(n_rows, n_draws, n_starts))
            return {"figure": firsts[name]}

        note("first fit, no kernel compiled", of, partial(find_first, "empty cache"))
        note("first fit of a process", of, partial(find_first, "full cache"))
        note("second fit of a process", of, partial(find_first, "second"))
        work = "default fit, 20,000 draws"
        one = note(work, f"{of}, a background", partial(tables.fit, True, n_draws))
        several = note(work, f"{of}, no background", partial(tables.fit, False, n_draws))
        if one and several:
            note("fit by folds", of, lambda: {"figure": several["wall"] / one["wall"]})
        note("neighbours of draws", f"{2 * n_rows:,} × 30", tables.find_neighbours)
        stages: dict[str, float] = {}

        def find_stages(*names: str) -> Row:
            stages.update(stages or tables.stages(n_draws))
            return {"figure": sum(stages.get(name, 0.0) for name in names)}

        note("proposing and choosing", of, partial(find_stages, "choosing", "polishing"))
        note("realism and verdict", of, partial(find_stages, "realism", "verdict"))
        note("black box of a GPU, 20,000 rows in 5 ms", of, partial(tables.ask_gpu, n_draws))

    def _note_uses(self, note: Callable[..., Row], n_many: int, n_explained: int) -> None:
        """Note what is done with fitted rules."""
        fitted = Fitted()
        for of in ("array", "frame"):
            note("predict", f"{n_many:,} × 30, {of}", partial(fitted.predict, of, n_many))
            for work, with_change in (
                ("explain one row", False),
                ("explain one row, and what would change the answer", True),
            ):
                note(work, of, partial(fitted.explain, of, n_explained, with_change=with_change))

    def write(self, rows: Sequence[Row]) -> str:
        """Return the table of aims, that of stages, and that beside an earlier commit."""
        lines = [_write_line(row) for row in rows if "work" in row]
        parts = [
            make_table(("work", "of", "measured", "aim", "reached"), lines) if lines else "Nothing is measured yet.\n"
        ]
        loads = [row["load"] for row in rows if "load" in row]
        if loads:
            commits = ", ".join(dict.fromkeys(row["commit"] for row in rows if "commit" in row))
            load = f"{min(loads):.1f} to {max(loads):.1f}"
            parts.append(f"Measured at {commits} on {os.cpu_count()} cores, under a load of {load}.\n")
        for row in rows:
            found = {name: value for name, value in row.items() if name not in ("part", "before")}
            if row.get("part") == "stages":
                parts.append(f"{STAGES}\n{history.write_stages(found)}")
            elif row.get("part") == "history":
                parts.append(f"Beside {row['before']}, in turns of one run:\n\n{history.compare(row['before'], found)}")
        return "\n".join(parts)


STAGES = """\
Where the time of the main paths goes, in all threads: a thread of its own looks a thousand times a second at what each
thread runs, and at its clock. Libraries' own threads, and the ends of threads, are the rest that no look saw.
"""


def _write_line(row: Row) -> tuple[str, ...]:
    aim = AIMS[row["work"]]
    if row["work"] == "one explanation" and row["of"].startswith(CHEAPEST):
        aim = BESIDE_CHEAPEST
    figure = number(row["figure"], 2 if row["figure"] >= 0.1 else 3)
    if aim.limit is None:
        return row["work"], row["of"], f"{figure} {aim.unit}", "–", "–"
    reached = row["figure"] >= aim.limit if aim.at_least else row["figure"] <= aim.limit
    goal = f"{'at least' if aim.at_least else 'at most'} {aim.limit:g} {aim.unit}"
    for name, most, unit in aim.also:
        value = row[name]
        figure, goal = (
            f"{figure}; {value:g} {unit}" if isinstance(value, int) else f"{figure}; {number(value, 1)} {unit}",
            f"{goal}, {most:g} {unit}",
        )
        reached = reached and value <= most
    return row["work"], row["of"], figure, goal, "yes" if reached else "no"


def _explain(method: str, case: Case, n_points: int, n_draws: int) -> Row:
    found = explain_rows(method, case, n_points, n_draws)
    return {"figure": found["rest"], "queries": found["queries"]}
