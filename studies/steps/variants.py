"""Beyond the letter: the same balls with either filter, and with draws uncut, clipped or cut at the bounds."""

from functools import partial
from typing import Any, get_args

import pandas as pd

from oleander.draws.in_ball import Bounds
from studies.drawing import COLOURS, MARKERS, Pen
from studies.step import Facts, Step, Work
from studies.steps.explained_rows import HELD_OUT, LEARNED, ExplainedRows, make_explained_rows
from studies.steps.paper_program import LocalName, bounds_of, solve_grid, train_pool
from studies.store import Store
from studies.tasks import make_explained_tasks, task_words

FLOOR = 0.9
FILTERS = {"letter": "the paper's filter", "ours": "our filter"}
KINDS: tuple[LocalName, ...] = ("letter", "letter, clipped", "letter, cut", "ours", "ours, clipped", "ours, cut")


def compute(work: Work, store: Store) -> Facts:
    """Solve the program over a pool of every kind at the highest floor; every pool is a part that is kept."""
    facts: Facts = {"floor": FLOOR, "tasks": {}}
    for task in make_explained_tasks(work, forests_only=True, main_only=work.study != "clinical").values():
        explained = make_explained_rows(work, task)
        tables = [
            store.table(f"{task.name}_{kind.replace(', ', '_')}", partial(_solve, work, explained, kind))
            for kind in KINDS
        ]
        table = store.table(f"{task.name}_kinds", partial(pd.concat, tables, ignore_index=True))
        facts["tasks"][task.name] = {"title": task.title, "lines": table.to_dict("records")}
    return facts


def _solve(work: Work, explained: ExplainedRows, kind: LocalName) -> pd.DataFrame:
    """Return a line per budget: coverage and fidelity of the strict choice on D and on rows held out."""
    pool = train_pool(work, explained, kind)
    budgets = (work.settings.budgets[1], work.settings.budgets[-1])
    table = solve_grid(work, explained, pool, [FLOOR], budgets)
    table = table[table["program"] == "strict"].set_index(["budget", "rows"])
    lines = []
    for budget in budgets:
        on_data, held_out = table.loc[(budget, LEARNED)], table.loc[(budget, HELD_OUT)]
        lines.append(
            {
                "filter": FILTERS[kind.split(",")[0]],
                "draws": bounds_of(kind),
                "budget": budget,
                "coverage_on_data": on_data["coverage"],
                "lowest_fidelity": on_data["fidelity"],
                "coverage": held_out["coverage"],
                "agreement": held_out["agreement"],
                "leaves": on_data["complexity"],
            }
        )
    return pd.DataFrame(lines)


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw coverage of held-out rows at the largest budget, a mark per kind of draws, a line per filter."""
    files = sorted(store.folder.glob("*_kinds.csv"))
    figure, axes = pen.sheet(f"Filter and draws, strict program, φ = {FLOOR:g}", 1, len(files), sharey=True, height=2.8)
    places = {bounds: place for place, bounds in enumerate(get_args(Bounds))}
    for ax, file in zip(axes[0], files, strict=True):
        table = store.read(file.stem)
        table = table[table["budget"] == table["budget"].max()]
        for number, (name, part) in enumerate(table.groupby("filter", sort=False)):
            style = {"color": COLOURS[number], "marker": MARKERS[number], "lw": 1}
            ax.plot(part["draws"].map(places), part["coverage"], label=f"{name}, held out", **style)
            ax.plot(part["draws"].map(places), part["coverage_on_data"], ls=":", label=f"{name}, on D", **style)
        ax.set(title=task_words(file.stem.removesuffix("_kinds")), xticks=list(places.values()), ylim=(-0.02, 1.03))
        ax.set_xticklabels(list(places))
    axes[0, 0].set_ylabel("coverage")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right center", fontsize="small")
    return {"kinds": figure}


VARIANTS = Step("variants", "Our variants of filter and draws", compute, draw, needs=("black_boxes",))
