import numpy as np

from oleander.learning.boxes import node_boxes
from oleander.learning.grid import Grid, Memberships
from oleander.learning.polishing import Polisher
from oleander.rules.growth import grow_tree


def test_no_move_lowers_the_worth_of_a_box(mixed_schema, mixed):
    rng = np.random.default_rng(0)
    rows = mixed_schema.encode(mixed)
    grid = Grid.learn(rows, mixed_schema)
    features = np.arange(len(mixed_schema))
    polisher = Polisher(Memberships(grid, grid.encode(rows)), features)
    for _ in range(10):
        reward = rng.normal(-0.2, 1, len(rows)) + np.where(rows[:, 0] > rng.normal(70, 12), 1.0, 0.0)
        signs = (reward > 0).astype(int)
        tree = grow_tree(rows, signs, np.arange(2), mixed_schema, tuple(features.tolist()), 8, simplify=False)
        for _, key in node_boxes(tree, grid):
            better = polisher.improve(key, reward, 5.0)
            before, after = (reward[polisher.covers([k])[0]].sum() - 5.0 * len(k) for k in (key, better))
            assert after >= before - 1e-6


def test_cuts_of_other_columns_stay(mixed_schema, mixed):
    """A column that is not polished keeps its cut, and draws outside that cut have no say."""
    rows = mixed_schema.encode(mixed)
    grid = Grid.learn(rows, mixed_schema)
    draws = Memberships(grid, grid.encode(rows))
    old = (1, (1 << 20) - 1)
    reward = np.where(draws.covers([(old,)])[0] == (rows[:, 0] > 70), 1.0, -1.0)
    better = Polisher(draws, np.array([0])).improve((old,), reward, 1.0)
    assert better[1:] == (old,)
    inside = rows[draws.covers([better])[0], 0]
    assert inside.min() > 69
