"""The least time of a fit: the black box alone on as many rows, and one search for the rows in each ball."""

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.cases import Case, numeric_cases, typical_radius
from benchmarks.journal import Journal, Row
from benchmarks.measuring import WatchedBlackBox, timed
from benchmarks.own_process import measure_apart
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_goals, make_table, number, seconds
from oleander import AggregateExplainer, NothingFoundError
from oleander.draws import Draws

DEFAULT, PAPER = "default", "the paper's settings"
LADDERS = ([1.0], [2.0], [4.0], [0.5, 1.0, 1.5, 2.0, 2.5])
MOST_MEMORY = 2.0


def fit_beside_black_box(case: Case, settings: str, n_draws: int, n_in_ball: int) -> Row:
    """Return the time of a fit, and that of the black box alone for as many rows in one call."""
    box = WatchedBlackBox(case.black_box)
    if settings == PAPER:
        radius = typical_radius(case.data)
        atlas = AggregateExplainer.paper(box, radius=radius, n_draws=n_in_ball, random_state=0)
    else:
        atlas = AggregateExplainer(box, draws=Draws(n_draws), random_state=0)
    start = time.perf_counter()
    try:
        n_explainers = len(atlas.fit(case.rows).explainers_)
    except NothingFoundError:
        n_explainers = 0
    taken = time.perf_counter() - start
    rows = np.resize(case.rows, (box.n_rows, case.rows.shape[1]))
    alone, _ = timed(lambda: case.black_box.predict(rows), 1)
    return {"queries": box.n_rows, "seconds": taken, "inside": box.seconds, "alone": alone, "explainers": n_explainers}


class LeastTime(Subject):
    """The black box alone, and one pass over the membership matrix."""

    name = "least-time"
    title = "The least time"
    asks = "How far is a fit from the least time: the black box alone, and one search for the rows in each ball?"
    figure_size = (14, 5)

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure fits beside the black box alone, then memberships, each in a process of its own."""
        n_rows, n_centers = (20_000, 2_000) if size == "full" else (500, 50)
        n_draws, n_in_ball = (Draws.n, 1_000) if size == "full" else (500, 200)
        ladders = LADDERS if size == "full" else LADDERS[1:2]
        for case in numeric_cases(size):
            for settings in (DEFAULT, PAPER):
                key = {"part": "black box", "data": case.data.name, "settings": settings}
                journal.once(key, partial(fit_beside_black_box, case, settings, n_draws, n_in_ball))
        for radii in ladders:
            given = {"n_rows": n_rows, "n_centers": n_centers, "radii": radii}
            work = partial(measure_apart, "benchmarks.subjects.membership:find_members", **given)
            journal.once({"part": "membership", **given}, work)

    def write(self, rows: Sequence[Row]) -> str:
        """Return both tables."""
        fits = [row for row in rows if row["part"] == "black box"]
        members = [row for row in rows if row["part"] == "membership"]
        parts = [make_goals([_aim(members)]), NOTES]
        columns = ("data", "settings", "rows asked", "black box alone, s", "fit, s", "fit ÷ black box", "explainers")
        lines = [
            (
                row["data"],
                row["settings"],
                number(row["queries"], 0),
                seconds(row["alone"]),
                seconds(row["seconds"]),
                number(row["seconds"] / row["alone"], 1),
                number(row["explainers"], 0),
            )
            for row in fits
        ]
        parts.append(make_table(columns, lines) if lines else "The black box alone is not measured yet.\n")
        parts.append("### Rows in each ball\n")
        if members:
            first = members[0]
            parts.append(
                f"{first['n_rows']:,} rows × {first['n_centers']:,} centers × 31 features (11 numbers, 20 bits).\n"
            )
        parts.append(_member_table(members) if members else "Memberships are not measured yet.\n")
        return "\n".join(parts)

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw each fit beside the black box alone."""
        fits = [row for row in rows if row["part"] == "black box"][::-1]
        ax = figure.subplots()
        labels = [f"{row['data']}, {row['settings']}" for row in fits]
        ax.barh(labels, [row["seconds"] for row in fits], color="tab:purple", alpha=0.4, label="fit")
        ax.barh(labels, [row["alone"] for row in fits], color="tab:gray", label="black box alone, as many rows")
        ax.set(xscale="log", xlabel="seconds")
        ax.legend()


NOTES = """\
The black box alone gets as many rows in one call, which is the fastest way to ask it. A default fit asks little: its
time is learning and choosing. A fit with the paper's settings (raw units, one radius, a ball around every row, and here
1,000 draws in each ball that is trained) asks much.
"""


def _aim(members: Sequence[Row]) -> tuple[str, str, bool | None]:
    goal = f"20,000 rows × 2,000 balls × 31 features inside {MOST_MEMORY:.0f} GB"
    if not members:
        return goal, "", None
    peak = max(row["peak GB"] for row in members)
    is_full = members[0]["n_rows"] >= 20_000
    return goal, f"{peak:.2f} GB" + ("" if is_full else " at a tiny size"), peak <= MOST_MEMORY if is_full else None


def _member_table(members: Sequence[Row]) -> str:
    columns = ("radii", "memberships", "time per center, × one pass over the rows", "one pass over the matrix, s")
    lines = [
        (
            ", ".join(f"{radius:g}" for radius in row["radii"]),
            number(row["memberships"], 0),
            number(row["per center"]),
            seconds(row["matrix pass"]),
            number(row["peak GB"]),
        )
        for row in members
    ]
    return make_table((*columns, "peak GB"), lines)
