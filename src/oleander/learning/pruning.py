"""One large tree, pruned exactly: the nodes that speak are worth the most at a price per wrong answer."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Ints
from oleander.draws.labelled import LabelledDraws
from oleander.learning.boxes import node_boxes
from oleander.learning.candidates import Candidate
from oleander.learning.grid import Grid, Memberships, count_by_class
from oleander.learning.growing import grow_on_answers
from oleander.rules.growth import count_right
from oleander.rules.tree import Tree

MAX_GROWN = 300
MIN_LEAF = 5


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
    tree: Tree, grid: Grid, members: Memberships, right: Bools, prices: Sequence[float], max_leaves: int
) -> list[tuple[Candidate, ...]]:
    """Return the speaking nodes of the best pruning of a tree at each price.

    Parameters
    ----------
    tree : Tree
    grid : Grid
    members : Memberships
        The draws that decide.
    right : bool array of shape (n_answers, n_draws)
        Which answer is right on which of them.
    prices : sequence of float
        What a wrong answer costs.
    max_leaves : int
        The largest number of nodes that speak; no two of them lie on one path from the root.
    """
    keys = [key for _, key in node_boxes(tree, grid)]
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
