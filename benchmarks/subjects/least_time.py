"""What nothing can be faster than: the black box on the rows that are asked about, and one look at who lies where."""

import time
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from subjects.base import Journal, Row, Size, WatchedBlackBox, make_goals, make_table, number, seconds, timed
from subjects.cases import Case, cases
from subjects.own_process import measure_apart

from oleander import AggregateExplainer
from oleander.black_box.asking import BlackBox
from oleander.candidates.balls import choose_ladder
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.results.fitting import NothingFoundError

DEFAULT, PAPER = "default", "the paper's settings"
LADDERS = ([1.0], [2.0], [4.0], [0.5, 1.0, 1.5, 2.0, 2.5])
MOST_MEMORY = 2.0


def fit_beside_black_box(case: Case, settings: str, n_draws: int) -> Row:
    """Return what a fit takes, and what the black box alone takes for as many rows in one call."""
    box = WatchedBlackBox(case.forest)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if settings == PAPER:
            schema = FeatureSchema.infer(case.rows)
            ladder = choose_ladder(Rows.ask(case.rows, BlackBox(case.forest, schema)))
            radius = ladder[len(ladder) // 2]
            atlas = AggregateExplainer.paper(box, radius=radius, n_draws=n_draws, schema=schema, random_state=0)
        else:
            atlas = AggregateExplainer(box, random_state=0)
        start = time.perf_counter()
        try:
            form = atlas.fit(case.rows).combine_
        except NothingFoundError:
            form = "nothing"
        taken = time.perf_counter() - start
        rows = np.resize(case.rows, (box.n_rows, case.rows.shape[1]))
        alone, _ = timed(lambda: case.forest.predict(rows), 1)
    return {"queries": box.n_rows, "seconds": taken, "inside": box.seconds, "alone": alone, "form": form}


class Floor:
    """The black box alone, and one pass over the membership matrix."""

    name = "floor"
    title = "The floor"
    asks = "How far is a fit from what nothing can be faster than, the black box alone and one look at who lies where?"

    def measure(self, size: Size, journal: Journal) -> list[Row]:
        """Measure fits beside the black box alone, then memberships, each in a process of its own."""
        n_draws, n_rows, n_centers = (1_000, 20_000, 2_000) if size == "full" else (200, 500, 50)
        ladders = LADDERS if size == "full" else LADDERS[1:2]
        lines = []
        for case in cases(size):
            for settings in (DEFAULT, PAPER):
                key = {"part": "black box", "data": case.name, "settings": settings}
                lines.append(journal.once(key, partial(fit_beside_black_box, case, settings, n_draws)))
        for radii in ladders:
            given = {"n_rows": n_rows, "n_centers": n_centers, "radii": radii}
            work = partial(measure_apart, "subjects.membership:find_members", **given)
            lines.append(journal.once({"part": "membership", **given}, work))
        return lines

    def write(self, rows: Sequence[Row]) -> str:
        """Return both tables."""
        fits = [row for row in rows if row["part"] == "black box"]
        members = [row for row in rows if row["part"] == "membership"]
        parts = [make_goals([_aim(members)]), NOTES]
        columns = ("data", "settings", "rows asked", "black box alone, s", "fit, s", "fit ÷ black box", "form")
        lines = [
            (
                row["data"],
                row["settings"],
                number(row["queries"], 0),
                seconds(row["alone"]),
                seconds(row["seconds"]),
                number(row["seconds"] / row["alone"], 1),
                row["form"],
            )
            for row in fits
        ]
        parts.append(make_table(columns, lines) if lines else "The black box alone is not measured yet.\n")
        parts.append("### Who lies in which ball\n")
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
The black box alone is asked about as many rows in one call, which is the fastest way to ask it. A default fit asks
little: its time is learning and judging. A fit with the paper's settings (one radius, a ball around every row, and
here 1,000 draws in each that is trained) asks much.
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
