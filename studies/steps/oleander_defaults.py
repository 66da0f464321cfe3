"""Beyond the paper: what Oleander's default answers on the same tasks, beside the paper's program, on held-out rows.

The default is used as it is meant: draws are made from the black box's training rows, and every row of the validation
part, which is new to the black box, judges. The held-out rows are those of all other steps.
"""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.rivals import TreeWithAbstention
from oleander import NothingFoundError
from oleander.candidates.pool import EmptyPoolError
from oleander.explainer import AggregateExplainer
from studies.drawing import COLOURS, Pen
from studies.step import Facts, Step, Task, Work
from studies.steps.aggregation_rivals import MAX_LEAVES
from studies.steps.explained_rows import HELD_OUT, LEARNED, MEASURES, ExplainedRows, make_explained_rows
from studies.steps.paper_program import method_name
from studies.store import Store
from studies.tasks import make_explained_tasks, task_words

OWN, TREE, PAPER = "Oleander", "tree with abstention", "the paper's program"
HIGH_FLOOR, BUDGET, MORE = 0.9, 10, 20
# One in twenty certificates may be wrong.
LEVEL = 0.05


def compute(work: Work, store: Store) -> Facts:
    """Fit the default and a tree with abstention for every floor, and put the paper's program beside them."""
    facts: Facts = {"budget": BUDGET, "more": MORE, "floors": list(work.settings.floors), "tasks": {}}
    for task in make_explained_tasks(work).values():
        explained = make_explained_rows(work, task)
        own = store.table(f"{task.name}_own", partial(_own, work, explained))
        tree = store.table(f"{task.name}_tree", partial(_tree, work, explained))
        papers = _papers(work.facts["aggregation"], task.name)
        table = store.table(f"{task.name}_all", partial(pd.concat, [own, tree, papers], ignore_index=True))
        n_units = int(own["n_units"].iloc[0])
        facts["tasks"][task.name] = {
            "title": task.title,
            "n_judging": n_units,
            "unit": "row" if task.groups is None else "trial",
            # So many units, all of them right, show at most this floor.
            "most_shown": round(float(LEVEL ** (1 / n_units)), 4),
            "n_held_out": len(explained.tables[HELD_OUT]),
            "lines": table.astype(object).where(table.notna(), None).to_dict("records"),
        }
    return facts


def plans_of(floors: list[float]) -> list[tuple[int, float]]:
    """Return the budgets and floors that are fitted: every floor with few rules, the highest with more.

    >>> plans_of([0.5, 0.9])
    [(10, 0.5), (10, 0.9), (20, 0.9)]
    """
    return [*((BUDGET, floor) for floor in floors), (MORE, max(floors))]


def _own(work: Work, explained: ExplainedRows) -> pd.DataFrame:
    """Fit ``AggregateExplainer`` with its defaults for some budgets and floors."""
    lines = []
    for budget, floor in plans_of(list(work.settings.floors)):
        work.log(f"{explained.task.title}: Oleander's default at φ = {floor:g}, K = {budget}")
        lines.append({"method": OWN, "budget": budget, "floor": floor, **fit_own(work, explained, budget, floor)})
    return pd.DataFrame(lines)


def fit_own(work: Work, explained: ExplainedRows, budget: int, floor: float) -> dict[str, Any]:
    """Fit the default and return its figures on the held-out rows and its certified bound.

    Where no rule reaches the floor, or too few rows judge to show it, no row is answered.
    """
    task: Task = explained.task
    background, (X, _) = task.rows("train")[0], task.rows("validation")
    groups = None if task.groups is None else task.groups[task.parts["validation"]]
    units = {"n_units": len(X) if groups is None else len(np.unique(groups))}
    atlas = AggregateExplainer(
        explained.model,
        max_explainers=budget,
        min_fidelity=floor,
        schema=explained.schema,
        random_state=work.settings.random_state,
        n_jobs=work.n_jobs,
    )
    try:
        atlas.fit(X, groups=groups, background=background)
    except (NothingFoundError, EmptyPoolError) as error:
        return {"coverage": 0.0, "n_explainers": 0, **units, "why": str(error)}
    held_out = explained.measure(atlas.record_.explainers)[1]
    figures = {name: held_out[name] for name in (*MEASURES, "n_explainers")}
    certificate = atlas.certificate_
    bound = np.nan if certificate is None else certificate.answers.bound
    return {**figures, **units, "certified": bound, "why": ""}


def _tree(work: Work, explained: ExplainedRows) -> pd.DataFrame:
    """Fit one tree that abstains, on the rows that the paper's program has."""
    lines = []
    for floor in work.settings.floors:
        rival = TreeWithAbstention(
            explained.model,
            min_fidelity=floor,
            max_leaves=MAX_LEAVES,
            schema=explained.schema,
            random_state=work.settings.random_state,
        )
        rival.fit(explained.tables[LEARNED], groups=explained.groups)
        held_out = explained.measure(rival.set_)[1]
        figures = {name: held_out[name] for name in (*MEASURES, "n_explainers")}
        lines.append({"method": TREE, "floor": floor, **figures})
    return pd.DataFrame(lines)


def _papers(aggregation: Facts, task: str) -> pd.DataFrame:
    """Return the lines of the paper's program by the definition, at the same budgets and at the largest."""
    lines = []
    budgets = [budget for budget in (BUDGET, MORE, max(aggregation["budgets"])) if budget in aggregation["budgets"]]
    for floor in aggregation["floors"]:
        found = aggregation["tasks"][task]["methods"][method_name("strict", floor)][HELD_OUT]
        for budget in dict.fromkeys(budgets):
            place = aggregation["budgets"].index(budget)
            figures = {name: found[name][place] for name in MEASURES}
            lines.append({"method": PAPER, "budget": budget, "floor": floor, **figures})
    return pd.DataFrame(lines)


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw coverage and fidelity of the answers at the highest floor, a group of bars for each task."""
    files = sorted(store.folder.glob("*_all.csv"))
    figure, axes = pen.sheet(
        f"What is answered on held-out rows, φ = {HIGH_FLOOR:g}",
        1,
        2,
        width=4.4,
        height=0.55 * len(files) + 1.6,
        sharey=True,
    )
    names = [task_words(file.stem.removesuffix("_all")) for file in files]
    kinds = [(OWN, BUDGET), (OWN, MORE), (PAPER, BUDGET), (PAPER, None), (TREE, None)]
    labels = [f"{OWN}, K = {BUDGET}", f"{OWN}, K = {MORE}", f"{PAPER}, K = {BUDGET}", f"{PAPER}, K = 50", TREE]
    colours = (COLOURS[2], "#80ceb9", "#4292c6", "#08306b", "0.6")
    for ax, (measure, words) in zip(
        axes[0], {"coverage": "coverage", "agreement": "fidelity of the answers"}.items(), strict=True
    ):
        for number, ((method, budget), label) in enumerate(zip(kinds, labels, strict=True)):
            values = [_value(store.read(file.stem), method, budget, measure) for file in files]
            places = np.arange(len(files)) + (number - 2) * 0.16
            ax.barh(places, values, 0.15, color=colours[number], label=label)
            if measure == "coverage":
                for place in places[np.array(values) == 0]:
                    ax.text(0.01, place, "silent", color=colours[number], fontsize="x-small", va="center")
        ax.set(xlabel=words, xlim=(0, 1.02), yticks=range(len(files)))
        ax.set_yticklabels(names)
        if measure == "agreement":
            ax.axvline(HIGH_FLOOR, color="0.4", lw=0.8, ls=":")
    axes[0, 0].invert_yaxis()
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right center", fontsize="small")
    return {"defaults": figure}


def _value(table: pd.DataFrame, method: str, budget: int | None, measure: str) -> float:
    """Return a measure at the highest floor and a budget, or at the largest budget."""
    part = table[(table["method"] == method) & (table["floor"] == HIGH_FLOOR)]
    part = part if method == TREE else part[part["budget"] == (budget or part["budget"].max())]
    return float(part[measure].iloc[0]) if len(part) else np.nan


OLEANDER_DEFAULTS = Step(
    "oleander_defaults",
    "Beyond the paper: Oleander's default",
    compute,
    draw,
    needs=("black_boxes", "aggregation"),
)
