"""Grow a small decision tree, best split first, on histograms whose edges are numbers that a person would write.

Rules say what the model does, to the digit, because the model only ever splits at such edges. A library's tree would
have to be rounded afterwards; growing on few distinct edges is also several times faster than sorting the draws, and
levels and missing values need no columns of their own.
"""

import heapq
import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from oleander.schema import Feature, FeatureSchema, Kind

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

N_EDGES = 64


@dataclass(frozen=True)
class Column:
    """A feature of the draws as bin codes.

    Parameters
    ----------
    position : int
        The feature's column in the encoded rows.
    edges : array
        Of a number: a draw has code k if it lies over ``edges[k - 1]`` and up to ``edges[k]``. Empty for levels.
    n_codes : int
        Bins or levels, without missing.
    codes : array of shape (n_draws,)
        Missing has the code ``n_codes``.
    """

    position: int
    is_number: bool
    edges: Floats
    n_codes: int
    codes: Ints

    def take(self, draws: Ints) -> "Column":
        """Return the feature of some draws, in the same bins."""
        return replace(self, codes=self.codes[draws])


@dataclass
class Node:
    """A node while the tree grows."""

    rows: Ints
    histogram: Floats
    column: int = -1
    code: int = -1
    missing_left: bool = False
    children: "tuple[Node, Node] | None" = field(default=None)

    @property
    def is_leaf(self) -> bool:
        """Whether the node has not been split."""
        return self.children is None


def make_columns(draws: Floats, schema: FeatureSchema, positions: tuple[int, ...]) -> list[Column]:
    """Return the features at these positions as bin codes."""
    columns = []
    for position in positions:
        feature, values = schema[position], draws[:, position]
        if feature.is_number:
            # Sorting once gives the quantiles and, by cutting at the edges, the codes; missing values come last.
            order = np.argsort(values)
            ordered = values[order]
            edges = readable_edges(ordered[: np.count_nonzero(~np.isnan(ordered))], feature)
            n_codes = len(edges) + 1
            cuts = np.searchsorted(ordered, [*edges, np.inf], side="right")
            codes = np.empty(len(values), dtype=np.intp)
            codes[order] = np.repeat(np.arange(n_codes + 1), np.diff([0, *cuts, len(values)]))
        else:
            edges, n_codes = np.empty(0), len(feature.levels)
            codes = np.where(np.isnan(values), n_codes, values).astype(np.intp)
        columns.append(Column(position, feature.is_number, edges, n_codes, codes))
    return columns


def readable_edges(ordered: Floats, feature: Feature) -> Floats:
    """Return the numbers at which a feature may be split: quantiles of the ordered draws, rounded up to a step.

    The step is 1, 2 or 5 times a power of ten, about a hundredth of the draws' spread, and whole for whole numbers.

    Examples
    --------
    >>> dose = Feature("dose", Kind.CONTINUOUS, "float64", lower=0, upper=10)
    >>> readable_edges(np.linspace(0.0, 10.0, 5000), dose)[:4].tolist()
    [0.0, 0.2, 0.35, 0.5]
    """
    if not len(ordered):
        return np.empty(0)
    quantiles: Floats = ordered[np.linspace(0, len(ordered) - 1, N_EDGES + 1).astype(np.intp)]
    spread = (quantiles[-N_EDGES // 10] - quantiles[N_EDGES // 10]) or np.ptp(quantiles)
    if spread == 0:
        return np.empty(0)
    step, decimals = readable_step(spread / 100)
    if feature.kind is Kind.INTEGER and step < 1:
        step, decimals = 1.0, 0
    edges: Floats = np.unique(np.round(np.ceil(quantiles / step) * step, max(decimals, 0)))
    # An edge at or beyond the largest draw would split nothing off.
    inside: Floats = edges[edges < quantiles[-1]]
    return inside


def readable_step(at_most: float) -> tuple[float, int]:
    """Return the largest of 1, 2, 5 times a power of ten up to this size, and its number of decimals.

    >>> readable_step(0.034)
    (0.02, 2)
    """
    power = math.floor(math.log10(at_most))
    factor = max(factor for factor in (1, 2, 5) if factor * 10.0**power <= at_most * (1 + 1e-9))
    return round(factor * 10.0**power, max(-power, 0)), -power


def grow(columns: list[Column], labels: Ints, n_labels: int, max_leaves: int | None, min_leaf: int = 1) -> Node:
    """Grow a tree by Gini gain, the largest first, until it has ``max_leaves`` leaves or nothing is gained.

    No leaf holds fewer than ``min_leaf`` draws.
    """
    if not columns:
        return Node(np.arange(len(labels)), np.empty((n_labels, 0)))
    grower = _Grower(columns, labels, n_labels, min_leaf)
    root = grower.root()
    heap: list[tuple[float, int, Node]] = []
    n_leaves, order = 1, 0
    waiting = [root]
    while True:
        for node in waiting:
            gain = grower.find_split(node)
            if gain > 0:
                order += 1
                heapq.heappush(heap, (-gain, order, node))
        if not heap or (max_leaves is not None and n_leaves >= max_leaves):
            return root
        node = heapq.heappop(heap)[2]
        node.children = grower.split(node)
        waiting = list(node.children)
        n_leaves += 1


class _Grower:
    """What all nodes share: the codes of all features side by side, and how to split on them.

    Histograms have shape (n_labels, n_cells), so that sums over labels run along memory.
    """

    def __init__(self, columns: list[Column], labels: Ints, n_labels: int, min_leaf: int) -> None:
        self.columns, self.labels, self.n_labels, self.min_leaf = columns, labels, n_labels, min_leaf
        # Each feature has its bins or levels and one cell for missing.
        sizes = np.array([column.n_codes + 1 for column in columns], dtype=np.intp)
        self.starts = np.cumsum(sizes) - sizes
        self.n_cells = int(sizes.sum())
        self.cells = np.empty((len(columns), len(labels)), dtype=np.intp)
        for column, start, cells in zip(columns, self.starts, self.cells, strict=True):
            np.add(column.codes, labels * self.n_cells + start, out=cells)
        self.column_of = np.repeat(np.arange(len(columns)), sizes)
        self.is_number = np.array([column.is_number for column in columns])[self.column_of]
        self.missing = self.starts + sizes - 1
        is_missing = np.zeros(self.n_cells, dtype=bool)
        is_missing[self.missing] = True
        # "Up to missing" is no split of a number; missing is a level like any other where there are levels.
        self.is_split = ~(is_missing & self.is_number)
        self.takes_missing = self.is_number & ~is_missing

    def root(self) -> Node:
        rows = np.arange(len(self.labels))
        return Node(rows, self._histogram(rows))

    def _histogram(self, rows: Ints) -> Floats:
        cells = self.cells if len(rows) == len(self.labels) else self.cells.take(rows, axis=1)
        counts = np.bincount(cells.ravel(), minlength=self.n_cells * self.n_labels)
        return counts.reshape(self.n_labels, self.n_cells).astype(float)

    def find_split(self, node: Node) -> float:
        """Set the node's best split and return its gain; 0 if there is none."""
        histogram = node.histogram
        total = histogram[:, : self.missing[0] + 1].sum(axis=1, keepdims=True)
        if (total > 0).sum() < 2:
            return 0.0
        # Left of a number's split are all bins up to this one; left of a level's split is this level alone.
        running = np.cumsum(histogram, axis=1)
        before = running[:, self.starts] - histogram[:, self.starts]
        left = np.where(self.is_number, running - before[:, self.column_of], histogram)
        scores = np.where(self.is_split, _score_splits(left, total, self.min_leaf), -1.0)
        cell, missing_left = int(scores.argmax()), False
        best = scores[cell]
        absent = histogram[:, self.missing]
        if absent.any():
            scores = _score_splits(left + absent[:, self.column_of], total, self.min_leaf)
            scores = np.where(self.takes_missing, scores, -1.0)
            if scores.max() > best:
                cell, missing_left = int(scores.argmax()), True
                best = scores[cell]
        gain = float(best - (total**2).sum() / total.sum())
        node.column = int(self.column_of[cell])
        node.code, node.missing_left = int(cell - self.starts[node.column]), missing_left
        return gain if gain > 1e-9 * total.sum() else 0.0

    def split(self, node: Node) -> tuple[Node, Node]:
        """Return the node's two children."""
        column = self.columns[node.column]
        codes = column.codes[node.rows]
        goes_left = codes <= node.code if column.is_number else codes == node.code
        if node.missing_left:
            goes_left |= codes == column.n_codes
        left, right = node.rows[goes_left], node.rows[~goes_left]
        # Count the smaller side; the larger one is what is left of the parent.
        smaller = self._histogram(left if len(left) < len(right) else right)
        larger = node.histogram - smaller
        pair = (smaller, larger) if len(left) < len(right) else (larger, smaller)
        return Node(left, pair[0]), Node(right, pair[1])


def _score_splits(left: Floats, total: Floats, min_leaf: int) -> Floats:
    """Return Σ l²/|l| + Σ r²/|r| per candidate split: the larger, the purer (Gini); -1 where a side is too small."""
    right = total - left
    n_left, n_right = left.sum(axis=0), right.sum(axis=0)
    is_small = (n_left < min_leaf) | (n_right < min_leaf)
    n_left[is_small] = n_right[is_small] = 1.0
    scores = np.square(left).sum(axis=0) / n_left + np.square(right).sum(axis=0) / n_right
    return np.where(is_small, -1.0, scores)
