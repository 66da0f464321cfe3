"""Displays as in scikit-learn: the data are computed first and kept, then drawn on the user's axes.

matplotlib is imported only when something is drawn.
"""

from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any, Self

import numpy as np
import pandas as pd

from oleander.explainer import AggregateExplainer
from oleander.messages import import_extra, visible

# Okabe and Ito's colours, which most colour-blind readers can tell apart; markers differ where colours repeat.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
DASHES: tuple[Any, ...] = ("--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 4)))
MARKERS = ("o", "s", "^", "D", "v", "P", "*")
# The longest line of a rule beside its bar.
MOST_LETTERS = 60


def _make_axes(n_columns: int, size: tuple[float, float]) -> Any:
    pyplot = import_extra("matplotlib.pyplot", extra="plot", purpose="Drawing a display")
    return pyplot.subplots(1, n_columns, figsize=size, layout="constrained")[1]


def _plain(name: Any) -> str:
    """Return a name that matplotlib draws as text, even if it holds a dollar sign."""
    return visible(name).replace("$", r"\$")


@dataclass
class TradeOffDisplay:
    """Coverage and achieved fidelity against the number of explainers, a line per floor: the paper's two panels.

    The shade over a line of coverage reaches up to the proven bound.
    """

    # As ``TradeOff.table``.
    table: pd.DataFrame
    # The columns method, coverage and fidelity, a dashed line per method: over ``max_explainers`` where a method has
    # several lines, and flat where it has one.
    rivals: pd.DataFrame | None = None
    axes_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    def plot(self, axes: Any = None) -> Self:
        """Draw the two panels."""
        if self.rivals is not None:
            check_rivals(self.rivals)
        is_new = axes is None
        if is_new:
            axes = _make_axes(2, (9, 4))
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
class RulesDisplay:
    """A bar for each rule or explainer: its rows, on which it matches the black box or not; and a bar of silence."""

    # A line per bar, with the columns ``name``, ``right`` and ``wrong`` (rows), and ``silent`` in the last.
    table: pd.DataFrame
    # The rows of the fit. Rules overlap, so bars do not add up to them.
    n_rows: int
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: AggregateExplainer) -> Self:
        """Count the rows of each rule; of explainers with several rules, those of the explainer."""
        found = estimator.evaluation_
        names = []
        for number, member in enumerate(estimator.explainers_, start=1):
            first, *others = member.rules()
            alone = f"{number}: {first.premise or 'always'} → {first.answer}"
            names.append(f"explainer {number} ({len(others) + 1:,} rules)" if others else alone)
        inside, right = (np.array([one[place] for one in found.explainer_counts], dtype=int) for place in (0, 1))
        table = pd.DataFrame({"name": names, "right": right, "wrong": inside - right, "silent": 0})
        table.loc[len(table)] = ["no rule: no answer", 0, 0, found.n_rows - found.n_answered]
        return cls(table, found.n_rows)

    def plot(self, ax: Any = None) -> Self:
        """Draw the bars, the first on top."""
        self.ax_ = ax = _make_axes(1, (11, 1.5 + 0.5 * len(self.table))) if ax is None else ax
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
