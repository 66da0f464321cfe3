"""What one tree does with the same draws: a plain one, and a large one that is cut back exactly and abstains."""

from collections.abc import Sequence

import numpy as np

from oleander.arrays import Ints
from oleander.draws.labelled import LabelledDraws
from oleander.learning.boxes import node_boxes
from oleander.learning.choosing import PRICES
from oleander.learning.family import SHARE_HELD, Family, Step, measure_steps
from oleander.learning.grid import Grid, Memberships
from oleander.learning.pruning import grow_large_tree, prune_tree


def learn_abstaining_tree(
    draws: LabelledDraws, rng: np.random.Generator, max_leaves: int, *, prices: Sequence[float] = PRICES
) -> Family:
    """Grow a large tree on half of the draws; cut it back exactly, at each price, to ``max_leaves`` speaking leaves."""
    grid, learns, held = _split(draws, rng)
    tree = grow_large_tree(draws, grid, learns[: len(learns) // 2])
    members = Memberships(grid, grid.codes[:, learns])
    weights = np.ones(draws.n_classes)
    (pruned,) = prune_tree(tree, grid, members, draws.find_right(learns), weights, prices, [max_leaves])
    steps = [Step.of_tree(one, price) for price, one in zip(prices, pruned, strict=True)]
    return Family(grid, measure_steps(grid, steps, grid.codes[:, held], draws.find_right(held)))


def learn_plain_tree(draws: LabelledDraws, rng: np.random.Generator, max_leaves: int) -> Family:
    """Grow one tree that answers everywhere: a family of one step."""
    grid, learns, held = _split(draws, rng)
    tree = grow_large_tree(draws, grid, learns, max_leaves)
    keys = dict(node_boxes(tree, grid))
    leaves = tree.leaves.tolist()
    step = Step(tuple(keys[i] for i in leaves), tuple(int(tree.label[i]) for i in leaves), "first", 0.0)
    return Family(grid, measure_steps(grid, [step], grid.codes[:, held], draws.find_right(held)))


def _split(draws: LabelledDraws, rng: np.random.Generator) -> tuple[Grid, Ints, Ints]:
    """Return a grid, the draws to learn from, and the draws that measure the steps."""
    held, learns = np.split(rng.permutation(len(draws.values)), [round(SHARE_HELD * len(draws.values))])
    return Grid.learn(draws.values, draws.schema), learns, held
