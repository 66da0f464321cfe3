"""The trade-off: what the best choice comes to for each number of explainers and each floor, with the explainers."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Self

import numpy as np
import pandas as pd

from oleander.arrays import Floats
from oleander.candidates.choosing import PoolProgram, describe_cell
from oleander.data.schema import FeatureSchema
from oleander.learning.union import UnionLearner
from oleander.results.delivering import deliver_union
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet, read_overlap
from oleander.running.fragments import Fragment, table
from oleander.running.progress import told
from oleander.running.shares import show_share, show_upper_percent
from oleander.selection import SelectionResult
from oleander.selection.result import relative_gap

NUMBERS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50)
FLOORS = (0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
FIGURES: dict[str, Any] = {
    "max_explainers": int,
    "min_fidelity": float,
    "n_explainers": int,
    "n_rules": int,
    "coverage": float,
    "fidelity": float,
    "mean_fidelity": float,
    "agreement": float,
    "gap": float,
    "status": str,
}
WITHHELD = "withheld"


@dataclass(frozen=True, eq=False)
class Cell:
    """The best choice for one number of explainers and one floor.

    Parameters
    ----------
    max_explainers : int
    min_fidelity : float
    n_explainers, n_rules : int
        What there is to read.
    coverage : float
        The share of rows covered, of the rows that the explainers were chosen on.
    fidelity, mean_fidelity : float
        The lowest and the mean fidelity that the explainers achieve there.
    agreement : float
        The share of covered rows on which the answer is the black box's.
    gap : float
        How far the choice may be from the best possible; NaN where explainers are learned by asking.
    status : str
        As in ``SelectionResult``; where explainers are learned by asking, "certified" for those of the fit and "judged"
        for all others, because a cell that is picked after looking at several is not certified; or "withheld" where the
        explainers would show a row of the data.
    explainers : ExplainerSet or None
        None where nothing reaches the floor, or where they are withheld.
    """

    max_explainers: int
    min_fidelity: float
    n_explainers: int
    n_rules: int
    coverage: float
    fidelity: float
    mean_fidelity: float
    agreement: float
    gap: float
    status: str
    explainers: ExplainerSet | None

    @classmethod
    def fill(
        cls,
        max_explainers: int,
        min_fidelity: float,
        explainers: ExplainerSet,
        evaluation: Evaluation,
        gap: float,
        status: str,
    ) -> Self:
        """Return the cell of a choice and its evaluation."""
        return cls(
            max_explainers,
            min_fidelity,
            len(explainers.members),
            explainers.n_rules,
            evaluation.coverage,
            evaluation.fidelity,
            evaluation.mean_fidelity,
            evaluation.agreement,
            gap,
            status,
            explainers if explainers.members else None,
        )

    @property
    def most(self) -> float:
        """The largest coverage that any choice could have."""
        # A NaN is the gap of explainers that no program chose.
        if np.isnan(self.gap):
            return self.coverage
        return min(self.coverage * (1 + self.gap), 1.0) if np.isfinite(self.gap) else 1.0


@dataclass(frozen=True, eq=False)
class TradeOff:
    """A cell for each number of explainers and each floor."""

    cells: tuple[Cell, ...] = field(repr=False)

    def __str__(self) -> str:
        return str(self.table.to_string(index=False))

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
        return pd.DataFrame([[getattr(cell, name) for name in FIGURES] for cell in ordered], columns=list(FIGURES))

    def _repr_html_(self) -> str:
        floors = sorted({cell.min_fidelity for cell in self.cells})
        lines = [
            (number, *(self._describe_cell(number, floor) for floor in floors))
            for number in sorted({cell.max_explainers for cell in self.cells})
        ]
        page = Fragment().heading("share of rows covered, by the most explainers and the floor")
        if any(cell.most > cell.coverage for cell in self.cells):
            page.line("≤ is the most that any choice could cover, where the search stopped before a proof")
        return page.add(table(["explainers, at most", *(f"floor {floor:g}" for floor in floors)], lines)).html

    def _describe_cell(self, number: int, floor: float) -> str:
        for cell in self.cells:
            if (cell.max_explainers, cell.min_fidelity) == (number, floor):
                most = f" (≤ {show_upper_percent(cell.most)})" if cell.most > cell.coverage else ""
                return f"{show_share(cell.coverage, 1)}{most}"
        return "–"

    def plot(self, path: str | os.PathLike[str] | None = None, *, rivals: pd.DataFrame | None = None) -> Any:
        """Draw the paper's two panels: coverage and achieved fidelity over K, a line per floor.

        Parameters
        ----------
        path : path or None
            A file for the figure; its ending is the format, such as .png or .pdf. None draws without writing.
        rivals : DataFrame or None
            The table of ``oleander.baselines.compare``, or one with the columns method, coverage and fidelity, and with
            max_explainers for rivals that have a number of explainers too; see ``oleander.report.TradeOffDisplay``.

        Returns
        -------
        TradeOffDisplay
        """
        # The report is a layer above this one, so it is looked up by name when it is asked for.
        display = import_module("oleander.report").TradeOffDisplay(self.table, rivals).plot()
        if path is not None:
            display.figure_.savefig(path, dpi=150)
        return display

    def with_cell(self, fitted: Cell) -> Self:
        """Return the trade-off with one cell put in the place of its own, such as that of the certified explainers."""
        place = (fitted.max_explainers, fitted.min_fidelity)
        return type(self)(
            tuple(fitted if (cell.max_explainers, cell.min_fidelity) == place else cell for cell in self.cells)
        )

    def without_records(self, rows: Floats) -> Self:
        """Return the trade-off without explainers that are balls around one of these rows to the digit."""
        cells = [
            replace(cell, explainers=None, status=WITHHELD)
            if cell.explainers is not None and cell.explainers.find_record(rows) is not None
            else cell
            for cell in self.cells
        ]
        return type(self)(tuple(cells))

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
            figures = {name: getattr(cell, name) for name in FIGURES}
            overlap, in_turn = (
                ("first", False) if cell.explainers is None else (cell.explainers.overlap, cell.explainers.in_turn)
            )
            plain = {name: _plain(value) for name, value in figures.items()}
            cells.append({**plain, "members": numbers, "overlap": overlap, "in_turn": in_turn})
        return {"members": written, "cells": cells}

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Read what ``to_dict`` wrote."""
        members = [ChosenExplainer.from_dict(member, schema) for member in data["members"]]
        cells = []
        for cell in data["cells"]:
            figures = {name: kind("nan" if cell[name] is None else cell[name]) for name, kind in FIGURES.items()}
            own = tuple(members[number] for number in cell["members"])
            explainers = (
                ExplainerSet(schema, own, read_overlap(cell["overlap"]), bool(cell["in_turn"])) if own else None
            )
            cells.append(Cell(**figures, explainers=explainers))
        return cls(tuple(cells))


def trace_tradeoff(
    program: PoolProgram | UnionLearner,
    max_explainers: Sequence[int],
    min_fidelity: Sequence[float],
    known: dict[tuple[int, float], SelectionResult] | None = None,
) -> TradeOff:
    """Find the best choice for each number of explainers and floor.

    A program is solved for each cell that is not known, and candidates are trained as the answers need them. Where
    explainers are learned by asking, one family is learned for each number, and judged for each floor.
    """
    if isinstance(program, UnionLearner):
        cells = [(number, floor) for number in max_explainers for floor in min_fidelity]
        return TradeOff(
            tuple(_union_cell(program, *cell) for cell in told(cells, "tracing the trade-off", describe_cell))
        )
    results = program.sweep(max_explainers, min_fidelity, known)
    return TradeOff(tuple(_cell(program, number, floor, result) for (number, floor), result in results.items()))


def _union_cell(learner: UnionLearner, number: int, floor: float) -> Cell:
    union, rows = learner.choose(number, floor), learner.rows
    if union is None:
        explainers, status = ExplainerSet(learner.draws.schema, ()), "unknown"
    else:
        explainers = deliver_union(union, rows, learner.level)
        status = "judged"
    evaluation = explainers.evaluate(rows.values, rows.labels, rows.weights)
    return Cell.fill(number, floor, explainers, evaluation, float("nan"), status)


def _cell(program: PoolProgram, number: int, floor: float, result: SelectionResult) -> Cell:
    bound, status = result.bound, result.status
    if not len(result.chosen) and status != "infeasible":
        # Time ran out before anything was found: a quick choice among the trained candidates is better than none.
        result = program.select_trained(number, floor)
        status = "feasible" if len(result.chosen) else "unknown"
    rows, explainers = program.pool.rows, ExplainerSet.choose(program, result)
    evaluation = explainers.evaluate(rows.values, rows.labels, rows.weights)
    gap = relative_gap(result.objective, max(bound, result.objective))
    return Cell.fill(number, floor, explainers, evaluation, gap, status)


def default_grid(max_explainers: int, min_fidelity: float) -> tuple[list[int], list[float]]:
    """Return numbers up to ``max_explainers``, and floors near ``min_fidelity``.

    A floor far over it is dear: most candidates must be trained to see that they fail.

    Examples
    --------
    >>> default_grid(4, 0.9)
    ([1, 2, 3, 4], [0.8, 0.85, 0.9, 0.95])
    """
    numbers = {number for number in NUMBERS if number < max_explainers} | {max_explainers}
    floors = {floor for floor in FLOORS if min_fidelity - 0.15 < floor < min_fidelity + 0.06}
    return sorted(numbers), sorted({*floors, min_fidelity})


def _plain(value: Any) -> Any:
    """Return a figure as JSON can hold it: None for NaN, a word for infinity."""
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value
