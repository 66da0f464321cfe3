"""Do answers keep their word on new rows, and how much do they cover? Every form of ours beside every rival.

The black box is trained on one part of the rows, explained on a second that is new to it, and all is measured on a
third. Parts are made by patient or trial where rows come in such groups. Lines are kept in a file as they are measured,
so that a run can be stopped and continued, and tables are printed from that file.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from data_sets import DataSet, available, synthetic
from floor import black_boxes, thirds

from oleander import AggregateExplainer
from oleander.baselines import (
    ActiveTree,
    AnchorPick,
    DecisionSet,
    NaiveTree,
    Proxies,
    SubmodularPick,
    TreeWithAbstention,
)
from oleander.black_box.asking import BlackBox
from oleander.candidates.named import GENERATORS, MIX
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.forms import Union, Verdict, make_consensus_forms
from oleander.judging.cross_fitting import cross_fit
from oleander.results.fitting import NothingFoundError

KEYS = ("part", "data", "box", "seed", "method", "budget")
FAST = ("auto", "tree", "consensus", "union", "tree with abstention", "naive tree")


@dataclass(frozen=True)
class Budget:
    """How much may be read, and how faithful it must be."""

    max_explainers: int = 10
    max_leaves: int = 40
    min_fidelity: float = 0.9


def methods(model: object, budget: Budget, schema: FeatureSchema, seed: int) -> dict[str, Callable[[], object]]:
    told = {"schema": schema, "random_state": seed}
    several = {"max_explainers": budget.max_explainers, **told}
    ours = {"min_fidelity": budget.min_fidelity, "max_leaves_total": budget.max_leaves, **several}
    pool = {"max_candidates": 100, "n_draws": 500}
    balls = {**ours, **pool, "candidates": "balls", "holdout": None, "time_limit": 2, "max_leaves_total": None}
    paper = {**balls, "floor_on": "share", "floor_over": "each", "min_support": 1, "radius": 1.5}
    return {
        "auto": lambda: AggregateExplainer(model, holdout=None, **ours),
        "auto, certified": lambda: AggregateExplainer(model, **ours),
        "auto, balanced": lambda: AggregateExplainer(model, holdout=None, balance="class", **ours),
        "tree": lambda: AggregateExplainer(model, holdout=None, combine="tree", **ours),
        "consensus": lambda: AggregateExplainer(model, holdout=None, combine="consensus", **ours),
        "union": lambda: AggregateExplainer(model, holdout=None, combine="union", time_limit=5, **ours),
        "union of balls": lambda: AggregateExplainer(model, **balls),
        "paper": lambda: AggregateExplainer(model, **paper),
        "tree with abstention": lambda: TreeWithAbstention(
            model, min_fidelity=budget.min_fidelity, max_leaves=budget.max_leaves, **told
        ),
        "naive tree": lambda: NaiveTree(model, max_leaves=budget.max_leaves, **told),
        "active tree": lambda: ActiveTree(model, max_leaves=budget.max_leaves, n_draws=500, **told),
        "decision set": lambda: DecisionSet(model, max_rules=budget.max_leaves, default_rule=False, **told),
        "anchors": lambda: AnchorPick(model, max_anchors=40, max_conditions=5, **several),
        "submodular pick": lambda: SubmodularPick(model, min_fidelity=budget.min_fidelity, **pool, **several),
        "proxies": lambda: Proxies(model, **pool, **several),
    }


def measure(
    make: Callable[[], object], budget: Budget, X: pd.DataFrame, groups: object, test: tuple
) -> dict[str, object]:
    """Fit one method and say how it does on rows that nothing has seen."""
    start = time.perf_counter()
    explainer = make()
    try:
        explainer.fit(X, groups=groups)
        result = explainer.evaluate(*test)
    except NothingFoundError:
        nothing = {"coverage": 0.0, "agreement": np.nan, "worst": np.nan, "kept": True, "leaves": 0, "minority": 0.0}
        return {
            **nothing,
            "certified": False,
            "queries": len(X),
            "seconds": time.perf_counter() - start,
            "form": "none",
        }
    certificate = getattr(explainer, "certificate_", None)
    rare = result.classes["label"] != result.classes.loc[result.classes["rows"].idxmax(), "label"]
    minority = result.classes[rare]
    right = np.average(minority["answered_rightly"], weights=minority["rows"]) if len(minority) else np.nan
    return {
        "coverage": result.coverage,
        "agreement": result.agreement,
        "worst": result.fidelity,
        "kept": not result.agreement < budget.min_fidelity,
        "leaves": result.complexity,
        "minority": right,
        "certified": certificate is not None and certificate.answers.bound >= budget.min_fidelity,
        "queries": explainer.n_queries_,
        "seconds": time.perf_counter() - start,
        "form": getattr(explainer, "combine_", ""),
    }


def runs(options: argparse.Namespace) -> Iterator[tuple[DataSet, int, str, object, list[np.ndarray]]]:
    for data in available():
        if options.data and data.name not in options.data:
            continue
        for seed in range(options.splits):
            parts = [part[: options.rows] for part in shuffled(thirds(data, seed), seed)]
            for name, model in black_boxes(seed).items():
                yield data, seed, name, model.fit(data.X.iloc[parts[0]], data.y.iloc[parts[0]]), parts


def shuffled(parts: list[np.ndarray], seed: int) -> list[np.ndarray]:
    return [np.random.default_rng(seed).permutation(part) for part in parts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["main", "sweep", "trained", "judged"], default="main")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1000, help="at most so many rows in each part")
    parser.add_argument("--data", nargs="*", help="names of data sets; all by default")
    parser.add_argument("--methods", nargs="*", help="all by default; a sweep takes the fast ones")
    parser.add_argument("--out", type=Path, default=Path("quality.csv"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.part == "judged":
        measure_judged(options)
    else:
        measure_all(options)
    print_tables(pd.read_csv(options.out), options.part)


def budgets_of(part: str) -> list[Budget]:
    if part != "sweep":
        return [Budget()]
    cells = [Budget(max_explainers=number) for number in (3, 5, 20)] + [
        Budget(max_leaves=leaves) for leaves in (20, 80)
    ]
    return [*cells, Budget(min_fidelity=0.95)]


def measure_all(options: argparse.Namespace) -> None:
    done = set()
    if options.out.exists():
        done = set(
            map(
                tuple,
                pd.read_csv(options.out)[["part", "data", "box", "seed", "method", "budget"]].astype(str).to_numpy(),
            )
        )
    for data, seed, box, model, (train, explain, test) in runs(options):
        # On its own training rows, for comparison: what it memorised there is harder to mimic.
        rows = train if options.part == "trained" else explain
        groups = None if data.groups is None else data.groups.iloc[rows]
        truth = (data.X.iloc[test], model.predict(data.X.iloc[test]))
        for budget in budgets_of(options.part):
            cells = f"{budget.max_explainers}/{budget.max_leaves}/{budget.min_fidelity}"
            made = methods(model, budget, FeatureSchema.infer(data.X), seed)
            wanted = options.methods or (list(made) if options.part == "main" else FAST)
            for name in wanted:
                key = (options.part, data.name, box, str(seed), name, cells)
                if key in done:
                    continue
                line = dict(zip(KEYS, key, strict=True))
                line |= measure(made[name], budget, data.X.iloc[rows], groups, truth)
                keep(line, options.out)


def measure_judged(options: argparse.Namespace) -> None:
    """Give more and more rows, which need no labels, under two known laws, to see where the exact union wins."""
    done = set()
    if options.out.exists():
        done = {tuple(key) for key in pd.read_csv(options.out)[["data", "seed", "judged"]].to_numpy()}
    generators = [GENERATORS[name] for name in MIX]
    for law in ("rings", "steps"):
        for seed in range(options.splits):
            for n_judged in (500, 2_000, 10_000, 50_000, 200_000):
                if (law, seed, n_judged) in done:
                    continue
                table, model = synthetic(law, n_judged + 50_000, seed)
                schema = FeatureSchema.infer(table)
                box = BlackBox(model, schema)
                rows = Rows.ask(table.iloc[:n_judged], box).unmerged()
                new, truth = schema.encode(table.iloc[n_judged:]), model(table.iloc[n_judged:])
                forms = [*make_consensus_forms(10, 40), Union(generators, box, 10, 40, 0.9)]
                start = time.perf_counter()
                verdict = Verdict(cross_fit(forms, rows, 5, seed), 0.9)
                for kind in dict.fromkeys(form.kind for form in forms):
                    line = {"part": "judged", "data": law, "seed": seed, "method": kind, "judged": n_judged}
                    choice = verdict.choose(kinds=[kind])
                    line |= {"coverage": 0.0, "agreement": np.nan}
                    if choice is not None:
                        answers = choice.judged.form.learn(rows, seed).at(choice.setting).answer(new)
                        right = (answers == truth).compressed()
                        line |= {"coverage": len(right) / len(new), "agreement": right.mean() if len(right) else np.nan}
                    kept = not line["agreement"] < 0.9
                    keep({**line, "kept": kept, "seconds": time.perf_counter() - start}, options.out)


def keep(line: dict[str, object], path: Path) -> None:
    pd.DataFrame([line]).to_csv(path, mode="a", header=not path.exists(), index=False)


def print_tables(table: pd.DataFrame, part: str) -> None:
    table = table[table["part"] == part]
    if part == "judged":
        print_pivot(table, ["data", "method"], "judged", "coverage")
        print_pivot(table, ["data", "method"], "judged", "kept")
        return
    if part == "sweep":
        print_pivot(table, ["method"], "budget", "coverage")
        print_pivot(table, ["method"], "budget", "kept")
        return
    print("| method | coverage | kept | agreement | worst explainer | leaves | minority right | queries | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for method, lines in table.groupby("method", sort=False):
        means = lines[["coverage", "kept", "agreement", "worst", "leaves", "minority", "queries", "seconds"]].mean()
        cells = [f"{means[name]:.2f}" for name in ("coverage", "kept", "agreement", "worst")]
        cells += [
            f"{means['leaves']:.0f}",
            f"{means['minority']:.2f}",
            f"{means['queries']:,.0f}",
            f"{means['seconds']:.1f}",
        ]
        print(f"| {method} | {' | '.join(cells)} |")
    certified = table[table["certified"].astype(str) == "True"]
    kept = certified["kept"].astype(str).eq("True").mean()
    print(f"\nOf {len(certified)} certified answers {kept:.0%} kept the floor.\n")
    for value in ("coverage", "kept", "minority"):
        print_pivot(table, ["method"], "data", value)


def print_pivot(table: pd.DataFrame, lines: list[str], columns: str, value: str) -> None:
    numbers = table.assign(kept=table["kept"].astype(str).eq("True").astype(float))
    pivot = numbers.pivot_table(index=lines, columns=columns, values=value, aggfunc="mean", sort=False)
    print(f"\n{value}\n\n| {' / '.join(lines)} | {' | '.join(str(column) for column in pivot.columns)} |")
    print("|---|" + "---|" * len(pivot.columns))
    for key, cells in pivot.iterrows():
        name = " / ".join(key) if isinstance(key, tuple) else key
        print(f"| {name} | {' | '.join('' if np.isnan(cell) else f'{cell:.2f}' for cell in cells)} |")


if __name__ == "__main__":
    main()
