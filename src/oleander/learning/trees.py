"""What one tree does with the same draws: a plain one, and a large one that is cut back exactly and abstains."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Ints
from oleander.draws.labelled import LabelledDraws
from oleander.learning.boxes import grow_on_answers, node_boxes
from oleander.learning.candidates import Candidate, Candidates
from oleander.learning.family import SHARE_HELD, Family, Step, measure_steps
from oleander.learning.grid import Grid, Memberships, count_by_class
from oleander.rules.growth import count_right
from oleander.rules.tree import Tree

MAX_GROWN = 300
MIN_LEAF = 5
# From bold to cautious. A price of p asks a leaf to be right on more than p of p + 1 draws.
PRICES = (1.0, 1.5, 2.0, 3.0, 4.5, 6.0, 8.0, 11.0, 16.0, 24.0, 40.0)


def learn_abstaining_tree(draws: LabelledDraws, rng: np.random.Generator, max_leaves: int) -> Family:
    """Grow a large tree on half of the draws; cut it back exactly, at each price, to ``max_leaves`` speaking leaves."""
    grid, learns, held = _split(draws, rng)
    members, right = Memberships(grid, grid.codes[:, learns]), draws.find_right(learns)
    steps = [
        Step(rules, 0.0, max_leaves)
        for tree in grow_large_trees(draws, grid, learns[: len(learns) // 2])
        for rules in prune_tree(tree, members, right, PRICES, max_leaves)
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


def grow_large_trees(draws: LabelledDraws, grid: Grid, some: Ints, max_leaves: int = MAX_GROWN) -> list[Tree]:
    """Grow a tree on some of the draws, or two for numbers; the labels are codes of classes."""
    columns = [column.take(some) for column in grid.columns]
    trees = list(grow_on_answers(draws, some, columns, max_leaves, MIN_LEAF))
    if draws.tolerance is None:
        return trees
    # Each node of a tree for numbers says the constant that is right most often.
    values, right = draws.values[some], draws.find_right(some)
    return [replace(tree, label=count_right(tree, values, right).argmax(axis=0)) for tree in trees]


def prune_tree(
    tree: Tree, members: Memberships, right: Bools, prices: Sequence[float], max_leaves: int
) -> list[tuple[Candidate, ...]]:
    """Return the nodes that speak, at most ``max_leaves``, in the best pruning of a tree at each price.

    The price is what a wrong answer costs; ``right`` says which answer is right on which of the draws that decide.
    """
    keys = [key for _, key in node_boxes(tree, members.grid)]
    inside = members.of_boxes(keys)
    counts, sizes = count_by_class(inside, kernels.pack(right)), kernels.count_bits(inside)
    says, n_right = counts.argmax(axis=1), counts.max(axis=1)
    nodes = [Candidate(*figures) for figures in zip(keys, says.tolist(), sizes.tolist(), n_right.tolist(), strict=True)]
    found = []
    for price in prices:
        # A node without a draw says nothing.
        value = np.where(sizes > 0, n_right - price * (sizes - n_right), -1.0)
        speaking = kernels.find_best_cut(tree.left, tree.right, value, max_leaves)
        found.append(tuple(nodes[node] for node in speaking.tolist()))
    return found
