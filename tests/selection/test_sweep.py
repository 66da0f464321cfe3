"""The grid is monotone, its cells are right, and each cell's choice is allowed there."""

import numpy as np
import pytest

from oleander.selection import SelectionProblem
from tests.selection.making import make_instance, same

NUMBERS, FLOORS = [1, 2, 4], [0.6, 0.8, 1.0]


@pytest.mark.parametrize("formulation", ["strict", "selective"])
@pytest.mark.parametrize("seed", range(8))
def test_every_cell_is_the_answer_of_a_solve(seed, formulation):
    rows = make_instance(seed)
    problem = SelectionProblem(rows.covers, rows.agrees)
    cells = problem.sweep(NUMBERS, FLOORS, formulation=formulation)
    assert list(cells) == [(number, floor) for floor in FLOORS for number in NUMBERS]
    for (number, floor), cell in cells.items():
        alone = problem.solve(number, floor, formulation=formulation)
        assert same(cell, alone)
        assert len(cell.chosen) == len(alone.chosen)


@pytest.mark.parametrize("solver", ["auto", "greedy"])
def test_the_grid_is_monotone_even_without_proof(solver):
    rows = make_instance(2, n_candidates=30, n_points=120)
    numbers = [1, 2, 4, 8]
    cells = SelectionProblem(rows.covers, rows.agrees).sweep([2, 1, 4, 8], FLOORS, solver=solver, time_limit=0.05)
    for value in ("objective", "bound"):
        grid = np.array([[getattr(cells[number, floor], value) for floor in FLOORS] for number in numbers])
        assert (np.diff(grid, axis=0) >= 0).all()
        assert (np.diff(grid, axis=1) <= 0).all()
    for cell in cells.values():
        assert cell.bound >= cell.objective
        assert (cell.status in ("optimal", "infeasible")) == (cell.gap == 0.0)
        assert "gap" not in cell.message or f"the gap is {cell.gap:.2%}" in cell.message


@pytest.mark.parametrize("seed", range(5))
def test_a_sweep_keeps_the_floor_over_the_union(seed):
    rows = make_instance(seed)
    problem = SelectionProblem(rows.covers, rows.agrees)
    for (number, floor), cell in problem.sweep([1, 3], [0.6, 0.8], floor_over_union=True).items():
        alone = problem.solve(number, floor, union_fidelity=floor, solver="exhaustive")
        assert same(cell, alone)
        if len(cell.chosen):
            assert cell.union_fidelity >= floor - 1e-9


def test_repeated_numbers_are_solved_once():
    eye = np.eye(4, dtype=bool)
    cells = SelectionProblem(eye, eye).sweep([2, 1, 2], [0.9])
    assert {cell: result.chosen.tolist() for cell, result in cells.items()} == {(1, 0.9): [0], (2, 0.9): [0, 1]}


def test_cells_out_of_reach_are_infeasible():
    covers = np.ones((1, 4), dtype=bool)
    agrees = np.array([[True, True, True, False]])
    cells = SelectionProblem(covers, agrees).sweep([1], [0.7, 0.9])
    assert [cell.status for cell in cells.values()] == ["optimal", "infeasible"]
    assert [cell.objective for cell in cells.values()] == [4.0, 0.0]


def test_a_sweep_checks_its_axes():
    eye = np.eye(2, dtype=bool)
    with pytest.raises(ValueError, match="max_explainers=0 is not allowed"):
        SelectionProblem(eye, eye).sweep([0, 1], [0.9])
    with pytest.raises(ValueError, match=r"min_fidelity=1\.5 is not a share"):
        SelectionProblem(eye, eye).sweep([1], [1.5])


def test_a_known_cell_is_not_solved_again_and_helps_the_others():
    rows = make_instance(3)
    problem = SelectionProblem(rows.covers, rows.agrees)
    best = problem.solve(4, 0.8)
    # A solver that finds next to nothing: what the other cells have is the known choice.
    cells = problem.sweep([2, 4, 8], [0.6, 0.8], solver="greedy", time_limit=0.0, known={(4, 0.8): best})
    assert cells[4, 0.8].objective == best.objective
    for cell in [(8, 0.8), (4, 0.6), (8, 0.6)]:
        assert cells[cell].objective >= best.objective
