"""The cost of explaining one row: our local explainers beside lime, anchor-exp and shap."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.cases import ABSENT, Case, numeric_cases
from benchmarks.journal import Journal, Row
from benchmarks.measuring import WatchedBlackBox, is_installed, slope
from benchmarks.rivals.lime_linear import LimeLinear
from benchmarks.subjects.base import Size, Subject
from benchmarks.subjects.stages import filter_seconds, stages
from benchmarks.tables import make_goals, make_table, number, seconds
from oleander.black_box.asking import BlackBox
from oleander.candidates.balls import Balls, choose_centers
from oleander.draws.in_ball import draw_in_ball
from oleander.rules import Ball, FilteredTree, UnfilteredTree

OURS = {"FilteredTree": FilteredTree, "UnfilteredTree": UnfilteredTree, "LimeLinear": LimeLinear}
# Import names by the names in the table. A package that is not installed is left out, and the page says so.
PEERS = {"lime": "lime", "shap, Kernel": "shap", "shap, Tree": "shap", "anchor-exp": "anchor"}
# Anchors are searched until they are precise, and the trees' Shapley values are read off the trees: neither draws a
# number of rows that could be set.
ADAPTIVE = ("shap, Tree", "anchor-exp")
MOST_REST = 0.75

# Explains a row; the result is not used.
Explain = Callable[[np.ndarray], object]


def make_explain(method: str, case: Case, box: WatchedBlackBox, n_draws: int | None) -> Explain:
    """Return a method that is set up; None draws is its own default."""
    if method in OURS:
        return _ours(method, case, box, n_draws or 2000)
    return {"lime": _lime, "shap, Kernel": _kernel, "shap, Tree": _tree, "anchor-exp": _anchor}[method](
        case, box, n_draws
    )


def _ours(method: str, case: Case, box: WatchedBlackBox, n_draws: int) -> Explain:
    rows = case.labelled_rows()
    asked = BlackBox(box, rows.schema)
    ladder = Balls().choose_ladder(rows)
    radius = ladder[len(ladder) // 2]

    def explain(row: np.ndarray) -> object:
        center = rows.schema.encode(row[None, :])[0]
        draws = draw_in_ball(Ball(rows.schema, center, radius), n_draws, np.random.default_rng(0))
        return OURS[method]().fit(draws, asked.ask(draws), schema=rows.schema, center=center).path(center)

    return explain


def _lime(case: Case, box: WatchedBlackBox, n_draws: int | None) -> Explain:
    from lime.lime_tabular import LimeTabularExplainer

    explainer = LimeTabularExplainer(case.rows, random_state=0)
    given = {} if n_draws is None else {"num_samples": n_draws}

    def explain(row: np.ndarray) -> object:
        explanation = explainer.explain_instance(row, box.predict_proba, top_labels=1, **given)
        return explanation.as_list(explanation.top_labels[0])

    return explain


def _kernel(case: Case, box: WatchedBlackBox, n_draws: int | None) -> Explain:
    import shap

    # A draw is asked about once for each row of the background: its guide takes 100 of them, equal draws take one.
    background = (
        shap.sample(case.rows, 100, random_state=0) if n_draws is None else np.median(case.rows, axis=0)[None, :]
    )
    explainer = shap.KernelExplainer(box.predict_proba, background)
    given = {} if n_draws is None else {"nsamples": n_draws}
    return lambda row: explainer.shap_values(row, silent=True, **given)


def _tree(case: Case, box: WatchedBlackBox, n_draws: int | None) -> Explain:
    import shap

    explainer = shap.TreeExplainer(case.black_box)
    return lambda row: explainer.shap_values(row[None, :])


def _anchor(case: Case, box: WatchedBlackBox, n_draws: int | None) -> Explain:
    from anchor.anchor_tabular import AnchorTabularExplainer

    names = [str(label) for label in case.black_box.classes_]
    explainer = AnchorTabularExplainer(names, [f"x{j}" for j in range(case.rows.shape[1])], case.rows, {})
    # It compares labels with positions, so it is given positions.
    position = {label: number for number, label in enumerate(case.black_box.classes_)}

    def predict(X: np.ndarray) -> np.ndarray:
        return np.array([position[label] for label in box.predict(X)])

    return lambda row: explainer.explain_instance(row, predict)


def explain_rows(method: str, case: Case, n_points: int, n_draws: int | None) -> Row:
    """Return the cost of explaining some rows spread over the data, one after the other."""
    box = WatchedBlackBox(case.black_box)
    rows = case.labelled_rows()
    np.random.seed(0)  # noqa: NPY002 (shap and anchor-exp draw from it)
    with threadpool_limits(1):
        if method in PEERS:
            import_module(PEERS[method])
        start = time.perf_counter()
        explain = make_explain(method, case, box, n_draws)
        setting_up = time.perf_counter() - start
        times, inside, asked, ratios = [], [], [], []
        for point in choose_centers(rows, n_points):
            seconds_before, cpu_before, rows_before = box.seconds, box.cpu_seconds, box.n_rows
            start, cpu_start = time.perf_counter(), time.process_time()
            explain(rows.schema.decode(rows.values[[point]])[0])
            cpu = time.process_time() - cpu_start
            times.append(time.perf_counter() - start)
            inside.append(box.seconds - seconds_before)
            asked.append(box.n_rows - rows_before)
            # Of the processor's seconds, so that other work of the machine is in neither part.
            cpu_inside = box.cpu_seconds - cpu_before
            if asked[-1]:
                ratios.append((cpu - cpu_inside) / cpu_inside)
    total, black_box = statistics.median(times), statistics.median(inside)
    return {
        "seconds": total,
        "black box seconds": black_box,
        "rest": statistics.median(ratios) if ratios else None,
        "queries": statistics.mean(asked),
        "set up": setting_up,
    }


class OneExplanation(Subject):
    """Seconds and black-box rows of one explanation."""

    name = "one-explanation"
    title = "One explanation"
    asks = "What does it cost to explain one row, and how much of that is the black box itself?"
    figure_size = (14, 5)

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure method by method, then the stages of ours and the growth of its filter."""
        n_points, equal = (9, 5_000) if size == "full" else (2, 300)
        for case in numeric_cases(size):
            for draws, method in _cells(equal):
                key = {"part": "peers", "data": case.data.name, "draws": draws or "own", "method": method}
                journal.once(key, partial(explain_rows, method, case, n_points, draws))
        n_draws, n_balls = (10_000, 9) if size == "full" else (500, 1)
        with threadpool_limits(1):
            journal.once({"part": "stages", "draws": n_draws}, partial(stages, n_draws, n_balls))
            for axis, n, m in _filter_sizes(size):
                key = {"part": "filter", "axis": axis, "size": n if axis == "draws" else m}
                journal.once(key, lambda n=n, m=m: {"seconds": filter_seconds(n, m, 5)})

    def write(self, rows: Sequence[Row]) -> str:
        """Return the peers, then the stages, then the filter."""
        peers = [row for row in rows if row["part"] == "peers"]
        parts = [self._goals(peers)]
        missing = [name for name in PEERS if name not in {row["method"] for row in peers}]
        if missing:
            parts.append(f"Not installed where this was measured, or not measured yet: {'; '.join(missing)}.\n")
        if not any(row["data"] == "geriatric" for row in peers):
            parts.append(ABSENT)
        for data in dict.fromkeys(row["data"] for row in peers):
            parts.append(f"### {data}\n")
            parts.append(_peer_table([row for row in peers if row["data"] == data]))
        parts += [NOTES, _stage_table(rows), *(_filter_table(rows, axis) for axis in ("draws", "features"))]
        return "\n".join(parts)

    def _goals(self, peers: Sequence[Row]) -> str:
        """Return the goals: the time of our own explainers beside that of the black box."""
        goals = []
        for method in OURS:
            rests = [row["rest"] for row in peers if row["method"] == method]
            found = f"{min(rests):.2f} to {max(rests):.2f} ×" if rests else ""
            goal = f"{method}: all but the black box at most {MOST_REST} × the black box, everywhere"
            goals.append((goal, found, max(rests) <= MOST_REST if rests else None))
        return make_goals(goals)

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw seconds at default settings, with a dot where the black box's part ends."""
        peers = [row for row in rows if row["part"] == "peers" and row["draws"] == "own"]
        names = list(dict.fromkeys(row["data"] for row in peers))
        axes = figure.subplots(1, max(len(names), 1), sharex=True, squeeze=False)[0]
        for ax, data in zip(axes, names, strict=False):
            shown = [row for row in peers if row["data"] == data][::-1]
            labels = [row["method"] for row in shown]
            colors = ["tab:purple" if row["method"] in OURS else "tab:gray" for row in shown]
            ax.barh(labels, [row["seconds"] for row in shown], color=colors, alpha=0.5)
            asked = [row for row in shown if row["queries"]]
            ax.plot([row["black box seconds"] for row in asked], [row["method"] for row in asked], "k.")
            ax.set(xscale="log", title=data, xlabel="seconds (dot: of the black box alone)")
            ax.label_outer()


NOTES = """\
A draw is a row sent to the black box. "Own" draws are the defaults of a method: 2,000 for ours, 5,000 for `lime`,
2,048 and two a column for `shap`'s kernel, each sent once for every one of 100 background rows (one background row at
equal draws). `anchor-exp` draws until it is sure, and `shap`'s tree explainer reads the trees and asks nothing, so
their number of draws cannot be set. Seconds are medians over rows, one after the other on one core; the set-up, once
per data set, is beside them. The methods do not explain the same thing: ours and an anchor say where they hold, `lime`
and `shap` give weights for one row. Turning draws into the user's own rows counts as ours here, and as the black box's
in the table of stages.
"""


def _cells(equal: int) -> Iterator[tuple[int | None, str]]:
    there = [*OURS, *(name for name, module in PEERS.items() if is_installed(module))]
    for draws in (equal, None):
        yield from ((draws, method) for method in there if draws is None or method not in ADAPTIVE)


def _filter_sizes(size: Size) -> list[tuple[str, int, int]]:
    if size == "tiny":
        return [("draws", 1_000, 31), ("draws", 2_000, 31), ("features", 1_000, 31), ("features", 1_000, 62)]
    by_draws = [("draws", n, 31) for n in (10_000, 20_000, 40_000, 80_000, 160_000)]
    return by_draws + [("features", 10_000, m) for m in (31, 62, 125, 250, 500)]


def _peer_table(peers: Sequence[Row]) -> str:
    lines = []
    for row in peers:
        same = [other for other in peers if other["draws"] == row["draws"] and other["method"] == "FilteredTree"]
        lines.append(
            (
                "own" if row["draws"] == "own" else f"{row['draws']:,}",
                row["method"],
                number(row["queries"], 0),
                seconds(row["seconds"]),
                seconds(row["black box seconds"]) if row["queries"] else "–",
                number(row["rest"]),
                number(row["seconds"] / same[0]["seconds"], 1),
                seconds(row["set up"]),
            )
        )
    columns = (
        "draws",
        "method",
        "rows asked",
        "s",
        "of it black box",
        "rest ÷ black box",
        "× FilteredTree",
        "set up, s",
    )
    return make_table(columns, lines)


def _stage_table(rows: Sequence[Row]) -> str:
    found = [row for row in rows if row["part"] == "stages"]
    if not found:
        return "The stages of one local explainer are not measured yet.\n"
    shares = {name: value for name, value in found[0].items() if name not in ("part", "draws", "features kept")}
    title = (
        f"### The stages of ours\n\n{found[0]['draws']:,} draws, 11 numbers and 20 bits, 5 classes, 50 trees; "
        f"median over balls, as a multiple of the black box's time on the same draws, on one core. "
        f"The filter kept {found[0]['features kept']:.0f} features (median).\n"
    )
    return (
        title + "\n" + make_table(("stage", "× black box"), [(name, number(share)) for name, share in shares.items()])
    )


def _filter_table(rows: Sequence[Row], axis: str) -> str:
    found = sorted((row for row in rows if row["part"] == "filter" and row["axis"] == axis), key=lambda r: r["size"])
    if len(found) < 2:
        return f"The growth of the filter with {axis} is not measured yet.\n"
    exponent = slope([row["size"] for row in found], [row["seconds"] for row in found])
    lines = [(f"{row['size']:,}", number(row["seconds"] / found[0]["seconds"])) for row in found]
    return (
        make_table((axis, "filter's time, × the first"), lines)
        + f"\nGoal: at most linear. Slope of log time over log size: {exponent:.2f}.\n"
    )
