"""The cost of explaining one row: our local explainers beside lime, anchor-exp and shap."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.cases import ABSENT, Case, numeric_cases
from benchmarks.journal import Journal, Row
from benchmarks.measuring import WatchedBlackBox, is_installed
from benchmarks.rivals.base import spread_points
from benchmarks.rivals.lime_linear import LimeLinear
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table, number, seconds
from oleander.black_box.asking import BlackBox
from oleander.candidates.balls import Balls
from oleander.draws.in_ball import draw_in_ball
from oleander.rules import Ball, FilteredTree, UnfilteredTree

OURS = {"FilteredTree": FilteredTree, "UnfilteredTree": UnfilteredTree, "LimeLinear": LimeLinear}
# Import names by the names in the table. A package that is not installed is left out, and the page says so.
PEERS = {"lime": "lime", "shap, Kernel": "shap", "shap, Tree": "shap", "anchor-exp": "anchor"}
# Anchors are searched until they are precise, and the trees' Shapley values are read off the trees: neither draws a
# number of rows that could be set.
ADAPTIVE = ("shap, Tree", "anchor-exp")

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
        for point in spread_points(rows, n_points):
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
    docs = "evidence/speed.md"
    asks = "What does it cost to explain one row, and how much of that is the black box itself?"

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure method by method."""
        n_points, equal = (9, 5_000) if size == "full" else (2, 300)
        for case in numeric_cases(size):
            for draws, method in _cells(equal):
                key = {"data": case.data.name, "draws": draws or "own", "method": method}
                journal.once(key, partial(explain_rows, method, case, n_points, draws))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a line for each method."""
        firsts = {(row["data"], row["draws"]): row["seconds"] for row in rows if row["method"] == "FilteredTree"}
        lines = [
            (
                row["data"],
                "own" if row["draws"] == "own" else f"{row['draws']:,}",
                row["method"],
                number(row["queries"], 0),
                seconds(row["seconds"]),
                seconds(row["black box seconds"]) if row["queries"] else "–",
                number(row["rest"]),
                number(row["seconds"] / firsts[row["data"], row["draws"]], 1),
                seconds(row["set up"]),
            )
            for row in rows
        ]
        columns = ("data", "draws", "method", "rows asked", "s", "of it black box", "rest ÷ black box")
        parts = [make_table((*columns, "× FilteredTree", "set up, s"), lines), NOTES]
        missing = [name for name in PEERS if name not in {row["method"] for row in rows}]
        if missing:
            parts.append(f"Not installed where this was measured, or not measured yet: {'; '.join(missing)}.\n")
        if not any(row["data"] == "geriatric" for row in rows):
            parts.append(ABSENT)
        return "\n".join(parts)


NOTES = """\
A draw is a row sent to the black box. "Own" draws are the defaults of a method: 2,000 for ours, 5,000 for `lime`,
2,048 and two a column for `shap`'s kernel, each sent once for every one of 100 background rows (one background row at
equal draws). `anchor-exp` draws until it is sure, and `shap`'s tree explainer reads the trees and asks nothing, so
their number of draws cannot be set. Seconds are medians over rows, one after the other on one core; the set-up, once
per data set, is beside them. The methods do not explain the same thing: ours and an anchor say where they hold, `lime`
and `shap` give weights for one row. Turning draws into the user's own rows counts as ours.
"""


def _cells(equal: int) -> Iterator[tuple[int | None, str]]:
    there = [*OURS, *(name for name, module in PEERS.items() if is_installed(module))]
    for draws in (equal, None):
        yield from ((draws, method) for method in there if draws is None or method not in ADAPTIVE)
