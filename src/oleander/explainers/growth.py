"""Grow a small decision tree, best split first, on histograms whose edges are numbers that a person would write.

Rules say what the model does, to the digit, because the model only ever splits at such edges. A library's tree would
have to be rounded afterwards; growing on few distinct edges is also several times faster than sorting the draws, and
levels and missing values need no columns of their own.
"""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.data.schema import Feature, FeatureSchema, Kind

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


@dataclass(eq=False)
class Node:
    """A node while the tree grows.

    Parameters
    ----------
    rows : array
        Its draws.
    counts : array of shape (n_labels,)
        How many of them have each label.
    left : array of shape (n_labels, n_cells)
        How many of them would go left at each split that there could be.
    """

    rows: Ints
    counts: Floats
    left: Floats
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
            order = values.argsort()
            ordered = values[order]
            n_known = len(values) - np.count_nonzero(np.isnan(ordered))
            edges = readable_edges(ordered[:n_known], feature)
            n_codes = len(edges) + 1
            cuts = np.concatenate([[0], ordered.searchsorted(edges, side="right"), [n_known, len(values)]])
            codes = np.empty(len(values), dtype=np.intp)
            codes[order] = np.repeat(np.arange(n_codes + 1), cuts[1:] - cuts[:-1])
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
    quantiles: Floats = ordered[_quantile_positions(len(ordered))]
    spread = (quantiles[-N_EDGES // 10] - quantiles[N_EDGES // 10]) or np.ptp(quantiles)
    if spread == 0:
        return np.empty(0)
    step, decimals = readable_step(spread / 100)
    if feature.kind is Kind.INTEGER and step < 1:
        step, decimals = 1.0, 0
    edges: Floats = np.round(np.ceil(quantiles / step) * step, max(decimals, 0)) + 0.0
    # Quantiles come in order, and so do they when rounded: equal ones are neighbours.
    is_new = np.append(True, edges[1:] != edges[:-1])
    # An edge at or beyond the largest draw would split nothing off.
    inside: Floats = edges[is_new & (edges < quantiles[-1])]
    return inside


@lru_cache(maxsize=8)
def _quantile_positions(n_draws: int) -> Ints:
    """Return where the quantiles stand among ordered draws."""
    positions = np.linspace(0, n_draws - 1, N_EDGES + 1).astype(np.intp)
    positions.setflags(write=False)
    return positions


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
    rows, counts = np.arange(len(labels)), np.bincount(labels, minlength=n_labels).astype(float)
    if not columns:
        return Node(rows, counts, np.empty((n_labels, 0)))
    grower = _Grower(columns, labels, n_labels, min_leaf)
    waiting: tuple[Node, ...] = (Node(rows, counts, grower.count_left(rows, counts)),)
    root = waiting[0]
    heap: list[tuple[float, int, Node]] = []
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
    """What all nodes share: the codes of all features side by side, and how to split on them.

    Each feature has a cell for every bin or level and one for missing. A cell stands for a split: of a number, what
    lies in it or before it goes left; of levels, what lies in it. Where missing numbers go is asked apart.
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
        # Of numbers with missing values, the cells that missing ones may join, and the last before theirs.
        has_missing = np.array(
            [column.is_number and bool((column.codes == column.n_codes).any()) for column in columns]
        )
        last = self.starts + sizes - 2
        self.joinable = np.flatnonzero(has_missing[self.column_of] & (np.arange(self.n_cells) <= last[self.column_of]))
        self.last_known = last[self.column_of[self.joinable]]

    def count_left(self, rows: Ints, counts: Floats) -> Floats:
        """Return how many of some draws would go left at each split, label by label: shape (n_labels, n_cells)."""
        cells = self.cells if len(rows) == len(self.labels) else self.cells.take(rows, axis=1)
        flat = np.bincount(cells.ravel(), minlength=self.n_cells * self.n_labels)
        histogram = flat.reshape(self.n_labels, self.n_cells).astype(float)
        if not self.has_numbers:
            return histogram
        # Each draw has one cell of every feature, so the features before count all draws once each.
        running = np.cumsum(histogram, axis=1)
        running -= counts[:, None] * self.n_before
        return running if self.has_only_numbers else np.where(self.is_number, running, histogram)

    def find_splits(self, nodes: Sequence[Node]) -> list[float]:
        """Set the best split of each of these nodes and return their gains; 0 where there is none."""
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

    def split(self, node: Node) -> tuple[Node, Node]:
        """Return the node's two children."""
        column = self.columns[node.column]
        codes = column.codes[node.rows]
        goes_left = codes <= node.code if column.is_number else codes == node.code
        if node.missing_left:
            goes_left |= codes == column.n_codes
        sides = [node.rows[goes_left], node.rows[~goes_left]]
        # Count the smaller side; the larger one is what is left of the parent.
        smaller = int(len(sides[1]) < len(sides[0]))
        counts = np.bincount(self.labels[sides[smaller]], minlength=self.n_labels).astype(float)
        left = self.count_left(sides[smaller], counts)
        pair = [Node(sides[smaller], counts, left), Node(sides[1 - smaller], node.counts - counts, node.left - left)]
        return pair[smaller], pair[1 - smaller]


def _score_splits(left: Floats, counts: Floats, min_leaf: int) -> Floats:
    """Return Σ l²/|l| + Σ r²/|r| per node and split: the larger, the purer (Gini); -1 where a side is too small.

    With r = t - l, Σ r² is Σ l² - 2 Σ t·l + Σ t²: all are sums of whole numbers, so nothing is lost. A split with an
    empty side is as pure as no split.

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
