"""The trade-off with the explainers themselves: for each number and floor, who would be shown and how good they are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.candidates.choosing import PoolSelection
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.forms import Verdict
from oleander.forms.union import chosen_of
from oleander.judging.cross_fitting import Family, Form
from oleander.results.explanation import ChosenExplainer, ExplainerSet
from oleander.results.outcome import Outcome
from oleander.selection import SelectionResult
from oleander.selection.frontier import Frontier

NUMBERS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50)
FLOORS = (0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
FIGURES: dict[str, Any] = {
    "max_explainers": int,
    "min_fidelity": float,
    "form": str,
    "n_explainers": int,
    "coverage": float,
    "fidelity": float,
    "bound": float,
    "most": float,
    "status": str,
}


@dataclass(frozen=True, eq=False)
class Cell:
    """What is shown for one number of explainers and one floor.

    Parameters
    ----------
    max_explainers : int
    min_fidelity : float
    form : str
        Tree, consensus or union; empty where nothing keeps the floor.
    coverage : float
        Share of rows answered: judged by cross-fitting, or in a union on the rows that it was chosen on.
    fidelity : float
        Share of the answers that are the black box's; in a union the lowest of any explainer.
    bound : float
        What was compared with the floor.
    most : float
        No choice covers more; 1 where nothing is proven.
    status : str
        As in ``SelectionResult``, or "withheld" where the explainers would show somebody's row.
    chosen : ExplainerSet or None
        None where nothing keeps the floor, or where it is withheld.
    """

    max_explainers: int
    min_fidelity: float
    form: str
    coverage: float
    fidelity: float
    bound: float
    most: float
    status: str
    chosen: ExplainerSet | None

    @property
    def n_explainers(self) -> int:
        """How many are shown."""
        return 0 if self.chosen is None else len(self.chosen.members)


@dataclass(frozen=True, eq=False)
class TradeOff:
    """A cell for each number of explainers and each floor."""

    cells: tuple[Cell, ...]

    def at(self, max_explainers: int, min_fidelity: float) -> Cell:
        """Return one cell."""
        for cell in self.cells:
            if cell.max_explainers == max_explainers and cell.min_fidelity == min_fidelity:
                return cell
        raise KeyError(f"there is no cell for max_explainers={max_explainers} and min_fidelity={min_fidelity:g}.")

    @property
    def table(self) -> pd.DataFrame:
        """A line per cell, floors in order and then numbers."""
        ordered = sorted(self.cells, key=lambda cell: (cell.min_fidelity, cell.max_explainers))
        return pd.DataFrame([[getattr(cell, name) for name in FIGURES] for cell in ordered], columns=list(FIGURES))

    def with_fitted(self, outcome: Outcome, max_explainers: int, min_fidelity: float) -> Self:
        """Return the trade-off with the explainers that were fitted and certified in the cell of their own."""
        chosen, result = outcome.chosen, outcome.result
        known: dict[str, Any] = {"form": outcome.kind, "coverage": outcome.coverage, "fidelity": outcome.fidelity}
        if outcome.kind == "union":
            known["bound"] = min(member.floor_value for member in chosen.members)
            known["most"] = min(outcome.coverage * (1 + result.gap), 1.0)
            known["status"] = result.status
        cells = [
            replace(cell, chosen=chosen, **known)
            if (cell.max_explainers, cell.min_fidelity) == (max_explainers, min_fidelity)
            else cell
            for cell in self.cells
        ]
        return type(self)(tuple(cells))

    def without_records(self, rows: NDArray[np.float64]) -> Self:
        """Return the trade-off with the explainers withheld that are balls around one of these rows to the digit."""
        cells = [
            replace(cell, chosen=None, status="withheld")
            if cell.chosen is not None and cell.chosen.find_record(rows) is not None
            else cell
            for cell in self.cells
        ]
        return type(self)(tuple(cells))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; explainers that several cells share are written once."""
        members: dict[tuple[int, bool], int] = {}
        written: list[dict[str, Any]] = []
        cells = []
        for cell in self.cells:
            numbers = []
            for member in () if cell.chosen is None else cell.chosen.members:
                key = (id(member.explainer), member.claim is None)
                if key not in members:
                    members[key] = len(written)
                    written.append(member.to_dict())
                numbers.append(members[key])
            figures = {name: getattr(cell, name) for name in FIGURES}
            figures = {name: None if value != value else value for name, value in figures.items()}
            votes = None if cell.chosen is None else cell.chosen.min_votes
            cells.append({**figures, "members": numbers, "min_votes": votes})
        return {"members": written, "cells": cells}

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Read what ``to_dict`` wrote."""
        members = [ChosenExplainer.from_dict(member, schema) for member in data["members"]]
        cells = []
        for cell in data["cells"]:
            figures = {name: kind("nan" if cell[name] is None else cell[name]) for name, kind in FIGURES.items()}
            del figures["n_explainers"]
            own = tuple(members[number] for number in cell["members"])
            votes = None if cell["min_votes"] is None else int(cell["min_votes"])
            cells.append(Cell(**figures, chosen=ExplainerSet(schema, own, votes) if own else None))
        return cls(tuple(cells))


def default_grid(max_explainers: int, min_fidelity: float, *, near: bool = False) -> tuple[list[int], list[float]]:
    """Return numbers up to the one asked for, and floors around the one asked for.

    Floors far over it are dear in a union: most candidates must be trained to see that they fail. ``near`` leaves them
    out.

    Examples
    --------
    >>> default_grid(4, 0.9)
    ([1, 2, 3, 4], [0.7, 0.8, 0.85, 0.9, 0.95, 0.98])
    >>> default_grid(1, 0.75, near=True)
    ([1], [0.7, 0.75, 0.8])
    """
    numbers = {number for number in NUMBERS if number < max_explainers} | {max_explainers}
    floors = {floor for floor in FLOORS if not near or min_fidelity - 0.15 < floor < min_fidelity + 0.06}
    return sorted(numbers), sorted({*floors, min_fidelity})


def judged_tradeoff(
    verdict: Verdict,
    rows: Rows,
    seed: int,
    kinds: Sequence[str] | None,
    cells: Iterable[tuple[int, float]],
) -> TradeOff:
    """Return what was judged best in each cell, learned anew from all rows."""
    families: dict[Form, Family] = {}
    sets: dict[tuple[Form, int], ExplainerSet] = {}
    found = []
    for number, floor in cells:
        choice = verdict.choose(kinds=kinds, max_explainers=number, min_fidelity=floor)
        if choice is None:
            found.append(Cell(number, floor, "", 0.0, np.nan, 0.0, 1.0, "unknown", None))
            continue
        form = choice.judged.form
        if form not in families:
            families[form] = form.learn(rows, seed)
        if (form, choice.setting) not in sets:
            sets[form, choice.setting] = families[form].at(choice.setting)
        chosen = sets[form, choice.setting]
        figures = (choice.coverage, choice.agreement, choice.bound, 1.0)
        found.append(Cell(number, floor, form.kind, *figures, "feasible", chosen))
    return TradeOff(tuple(found))


def union_tradeoff(selection: PoolSelection, frontier: Frontier) -> TradeOff:
    """Return the proven choice in each cell with its explainers."""
    cells = []
    rows = selection.pool.rows
    total = float(rows.weights.sum())
    for (number, floor), result in frontier.results.items():
        most = min(result.bound / total, 1.0)
        if not len(result.chosen) and result.status != "infeasible":
            # Time ran out before anything was found: a quick choice among the trained is better than none.
            problem = selection.problem(known_only=True)
            result = problem.solve(number, floor, formulation=selection.formulation, solver="greedy")
            result = replace(result, status="feasible" if len(result.chosen) else "unknown")
            most = max(most, result.coverage)
        chosen = _union_of(selection, result)
        if chosen is None:
            cells.append(Cell(number, floor, "", 0.0, np.nan, 0.0, most, result.status, None))
            continue
        fidelity = min(member.fidelity for member in chosen.members)
        bound = min(member.floor_value for member in chosen.members)
        figures = (result.coverage, fidelity, bound, most)
        cells.append(Cell(number, floor, "union", *figures, result.status, chosen))
    return TradeOff(tuple(cells))


def _union_of(selection: PoolSelection, result: SelectionResult) -> ExplainerSet | None:
    if not len(result.chosen):
        return None
    return ExplainerSet(selection.pool.rows.schema, chosen_of(selection, result))
