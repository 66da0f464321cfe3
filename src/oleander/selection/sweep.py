"""A grid of solves, for every number of explainers and every floor, that share their choices and bounds."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from oleander.selection.result import SelectionResult

if TYPE_CHECKING:
    from oleander.selection.problem import Formulation, SelectionProblem
    from oleander.selection.solvers import Solver

Cell = tuple[int, float]


def sweep(
    problem: "SelectionProblem",
    max_explainers: list[int],
    min_fidelity: list[float],
    *,
    formulation: "Formulation",
    solver: "str | Solver",
    time_limit: float | None,
    gap: float,
    floor_over_union: bool,
    known: Mapping[Cell, SelectionResult],
    tentative: ArrayLike | None,
) -> dict[Cell, SelectionResult]:
    """Return the result of every cell, solved from its neighbours; values and bounds are monotone over the grid."""
    results = {(n, s): known[n, s] for n in max_explainers for s in min_fidelity if (n, s) in known}
    # The highest floor and the fewest explainers first: their choices are allowed in all later cells.
    for share in sorted(set(min_fidelity), reverse=True):
        for number in sorted(set(max_explainers)):
            if (number, share) in known:
                continue
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
                tentative=tentative,
            )
    in_order = sorted(results, key=lambda cell: (cell[1], cell[0]))
    return {cell: _tightened(results, cell) for cell in in_order}


def _best_within(results: dict[Cell, SelectionResult], number: int, share: float) -> SelectionResult | None:
    """Return the widest result, of these the smallest, of the cells that ask for as much or more.

    Their choices are allowed in this cell too.
    """
    within = [
        result for cell, result in results.items() if cell[0] <= number and cell[1] >= share and len(result.chosen)
    ]
    return max(within, key=lambda result: (result.objective, -len(result.chosen)), default=None)


def _tightened(results: dict[Cell, SelectionResult], cell: Cell) -> SelectionResult:
    """Return a cell's result with the best choice of cells within and the least bound of cells around it."""
    number, share = cell
    result = results[cell]
    bounds = [
        other.bound for (n, s), other in results.items() if n >= number and s <= share and other.status != "infeasible"
    ]
    best = _best_within(results, number, share)
    if result.status == "infeasible" or best is None:
        return result.with_bound(min([result.bound, *bounds]))
    # The status of a cell without a choice of its own is "unknown"; a neighbour's choice makes it "feasible".
    names = ("chosen", "covered", "counted", "objective", "coverage", "union_fidelity")
    result = replace(result, status="feasible", **{name: getattr(best, name) for name in names})
    return result.with_bound(min([result.bound, *bounds]))
