"""The growth of a tree in NumPy, node by node: the oracle of the kernel."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.rules.growth import Column


@dataclass(eq=False)
class GrowingNode:
    """A node while the tree grows.

    Parameters
    ----------
    rows : int array
        Indices of its draws.
    counts : array of shape (n_labels,)
        The number of its draws with each label.
    left : array of shape (n_labels, n_cells)
        The number of its draws that would go left at each possible split.
    column, code : int
        The best split: a position in the list of columns, and a bin or level.
    missing_left : bool
        Whether missing numbers go left at that split.
    children : tuple of GrowingNode or None
        None for a leaf.
    """

    rows: Ints
    counts: Floats
    left: Floats
    column: int = -1
    code: int = -1
    missing_left: bool = False
    children: "tuple[GrowingNode, GrowingNode] | None" = None


def grow(columns: list[Column], labels: Ints, n_labels: int, max_leaves: int | None, min_leaf: int = 1) -> GrowingNode:
    """Grow a tree by Gini gain, the largest first, until it has ``max_leaves`` leaves or nothing is gained.

    No leaf holds fewer than ``min_leaf`` draws.
    """
    rows, counts = np.arange(len(labels)), np.bincount(labels, minlength=n_labels).astype(float)
    if not columns:
        return GrowingNode(rows, counts, np.empty((n_labels, 0)))
    grower = _Grower(columns, labels, n_labels, min_leaf)
    waiting: tuple[GrowingNode, ...] = (GrowingNode(rows, counts, grower.count_left(rows, counts)),)
    root = waiting[0]
    heap: list[tuple[float, int, GrowingNode]] = []
    n_leaves, order = 1, 0
    while max_leaves is None or n_leaves < max_leaves:
        for node, gain in zip(waiting, grower.find_splits(waiting), strict=True):
            if gain > 0:
                order += 1
                heapq.heappush(heap, (-gain, order, node))
        if not heap:
            break
        node = heapq.heappop(heap)[2]
        node.children = waiting = grower.split(node)
        n_leaves += 1
    return root


class _Grower:
    """The codes of all features side by side, and the search for splits on them, shared by all nodes.

    Each feature has a cell for every bin or level and one for missing. A cell stands for a split: draws in it go left,
    and for a number also the draws in the cells before it. Missing numbers are tried on either side.
    """

    def __init__(self, columns: list[Column], labels: Ints, n_labels: int, min_leaf: int) -> None:
        self.columns, self.labels, self.n_labels, self.min_leaf = columns, labels, n_labels, min_leaf
        sizes = np.array([column.n_codes + 1 for column in columns], dtype=np.intp)
        self.starts = np.cumsum(sizes) - sizes
        self.n_cells = int(sizes.sum())
        self.cells = np.empty((len(columns), len(labels)), dtype=np.intp)
        first_cells = labels * self.n_cells
        for column, start, cells in zip(columns, self.starts, self.cells, strict=True):
            np.add(column.codes, first_cells, out=cells)
            cells += start
        self.column_of = np.repeat(np.arange(len(columns)), sizes)
        self.n_before = self.column_of.astype(float)
        are_numbers = np.array([column.is_number for column in columns])
        self.has_numbers, self.has_only_numbers = bool(are_numbers.any()), bool(are_numbers.all())
        self.is_number = are_numbers[self.column_of]
        # Of numbers with missing values: the cells that missing values may join, and the last cell before theirs.
        has_missing = np.array(
            [column.is_number and bool((column.codes == column.n_codes).any()) for column in columns]
        )
        last = self.starts + sizes - 2
        self.joinable = np.flatnonzero(has_missing[self.column_of] & (np.arange(self.n_cells) <= last[self.column_of]))
        self.last_known = last[self.column_of[self.joinable]]

    def count_left(self, rows: Ints, counts: Floats) -> Floats:
        """Return the number of these draws that would go left, by label and split: shape (n_labels, n_cells)."""
        cells = self.cells if len(rows) == len(self.labels) else self.cells.take(rows, axis=1)
        flat = np.bincount(cells.ravel(), minlength=self.n_cells * self.n_labels)
        histogram = flat.reshape(self.n_labels, self.n_cells).astype(float)
        if not self.has_numbers:
            return histogram
        # Each draw has one cell of every feature, so each feature before adds all draws once.
        running = np.cumsum(histogram, axis=1)
        running -= counts[:, None] * self.n_before
        return running if self.has_only_numbers else np.where(self.is_number, running, histogram)

    def find_splits(self, nodes: Sequence[GrowingNode]) -> list[float]:
        """Set the best split of each node and return the gains; 0 for a node without a split."""
        left, counts = np.stack([node.left for node in nodes]), np.stack([node.counts for node in nodes])
        scores = _score_splits(left, counts, self.min_leaf)
        every = np.arange(len(nodes))
        cells = scores.argmax(axis=1)
        best, missing_left = scores[every, cells], np.zeros(len(nodes), dtype=bool)
        if len(self.joinable):
            missing = counts[:, :, None] - left[:, :, self.last_known]
            scores = _score_splits(left[:, :, self.joinable] + missing, counts, self.min_leaf)
            others = scores.argmax(axis=1)
            missing_left = scores[every, others] > best
            cells = np.where(missing_left, self.joinable[others], cells)
            best = np.maximum(best, scores[every, others])
        sizes = counts.sum(axis=1)
        gains = best - np.square(counts).sum(axis=1) / sizes
        for node, cell, goes_left in zip(nodes, cells.tolist(), missing_left.tolist(), strict=True):
            node.column = int(self.column_of[cell])
            node.code, node.missing_left = int(cell - self.starts[node.column]), goes_left
        found: list[float] = np.where(gains > 1e-9 * sizes, gains, 0.0).tolist()
        return found

    def split(self, node: GrowingNode) -> tuple[GrowingNode, GrowingNode]:
        """Return the node's two children."""
        column = self.columns[node.column]
        codes = column.codes[node.rows]
        goes_left = codes <= node.code if column.is_number else codes == node.code
        if node.missing_left:
            goes_left |= codes == column.n_codes
        sides = [node.rows[goes_left], node.rows[~goes_left]]
        # Only the smaller side is counted; the larger is the parent's counts minus those.
        smaller = int(len(sides[1]) < len(sides[0]))
        counts = np.bincount(self.labels[sides[smaller]], minlength=self.n_labels).astype(float)
        left = self.count_left(sides[smaller], counts)
        pair = [
            GrowingNode(sides[smaller], counts, left),
            GrowingNode(sides[1 - smaller], node.counts - counts, node.left - left),
        ]
        return pair[smaller], pair[1 - smaller]


def _score_splits(left: Floats, counts: Floats, min_leaf: int) -> Floats:
    """Return Σ l²/|l| + Σ r²/|r| per node and split: the larger, the purer (Gini); -1 where a side is too small.

    With r = t - l, Σ r² is Σ l² - 2 Σ t·l + Σ t²: sums of whole numbers, so nothing is rounded. A split with an empty
    side is as pure as no split.

    Parameters
    ----------
    left : array of shape (n_nodes, n_labels, n_cells)
    counts : array of shape (n_nodes, n_labels)
    """
    n_left = left.sum(axis=1)
    n_right = counts.sum(axis=1)[:, None] - n_left
    squares = np.einsum("nlc,nlc->nc", left, left)
    right_squares = np.einsum("nl,nlc->nc", -2 * counts, left)
    right_squares += squares
    right_squares += np.square(counts).sum(axis=1)[:, None]
    scores: Floats = squares / np.maximum(n_left, 1.0)
    scores += right_squares / np.maximum(n_right, 1.0)
    if min_leaf > 1:
        scores[np.minimum(n_left, n_right) < min_leaf] = -1.0
    return scores


def collect(node: GrowingNode, simplify: bool) -> list[list[int]]:
    """Return the nodes as the kernel does: the root, its left and its right subtree."""
    nodes: list[list[int]] = []

    def add(node: GrowingNode) -> int:
        label, number = int(node.counts.argmax()), len(nodes)
        nodes.append([-1, 0, 0, -1, -1, label, len(node.rows), int(node.counts[label])])
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
