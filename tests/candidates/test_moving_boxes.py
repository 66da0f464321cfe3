import numpy as np

from oleander.candidates.grid import Grid, Memberships
from oleander.candidates.nodes import lay_nodes
from oleander.candidates.proposing import IS_NEW, IS_RIGHT, Polisher
from oleander.rules.growth import grow_tree


def test_no_move_lowers_the_worth_of_a_box(mixed_schema, mixed):
    rng = np.random.default_rng(0)
    rows = mixed_schema.encode(mixed)
    grid = Grid.learn(rows, mixed_schema)
    features = np.arange(len(mixed_schema))
    draws = Memberships(grid, grid.codes)
    polisher = Polisher(draws, features)
    gains = 6 * (IS_RIGHT - 0.7) + IS_NEW
    for _ in range(10):
        is_right, is_new = rows[:, 0] > rng.normal(70, 12, len(rows)), rng.random(len(rows)) < 0.5
        reward = 6 * (is_right - 0.7) + is_new
        tree = grow_tree(
            rows, is_right.astype(int), np.arange(2), mixed_schema, tuple(features.tolist()), 8, simplify=False
        )
        for key in lay_nodes(tree, draws)[0]:
            (better,) = polisher.move(key, is_right, is_new, [(gains, None)], 5.0)
            before, after = (reward[draws.covers([k])[0]].sum() - 5.0 * len(k) for k in (key, better))
            assert after >= before - 1e-6


def test_cuts_of_other_columns_stay(mixed_schema, mixed):
    """A column that is not polished keeps its cut, and draws outside that cut have no say."""
    rows = mixed_schema.encode(mixed)
    grid = Grid.learn(rows, mixed_schema)
    draws = Memberships(grid, grid.codes)
    old = (1, (1 << 20) - 1)
    is_right = draws.covers([(old,)])[0] == (rows[:, 0] > 70)
    ways = [(2 * IS_RIGHT - 1, None)]
    (better,) = Polisher(draws, np.array([0])).move((old,), is_right, is_right, ways, 1.0)
    assert better[1:] == (old,)
    inside = rows[draws.covers([better])[0], 0]
    assert inside.min() > 69
