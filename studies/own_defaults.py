"""Beyond the paper: our own defaults and one tree with abstention, drawn over the paper's settings on held-out rows."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from oleander.aggregate import AggregateExplainer
from oleander.baselines import TreeWithAbstention
from oleander.forms import make_consensus_forms
from studies.aggregation import FLOOR_COLOURS, method_name
from studies.drawing import COLOURS, Pen
from studies.explaining import HELD_OUT, LEARNED, MEASURES, PROGRAMS, Explained, curves, explain
from studies.rivals import MAX_LEAVES
from studies.steps import Exhibit, Facts, Step, Work
from studies.store import Store
from studies.tasks import make_tasks

OWN, TREE = "Oleander", "tree with abstention"


def compute(work: Work, store: Store) -> Facts:
    """Fit our defaults for every budget and floor, and the tree with abstention for every floor."""
    facts: Facts = {"budgets": list(work.settings.budgets), "floors": list(work.settings.floors), "tasks": {}}
    for task in make_tasks(work).values():
        explained = explain(work, task)
        own = store.table(f"{task.name}_own", partial(_own, work, explained))
        tree = store.table(f"{task.name}_tree", partial(_tree, work, explained))
        papers = work.facts["aggregation"]["tasks"][task.name]["methods"]
        table = store.table(f"{task.name}_all", partial(_join, own, tree, papers, facts))
        forms = own[own["rows"] == LEARNED].groupby("floor")["form"].agg(lambda names: names.iloc[-1])
        facts["tasks"][task.name] = {
            "title": task.title,
            "methods": curves(table),
            "forms": {f"{floor:g}": str(form) for floor, form in forms.items()},
            "certificate": certified(own),
        }
    return facts


def _own(work: Work, explained: Explained) -> pd.DataFrame:
    """Fit ``AggregateExplainer`` with its defaults; budgets that open no further form are not fitted again."""
    settings = work.settings
    lines = []
    for floor in settings.floors:
        made: dict[str, list[dict[str, Any]]] = {}
        for budget in settings.budgets:
            forms = str(make_consensus_forms(budget, MAX_LEAVES))
            if forms not in made:
                work.tell(f"{explained.task.title}: our defaults at φ = {floor:g}, K = {budget}")
                made[forms] = fit_own(work, explained, budget, floor)
            lines += [{"budget": budget, "floor": floor, **line} for line in made[forms]]
    return pd.DataFrame(lines)


def fit_own(work: Work, explained: Explained, budget: int, floor: float) -> list[dict[str, Any]]:
    """Fit our defaults and return their lines, with the form that was taken and what is certified of it.

    Where no form keeps the floor on judged rows, nothing is answered.
    """
    atlas = AggregateExplainer(
        explained.forest,
        max_explainers=budget,
        min_fidelity=floor,
        schema=explained.schema,
        random_state=work.settings.random_state,
        n_jobs=work.n_jobs,
    )
    try:
        atlas.fit(explained.tables[LEARNED], groups=explained.groups)
    except ValueError as error:
        if "is kept by no form of answer" not in str(error):
            raise
        silent = {**dict.fromkeys(MEASURES, np.nan), "coverage": 0.0, "complexity": 0, "n_explainers": 0}
        return [{"rows": rows, "form": "none", **silent} for rows in explained.tables]
    certificate = atlas.certificate_
    assert certificate is not None
    bounds = {
        "certified_fidelity": certificate.answers.bound,
        "certified_coverage": certificate.coverage.bound,
        "n_certified_on": certificate.coverage.n_rows,
    }
    lines = []
    for rows, table in explained.tables.items():
        found = atlas.evaluate(table, explained.labels[rows])
        figures = {measure: getattr(found, measure) for measure in MEASURES}
        lines.append({"rows": rows, "form": atlas.combine_, "n_explainers": len(atlas.explainers), **figures, **bounds})
    return lines


def _tree(work: Work, explained: Explained) -> pd.DataFrame:
    lines = []
    for floor in work.settings.floors:
        rival = TreeWithAbstention(
            explained.forest,
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
    """Return our lines and those of the paper's settings in one table."""
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
    """Return what is certified at the largest budget, by floor; nothing where no form keeps it."""
    last = own[(own["rows"] == HELD_OUT) & (own["budget"] == own["budget"].max())]
    found = {}
    for line in last.to_dict("records"):
        known = {name: line.get(name) for name in ("certified_fidelity", "certified_coverage", "n_certified_on")}
        is_known = all(value is not None and not np.isnan(value) for value in known.values())
        found[f"{line['floor']:g}"] = (
            {name: round(float(value), 4) for name, value in known.items()} if is_known else None
        )
    return found


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw coverage and fidelity against the budget, a column for each floor."""
    figures: dict[str, Any] = {}
    styles: dict[str, dict[str, Any]] = {
        OWN: {"color": COLOURS[2], "marker": "s", "lw": 2},
        TREE: {"color": COLOURS[6], "ls": "-."},
        "strict": {"color": FLOOR_COLOURS[2], "marker": "o"},
        "selective": {"color": FLOOR_COLOURS[1], "marker": "^", "ls": "--"},
    }
    titles = {"strict": "the paper's, strict", "selective": "the paper's, selective"}
    for file in sorted(store.folder.glob("*_all.csv")):
        task = file.stem.removesuffix("_all")
        table = store.read(file.stem)
        table = table[table["rows"] == HELD_OUT]
        floors = sorted(table["floor"].unique())
        title = f"Our defaults over the paper's settings, {task.replace('_', ' ')}, rows held out"
        figure, axes = pen.sheet(title, 2, len(floors), width=3.6, height=2.9, sharex=True, sharey="row")
        for column, floor in zip(axes.T, floors, strict=True):
            part = table[table["floor"] == floor].sort_values("budget")
            for ax, measure in zip(column, ("coverage", "agreement"), strict=True):
                for kind, style in styles.items():
                    mine = part[part["kind"] == kind]
                    ax.plot(mine["budget"], mine[measure], ms=3.5, label=titles.get(kind, kind), **style)
                bound = f"certified_{'coverage' if measure == 'coverage' else 'fidelity'}"
                mine = part[part["kind"] == OWN]
                if bound in mine and mine[bound].notna().any():
                    ax.plot(mine["budget"], mine[bound], color=COLOURS[2], ls=":", label="Oleander, certified at least")
                ax.set(ylim=(-0.02, 1.03))
            column[0].set_title(f"φ = {floor:g}", fontsize="medium")
            column[1].axhline(floor, color="0.6", lw=0.8)
            column[1].set_xlabel("budget K")
        axes[0, 0].set_ylabel("coverage")
        axes[1, 0].set_ylabel("fidelity of the answers")
        found = {
            label: handle for ax in axes.flat for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
        }
        figure.legend(found.values(), found.keys(), loc="outside right center", fontsize="small")
        figures[f"{task}_own_defaults"] = figure
    return figures


def exhibits(facts: Facts) -> list[Exhibit]:
    """Return what the page shows."""
    return [
        Exhibit(f"{task}_own_defaults", f"{found['title']}. {_words(found, facts)}", "Not in the paper.")
        for task, found in facts["tasks"].items()
    ]


def _words(found: Facts, facts: Facts) -> str:
    """Say what was gained and what was not, at the largest budget on rows held out."""
    words = []
    for floor in facts["floors"]:
        figures = {
            kind: [found["methods"][method_name(kind, floor)][HELD_OUT][measure][-1] for measure in SHOWN]
            for kind in (OWN, TREE, "strict", "selective")
        }
        shown = ", ".join(f"{kind} {_share(cover)} at {_share(right)}" for kind, (cover, right) in figures.items())
        known = found["certificate"][f"{floor:g}"]
        promise = "nothing certified"
        if known is not None:
            promise = (
                f"certified at least {known['certified_fidelity']:.2f} on {known['n_certified_on']:g} held-out "
                "units of our own"
            )
        words.append(f"φ = {floor:g}: {shown} ({found['forms'][f'{floor:g}']}; {promise})")
    return f"Coverage at fidelity of the answers, K = {max(facts['budgets'])}. {'; '.join(words)}."


SHOWN = ("coverage", "agreement")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


OWN_DEFAULTS = Step(
    "own_defaults", "Beyond the paper: our own defaults", compute, draw, exhibits, needs=("black_boxes", "aggregation")
)
