"""The growth of a tree in NumPy, node by node and split by split: the oracle of the kernel."""

import heapq
from dataclasses import dataclass

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.rules.growth import Column


@dataclass(eq=False)
class GrowingNode:
    """A node while the tree grows: the indices of its draws, its best split, and its children, None for a leaf."""

    rows: Ints
    column: int = -1
    code: int = -1
    missing_left: bool = False
    children: "tuple[GrowingNode, GrowingNode] | None" = None


def grow(columns: list[Column], labels: Ints, n_labels: int, max_leaves: int | None, min_leaf: int = 1) -> GrowingNode:
    """Grow a tree by Gini gain, the largest first, until it has ``max_leaves`` leaves or nothing is gained.

    No leaf holds fewer than ``min_leaf`` draws.
    """
    root = GrowingNode(np.arange(len(labels)))
    waiting, heap, n_leaves, order = (root,), [], 1, 0
    while max_leaves is None or n_leaves < max_leaves:
        for node in waiting:
            gain = find_split(node, columns, labels, n_labels, min_leaf)
            if gain > 1e-9 * len(node.rows):
                order += 1
                heapq.heappush(heap, (-gain, order, node))
        if not heap:
            break
        node = heapq.heappop(heap)[2]
        codes, column = columns[node.column].codes[node.rows], columns[node.column]
        goes_left = codes <= node.code if column.is_number else codes == node.code
        goes_left |= node.missing_left & (codes == column.n_codes)
        node.children = waiting = GrowingNode(node.rows[goes_left]), GrowingNode(node.rows[~goes_left])
        n_leaves += 1
    return root


def find_split(node: GrowingNode, columns: list[Column], labels: Ints, n_labels: int, min_leaf: int) -> float:
    """Set the best split of a node, the first of equals, and return its gain.

    At each code of a number the draws up to it go left, with or without those that miss the number; at each level the
    draws that have it.
    """
    own = labels[node.rows]
    counts = np.bincount(own, minlength=n_labels).astype(float)
    best = 0.0
    for missing_left in (False, True):
        for number, column in enumerate(columns):
            n_cells = column.n_codes + 1
            cells = np.bincount(own * n_cells + column.codes[node.rows], minlength=n_labels * n_cells)
            cells = cells.reshape(n_labels, n_cells).astype(float)
            left = np.cumsum(cells, axis=1) if column.is_number else cells
            if missing_left:
                left = left[:, :-1] + cells[:, -1:] if column.is_number else np.zeros((n_labels, 1))
            scores = score_splits(left, counts, min_leaf)
            code = int(scores.argmax())
            if scores[code] > best:
                best, node.column, node.code, node.missing_left = scores[code], number, code, missing_left
    return best - float(np.square(counts).sum() / len(node.rows))


def score_splits(left: Floats, counts: Floats, min_leaf: int) -> Floats:
    """Return Σ l²/|l| + Σ r²/|r| for each split: the larger, the purer (Gini); -1 where a side is too small.

    These are sums of whole numbers, so nothing is rounded. A split with an empty side is as pure as no split.

    Parameters
    ----------
    left : array of shape (n_labels, n_splits)
    counts : array of shape (n_labels,)
    """
    right = counts[:, None] - left
    n_left, n_right = left.sum(axis=0), right.sum(axis=0)
    scores = np.square(left).sum(axis=0) / np.maximum(n_left, 1) + np.square(right).sum(axis=0) / np.maximum(n_right, 1)
    return np.where((np.minimum(n_left, n_right) < min_leaf) & (min_leaf > 1), -1.0, scores)


def collect(node: GrowingNode, labels: Ints, n_labels: int, simplify: bool) -> list[list[int]]:
    """Return the nodes as the kernel does: the root, its left and its right subtree."""
    nodes: list[list[int]] = []

    def add(node: GrowingNode) -> int:
        counts = np.bincount(labels[node.rows], minlength=n_labels)
        label, number = int(counts.argmax()), len(nodes)
        nodes.append([-1, 0, 0, -1, -1, label, len(node.rows), int(counts[label])])
        if node.children is None:
            return number
        left, right = add(node.children[0]), add(node.children[1])
        one, other = nodes[left], nodes[right]
        if simplify and one[0] == other[0] == -1 and one[5] == other[5]:
            del nodes[number + 1 :]
        else:
            nodes[number][:5] = node.column, node.code, int(node.missing_left), left, right
        return number

    add(node)
    return nodes
