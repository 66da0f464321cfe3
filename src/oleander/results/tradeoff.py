"""The trade-off: what the best choice comes to for each number of explainers and each floor, with the explainers."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from oleander.data.checks import Count, Share, check_count, check_each, check_share
from oleander.data.schema import FeatureSchema
from oleander.files.codec import read_fields, write_fields
from oleander.messages import Shown, import_extra
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.selection.result import Status

# Every number up to the first of these, and then some.
NUMBERS = (20, 30, 50, 100, 200, 500)
FLOORS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
N_FLOORS = 5
CellStatus = Literal[Status, "certified", "judged", "edited"]
# Okabe and Ito's colours, which most colour-blind readers can tell apart; markers differ where colours repeat.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
DASHES = ("--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P", "*")


@dataclass(frozen=True, eq=False)
class Cell:
    """The best choice for one number of explainers and one floor."""

    max_explainers: Count
    min_fidelity: float
    # What there is to read.
    n_explainers: Count
    n_rules: Count
    # The share of rows covered, of the rows that the explainers were chosen on.
    coverage: Share
    # The lowest and the mean fidelity that the explainers achieve there.
    fidelity: Share
    mean_fidelity: Share
    # The share of covered rows on which the answer is the black box's.
    agreement: Share
    # How far the choice may be from the best possible; NaN where explainers are learned by asking.
    gap: float
    # As in ``SelectionResult``; where explainers are learned by asking, "certified" for those of the fit and "judged"
    # for all others, because a cell that is picked after looking at several is not certified.
    status: CellStatus
    # None where nothing reaches the floor.
    explainers: ExplainerSet | None

    @classmethod
    def fill(
        cls,
        max_explainers: int,
        min_fidelity: float,
        explainers: ExplainerSet,
        evaluation: Evaluation,
        gap: float,
        status: CellStatus,
    ) -> Self:
        """Return the cell of a choice and its evaluation."""
        names = ("coverage", "fidelity", "mean_fidelity", "agreement")
        return cls(
            max_explainers,
            min_fidelity,
            n_explainers=len(explainers.members),
            n_rules=explainers.n_rules,
            **{name: getattr(evaluation, name) for name in names},
            gap=gap,
            status=status,
            explainers=explainers if explainers.members else None,
        )

    @property
    def most(self) -> float:
        """The largest coverage that any choice could have."""
        # A NaN is the gap of explainers that no program chose.
        if np.isnan(self.gap):
            return self.coverage
        return min(self.coverage * (1 + self.gap), 1.0) if np.isfinite(self.gap) else 1.0


@dataclass(frozen=True, eq=False)
class TradeOff(Shown):
    """A cell for each number of explainers and each floor."""

    cells: tuple[Cell, ...] = field(repr=False)

    def at(self, max_explainers: int, min_fidelity: float) -> Cell:
        """Return one cell."""
        for cell in self.cells:
            if cell.max_explainers == max_explainers and cell.min_fidelity == min_fidelity:
                return cell
        raise KeyError(f"there is no cell for max_explainers={max_explainers} and min_fidelity={min_fidelity:g}.")

    @property
    def table(self) -> pd.DataFrame:
        """A line per cell, by floor and then by number of explainers."""
        ordered = sorted(self.cells, key=lambda cell: (cell.min_fidelity, cell.max_explainers))
        names = [field.name for field in fields(Cell) if field.name != "explainers"]
        return pd.DataFrame([[getattr(cell, name) for name in names] for cell in ordered], columns=names)

    def plot(self, path: str | PathLike[str] | None = None, *, rivals: pd.DataFrame | None = None) -> Any:
        """Draw coverage and lowest fidelity over the number of explainers, a line per floor: the paper's two panels.

        The shade over a line of coverage reaches up to the proven bound. ``rivals`` has a row for each other method, by
        its name, with its coverage and fidelity, which become dashed lines. Returns the two axes; a path such as
        "panels.pdf" writes the picture to a file.
        """
        pyplot = import_extra("matplotlib.pyplot", extra="plot", purpose="Drawing a trade-off")
        figure, axes = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained")
        for number, (floor, part) in enumerate(self.table.groupby("min_fidelity")):
            look = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}
            most = np.minimum(part["coverage"] * (1 + part["gap"].replace(np.inf, 0.0)), 1.0)
            axes[0].fill_between(part["max_explainers"], part["coverage"], most, color=look["color"], alpha=0.2, lw=0)
            for ax, name in zip(axes, ("coverage", "fidelity"), strict=True):
                ax.plot(part["max_explainers"], part[name], label=f"φ = {floor:g}", **look)
        for number, (name, rival) in enumerate(() if rivals is None else rivals.iterrows()):
            for ax, column in zip(axes, ("coverage", "fidelity"), strict=True):
                ax.axhline(rival[column], color="0.35", linestyle=DASHES[number % len(DASHES)], label=name)
        for ax, words in zip(axes, ("share of rows covered", "lowest fidelity of an explainer"), strict=True):
            ax.set(xlabel="explainers, at most (K)", ylabel=words)
            ax.xaxis.get_major_locator().set_params(integer=True)
        axes[0].set_ylim(0, 1.02)
        # Outside both panels, so that it hides no line.
        figure.legend(handles=axes[1].get_lines(), loc="outside lower center", ncols=5)
        if path is not None:
            figure.savefig(path, dpi=150)
        return axes

    def with_cell(self, fitted: Cell) -> Self:
        """Return the trade-off with one cell put in the place of its own, such as that of the certified explainers."""
        place = (fitted.max_explainers, fitted.min_fidelity)
        return type(self)(
            tuple(fitted if (cell.max_explainers, cell.min_fidelity) == place else cell for cell in self.cells)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; explainers that several cells share are written once."""
        written: list[dict[str, Any]] = []
        number_of: dict[tuple[int, bool], int] = {}
        cells = []
        for cell in self.cells:
            numbers = []
            for member in () if cell.explainers is None else cell.explainers.members:
                key = (id(member.explainer), member.claim is None)
                if key not in number_of:
                    number_of[key] = len(written)
                    written.append(member.to_dict())
                numbers.append(number_of[key])
            cells.append(write_fields(cell, explainers=numbers))
        return {"members": written, "cells": cells}

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Read what ``to_dict`` wrote."""
        members = [ChosenExplainer.from_dict(member, schema) for member in data["members"]]
        cells = []
        for cell in data["cells"]:
            own = tuple(members[number] for number in cell["explainers"])
            cells.append(read_fields(Cell, cell, explainers=ExplainerSet(schema, own) if own else None))
        return cls(tuple(cells))


def default_grid(max_explainers: int, min_fidelity: float) -> tuple[list[int], list[float]]:
    """Return numbers up to ``max_explainers``, and five floors near ``min_fidelity``, itself included.

    A floor far above it is expensive: most candidates must be trained to see that they fail.

    >>> default_grid(4, 0.9)
    ([1, 2, 3, 4], [0.7, 0.8, 0.85, 0.9, 0.95])
    """
    numbers = {number for number in (*range(1, NUMBERS[0]), *NUMBERS) if number < max_explainers}
    floors = {floor for floor in FLOORS if floor < min_fidelity + 0.06} | {min_fidelity}
    nearest = sorted(floors, key=lambda floor: abs(floor - min_fidelity))[:N_FLOORS]
    return sorted({*numbers, max_explainers}), sorted(nearest)


def read_grid(
    own: Cell, max_explainers: Sequence[int] | None, min_fidelity: Sequence[float] | None
) -> tuple[list[int], list[float]]:
    """Return the numbers and floors that a user asks for, or default ones; ``ValueError`` for what is neither.

    The explainer's own cell is always there: it is the certified one.
    """
    numbers, floors = default_grid(own.max_explainers, own.min_fidelity)
    if max_explainers is not None:
        check_each("max_explainers", max_explainers, check_count)
        numbers = sorted({*map(int, max_explainers), own.max_explainers})
    if min_fidelity is not None:
        check_each("min_fidelity", min_fidelity, check_share, with_one=True)
        floors = sorted({*map(float, min_fidelity), own.min_fidelity})
    return numbers, floors
