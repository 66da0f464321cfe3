import itertools

import numpy as np

from oleander.explainers.growth import grow_tree
from oleander.learning.boxes import node_boxes
from oleander.learning.grid import Grid
from oleander.learning.polishing import Polisher, best_runs


def test_best_runs_are_the_best_of_all_runs():
    sums = np.random.default_rng(0).integers(-3, 4, size=(200, 7)).astype(float)
    largest, first, last = best_runs(sums)
    for line, value, start, end in zip(sums, largest, first, last, strict=True):
        best = max(line[i:j].sum() for i, j in itertools.combinations(range(8), 2))
        assert value == best == line[start : end + 1].sum()


def test_no_move_lowers_the_worth_of_a_box(mixed_schema, mixed):
    rng = np.random.default_rng(0)
    rows = mixed_schema.encode(mixed)
    grid = Grid.learn(rows, mixed_schema)
    features = np.arange(len(mixed_schema))
    polisher = Polisher(grid, grid.encode(rows), features)
    for _ in range(10):
        reward = rng.normal(-0.2, 1, len(rows)) + np.where(rows[:, 0] > rng.normal(70, 12), 1.0, 0.0)
        signs = (reward > 0).astype(int)
        tree = grow_tree(rows, signs, np.arange(2), mixed_schema, tuple(features.tolist()), 8, simplify=False)
        for _, key in node_boxes(tree, grid):
            better = polisher.improve(key, reward, 5.0)
            before, after = (reward[polisher.covers([k])[0]].sum() - 5.0 * len(k) for k in (key, better))
            assert after >= before - 1e-6
