"""The floor as a knob: each program by itself at every radius, a small figure for each."""

from functools import partial
from typing import Any

import pandas as pd

from studies.drawing import Pen
from studies.step import Facts, Step, Work
from studies.steps.aggregation import FLOOR_COLOURS, FLOOR_WIDTHS
from studies.steps.explained_rows import HELD_OUT, LEARNED, ExplainedRows, about_rows, make_explained_rows, radii_of
from studies.steps.paper_program import curves, method_name, solve_grid, train_pool
from studies.store import Store
from studies.tasks import make_explained_tasks, task_words

# Every other budget is enough for the shape of a curve.
EVERY = 2
PANELS = {"coverage": "coverage", "fidelity": "lowest fidelity", "agreement": "fidelity of the answers"}


def compute(work: Work, store: Store) -> Facts:
    """Solve both programs at every floor and radius; every radius is a part that is kept."""
    facts: Facts = {"floors": list(work.settings.floors), "tasks": {}}
    for task in make_explained_tasks(work, forests_only=True, main_only=work.study != "clinical").values():
        explained = make_explained_rows(work, task)
        radii = radii_of(work, explained)
        tables = {
            radius: store.table(f"{task.name}_r{radius:g}", partial(_at_radius, work, explained, radius))
            for radius in radii
        }
        store.table(f"{task.name}_floors", partial(pd.concat, list(tables.values()), ignore_index=True))
        facts["tasks"][task.name] = {
            "title": task.title,
            **about_rows(explained),
            "radii": {f"{radius:g}": curves(table) for radius, table in tables.items()},
        }
    return facts


def _at_radius(work: Work, explained: ExplainedRows, radius: float) -> pd.DataFrame:
    settings = work.settings
    pool = train_pool(work, explained, "letter", radius)
    work.log(f"{explained.task.title}: both programs at every floor, r = {radius:g}")
    table = solve_grid(work, explained, pool, settings.floors, settings.budgets[::EVERY])
    names = [method_name(*pair) for pair in zip(table["program"], table["floor"], strict=True)]
    return table.assign(radius=radius, method=names)


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw a sheet for each task: a line of panels for each program, measure and kind of rows, a column per radius."""
    figures: dict[str, Any] = {}
    for file in sorted(store.folder.glob("*_floors.csv")):
        task = file.stem.removesuffix("_floors")
        table = store.read(file.stem)
        radii = sorted(table["radius"].unique())
        # The printed program does not bind fidelity: its lines are in the tables alone.
        lines = [
            ("strict", rows, measure)
            for rows, measures in ((LEARNED, ("coverage", "fidelity")), (HELD_OUT, ("coverage", "agreement")))
            for measure in measures
        ]
        title = f"The floor as a knob, {task_words(task)}"
        figure, axes = pen.sheet(title, len(lines), len(radii), width=2.6, height=1.9, sharex=True, sharey=True)
        for row, (program, rows, measure) in zip(axes, lines, strict=True):
            for ax, radius in zip(row, radii, strict=True):
                part = table[(table["radius"] == radius) & (table["rows"] == rows)]
                styles = zip(sorted(part["floor"].unique()), FLOOR_COLOURS, FLOOR_WIDTHS, strict=False)
                for floor, colour, width in styles:
                    line = part[part["method"] == method_name(program, floor)].sort_values("budget")
                    ax.plot(line["budget"], line[measure], color=colour, lw=width, label=f"φ = {floor:g}")
                ax.set(ylim=(-0.02, 1.03))
            words = "on D" if rows == LEARNED else "held out"
            row[0].set_ylabel(f"{words}:\n{PANELS[measure]}", fontsize="small")
        for ax, radius in zip(axes[0], radii, strict=True):
            ax.set_title(f"r = {radius:g}", fontsize="small")
        for ax in axes[-1]:
            ax.set_xlabel("budget K", fontsize="small")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right center", fontsize="small")
        figures[f"{task}_floors"] = figure
    return figures


FLOORS_BY_RADIUS = Step(
    "floors_by_radius", "The floor as a knob, at every radius", compute, draw, needs=("black_boxes",)
)
