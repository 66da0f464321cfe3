"""The best explanation of a whole model with K explainers, and its price: ours beside every rival, on new rows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.cases import Case, make_case, typical_radius
from benchmarks.data_sets import CLINICAL, SHARED, five_classes, from_sklearn
from benchmarks.journal import Journal, Row
from benchmarks.measuring import WatchedBlackBox, is_installed
from benchmarks.rivals import Rival, SubmodularPick, compare, make_rivals
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_goals, make_table, mean, number, seconds
from oleander import AggregateExplainer
from studies.data import DataSet

OURS = "Oleander"
PAPER = "Oleander, the paper's settings"
LIME = "SP-LIME, lime package"
# The names of the page by those of ``make_rivals``.
RIVALS = {
    "submodular pick": "SP-LIME",
    "anchors": "anchors + greedy",
    "decision set": "decision set",
    "decision set, rules only": "decision set, rules only",
    "active tree": "active tree",
    "naive tree": "naive tree",
    "tree with abstention": "tree with abstention",
}
FLOOR = 0.9
# The paper has 10,000: at that number a single cell takes a quarter of an hour.
PAPER_DRAWS = 1_000
SETS = ("heart_disease", "thyroid", "geriatric")
LEAVES_EACH = 4
KEPT = ("coverage", "worst fidelity", "agreement", "explainers", "complexity", "queries", "seconds")


def make_method(name: str, case: Case, k: int) -> Rival:
    """Return one method with a budget of K explainers, or of four leaves or rules for each of them."""
    common: Row = {"max_explainers": k, "min_fidelity": FLOOR, "schema": case.schema, "random_state": case.seed}
    if name == PAPER:
        return AggregateExplainer.paper(case.black_box, radius=typical_radius(case.data), n_draws=PAPER_DRAWS, **common)
    if name == LIME:
        return SubmodularPick(case.black_box, source="lime", **common)
    given = {shown: given for given, shown in RIVALS.items()}
    return make_rivals(case.black_box, max_leaves=LEAVES_EACH * k, **common)[given.get(name, name)]


def explain_model(name: str, data: DataSet, k: int, seed: int, max_rows: int) -> Row:
    """Fit one method on the second part and measure it on the third."""
    if name == LIME and data.X.isna().any(axis=None):
        return {"refused": "takes no missing numbers"}
    case = make_case(data, "forest", seed, max_rows)
    box = WatchedBlackBox(case.black_box)
    case = replace(case, black_box=box)
    rivals = {name: make_method(name, case, k)}
    table = compare(box, case.explain, case.test, rivals, groups=case.groups, schema=case.schema)
    held = table[table["rows"] == "held out"].iloc[0]
    # Rows that compare itself asks about, to judge by, are not the method's own.
    n_queries = box.n_rows - len(case.explain) - len(case.test)
    return {column: held[column] for column in KEPT} | {"queries": n_queries, "new rows": len(case.test)}


def methods(size: Size) -> list[str]:
    """Return the methods of a size; the slow ones stay out of the tiny size."""
    if size == "tiny":
        return [OURS, "naive tree", "tree with abstention"]
    return [OURS, PAPER, *RIVALS.values(), *([LIME] if is_installed("lime") else [])]


def data_sets(size: Size) -> Iterator[DataSet]:
    """Yield one easy set, one with five classes, and clinical ones where they lie beside the project."""
    yield from_sklearn("breast_cancer")
    if size == "full":
        yield five_classes(3_000)
        if SHARED.is_dir():
            yield from (CLINICAL[name]() for name in SETS)


class WholeExplanation(Subject):
    """Coverage, worst fidelity, queries and seconds of every way to explain a model."""

    name = "whole-explanation"
    title = "A whole explanation of the model"
    asks = "With K explainers, how much of the new rows does each method answer, how faithfully, and at what price?"
    figure_size = (14, 5)

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure cell by cell; the quick methods of a cell come first."""
        n_splits, max_rows, budgets = (3, 1_000, (5, 10, 20)) if size == "full" else (1, 130, (5,))
        for seed in range(n_splits):
            for data in data_sets(size):
                for k in budgets:
                    for name in methods(size):
                        key = {"data": data.name, "seed": seed, "K": k, "method": name}
                        journal.once(key, partial(explain_model, name, data, k, seed, max_rows))

    def write(self, rows: Sequence[Row]) -> str:
        """Return the goals by data set and K, then one table for each data set."""
        means = average(rows)
        parts = [make_goals(_goals(means)), NOTES]
        there, seen = {row["method"] for row in rows}, {row["data"] for row in rows}
        missing = [name for name in (OURS, PAPER, *RIVALS.values(), LIME) if name not in there]
        missing += [name for name in SETS if name not in seen]
        if missing:
            parts.append(f"Not measured yet, not installed or not beside the project: {'; '.join(missing)}.\n")
        for data in dict.fromkeys(row["data"] for row in means):
            n_new = max(row.get("new rows", 0) for row in rows if row["data"] == data)
            n_splits = len({row["seed"] for row in rows if row["data"] == data})
            parts.append(f"### {data} ({n_new:,} new rows in each of {n_splits} splits)\n")
            parts.append(_table([row for row in means if row["data"] == data]))
        refused = {(row["method"], row["data"], row["refused"]) for row in rows if "refused" in row}
        parts += [f"{method} on {data}: {why}.\n" for method, data, why in sorted(refused)]
        return "\n".join(parts)

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw coverage against worst fidelity at the middle K, a panel for each data set."""
        means = average(rows)
        budgets = sorted({row["K"] for row in means})
        k = budgets[len(budgets) // 2]
        names = list(dict.fromkeys(row["data"] for row in means))
        axes = figure.subplots(1, len(names), sharex=True, sharey=True, squeeze=False)[0]
        shown = list(dict.fromkeys(row["method"] for row in means))
        for ax, data in zip(axes, names, strict=True):
            for place, method in enumerate(shown):
                line = [r for r in means if (r["data"], r["K"], r["method"]) == (data, k, method)]
                if line and answers(line[0]):
                    # Ours are stars, and on top where others stand at the same place.
                    style = {"s": 160, "marker": "*", "zorder": 3} if method in (OURS, PAPER) else {"s": 50}
                    x, y = line[0]["coverage"], line[0]["worst fidelity"]
                    ax.scatter(x, y, color=f"C{place}", label=method, **style)
            ax.axhline(FLOOR, color="gray", linewidth=0.8, linestyle="--")
            ax.set(title=f"{data}, K = {k}", xlabel="coverage, new rows", xlim=(-0.05, 1.05))
        axes[0].set_ylabel("worst fidelity, new rows")
        handles = {label: h for ax in axes for h, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=5, fontsize="small")


NOTES = f"""\
Floor {FLOOR}. A forest of 50 trees is trained on a third of the rows, explained on a second (at most 1,000 rows) and
all is measured on the last (groups of rows, such as trials, kept whole). The paper's settings are raw units, one
radius (a ball around a typical row holds a fifth of the rows) and {PAPER_DRAWS:,} draws in each ball, not 10,000.
Trees and decision sets may have {LEAVES_EACH} leaves or rules for each of the K explainers. Worst fidelity is of the
worst explainer on new rows that it covers, and one tree is one explainer. Queries are counted at the black box.
*Front*: no other method that answers has at least its coverage and at least its worst fidelity, and more of one. All
are means over three splits (or as many as the title says), and no more: where a row or two decide, read a tie. A split
without an answer counts as coverage 0 and has no fidelity. A method that answers no row is on no front and meets no
floor. Our default promises the floor for all of its answers together, not for each rule. It has no background here and
judges by folds, for which the 29 trials of geriatric are too few ([quality](quality.md) gives it a background).
"""


def average(rows: Sequence[Row]) -> list[Row]:
    """Return the means over splits; a split without an answer counts as coverage 0 and has no fidelity."""
    cells: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if "refused" not in row:
            cells.setdefault((row["data"], row["K"], row["method"]), []).append(row)
    return [
        {"data": data, "K": k, "method": method, **{column: mean(line[column] for line in lines) for column in KEPT}}
        for (data, k, method), lines in cells.items()
    ]


def answers(row: Row) -> bool:
    """Return whether any row was answered."""
    return row["coverage"] > 0 and row["worst fidelity"] is not None


def beaten_by(row: Row, rivals: Sequence[Row]) -> list[Row]:
    """Return the rivals that are at least as good in coverage and in worst fidelity, and better in one."""

    def beats(other: Row) -> bool:
        pairs = [(other[name], row[name]) for name in ("coverage", "worst fidelity")]
        return all(theirs >= own for theirs, own in pairs) and any(theirs > own for theirs, own in pairs)

    return [other for other in rivals if answers(other) and (not answers(row) or beats(other))]


def on_front(row: Row, rivals: Sequence[Row]) -> bool:
    """Return whether any row is answered and no rival beats the method."""
    return answers(row) and not beaten_by(row, rivals)


def meets_floor(row: Row) -> bool:
    """Return whether the worst explainer reaches the floor on new rows."""
    return answers(row) and row["worst fidelity"] >= FLOOR


def _goals(means: Sequence[Row]) -> list[tuple[str, str, bool | None]]:
    goals = []
    for data, k in dict.fromkeys((row["data"], row["K"]) for row in means):
        cell = [row for row in means if (row["data"], row["K"]) == (data, k)]
        ours = next((row for row in cell if row["method"] == OURS), None)
        if ours is None:
            continue
        others = [row for row in cell if row is not ours]
        figures = f"coverage {number(ours['coverage'], 3)}, worst {number(ours['worst fidelity'], 3)}"
        figures += f" for {number(ours['queries'], 0)}"
        better = [
            f"{row['method']}, {number(row['coverage'], 3)} and {number(row['worst fidelity'], 3)}"
            f" for {number(row['queries'], 0)} rows asked"
            for row in beaten_by(ours, others)
        ]
        figures += f"; beaten by {'; '.join(better)}" if better else ""
        goals.append((f"{data}, K = {k}: ours on the front", figures, on_front(ours, others)))
        keeping = [row for row in others if meets_floor(row)]
        least = min(keeping, key=lambda row: row["queries"], default=None)
        figures = f"{number(ours['queries'], 0)} rows"
        if least is not None:
            figures += f"; next or fewest: {least['method']}, {number(least['queries'], 0)}"
        fewest = meets_floor(ours) and (least is None or ours["queries"] <= least["queries"])
        goals.append((f"{data}, K = {k}: ours asks least among methods that meet the floor", figures, fewest))
    return goals


def _table(means: Sequence[Row]) -> str:
    lines = []
    for row in means:
        rivals = [other for other in means if other["K"] == row["K"] and other is not row]
        lines.append(
            (
                row["K"],
                row["method"],
                number(row["coverage"]),
                number(row["worst fidelity"]),
                number(row["agreement"]),
                "yes" if on_front(row, rivals) else "no",
                "yes" if meets_floor(row) else "no",
                number(row["explainers"], 0),
                number(row["complexity"], 0),
                number(row["queries"], 0),
                seconds(row["seconds"]),
            )
        )
    columns = ("K", "method", "coverage", "worst fidelity", "agreement", "front", "floor met", "explainers", "to read")
    return make_table((*columns, "queries", "s"), lines)
