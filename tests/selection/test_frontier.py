"""The grid is monotone, its cells are right, and each cell's choice can be had."""

import numpy as np
import pytest

from oleander.selection import SelectionProblem

NUMBERS, FLOORS = [1, 2, 4], [0.6, 0.8, 1.0]


@pytest.mark.parametrize("formulation", ["strict", "selective"])
@pytest.mark.parametrize("seed", range(8))
def test_every_cell_is_what_a_solve_gives(seed, formulation, instance):
    rows = instance(seed)
    problem = SelectionProblem(rows.covers, rows.agrees)
    frontier = problem.frontier(NUMBERS, FLOORS, formulation=formulation)
    assert len(frontier.table) == 9
    for number in NUMBERS:
        for floor in FLOORS:
            alone = problem.solve(number, floor, formulation=formulation)
            cell = frontier.result(number, floor)
            assert (cell.status, cell.objective, cell.bound) == (alone.status, alone.objective, alone.bound)


@pytest.mark.parametrize("solver", ["auto", "greedy"])
def test_the_grid_is_monotone_even_without_proof(solver, instance):
    rows = instance(2, n_candidates=30, n_points=120)
    frontier = SelectionProblem(rows.covers, rows.agrees).frontier([2, 1, 4, 8], FLOORS, solver=solver, time_limit=0.05)
    for value in ("objective", "bound"):
        grid = frontier.table.pivot(index="max_explainers", columns="min_fidelity", values=value).to_numpy()
        assert (np.diff(grid, axis=0) >= 0).all()
        assert (np.diff(grid, axis=1) <= 0).all()
    assert (frontier.table.bound >= frontier.table.objective).all()


def test_the_table_is_tidy():
    eye = np.eye(4, dtype=bool)
    frontier = SelectionProblem(eye, eye).frontier([2, 1], [0.9])
    assert frontier.table.columns.tolist() == [
        "max_explainers",
        "min_fidelity",
        "n_chosen",
        "objective",
        "coverage",
        "bound",
        "gap",
        "status",
        "runtime",
    ]
    assert frontier.table.max_explainers.tolist() == [1, 2]
    assert frontier.result(2, 0.9).chosen.tolist() == [0, 1]


def test_cells_nobody_reaches_are_told():
    covers = np.ones((1, 4), dtype=bool)
    agrees = np.array([[True, True, True, False]])
    frontier = SelectionProblem(covers, agrees).frontier([1], [0.7, 0.9])
    assert frontier.table.status.tolist() == ["optimal", "infeasible"]
    assert frontier.table.objective.tolist() == [4.0, 0.0]


def test_a_frontier_checks_its_axes():
    eye = np.eye(2, dtype=bool)
    with pytest.raises(ValueError, match="max_explainers=0 is not allowed"):
        SelectionProblem(eye, eye).frontier([0, 1], [0.9])
    with pytest.raises(ValueError, match=r"min_fidelity=1\.5 is not a share"):
        SelectionProblem(eye, eye).frontier([1], [1.5])
