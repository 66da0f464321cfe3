"""Step 6: three kinds of local explainers as candidates of the same exact program.

Whole trees behind the paper's filter and without a filter, on the same draws: the filter is their only difference.
LIME's linear model, with which the paper compares, differs in the model too.
"""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from studies.drawing import COLOURS, MARKERS, Pen
from studies.step import Facts, Step, Work
from studies.steps.explained_rows import LEARNED, ExplainedRows, about_rows, make_explained_rows
from studies.steps.paper_program import LocalName, curves, solve_grid, train_pool
from studies.store import Store
from studies.tasks import make_explained_tasks, task_words

FLOOR = 0.7
# Three pools are trained and solved: every other budget is enough.
EVERY = 2
LOCALS: tuple[LocalName, ...] = ("letter", "unfiltered", "lime")
TITLES = {
    "letter": "trees, the paper's filter",
    "unfiltered": "trees, no filter",
    "lime": "LIME",
}
RIVALS = ("unfiltered", "lime")
MEASURES = {
    "coverage": "coverage",
    "agreement": "fidelity of the answers",
    "fidelity": "lowest fidelity of an explainer",
}
# As in the paper: on the rows that explainers are chosen on, by its definition of fidelity.
MAIN_PANELS = ("coverage", "fidelity")


def compute(work: Work, store: Store) -> Facts:
    """Solve the program over every pool at one floor; every pool is a part that is kept."""
    facts: Facts = {"floor": FLOOR, "budgets": list(work.settings.budgets[::EVERY]), "tasks": {}}
    # The two tasks of the readings have the same labels; those of the cohort have not.
    for task in make_explained_tasks(work, forests_only=True, main_only=work.study == "geriatric").values():
        explained = make_explained_rows(work, task)
        tables = [store.table(f"{task.name}_{name}", partial(_solve, work, explained, name)) for name in LOCALS]
        table = store.table(f"{task.name}_both", partial(pd.concat, tables, ignore_index=True))
        facts["tasks"][task.name] = {
            "title": task.title,
            **about_rows(explained),
            "methods": curves(table),
            "gain": gains(table),
        }
    return facts


def _solve(work: Work, explained: ExplainedRows, name: LocalName) -> pd.DataFrame:
    pool = train_pool(work, explained, name)
    work.log(f"{explained.task.title}: both programs over {TITLES[name]}")
    table = solve_grid(work, explained, pool, [FLOOR], work.settings.budgets[::EVERY])
    return table.assign(method=table["program"] + f" {name}")


def gains(table: pd.DataFrame) -> dict[str, Any]:
    """Return the gain of trees behind the paper's filter over each rival: its mean, and the budgets with a lead.

    Where one of the two has nothing to choose, its coverage is 0 and fidelities are not compared.
    """
    found: dict[str, Any] = {}
    for (program, rows), part in table.groupby(["program", "rows"], sort=False):
        for rival in RIVALS:
            for measure in MEASURES:
                wide = part.pivot(index="budget", columns="method", values=measure)
                pairs = wide.reindex(columns=[f"{program} letter", f"{program} {rival}"]).to_numpy(float)
                by_rival = found.setdefault(str(program), {}).setdefault(str(rows), {}).setdefault(rival, {})
                by_rival[measure] = _gain(pairs)
    return found


def _gain(pairs: Any) -> dict[str, Any]:
    """Return the mean difference between two columns, and the number of rows in which the first is larger."""
    gain = pairs[:, 0] - pairs[:, 1]
    known = gain[~np.isnan(gain)]
    mean = round(float(known.mean()), 4) if len(known) else None
    return {"mean": mean, "n_ahead": int((known > 0).sum()), "n": len(known)}


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw coverage and fidelity by budget for every kind, in two panels as in the paper."""
    figures: dict[str, Any] = {}
    for file in sorted(store.folder.glob("*_both.csv")):
        task = file.stem.removesuffix("_both")
        table, words = store.read(file.stem), task_words(task)
        title = f"Local explainers inside the program, φ = {FLOOR:g}, {words}"
        figure, axes = pen.sheet(title, 1, len(MAIN_PANELS), sharex=True)
        for ax, measure in zip(axes[0], MAIN_PANELS, strict=True):
            _draw_panel(ax, table, "strict", LEARNED, measure)
            ax.set(title=MEASURES[measure], xlabel="budget K")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right center", fontsize="small")
        figures[f"{task}_both"] = figure
    return figures


def _draw_panel(ax: Any, table: pd.DataFrame, program: str, rows: str, measure: str) -> None:
    for number, name in enumerate(LOCALS):
        part = table[(table["method"] == f"{program} {name}") & (table["rows"] == rows)].sort_values("budget")
        # Nearly equal lines are seen by their widths.
        width, size = ((4.0, 9), (1.2, 4), (1.2, 4))[number]
        style = {"color": COLOURS[number], "marker": MARKERS[number], "ms": size, "lw": width}
        style |= {"ls": "--" if name == "lime" else "-"}
        ax.plot(part["budget"], part[measure], label=TITLES[name], **style)
    ax.set(ylim=(-0.02, 1.03))


FILTER_IN_PROGRAM = Step(
    "filter_in_program",
    "Filter, no filter and LIME inside the program",
    compute,
    draw,
    needs=("black_boxes",),
)
