"""What one tree does with the same draws: a plain one, and a large one that is cut back exactly and abstains."""

from collections.abc import Sequence

import numpy as np

from oleander import kernels
from oleander.arrays import Ints
from oleander.draws.labelled import LabelledDraws
from oleander.explainers.growth import grow_on_columns
from oleander.explainers.tree import Tree
from oleander.learning.boxes import node_boxes
from oleander.learning.choosing import PRICES
from oleander.learning.family import SHARE_HELD, Family, Step, measure_steps
from oleander.learning.grid import Grid, Memberships, count_by_class, pack

MAX_GROWN = 300
MIN_LEAF = 5


def learn_abstaining_tree(
    draws: LabelledDraws, rng: np.random.Generator, max_leaves: int, *, prices: Sequence[float] = PRICES
) -> Family:
    """Grow a large tree on half of the draws; cut it back exactly, at each price, to ``max_leaves`` speaking leaves."""
    grid, learns, held = _split(draws, rng)
    grows = learns[: len(learns) // 2]
    tree = _grow(draws, grid, grows, MAX_GROWN)
    keys = [key for _, key in node_boxes(tree, grid)]
    codes = grid.codes
    inside = Memberships(grid, codes[:, learns]).of_boxes(keys)
    class_bits = pack(draws.codes[learns] == np.arange(draws.n_classes)[:, None])
    counts = count_by_class(inside, class_bits)
    says, right = counts.argmax(axis=1), counts.max(axis=1)
    wrong = counts.sum(axis=1) - right
    steps = []
    for price in prices:
        spoken = kernels.find_best_cut(tree.left, tree.right, right - price * wrong, max_leaves).tolist()
        steps.append(Step(tuple(keys[i] for i in spoken), tuple(int(says[i]) for i in spoken), "first", price))
    return Family(grid, measure_steps(grid, steps, codes[:, held], draws.codes[held]))


def learn_plain_tree(draws: LabelledDraws, rng: np.random.Generator, max_leaves: int) -> Family:
    """Grow one tree that answers everywhere: a family of one step."""
    grid, learns, held = _split(draws, rng)
    tree = _grow(draws, grid, learns, max_leaves)
    keys = dict(node_boxes(tree, grid))
    leaves = tree.leaves.tolist()
    step = Step(tuple(keys[i] for i in leaves), tuple(int(tree.label[i]) for i in leaves), "first", 0.0)
    return Family(grid, measure_steps(grid, [step], grid.codes[:, held], draws.codes[held]))


def _split(draws: LabelledDraws, rng: np.random.Generator) -> tuple[Grid, Ints, Ints]:
    """Return a grid, the draws to learn from, and the draws that measure the steps."""
    held, learns = np.split(rng.permutation(len(draws.values)), [round(SHARE_HELD * len(draws.values))])
    return Grid.learn(draws.values, draws.schema), learns, held


def _grow(draws: LabelledDraws, grid: Grid, some: Ints, max_leaves: int) -> Tree:
    columns = [column.take(some) for column in grid.columns]
    classes = np.arange(draws.n_classes)
    return grow_on_columns(
        columns, draws.codes[some], classes, draws.schema, max_leaves, min_leaf=MIN_LEAF, simplify=False
    )
