"""Beyond the paper: Oleander's defaults and one tree with abstention, beside the paper's settings on held-out rows."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.rivals import TreeWithAbstention
from oleander import NothingFoundError
from oleander.candidates.pool import EmptyPoolError
from oleander.explainer import AggregateExplainer
from oleander.messages import show_lower
from studies.drawing import COLOURS, Pen
from studies.step import Exhibit, Facts, Step, Work
from studies.steps.aggregation import FLOOR_COLOURS
from studies.steps.aggregation_rivals import MAX_LEAVES
from studies.steps.explained_rows import HELD_OUT, LEARNED, MEASURES, ExplainedRows, make_explained_rows
from studies.steps.paper_program import PROGRAMS, curves, method_name
from studies.store import Store
from studies.tasks import make_explained_tasks

OWN, TREE = "Oleander", "tree with abstention"
SHOWN = {"coverage": "coverage", "agreement": "fidelity of the answers"}
CERTIFIED = {"agreement": "certified_fidelity"}
STYLES: dict[str, tuple[str, dict[str, Any]]] = {
    OWN: (OWN, {"color": COLOURS[2], "marker": "s", "lw": 2}),
    TREE: (TREE, {"color": COLOURS[6], "ls": "-."}),
    "strict": ("the paper's, strict", {"color": FLOOR_COLOURS[2], "marker": "o"}),
    "selective": ("the paper's, selective", {"color": FLOOR_COLOURS[1], "marker": "^", "ls": "--"}),
}


def compute(work: Work, store: Store) -> Facts:
    """Fit the defaults for every budget and floor, and the tree with abstention for every floor."""
    facts: Facts = {"budgets": list(work.settings.budgets), "floors": list(work.settings.floors), "tasks": {}}
    for task in make_explained_tasks(work, forests_only=True).values():
        explained = make_explained_rows(work, task)
        own = store.table(f"{task.name}_own", partial(_own, work, explained))
        tree = store.table(f"{task.name}_tree", partial(_tree, work, explained))
        papers = work.facts["aggregation"]["tasks"][task.name]["methods"]
        table = store.table(f"{task.name}_all", partial(_join, own, tree, papers, facts))
        facts["tasks"][task.name] = {"title": task.title, "methods": curves(table), "certificate": certified(own)}
    return facts


def _own(work: Work, explained: ExplainedRows) -> pd.DataFrame:
    """Fit ``AggregateExplainer`` with its defaults for every budget and floor."""
    lines = []
    for floor in work.settings.floors:
        fitted: list[dict[str, Any]] = []
        for budget in sorted(work.settings.budgets, reverse=True):
            # An optimal choice for a larger budget that fits into this one is optimal here too.
            if not fitted or fitted[0]["n_explainers"] > budget:
                work.log(f"{explained.task.title}: Oleander's defaults at φ = {floor:g}, K = {budget}")
                fitted = fit_own(work, explained, budget, floor)
            lines += [{"budget": budget, "floor": floor, **line} for line in fitted]
    return pd.DataFrame(lines)


def fit_own(work: Work, explained: ExplainedRows, budget: int, floor: float) -> list[dict[str, Any]]:
    """Fit the defaults and return their two lines, with the certified bounds.

    Where there is no candidate, or none that reaches the floor, no row is answered.
    """
    atlas = AggregateExplainer(
        explained.model,
        max_explainers=budget,
        min_fidelity=floor,
        schema=explained.schema,
        # The studies have no background: half of the rows make draws, and the other half certifies.
        holdout=0.5,
        random_state=work.settings.random_state,
        n_jobs=work.n_jobs,
    )
    try:
        atlas.fit(explained.tables[LEARNED], groups=explained.groups)
    except (NothingFoundError, EmptyPoolError):
        silent = {**dict.fromkeys(MEASURES, np.nan), "coverage": 0.0, "complexity": 0, "n_explainers": 0}
        return [{"rows": rows, **silent} for rows in explained.tables]
    certificate = atlas.certificate_
    bounds = {
        "certified_fidelity": np.nan if certificate is None else certificate.answers.bound,
        "n_certified_on": np.nan if certificate is None else certificate.answers.n_rows,
    }
    return [{**line, **bounds} for line in explained.measure(atlas.record_.explainers)]


def _tree(work: Work, explained: ExplainedRows) -> pd.DataFrame:
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
        measured = explained.measure(rival.set_)
        lines += [{"budget": b, "floor": floor, **line} for b in work.settings.budgets for line in measured]
    return pd.DataFrame(lines)


def _join(own: pd.DataFrame, tree: pd.DataFrame, papers: Facts, facts: Facts) -> pd.DataFrame:
    """Return the lines of Oleander, of the tree and of the paper's settings in one table."""
    named = [
        table.assign(kind=kind, method=[method_name(kind, floor) for floor in table["floor"]])
        for kind, table in ((OWN, own), (TREE, tree))
    ]
    for program in PROGRAMS:
        for floor in facts["floors"]:
            method = method_name(program, floor)
            for rows, figures in papers[method].items():
                found = pd.DataFrame({"budget": facts["budgets"], **figures}).astype(float)
                named.append(found.assign(kind=program, floor=floor, rows=rows, method=method))
    return pd.concat(named, ignore_index=True)


def certified(own: pd.DataFrame) -> dict[str, Any]:
    """Return the certified bounds at the largest budget, by floor; None where no explainer reaches it."""
    last = own[(own["rows"] == HELD_OUT) & (own["budget"] == own["budget"].max())]
    found = {}
    for line in last.to_dict("records"):
        known = {name: line.get(name) for name in ("certified_fidelity", "n_certified_on")}
        is_known = all(value is not None and not np.isnan(value) for value in known.values())
        found[f"{line['floor']:g}"] = (
            {name: round(float(value), 4) for name, value in known.items()} if is_known else None
        )
    return found


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw coverage and fidelity by budget, a column for each floor."""
    figures: dict[str, Any] = {}
    for file in sorted(store.folder.glob("*_all.csv")):
        task = file.stem.removesuffix("_all")
        table = store.read(file.stem)
        table = table[table["rows"] == HELD_OUT].sort_values("budget")
        floors = sorted(table["floor"].unique())
        title = f"Oleander's defaults beside the paper's settings, {task.replace('_', ' ')}, rows held out"
        figure, axes = pen.sheet(title, len(SHOWN), len(floors), width=3.6, height=2.9, sharex=True, sharey="row")
        for column, floor in zip(axes.T, floors, strict=True):
            for ax, measure in zip(column, SHOWN, strict=True):
                _draw_panel(ax, table[table["floor"] == floor], measure)
            column[0].set_title(f"φ = {floor:g}", fontsize="medium")
            column[1].axhline(floor, color="0.6", lw=0.8)
            column[1].set_xlabel("budget K")
        for ax, label in zip(axes[:, 0], SHOWN.values(), strict=True):
            ax.set_ylabel(label)
        legend = {
            label: handle for ax in axes.flat for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
        }
        figure.legend(legend.values(), legend.keys(), loc="outside right center", fontsize="small")
        figures[f"{task}_oleander_defaults"] = figure
    return figures


def _draw_panel(ax: Any, table: pd.DataFrame, measure: str) -> None:
    for kind, (label, style) in STYLES.items():
        line = table[table["kind"] == kind]
        ax.plot(line["budget"], line[measure], ms=3.5, label=label, **style)
    own = table[table["kind"] == OWN]
    bound = CERTIFIED.get(measure)
    if bound is not None and bound in own and own[bound].notna().any():
        ax.plot(own["budget"], own[bound], color=COLOURS[2], ls=":", label="Oleander, certified at least")
    ax.set(ylim=(-0.02, 1.03))


def exhibits(facts: Facts) -> list[Exhibit]:
    """Return what the page shows."""
    return [
        Exhibit(f"{task}_oleander_defaults", f"{found['title']}. {_words(found, facts)}")
        for task, found in facts["tasks"].items()
    ]


def _words(found: Facts, facts: Facts) -> str:
    """Return coverage and fidelity of every method in words, at the largest budget on rows held out."""
    words = []
    for floor in facts["floors"]:
        figures = {
            kind: [found["methods"][method_name(kind, floor)][HELD_OUT][measure][-1] for measure in SHOWN]
            for kind in STYLES
        }
        shown = ", ".join(f"{kind} {_share(cover)} at {_share(right)}" for kind, (cover, right) in figures.items())
        known = found["certificate"][f"{floor:g}"]
        promise = "nothing certified"
        if known is not None:
            promise = (
                f"certified at least {show_lower(known['certified_fidelity'])} on {known['n_certified_on']:g} units "
                "that Oleander held out itself"
            )
        words.append(f"φ = {floor:g}: {shown} ({promise})")
    return f"Coverage at fidelity of the answers, K = {max(facts['budgets'])}. {'; '.join(words)}."


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


OLEANDER_DEFAULTS = Step(
    "oleander_defaults",
    "Beyond the paper: Oleander's defaults",
    compute,
    draw,
    exhibits,
    needs=("black_boxes", "aggregation"),
)
