"""Step 5: coverage and fidelity by budget, of the paper's program at three floors and of its rivals."""

from functools import partial
from typing import Any

import pandas as pd

from benchmarks.rivals.base import spread_points
from studies.drawing import COLOURS, MARKERS, Pen
from studies.step import Facts, Step, Work
from studies.steps.aggregation_rivals import measure_rivals
from studies.steps.explained_rows import (
    HELD_OUT,
    LEARNED,
    ExplainedRows,
    about_rows,
    make_explained_rows,
    radius_of,
)
from studies.steps.paper_program import (
    curves,
    method_name,
    prove,
    solve_grid,
    train_pool,
)
from studies.store import Store
from studies.tasks import make_explained_tasks, task_words

FLOOR_COLOURS = ("#9ecae1", "#4292c6", "#08306b")
# Lines that lie on each other are seen by their widths, and marks, which are hollow, by their sizes.
FLOOR_WIDTHS, RIVAL_SIZES = (5.0, 2.8, 1.2), (6, 8, 12, 10, 5)
RIVAL_COLOURS = {
    "submodular pick": COLOURS[1],
    "anchors": COLOURS[5],
    "decision set": COLOURS[3],
    "active tree": COLOURS[2],
    "naive tree": COLOURS[6],
}
# The paper's two panels: on D, with its own measure of fidelity, and on rows held out.
ON_DATA_PANELS = {"coverage": "coverage of D", "fidelity": "fidelity on D (lowest of any explainer)"}
HELD_OUT_PANELS = {"coverage": "coverage, held out", "agreement": "fidelity of the answers, held out"}


def compute(work: Work, store: Store) -> Facts:
    """Solve and measure for every task; programs and rivals are parts that are kept."""
    settings = work.settings
    facts: Facts = {
        "budgets": list(settings.budgets),
        "floors": list(settings.floors),
        "proof_nodes": settings.proof_nodes,
        "proofs": {},
        "tasks": {},
    }
    proven = make_explained_tasks(work, forests_only=True, main_only=work.study != "clinical")
    for task in make_explained_tasks(work).values():
        explained = make_explained_rows(work, task)
        programs = store.table(f"{task.name}_programs", partial(_programs, work, explained))
        rivals = store.table(f"{task.name}_rivals", partial(measure_rivals, work, explained))
        table = store.table(f"{task.name}_all", partial(_join, programs, rivals))
        if task.name in proven:
            facts["proofs"][task.name] = store.table(f"{task.name}_proofs", partial(_prove, work, explained)).to_dict(
                "records"
            )
        facts["tasks"][task.name] = {
            "title": task.title,
            "radius": radius_of(work, explained),
            "n_classes": len(set(task.y)),
            "n_learned": len(explained.tables[LEARNED]),
            **about_rows(explained),
            "n_candidates": len(spread_points(explained.rows, settings.n_candidates)),
            "methods": curves(table),
        }
    return facts


def _programs(work: Work, explained: ExplainedRows) -> pd.DataFrame:
    pool = train_pool(work, explained, "letter")
    work.log(f"{explained.task.title}: both programs")
    return solve_grid(work, explained, pool, work.settings.floors)


def _prove(work: Work, explained: ExplainedRows) -> pd.DataFrame:
    work.log(f"{explained.task.title}: proofs, at most {work.settings.proof_nodes:,} nodes each")
    return prove(train_pool(work, explained, "letter"), work.settings)


def _join(programs: pd.DataFrame, rivals: pd.DataFrame) -> pd.DataFrame:
    """Return all methods in one table."""
    names = [method_name(*pair) for pair in zip(programs["program"], programs["floor"], strict=True)]
    return pd.concat([programs.assign(method=names), rivals], ignore_index=True)


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw coverage and fidelity by budget, a figure for each task."""
    figures: dict[str, Any] = {}
    for file in sorted(store.folder.glob("*_all.csv")):
        task = file.stem.removesuffix("_all")
        table = store.read(file.stem)
        figures[f"{task}_main"] = _draw_main(table, task, pen)
    return figures


def _draw_main(table: pd.DataFrame, task: str, pen: Pen) -> Any:
    """Draw the paper's two panels, coverage and fidelity by budget, a line per floor, with the rivals.

    Above on D by the paper's definition of fidelity, below on rows held out by the fidelity of the answers.
    """
    title = f"Coverage and fidelity by budget, {task_words(task)}"
    figure, axes = pen.sheet(title, 2, 2, width=3.9, height=2.7, sharex=True, sharey=True)
    for line, rows, panels in zip(axes, (LEARNED, HELD_OUT), (ON_DATA_PANELS, HELD_OUT_PANELS), strict=True):
        for ax, (measure, words) in zip(line, panels.items(), strict=True):
            _draw_panel(ax, _as_one(table[table["rows"] == rows], measure), "strict", measure)
            ax.set(ylim=(-0.02, 1.06))
            ax.set_title(words, fontsize="small")
    for ax in axes[-1]:
        ax.set_xlabel("budget K")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right center", fontsize="small")
    return figure


def _as_one(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the table with decision sets and trees measured as one explainer of all rows."""
    if measure != "fidelity":
        return table
    is_one = table["method"].isin(("decision set", "active tree", "naive tree"))
    return table.assign(fidelity=table["agreement"].where(is_one, table["fidelity"]))


def _draw_panel(ax: Any, table: pd.DataFrame, program: str, measure: str) -> None:
    for number, (method, colour) in enumerate(RIVAL_COLOURS.items()):
        part = table[table["method"] == method].sort_values("budget")
        style = {"marker": MARKERS[number + 1], "ms": RIVAL_SIZES[number], "mfc": "none", "lw": 1, "ls": "--"}
        ax.plot(part["budget"], part[measure], color=colour, label=method, **style)
    floors = sorted(table["floor"].dropna().unique())
    for floor, colour, width in zip(floors, FLOOR_COLOURS, FLOOR_WIDTHS, strict=False):
        part = table[table["method"] == method_name(program, floor)].sort_values("budget")
        ax.plot(part["budget"], part[measure], color=colour, lw=width, label=f"program, φ = {floor:g}")


AGGREGATION = Step("aggregation", "Aggregation at the paper's settings", compute, draw, needs=("black_boxes",))
