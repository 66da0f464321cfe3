"""What one tree does with the same draws: a plain one, and a large one that is cut back exactly and abstains."""

import numpy as np

from oleander import kernels
from oleander.arrays import Ints
from oleander.draws.labelled import LabelledDraws
from oleander.learning.boxes import node_boxes
from oleander.learning.candidates import Candidates
from oleander.learning.family import SHARE_HELD, Family, Step, measure_steps
from oleander.learning.grid import Grid, Memberships
from oleander.learning.pruning import grow_large_trees, prune_tree

# From bold to cautious. A price of p asks a leaf to be right on more than p of p + 1 draws.
PRICES = (1.0, 1.5, 2.0, 3.0, 4.5, 6.0, 8.0, 11.0, 16.0, 24.0, 40.0)


def learn_abstaining_tree(draws: LabelledDraws, rng: np.random.Generator, max_leaves: int) -> Family:
    """Grow a large tree on half of the draws; cut it back exactly, at each price, to ``max_leaves`` speaking leaves."""
    grid, learns, held = _split(draws, rng)
    members, right = Memberships(grid, grid.codes[:, learns]), draws.find_right(learns)
    steps = [
        Step(rules, 0.0, max_leaves)
        for tree in grow_large_trees(draws, grid, learns[: len(learns) // 2])
        for rules in prune_tree(tree, grid, members, right, PRICES, max_leaves)
    ]
    return Family(grid, draws, measure_steps(grid, steps, grid.codes[:, held], draws.find_right(held)))


def learn_plain_tree(draws: LabelledDraws, rng: np.random.Generator, max_leaves: int) -> Family:
    """Grow one tree that answers everywhere: a family of one step; of two trees, the better on held-back draws."""
    grid, learns, held = _split(draws, rng)
    leaves = Candidates(Memberships(grid, grid.codes[:, learns]), kernels.pack(draws.find_right(learns)))
    steps = []
    for tree in grow_large_trees(draws, grid, learns, max_leaves):
        keys = dict(node_boxes(tree, grid))
        chosen = [leaves.add(keys[leaf], int(tree.label[leaf])) for leaf in tree.leaves.tolist()]
        steps.append(Step.choose(leaves, chosen, 0.0, max_leaves))
    measured = measure_steps(grid, steps, grid.codes[:, held], draws.find_right(held))
    return Family(grid, draws, (max(measured, key=lambda step: step.agreement),))


def _split(draws: LabelledDraws, rng: np.random.Generator) -> tuple[Grid, Ints, Ints]:
    """Return a grid, the draws to learn from, and the draws that measure the steps."""
    held, learns = np.split(rng.permutation(len(draws.values)), [round(SHARE_HELD * len(draws.values))])
    return Grid.learn(draws.values, draws.schema), learns, held
