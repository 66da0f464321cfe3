"""The paper's program over balls of a black box that depends on one number."""

import numpy as np
import pytest

from benchmarks.rivals.base import spread_points
from oleander.selection import SelectionProblem
from studies.steps.explained_rows import LEARNED
from studies.steps.paper_program import solve_cells, solve_grid, train_pool


@pytest.fixture(scope="module")
def strict(small_work, explained):
    pool = train_pool(small_work, explained, "letter")
    table = solve_grid(small_work, explained, pool, small_work.settings.floors)
    return table[table["program"] == "strict"]


def test_balls_stand_around_rows_that_are_spread_over_the_data(small_work, explained):
    pool, rows = train_pool(small_work, explained, "letter"), explained.rows
    centers = np.array([candidate.region.center for candidate in pool.candidates])
    np.testing.assert_array_equal(centers, rows.values[spread_points(rows, small_work.settings.n_candidates)])


def test_the_chosen_reach_the_floor_on_the_rows_they_were_chosen_on(strict):
    learned = strict[strict["rows"] == LEARNED]
    assert len(strict) == 2 * 2 * 2
    assert (learned["status"] == "optimal").all()
    assert (learned["fidelity"] >= learned["floor"]).all()
    # The strict program counts every row in a chosen region.
    assert learned["coverage"].to_numpy() == pytest.approx(learned["counted"].to_numpy())
    wide = learned.pivot(index="budget", columns="floor", values="coverage")
    assert (np.diff(wide.to_numpy(), axis=0) >= 0).all()
    assert (np.diff(wide.to_numpy(), axis=1) <= 0).all()


def test_of_equally_wide_choices_the_most_faithful_is_taken():
    """Two pairs cover all rows; the grid of budgets and floors does not matter."""
    covers = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]], dtype=bool)
    problem = SelectionProblem(covers, covers, fidelity=[0.6, 0.95, 0.9, 0.8])
    for budgets, floors in (([2], [0.5]), ([1, 2, 4], [0.5, 0.7]), ([2, 4], [0.5, 0.6, 0.8])):
        found = solve_cells(problem, budgets, floors, "strict")
        assert found[2, 0.5].chosen.tolist() == [2, 3]
        assert found[2, 0.5].coverage == 1.0
    assert solve_cells(problem, [2], [0.99], "strict")[2, 0.99].status == "infeasible"
