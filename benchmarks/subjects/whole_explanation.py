"""What explains the whole model best with K explainers, and what it costs: ours beside every rival, on new rows."""

import statistics
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from data_sets import DataSet, available, five_classes, from_sklearn
from floor import black_boxes, thirds
from subjects.base import Journal, Row, Size, WatchedBlackBox, is_installed, make_goals, make_table, number, seconds

from oleander import AggregateExplainer
from oleander.baselines import SubmodularPick, compare
from oleander.baselines.compare import make_rivals
from oleander.black_box.asking import BlackBox
from oleander.candidates.balls import choose_ladder
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema

OURS = "Oleander"
PAPER = "Oleander, the paper's settings"
LIME = "SP-LIME, lime package"
# Ours by the names that the page gives them.
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
CLINICAL = ("heart_disease", "thyroid", "geriatric")
LEAVES_EACH = 4
KEPT = ("coverage", "worst fidelity", "agreement", "explainers", "complexity", "queries", "seconds")


def make_method(name: str, model: Any, X: Any, schema: FeatureSchema, k: int, seed: int) -> Any:
    """Return one method with a budget of K explainers, or of four leaves or rules for each of them."""
    told = {"max_explainers": k, "min_fidelity": FLOOR, "schema": schema, "random_state": seed}
    if name == PAPER:
        # The paper leaves the radius to the user: one at which a typical ball holds a fifth of the rows.
        ladder = choose_ladder(Rows.ask(X, BlackBox(model, schema)))
        return AggregateExplainer.paper(model, radius=ladder[len(ladder) // 2], n_draws=PAPER_DRAWS, **told)
    if name == LIME:
        return SubmodularPick(model, source="lime", **told)
    ours = {shown: given for given, shown in RIVALS.items()}
    return make_rivals(model, max_leaves=LEAVES_EACH * k, **told)[ours.get(name, name)]


def explain_model(name: str, data: DataSet, parts: Sequence[np.ndarray], k: int, seed: int) -> Row:
    """Fit one method on the second part and measure it on the third."""
    train, learn, test = parts
    schema = FeatureSchema.infer(data.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = black_boxes(seed)["forest"].fit(data.X.iloc[train], data.y.iloc[train])
        if name == LIME and data.X.isna().any(axis=None):
            return {"refused": "takes no missing numbers"}
        X, box = data.X.iloc[learn], WatchedBlackBox(model)
        method = make_method(name, box, X, schema, k, seed)
        # Rows asked about before and after a fit are not its own: those for a radius, and those that it is judged by.
        before = box.n_rows + len(learn) + len(test)
        table = compare(
            box,
            X,
            rivals={name: method},
            X_test=data.X.iloc[test],
            groups=None if data.groups is None else data.groups.iloc[learn],
            schema=schema,
            random_state=seed,
        )
    held = table[table["rows"] == "held out"].iloc[0]
    return {column: held[column] for column in KEPT} | {"queries": box.n_rows - before, "new rows": len(test)}


def methods(size: Size) -> list[str]:
    """Return who takes part; the slow ones stay out of the tiny size."""
    if size == "tiny":
        return [OURS, "naive tree", "tree with abstention"]
    return [OURS, PAPER, *RIVALS.values(), *([LIME] if is_installed("lime") else [])]


def data_sets(size: Size) -> Iterator[DataSet]:
    """Yield the sets: one easy, one with five classes, and clinical ones where they lie beside the project."""
    yield from_sklearn("breast_cancer")
    if size == "full":
        yield five_classes(3_000)
        yield from (data for data in available() if data.name in CLINICAL)


class WholeExplanation:
    """Coverage, worst fidelity, queries and seconds of every way to explain a model."""

    name = "whole-explanation"
    title = "A whole explanation of the model"
    asks = "With K explainers, who answers how much of the new rows, how faithfully, and at what price?"

    def measure(self, size: Size, journal: Journal) -> list[Row]:
        """Measure cell by cell; the quick methods of a cell come first."""
        n_splits, most_rows, budgets = (3, 1_000, (5, 10, 20)) if size == "full" else (1, 130, (5,))
        lines = []
        for seed in range(n_splits):
            for data in data_sets(size):
                rng = np.random.default_rng(seed)
                parts = [rng.permutation(part)[:most_rows] for part in thirds(data, seed)]
                for k in budgets:
                    for name in methods(size):
                        key = {"data": data.name, "seed": seed, "K": k, "method": name}
                        lines.append(journal.once(key, partial(explain_model, name, data, parts, k, seed)))
        return lines

    def write(self, rows: Sequence[Row]) -> str:
        """Return the goals by data set and K, then one table for each data set."""
        means = average(rows)
        parts = [make_goals(_goals(means)), f"Floor {FLOOR}. {NOTES}"]
        there, seen = {row["method"] for row in rows}, {row["data"] for row in rows}
        missing = [name for name in (OURS, PAPER, *RIVALS.values(), LIME) if name not in there]
        missing += [name for name in CLINICAL if name not in seen]
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


NOTES = """\
A forest of 50 trees is trained on a third of the rows, explained on a second (at most 1,000 rows) and all is measured
on the last; by trial where rows come so. The paper's settings have 1,000 draws in each ball, not 10,000. Trees and
decision sets may have four leaves or rules for each of the K explainers. Worst fidelity is of the worst explainer on
new rows that it covers, and one tree is one explainer. Queries are counted at the black box. *Front*: no other method
that answers anything has at least its coverage and at least its worst fidelity, and more of one. All are means over
three splits (or as many as the title says), and no more: where a row or two decide, read a tie. A split without an
answer counts as coverage 0 and has no fidelity. A method that answers nothing is on no front and meets no floor. Ours
learns from three quarters of its rows, since the others certify it; a rival has all of them and no certificate.
"""


def average(rows: Sequence[Row]) -> list[Row]:
    """Return the means over splits; a split in which nothing was answered has no fidelity and counts as coverage 0."""
    cells: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if "refused" not in row:
            cells.setdefault((row["data"], row["K"], row["method"]), []).append(row)
    return [
        {"data": data, "K": k, "method": method, **{column: _mean(lines, column) for column in KEPT}}
        for (data, k, method), lines in cells.items()
    ]


def answers(row: Row) -> bool:
    """Whether anything was answered."""
    return row["coverage"] > 0 and row["worst fidelity"] is not None


def beaten_by(row: Row, rivals: Sequence[Row]) -> list[Row]:
    """Return the rivals that are at least as good in coverage and in worst fidelity, and better in one."""

    def beats(other: Row) -> bool:
        pairs = [(other[name], row[name]) for name in ("coverage", "worst fidelity")]
        return all(theirs >= own for theirs, own in pairs) and any(theirs > own for theirs, own in pairs)

    return [other for other in rivals if answers(other) and (not answers(row) or beats(other))]


def on_front(row: Row, rivals: Sequence[Row]) -> bool:
    """Whether it answers anything and no rival beats it."""
    return answers(row) and not beaten_by(row, rivals)


def meets_floor(row: Row) -> bool:
    """Whether the worst explainer keeps the floor on new rows."""
    return answers(row) and row["worst fidelity"] >= FLOOR


def _mean(lines: Sequence[Row], column: str) -> float | None:
    values = [line[column] for line in lines if line[column] is not None]
    return statistics.mean(values) if values else None


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
        goals.append((f"{data}, K = {k}: ours asks least of those that meet the floor", figures, fewest))
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
