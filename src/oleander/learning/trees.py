"""What one tree does with the same draws: a plain one, and a large one that is cut back exactly and abstains."""

from collections.abc import Sequence

import numpy as np

from oleander.arrays import Ints
from oleander.draws.labelled import LabelledDraws
from oleander.learning.boxes import node_boxes
from oleander.learning.choosing import PRICES
from oleander.learning.family import SHARE_HELD, Family, Step, measure_steps
from oleander.learning.grid import Grid, Memberships
from oleander.learning.pruning import grow_large_trees, prune_tree


def learn_abstaining_tree(
    draws: LabelledDraws, rng: np.random.Generator, max_leaves: int, *, prices: Sequence[float] = PRICES
) -> Family:
    """Grow a large tree on half of the draws; cut it back exactly, at each price, to ``max_leaves`` speaking leaves."""
    grid, learns, held = _split(draws, rng)
    members = Memberships(grid, grid.codes[:, learns])
    weights = np.ones(draws.n_answers)
    right = draws.find_right(learns)
    steps = []
    for tree in grow_large_trees(draws, grid, learns[: len(learns) // 2]):
        (pruned,) = prune_tree(tree, grid, members, right, weights, prices, [max_leaves])
        steps += [Step.of_tree(one, price) for price, one in zip(prices, pruned, strict=True)]
    return Family(grid, draws, measure_steps(grid, steps, grid.codes[:, held], draws.find_right(held)))


def learn_plain_tree(draws: LabelledDraws, rng: np.random.Generator, max_leaves: int) -> Family:
    """Grow one tree that answers everywhere: a family of one step; of two trees, the better on held-back draws."""
    grid, learns, held = _split(draws, rng)
    steps = []
    for tree in grow_large_trees(draws, grid, learns, max_leaves):
        keys, leaves = dict(node_boxes(tree, grid)), tree.leaves.tolist()
        says = tuple(int(tree.label[leaf]) for leaf in leaves)
        steps.append(Step(tuple(keys[leaf] for leaf in leaves), says, "first", 0.0))
    measured = measure_steps(grid, steps, grid.codes[:, held], draws.find_right(held))
    return Family(grid, draws, (max(measured, key=lambda step: step.agreement),))


def _split(draws: LabelledDraws, rng: np.random.Generator) -> tuple[Grid, Ints, Ints]:
    """Return a grid, the draws to learn from, and the draws that measure the steps."""
    held, learns = np.split(rng.permutation(len(draws.values)), [round(SHARE_HELD * len(draws.values))])
    return Grid.learn(draws.values, draws.schema), learns, held
