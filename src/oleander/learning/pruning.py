"""One large tree, pruned exactly: the nodes that speak are worth the most at a price per wrong answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints
from oleander.draws.labelled import LabelledDraws
from oleander.explainers.abstaining import AbstainingTree
from oleander.explainers.numbers import count_right
from oleander.explainers.tree import LEAF, Tree
from oleander.learning.boxes import node_boxes
from oleander.learning.grid import Grid, Key, Memberships, count_by_class
from oleander.learning.growing import grow_on_answers

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


@dataclass(frozen=True, eq=False)
class PrunedTree:
    """A tree, and the nodes of it that speak.

    Parameters
    ----------
    tree : Tree
    nodes : int array
        No two of them lie on one path from the root.
    says : int array
        The class code that each says.
    keys : tuple of Key
        The box of each.
    """

    tree: Tree
    nodes: Ints
    says: Ints
    keys: tuple[Key, ...]

    def to_explainer(self, draws: LabelledDraws) -> AbstainingTree:
        """Return the tree that ends where it speaks or is silent, with what all draws say of its leaves."""
        tree = self.tree
        speaker = np.full(len(tree.column), LEAF)
        speaker[self.nodes] = np.arange(len(self.nodes))
        # Parents stand before their children, and nodes below a speaking node say what it says.
        for node in np.flatnonzero(tree.column != LEAF).tolist():
            if speaker[node] != LEAF:
                speaker[[tree.left[node], tree.right[node]]] = speaker[node]
        label = np.where(speaker == LEAF, tree.label, np.append(self.says, 0)[speaker])
        whole = replace(tree, classes=draws.classes, label=label)
        pruned = AbstainingTree(whole, speaker != LEAF, unit="draws").simplified()
        counted = _count_anew(pruned.tree, draws)
        if draws.tolerance is not None:
            # Of many constants only those that a leaf says are kept.
            used, label = np.unique(counted.label, return_inverse=True)
            counted = replace(counted, classes=draws.classes[used], label=label)
        return replace(pruned, tree=counted)


def prune_tree(
    tree: Tree,
    grid: Grid,
    members: Memberships,
    right: Bools,
    weights: Floats,
    prices: Sequence[float],
    max_leaves: Sequence[int],
    min_support: int = 1,
    max_conditions: int | None = None,
) -> list[list[PrunedTree]]:
    """Return the best pruning of a tree at each price, for each number of speaking leaves.

    Parameters
    ----------
    tree : Tree
    grid : Grid
    members : Memberships
        The draws that decide.
    right : bool array of shape (n_classes, n_draws)
        Which answer is right on which of them.
    weights : array of shape (n_classes,)
        The worth of a right answer in each class.
    prices : sequence of float
        What a wrong answer costs.
    max_leaves : sequence of int
    min_support : int
        The fewest draws of a node that speaks.
    """
    keys = [key for _, key in node_boxes(tree, grid)]
    inside = members.of_boxes(keys)
    counts, sizes = count_by_class(inside, kernels.pack(right)), kernels.count_bits(inside)
    worth = counts * weights
    says, gain = worth.argmax(axis=1), worth.max(axis=1)
    # A wrong draw costs what its own label is worth. Constants do not exclude each other, and all are worth the same.
    loss = np.where(counts.sum(axis=1) == sizes, worth.sum(axis=1), sizes) - gain
    may_speak = sizes >= min_support
    if max_conditions is not None:
        may_speak &= np.array([len(key) for key in keys]) <= max_conditions
    found = []
    for size in max_leaves:
        of_size = []
        for price in prices:
            value = np.where(may_speak, gain - price * loss, -1.0)
            nodes = kernels.find_best_cut(tree.left, tree.right, value, size)
            of_size.append(PrunedTree(tree, nodes, says[nodes], tuple(keys[node] for node in nodes.tolist())))
        found.append(of_size)
    return found


def _count_anew(tree: Tree, draws: LabelledDraws) -> Tree:
    """Return the tree with each leaf's draws, and those that it answers rightly; inner nodes have none."""
    leaf = tree.apply(draws.values)
    right = draws.is_right(tree.label[leaf])
    n_draws, n_right = (np.bincount(some, minlength=len(tree.column)) for some in (leaf, leaf[right]))
    return replace(tree, n_draws=n_draws, n_right=n_right)
