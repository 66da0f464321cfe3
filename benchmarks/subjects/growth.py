"""The growth of a default fit with rows, columns, classes and explainers: time, queries and peak memory."""

import subprocess
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from benchmarks.journal import Journal, Row
from benchmarks.measuring import WatchedBlackBox, slope
from benchmarks.own_process import measure_apart, peak_gigabytes
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_goals, make_table, number, seconds
from oleander import AggregateExplainer, Balls, NothingFoundError
from oleander.candidates.pool_program import PoolProgram
from oleander.draws import Draws
from oleander.selection import SelectionResult

FULL = {
    "rows": (500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000),
    "columns": (10, 20, 50, 100, 250, 500),
    "classes": (2, 5, 10, 20),
    "K": (1, 2, 5, 10, 20, 50, 100),
}
BASE = {"rows": 2_000, "columns": 30, "classes": 5, "K": 10}
TINY = {"rows": (80, 160)}
TINY_BASE = {"rows": 80, "columns": 10, "classes": 2, "K": 2}
TINY_DRAWS = 500
BOXES = ("cheap", "forest")
N_TRAINED = 2_000
# The goal: a default fit of the forest of 100 trees on this many rows, within this time and memory.
AIM_ROWS, AIM_SECONDS, AIM_GIGABYTES = 100_000, 180.0, 6.0


class Cheap:
    """A black box that costs next to nothing: the class with the highest linear score."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        self.weights = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), np.eye(y.max() + 1)[y])[0]

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return labels."""
        return (X @ self.weights[:-1] + self.weights[-1]).argmax(axis=1)


def make_many(rows: int, columns: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that train the black box, and after them the rows of a fit."""
    X, y = make_classification(
        rows + N_TRAINED,
        columns,
        n_informative=8,
        n_redundant=0,
        n_classes=classes,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=0,
    )
    return X, y


def make_box(box: str, X: np.ndarray, y: np.ndarray, n_trees: int = 100) -> Any:
    """Return the cheap black box, or a forest."""
    return Cheap(X, y) if box == "cheap" else RandomForestClassifier(n_trees, random_state=0, n_jobs=1).fit(X, y)


def fit_default(
    box: str, rows: int, columns: int, classes: int, K: int, n_trees: int = 100, n_draws: int = Draws.n
) -> Row:
    """Return the cost of a default fit on rows that are new to the black box, whose training is not counted."""
    X, y = make_many(rows, columns, classes)
    trained, asked = X[:N_TRAINED], X[N_TRAINED:]
    model = make_box(box, trained, y[:N_TRAINED], n_trees)
    watched, choices = WatchedBlackBox(model), watch_choices()
    atlas = AggregateExplainer(watched, max_explainers=K, draws=Draws(n_draws), random_state=0)
    start, cpu_start = time.perf_counter(), time.process_time()
    try:
        n_explainers = len(atlas.fit(asked).explainers_)
    except NothingFoundError:
        n_explainers = 0
    return {
        "seconds": time.perf_counter() - start,
        "cpu seconds": time.process_time() - cpu_start,
        "choosing seconds": sum(taken for taken, _ in choices),
        "choices": len(choices),
        "unproven": sum(is_unproven for _, is_unproven in choices),
        "black box seconds": watched.seconds,
        "queries": watched.n_rows,
        "explainers": n_explainers,
    }


def fit_from_pool(rows: int, columns: int, n_centers: int = 500) -> Row:
    """Return the memory that a choice among balls needs beside the rows; the peak is the process's."""
    X = np.random.default_rng(0).normal(size=(rows, columns))
    candidates = Balls(max_candidates=n_centers, n_draws=500)
    before, cpu_start = peak_gigabytes(), time.process_time()
    atlas = AggregateExplainer(lambda X: (X[:, 0] > 0) & (X[:, 1] > -0.5), candidates=candidates, random_state=0)
    n_candidates = atlas.fit(X).pool_.covers.shape[0]
    return {
        "data GB": X.nbytes / 1e9,
        "bits GB": n_candidates * rows / 8e9,
        "GB over the data": peak_gigabytes() - before,
        "cpu seconds": time.process_time() - cpu_start,
        "coverage": atlas.coverage_,
    }


def watch_choices() -> list[tuple[float, bool]]:
    """Return a list that gets, for each choice from now on, its seconds and whether it was left unproven."""
    noted: list[tuple[float, bool]] = []
    select = PoolProgram.select

    def noting(self: PoolProgram, *given: Any) -> SelectionResult:
        start = time.perf_counter()
        result = select(self, *given)
        noted.append((time.perf_counter() - start, result.status == "feasible"))
        return result

    PoolProgram.select = noting
    return noted


def cells(size: Size) -> Iterator[tuple[str, str, Row]]:
    """Yield the axis, the black box and the sizes of a cell, small ones first."""
    axes, base, boxes = (FULL, BASE, BOXES) if size == "full" else (TINY, TINY_BASE, BOXES[:1])
    for axis, values in axes.items():
        for box in boxes:
            yield from ((axis, box, {**base, axis: value}) for value in values)


class Growth(Subject):
    """Time, queries and peak memory of a default fit."""

    name = "growth"
    title = "Growth"
    asks = (
        "How do time, queries and memory of a default `AggregateExplainer.fit` grow with rows, columns, classes and K?"
    )

    figure_size = (14, 5)

    def __init__(self, time_limit: float = 300.0) -> None:
        self.time_limit = time_limit

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure each cell in a process of its own; where one is over the cap, the larger ones are not tried."""
        over: set[tuple[str, str]] = set()
        for axis, box, sizes in cells(size):
            key = {"axis": axis, "box": box, **sizes}
            if (axis, box) in over:
                continue
            given = sizes if size == "full" else {**sizes, "n_draws": TINY_DRAWS}
            line = journal.once(key, partial(self._measure_one, box, given))
            if "over" in line:
                over.add((axis, box))

    def _measure_one(self, box: str, sizes: Row) -> Row:
        """Return the cost of a fit, or that it was stopped; 30 s more are allowed for the data and the forest."""
        try:
            found = measure_apart("benchmarks.subjects.growth:fit_default", self.time_limit + 30, box=box, **sizes)
        except subprocess.TimeoutExpired:
            return {"over": self.time_limit}
        return {"over": self.time_limit} if found["seconds"] > self.time_limit else found

    def write(self, rows: Sequence[Row]) -> str:
        """Return the goal, the exponents, and a table for each axis."""
        lines = [*rows, *_not_tried(rows)]
        parts = [make_goals([_aim(lines)]), NOTES, "### Exponents\n", _exponents(lines)]
        for axis in dict.fromkeys(row["axis"] for row in lines):
            fixed = ", ".join(f"{name} {value:,}" for name, value in fixed_sizes(lines, axis).items() if name != axis)
            parts.append(f"### By {axis} ({fixed})\n")
            parts.append(_axis_table([row for row in lines if row["axis"] == axis], axis))
        return "\n".join(parts)

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw seconds against size, both on log scales, a panel for each axis."""
        axes = list(dict.fromkeys(row["axis"] for row in rows))
        panels = figure.subplots(1, len(axes), sharey=True, squeeze=False)[0]
        for ax, axis in zip(panels, axes, strict=True):
            for place, box in enumerate(BOXES):
                line = [r for r in rows if r["axis"] == axis and r["box"] == box and "over" not in r]
                if line:
                    sizes = [row[axis] for row in line]
                    ax.plot(sizes, [row["seconds"] for row in line], "o-", color=f"C{place}", label=f"fit, {box}")
                    inside = [row["black box seconds"] for row in line]
                    ax.plot(sizes, inside, ":", color=f"C{place}", label=f"of it black box, {box}")
            ax.set(xscale="log", yscale="log", xlabel=axis, ylabel="seconds")
            shown = sorted({row[axis] for row in rows if row["axis"] == axis})
            ax.set_xticks(shown, [f"{size:,}" for size in shown], rotation=60, fontsize="x-small")
            ax.minorticks_off()
            ax.label_outer()
        panels[0].legend(fontsize="x-small")


NOTES = """\
A default fit, each in a process of its own; peak memory is that of the process, with the data and the libraries
(about 0.2 GB before anything is done). The cheap black box is a linear score, the other a forest of 100 trees on one
core. The exponent is the slope of the log of processor time over log size; "last" is that of the two largest sizes.
"Choosing" is the choice among candidates, with the training that it needs; "not proven" counts the choices that were
not known to be the best. A fit that finds no explainer ends before its certificate and asks less.
"""


def _not_tried(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the cells beyond the first one that was over the cap."""
    for row in rows:
        axis = row["axis"]
        if "over" in row:
            yield from ({**row, axis: value} for value in FULL[axis] if value > row[axis])


def fixed_sizes(rows: Sequence[Row], axis: str) -> Row:
    """Return the sizes along an axis; all but its own are fixed."""
    first = next(row for row in rows if row["axis"] == axis)
    return {name: first[name] for name in BASE}


def exponents(sizes: Sequence[float], values: Sequence[float]) -> tuple[float, float] | None:
    """Return the slope over all sizes and over the last two; None for fewer than two."""
    if len(sizes) < 2:
        return None
    return slope(sizes, values), slope(sizes[-2:], values[-2:])


def _exponents(rows: Sequence[Row]) -> str:
    lines = []
    for axis, box in dict.fromkeys((row["axis"], row["box"]) for row in rows):
        line = [r for r in rows if (r["axis"], r["box"]) == (axis, box) and "over" not in r]
        sizes = [row[axis] for row in line]
        slopes = []
        for name in ("cpu seconds", "queries", "peak GB"):
            found = exponents(sizes, [row[name] for row in line])
            slopes.append("–" if found is None else f"{found[0]:.2f}, last {found[1]:.2f}")
        upto = f"{sizes[0]:,} to {sizes[-1]:,}" if sizes else "–"
        lines.append((axis, box, upto, *slopes))
    return make_table(("axis", "black box", "sizes", "processor time", "queries", "peak memory"), lines)


def _axis_table(rows: Sequence[Row], axis: str) -> str:
    lines = []
    for row in rows:
        if "over" in row:
            lines.append((f"{row[axis]:,}", row["box"], f"over the cap of {row['over']:.0f} s", *["–"] * 7))
            continue
        lines.append(
            (
                f"{row[axis]:,}",
                row["box"],
                seconds(row["seconds"]),
                seconds(row["cpu seconds"]),
                seconds(row["black box seconds"]),
                seconds(row["choosing seconds"]),
                f"{row['unproven']} of {row['choices']}",
                number(row["queries"], 0),
                number(row["peak GB"]),
                number(row["explainers"], 0),
            )
        )
    columns = (axis, "black box", "s", "processor s", "of it black box", "choosing", "not proven", "queries", "peak GB")
    return make_table((*columns, "explainers"), lines)


def _aim(rows: Sequence[Row]) -> tuple[str, str, bool | None]:
    goal = (
        f"a default fit on {AIM_ROWS:,} × {BASE['columns']} with a forest of 100 trees within {AIM_SECONDS / 60:.0f} "
        f"minutes and {AIM_GIGABYTES:.0f} GB"
    )
    found = [r for r in rows if (r["axis"], r["box"], r["rows"]) == ("rows", "forest", AIM_ROWS)]
    if not found:
        return goal, "", None
    if "over" in found[0]:
        return goal, f"over {found[0]['over']:.0f} s", False
    taken, peak = found[0]["seconds"], found[0]["peak GB"]
    return goal, f"{seconds(taken)} s, {peak:.1f} GB", taken <= AIM_SECONDS and peak <= AIM_GIGABYTES
