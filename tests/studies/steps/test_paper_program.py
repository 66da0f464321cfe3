"""The paper's program over balls of a black box that depends on one number."""

import numpy as np
import pytest

from studies.steps.explained_rows import LEARNED
from studies.steps.paper_program import solve_grid, train_pool


@pytest.fixture(scope="module")
def strict(small_work, explained):
    pool = train_pool(small_work, explained, "filtered")
    table = solve_grid(small_work, explained, pool, small_work.settings.floors)
    return table[table["program"] == "strict"]


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
