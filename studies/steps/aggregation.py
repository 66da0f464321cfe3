"""Step 5: coverage and fidelity by budget, of the paper's program at three floors and of its rivals."""

from functools import partial
from typing import Any

import pandas as pd

from oleander.candidates.balls import Balls
from oleander.candidates.pool import CandidatePool
from oleander.candidates.pool_program import PoolProgram
from studies.drawing import COLOURS, MARKERS, Pen
from studies.step import Exhibit, Facts, Step, Work
from studies.steps.aggregation_rivals import measure_rivals
from studies.steps.explained_rows import (
    HELD_OUT,
    LEARNED,
    ExplainedRows,
    about_rows,
    make_explained_rows,
    radii_of,
    radius_of,
)
from studies.steps.paper_program import (
    PAPER_FLOOR,
    PROGRAMS,
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
PANELS = {"coverage": "coverage", "agreement": "fidelity of the answers", "fidelity": "lowest fidelity of an explainer"}
# The paper's two panels: on D, with its own measure of fidelity, and on rows held out.
ON_DATA_PANELS = {"coverage": "coverage of D", "fidelity": "fidelity on D (lowest of any explainer)"}
HELD_OUT_PANELS = {"coverage": "coverage, held out", "agreement": "fidelity of the answers, held out"}
REDRAWN = {
    "binary": "Figure 1, two classes",
    "five_classes": "Figure 2, five classes",
    "by_trial": "Figure 5, geriatric activities",
    "by_row": "Figure 5, geriatric activities",
}


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
        reach = store.table(f"{task.name}_reach", partial(_reach, work, explained))
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
            "n_candidates": int(reach["n_balls"].iloc[0]),
            "reach": dict(zip(reach["radius"].map("{:g}".format), reach["most_covered"].round(4), strict=True)),
            "methods": curves(table),
            "programs": {str(program): _solving(part) for program, part in programs.groupby("program", sort=False)},
        }
    return facts


def _programs(work: Work, explained: ExplainedRows) -> pd.DataFrame:
    pool = train_pool(work, explained, "letter")
    work.log(f"{explained.task.title}: both programs")
    return solve_grid(work, explained, pool, work.settings.floors)


def _prove(work: Work, explained: ExplainedRows) -> pd.DataFrame:
    work.log(f"{explained.task.title}: proofs, at most {work.settings.proof_nodes:,} nodes each")
    return prove(train_pool(work, explained, "letter"), work.settings)


def _reach(work: Work, explained: ExplainedRows) -> pd.DataFrame:
    """Return the share of rows that the smallest and the largest budget of balls could cover, by radius."""
    lines = []
    for radius in radii_of(work, explained):
        balls = Balls(radius, scale="none", max_candidates=work.settings.n_candidates, centers="rows")
        pool = CandidatePool.propose(balls, explained.rows, explained.black_box, 0)
        # No candidate is trained, so each counts as always right.
        problem = PoolProgram(pool, PAPER_FLOOR).problem()
        least, most = (
            problem.solve(budget, 1.0, solver="greedy").coverage
            for budget in (min(work.settings.budgets), max(work.settings.budgets))
        )
        lines.append(
            {
                "radius": radius,
                "n_balls": len(pool.candidates),
                "median_rows": float(pd.Series(pool.support).median()),
                "least_covered": least,
                "most_covered": most,
            }
        )
    return pd.DataFrame(lines)


def _join(programs: pd.DataFrame, rivals: pd.DataFrame) -> pd.DataFrame:
    """Return all methods in one table."""
    names = [method_name(*pair) for pair in zip(programs["program"], programs["floor"], strict=True)]
    return pd.concat([programs.assign(method=names), rivals], ignore_index=True)


def _solving(table: pd.DataFrame) -> Facts:
    """Return the facts about solving the points of a curve: gaps, seconds and nodes."""
    cells = table[table["rows"] == LEARNED]
    return {
        "n_cells": len(cells),
        "worst_gap": round(float(cells["gap"].max()), 4),
        "seconds": round(float(cells["seconds"].sum()), 2),
        "most_nodes": int(cells["nodes"].max()),
    }


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw coverage and fidelity by budget, on rows held out and on rows that explainers were made on."""
    figures: dict[str, Any] = {}
    for file in sorted(store.folder.glob("*_all.csv")):
        task = file.stem.removesuffix("_all")
        table = store.read(file.stem)
        figures[f"{task}_main"] = _draw_main(table, task, pen)
        for rows in (HELD_OUT, LEARNED):
            words = "rows held out" if rows == HELD_OUT else "rows that explainers were made on"
            title = f"Aggregation at the paper's settings, {task_words(task)}, {words}"
            figures[f"{task}_{rows.replace(' ', '_')}"] = _draw_curves(table[table["rows"] == rows], title, pen)
        figures[f"{task}_trade_off"] = _draw_trade_off(table[table["rows"] == HELD_OUT], task, pen)
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


def _draw_curves(table: pd.DataFrame, title: str, pen: Pen) -> Any:
    figure, axes = pen.sheet(title, len(PROGRAMS), len(PANELS), width=4.0, height=3.1, sharex=True, sharey="col")
    for line, program in zip(axes, PROGRAMS, strict=True):
        for ax, (measure, words) in zip(line, PANELS.items(), strict=True):
            _draw_panel(ax, table, program, measure)
            ax.set(ylim=(-0.02, 1.06), title=f"{words}, {program} program")
            ax.title.set_fontsize("small")
    for ax in axes[-1]:
        ax.set_xlabel("budget K")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", fontsize="small")
    return figure


def _draw_panel(ax: Any, table: pd.DataFrame, program: str, measure: str) -> None:
    for number, (method, colour) in enumerate(RIVAL_COLOURS.items()):
        part = table[table["method"] == method].sort_values("budget")
        style = {"marker": MARKERS[number + 1], "ms": RIVAL_SIZES[number], "mfc": "none", "lw": 1, "ls": "--"}
        ax.plot(part["budget"], part[measure], color=colour, label=method, **style)
    floors = sorted(table["floor"].dropna().unique())
    for floor, colour, width in zip(floors, FLOOR_COLOURS, FLOOR_WIDTHS, strict=False):
        part = table[table["method"] == method_name(program, floor)].sort_values("budget")
        ax.plot(part["budget"], part[measure], color=colour, lw=width, label=f"program, φ = {floor:g}")


def _draw_trade_off(table: pd.DataFrame, task: str, pen: Pen) -> Any:
    """Draw fidelity over coverage; a method is on the Pareto frontier if no other is above it and to its right."""
    figure, axes = pen.sheet(f"Fidelity over coverage, {task_words(task)}, rows held out", width=6.6, height=4.4)
    ax = axes[0, 0]
    floors = sorted(table["floor"].dropna().unique())
    for program, marker in zip(PROGRAMS, ("o", "^"), strict=True):
        for floor, colour in zip(floors, FLOOR_COLOURS, strict=False):
            part = table[table["method"] == method_name(program, floor)].sort_values("budget")
            label = f"{program}, φ = {floor:g}"
            ax.plot(part["coverage"], part["agreement"], color=colour, marker=marker, ms=4, lw=0.8, label=label)
    for number, (method, colour) in enumerate(RIVAL_COLOURS.items()):
        part = table[table["method"] == method].sort_values("budget")
        style = {"marker": MARKERS[number + 1], "ms": 5, "lw": 0.8, "ls": "--"}
        ax.plot(part["coverage"], part["agreement"], color=colour, label=method, **style)
    ax.set(xlabel="coverage", ylabel="fidelity of the answers", xlim=(-0.02, 1.03))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize="small")
    return figure


def exhibits(facts: Facts) -> list[Exhibit]:
    """Return what the page shows."""
    shown = []
    for task, found in facts["tasks"].items():
        sizes = (
            f"{found['n_candidates']} balls of radius {found['radius']:g} in raw units; chosen on "
            f"{found['n_learned']:,} rows, {found['n_held_out']:,} rows held out."
        )
        redraws = REDRAWN.get(task, "Figure 2, on other patients")
        shown += [
            Exhibit(
                f"{task}_main",
                f"{found['title']}. {sizes} Above D, the rows that explainers are chosen on, with the paper's "
                "definitions of coverage and fidelity; below rows held out. Problem (3). Decision sets and trees are "
                "one explainer each. Points "
                f"have a gap of at most {_gaps(found['programs'])}.",
                "Coverage above anchors and submodular pick at every budget; fidelity of 0.9 at φ = 0.9 with several "
                "classes. It does not name its radius.",
                redraws=redraws,
            ),
            Exhibit(
                f"{task}_held_out",
                f"{found['title']}. {sizes} Fidelity of the answers is the share of covered rows on which the "
                "responsible explainer agrees with the forest. Top: the paper's definition; below: its integer "
                "program, in which rows that an explainer gets wrong need not be counted.",
                redraws=f"{redraws}, on rows held out",
                is_behind=True,
            ),
            Exhibit(
                f"{task}_learned",
                f"{found['title']}: the same on the rows that explainers were chosen on.",
                redraws=redraws,
                is_behind=True,
            ),
            Exhibit(
                f"{task}_trade_off",
                f"{found['title']}: both at once. A method is on the Pareto frontier where no other is above it and to "
                "its right. Points of a line are budgets.",
                "The method is on the Pareto frontier.",
                is_behind=True,
            ),
            Exhibit(
                f"{task}_reach",
                "Share of rows that the smallest and the largest budget of balls could cover if every explainer were "
                f"faithful, by radius. The paper does not name its radius; at {found['radius']:g} the budget matters.",
                "",
                "table",
                is_behind=True,
            ),
        ]
    return shown


def _gaps(programs: Facts) -> str:
    return ", ".join(f"{found['worst_gap']:.2%} ({program})" for program, found in programs.items())


AGGREGATION = Step(
    "aggregation", "Aggregation at the paper's settings", compute, draw, exhibits, needs=("black_boxes",)
)
