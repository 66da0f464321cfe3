"""The trade-off between how many explainers, how faithful, and how much they cover: a grid of solves."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from oleander.selection.result import SelectionResult

if TYPE_CHECKING:
    from oleander.selection.problem import Formulation, SelectionProblem
    from oleander.selection.solvers import Solver

Cell = tuple[int, float]


@dataclass(frozen=True, eq=False)
class Frontier:
    """Results for every number of explainers and every floor.

    Attributes
    ----------
    results : dict
        A `SelectionResult` for each (max_explainers, min_fidelity).
    """

    results: dict[Cell, SelectionResult]

    def result(self, max_explainers: int, min_fidelity: float) -> SelectionResult:
        """Return the result of one cell."""
        return self.results[max_explainers, min_fidelity]

    @property
    def table(self) -> pd.DataFrame:
        """A row per cell: number of explainers, floor, what they cover, bound, gap, status."""
        rows = [
            {
                "max_explainers": max_explainers,
                "min_fidelity": min_fidelity,
                "n_chosen": len(result.chosen),
                "objective": result.objective,
                "coverage": result.coverage,
                "bound": result.bound,
                "gap": result.gap,
                "status": result.status,
                "runtime": result.runtime,
            }
            for (max_explainers, min_fidelity), result in sorted(
                self.results.items(), key=lambda item: (item[0][1], item[0][0])
            )
        ]
        return pd.DataFrame(rows)


def solve_frontier(
    problem: "SelectionProblem",
    max_explainers: list[int],
    min_fidelity: list[float],
    *,
    formulation: "Formulation",
    solver: "str | Solver",
    time_limit: float | None,
    gap: float,
    floor_over_union: bool = False,
) -> Frontier:
    """Solve every cell, each from its neighbours, and make the grid monotone."""
    results: dict[Cell, SelectionResult] = {}
    # The highest floor and the fewest explainers first: their choices are allowed in all later cells.
    for share in sorted(set(min_fidelity), reverse=True):
        for number in sorted(set(max_explainers)):
            start = _best_within(results, number, share)
            results[number, share] = problem.solve(
                number,
                share,
                formulation=formulation,
                solver=solver,
                time_limit=time_limit,
                gap=gap,
                union_fidelity=share if floor_over_union else None,
                start=None if start is None else start.chosen,
            )
    return Frontier({cell: _tightened(results, cell) for cell in results})


def _best_within(results: dict[Cell, SelectionResult], number: int, share: float) -> SelectionResult | None:
    """Return the best of the cells that ask for as much or more; their choices are allowed here too."""
    within = [
        result for cell, result in results.items() if cell[0] <= number and cell[1] >= share and len(result.chosen)
    ]
    return max(within, key=lambda result: result.objective, default=None)


def _tightened(results: dict[Cell, SelectionResult], cell: Cell) -> SelectionResult:
    """Return the cell's result with the best choice of cells within and the least bound of those around."""
    number, share = cell
    result = results[cell]
    best = _best_within(results, number, share)
    around = [
        other.bound for (n, s), other in results.items() if n >= number and s <= share and other.status != "infeasible"
    ]
    bound = min([result.bound, *around])
    if result.status == "infeasible" or best is None:
        return replace(result, bound=bound)
    if best.objective > result.objective:
        names = ("chosen", "covered", "counted", "objective", "coverage", "union_fidelity")
        result = replace(result, **{name: getattr(best, name) for name in names})
    bound = max(bound, result.objective)
    return replace(result, bound=bound, status="optimal" if bound == result.objective else result.status)
