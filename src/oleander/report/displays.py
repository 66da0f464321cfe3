"""Displays as in scikit-learn: the data are computed first and kept, then drawn on the user's axes.

matplotlib is imported only when something is drawn.
"""

from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from oleander.arrays import Floats
from oleander.data.frames import to_table
from oleander.data.schema import FeatureSchema
from oleander.explainer import AggregateExplainer
from oleander.messages import import_extra, show_share, visible
from oleander.results.explainer_set import ABSTAINS, ChosenExplainer
from oleander.rules import Rule
from oleander.rules.conditions import clauses

# Okabe and Ito's colours, which most colour-blind readers can tell apart; markers differ where colours repeat.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
# Names of columns are drawn as text, also where they hold a dollar sign.
PLAIN: dict[str, Any] = {"parse_math": False}
DASHES: tuple[Any, ...] = ("--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 4)))
# Of a line of a rule beside its bar.
MOST_LETTERS = 60
MARKERS = ("o", "s", "^", "D", "v", "P", "*")


def _new_axis(ax: Any, size: tuple[float, float] | None = None) -> Any:
    pyplot = import_extra("matplotlib.pyplot", extra="plot", purpose="Drawing a display")
    return pyplot.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


@dataclass
class TradeOffDisplay:
    """Coverage and achieved fidelity against the number of explainers, a line per floor: the paper's two panels.

    The shade over a line of coverage reaches up to the proven bound.

    Parameters
    ----------
    table : DataFrame
        As ``TradeOff.table``.
    rivals : DataFrame or None
        The columns method, coverage and fidelity, a dashed line per method: over ``max_explainers`` where a method has
        several lines, and flat where it has one.
    """

    table: pd.DataFrame
    rivals: pd.DataFrame | None = None
    axes_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: AggregateExplainer,
        *,
        max_explainers: list[int] | None = None,
        min_fidelity: list[float] | None = None,
        rivals: pd.DataFrame | None = None,
    ) -> Self:
        """Compute the trade-off of a fitted explainer."""
        return cls(estimator.tradeoff(max_explainers=max_explainers, min_fidelity=min_fidelity).table, rivals)

    def plot(self, axes: Any = None) -> Self:
        """Draw the two panels."""
        if self.rivals is not None:
            check_rivals(self.rivals)
        is_new = axes is None
        if is_new:
            pyplot = import_extra("matplotlib.pyplot", extra="plot", purpose="Drawing a display")
            axes = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained")[1]
        self.axes_, self.figure_ = axes, axes[0].figure
        for number, (floor, part) in enumerate(self.table.groupby("min_fidelity")):
            look = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}
            axes[0].plot(part["max_explainers"], part["coverage"], label=f"φ = {floor:g}", **look)
            most = np.minimum(part["coverage"] * (1 + part["gap"].replace(np.inf, 0.0)), 1.0)
            axes[0].fill_between(part["max_explainers"], part["coverage"], most, color=look["color"], alpha=0.2, lw=0)
            axes[1].plot(part["max_explainers"], part["fidelity"], label=f"φ = {floor:g}", **look)
        if self.rivals is not None:
            ends = [self.table["max_explainers"].min(), self.table["max_explainers"].max()]
            for number, (method, part) in enumerate(self.rivals.groupby("method", sort=False)):
                look = {"color": "0.35", "linestyle": DASHES[number % len(DASHES)], "label": str(method)}
                numbers = ends if len(part) == 1 else part["max_explainers"]
                for ax, name in zip(axes, ("coverage", "fidelity"), strict=True):
                    ax.plot(numbers, np.repeat(part[name], 2) if len(part) == 1 else part[name], **look)
        axes[0].set(xlabel="explainers, at most (K)", ylabel="share of rows covered", ylim=(0, 1.02))
        axes[1].set(xlabel="explainers, at most (K)", ylabel="lowest fidelity of an explainer")
        for ax in axes:
            ax.xaxis.get_major_locator().set_params(integer=True)
        handles, names = axes[0].get_legend_handles_labels()
        labels = [_plain(name) for name in names]
        if is_new:
            # One legend for both panels, outside them, so that it hides no line.
            self.figure_.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 5))
        else:
            axes[0].legend(handles, labels)
        return self


def check_rivals(rivals: pd.DataFrame) -> None:
    """Raise ``ValueError`` that names a column that ``TradeOffDisplay`` needs and the table lacks."""
    needed = ["method", "coverage", "fidelity"]
    if "method" in rivals and rivals["method"].duplicated().any():
        needed.append("max_explainers")
    lacking = [name for name in needed if name not in rivals]
    if lacking:
        raise ValueError(f"rivals has no column {lacking[0]!r}; the panels need {', '.join(needed)}.")


@dataclass
class CoverageDisplay:
    """Rows in the plane of their two principal directions, marked by the explainer that answers them.

    Parameters
    ----------
    points : array of shape (n_rows, 2)
    responsible : int array of shape (n_rows,)
        -1 where the explainers abstain.
    """

    points: Floats
    responsible: NDArray[np.intp]
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: AggregateExplainer, X: Any) -> Self:
        """Project rows by principal components, and find the explainer that answers each row."""
        schema, X = estimator.schema_, to_table(X)
        return cls(cls.project(schema, schema.encode(X)), estimator.responsible(X))

    @staticmethod
    def project(schema: FeatureSchema, rows: Floats) -> Floats:
        """Return encoded rows in the plane of their two principal directions."""
        columns: list[Floats] = []
        for j, feature in enumerate(schema):
            values = rows[:, j]
            if feature.is_number:
                middle = (feature.lower + feature.upper) / 2
                columns.append(np.where(np.isnan(values), middle, values) / feature.scale)
            else:
                columns += [(values == code).astype(float) for code in range(len(feature.levels))]
        seen = np.column_stack(columns)
        n_directions = min(2, *seen.shape)
        points = PCA(n_directions, random_state=0).fit_transform(seen)
        return np.column_stack([points, np.zeros((len(points), 2 - n_directions))])

    def plot(self, ax: Any = None) -> Self:
        """Draw the points; rows without an answer are grey crosses."""
        self.ax_ = ax = _new_axis(ax)
        self.figure_ = ax.figure
        outside = self.responsible == ABSTAINS
        if outside.any():
            ax.scatter(*self.points[outside].T, marker="x", color="0.6", label=f"no explainer ({outside.sum():,})")
        for number in np.unique(self.responsible[~outside]).tolist():
            inside = self.responsible == number
            look = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}
            label = f"explainer {number + 1} ({inside.sum():,})"
            ax.scatter(*self.points[inside].T, s=18, alpha=0.8, label=label, **look)
        ax.set(xlabel="first principal direction", ylabel="second principal direction")
        ax.legend(fontsize="small")
        return self


@dataclass
class RulesDisplay:
    """A bar for each rule or explainer: the rows where it holds, on which it matches the black box or not; and silence.

    Parameters
    ----------
    table : DataFrame
        A line per bar, with the columns ``name``, ``right`` and ``wrong`` (rows), and ``silent`` in the last.
    n_rows : int
        The rows of the fit. Rules overlap, so bars do not add up to them.
    """

    table: pd.DataFrame
    n_rows: int
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: AggregateExplainer) -> Self:
        """Count the rows of each rule; of explainers with several rules, those of the explainer."""
        found = estimator.evaluation_
        figures = found.explainers
        names = [_name_bar(number, member) for number, member in enumerate(estimator.explainers_, start=1)]
        inside = figures["rows"].to_numpy()
        right = np.round(figures["fidelity"].fillna(0.0).to_numpy() * inside).astype(int)
        table = pd.DataFrame({"name": names, "right": right, "wrong": inside - right, "silent": 0})
        table.loc[len(table)] = ["no rule: no answer", 0, 0, found.n_rows - found.n_answered]
        return cls(table, found.n_rows)

    def plot(self, ax: Any = None) -> Self:
        """Draw the bars, the first on top."""
        self.ax_ = ax = _new_axis(ax, (11, 1.5 + 0.5 * len(self.table)))
        self.figure_ = ax.figure
        places, left = np.arange(len(self.table)), np.zeros(len(self.table))
        looks = {
            "right": (COLOURS[0], "matches the model"),
            "wrong": (COLOURS[5], "does not match"),
            "silent": ("0.75", ""),
        }
        for name, (colour, label) in looks.items():
            ax.barh(places, self.table[name], left=left, color=colour, label=label or None)
            left = left + self.table[name].to_numpy()
        names = ["\n".join(wrap(_plain(name), MOST_LETTERS)) for name in self.table["name"]]
        ax.set_yticks(places, names, fontsize="small")
        ax.invert_yaxis()
        ax.set(xlabel=f"rows where the rule holds, of {self.n_rows:,}", xlim=(0, None))
        # Above the bars, so that it hides none.
        ax.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        return self


def _name_bar(number: int, member: ChosenExplainer) -> str:
    rules = member.rules()
    if len(rules) != 1:
        return f"explainer {number} ({len(rules):,} rules)"
    return f"{number}: {rules[0].premise or 'always'} → {rules[0].answer}"


@dataclass(frozen=True)
class TreeBox:
    """A node of a drawn tree: its position, its text and its parent."""

    x: float
    y: float
    text: str
    is_leaf: bool
    parent: int | None
    branch: str = ""


@dataclass
class ExplainerDisplay:
    """The tree of an explainer, the weights of its linear models, or its rules, in the user's names and units.

    Parameters
    ----------
    boxes : list of TreeBox
        The nodes of a tree; of other explainers each rule, its conditions over its answer. Empty for a linear one.
    weights : DataFrame
        Class, feature and weight of a linear explainer; empty for a tree.
    """

    boxes: list[TreeBox]
    weights: pd.DataFrame
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_explainer(cls, chosen: ChosenExplainer) -> Self:
        """Lay out the tree, the weights or the rules of a chosen explainer."""
        explainer = chosen.explainer
        weights = pd.DataFrame(columns=["label", "feature", "weight"])
        form = explainer.form()
        if form["kind"] == "tree":
            return cls(lay_out(form, explainer.rules()), weights)
        if form["kind"] == "linear":
            lines = [(rule.label, term.feature.shown, term.weight) for rule in explainer.rules() for term in rule.terms]
            return cls([], pd.DataFrame(lines, columns=weights.columns))
        return cls(lay_out_rules(chosen.rules()), weights)

    def plot(self, ax: Any = None) -> Self:
        """Draw the tree or the weights."""
        self.ax_ = ax = _new_axis(ax)
        self.figure_ = ax.figure
        if not self.boxes:
            table = self.weights.pivot(index="feature", columns="label", values="weight")
            table = table.rename(index=_plain, columns=_plain)
            table.plot.barh(ax=ax, color=COLOURS[: table.shape[1]])
            ax.set(xlabel="weight per unit of scale", ylabel="")
            return self
        for box in self.boxes:
            if box.parent is not None:
                above = self.boxes[box.parent]
                ax.plot([above.x, box.x], [above.y, box.y], color="0.5", zorder=1)
                ax.text(
                    (above.x + box.x) / 2, (above.y + box.y) / 2, box.branch, ha="center", fontsize="x-small", **PLAIN
                )
            face = "#DCEBF7" if box.is_leaf else "white"
            frame = {"boxstyle": "round", "facecolor": face, "edgecolor": "0.4"}
            ax.text(box.x, box.y, box.text, ha="center", va="center", bbox=frame, fontsize="small", zorder=2, **PLAIN)
        ax.set(xlim=(-0.5, max(box.x for box in self.boxes) + 0.5))
        ax.margins(y=0.15)
        ax.set_axis_off()
        return self


def _plain(name: Any) -> str:
    return visible(name).replace("$", r"\$")


def _describe_leaf(rule: Rule) -> str:
    return f"{visible(rule.label)}\n{show_share(rule.share)} of {rule.n_draws:,}"


def lay_out_rules(rules: list[Rule]) -> list[TreeBox]:
    """Return two boxes per rule, side by side: its conditions, one a line, and under them its answer."""
    boxes: list[TreeBox] = []
    for place, rule in enumerate(rules):
        text = "\n".join(clauses(rule.terms)) or "always"
        boxes.append(TreeBox(float(place), 0.0, text, False, None))
        boxes.append(TreeBox(float(place), -1.0, _describe_leaf(rule), True, len(boxes) - 1))
    return boxes


def lay_out(form: dict[str, Any], rules: list[Rule]) -> list[TreeBox]:
    """Return a box per node, the root first; leaves stand side by side, parents above the middle of their children.

    Parameters
    ----------
    form : dict
        What ``form`` returns for a tree.
    rules : list of Rule
        Of the leaves that speak; the others are said to abstain.
    """
    boxes: dict[int, TreeBox] = {}
    next_leaf = 0.0

    def place(node: int, depth: int, parent: int | None, branch: str) -> float:
        nonlocal next_leaf
        asks, position = form["asks"][node], form["rule"][node]
        if asks is None:
            x, text = next_leaf, "abstains" if position is None else _describe_leaf(rules[position])
            next_leaf += 1.0
        else:
            left = place(form["left"][node], depth + 1, node, "yes")
            right = place(form["right"][node], depth + 1, node, "no")
            x, text = (left + right) / 2, asks[0]
        boxes[node] = TreeBox(x, -float(depth), text, asks is None, parent, branch)
        return x

    place(0, 0, None, "")
    # Nodes are numbered without gaps, so the index of a box in the list is the number of its node.
    return [boxes[node] for node in sorted(boxes)]
