"""Bin codes of numbers, trees that grow on them, best split first, and rows passed down to their leaves.

Arrays are allocated in NumPy and loops are written out: numba compiles that several times faster.
"""

import numpy as np
from numba import types
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints
from oleander.kernels.compiling import compiled, reads, writes

# With several buckets of equal width for each edge, few values have to be compared with more than one edge.
BUCKETS_PER_EDGE = 8
# A gain under this share of a node's draws is what divisions leave behind.
ROUNDING = 1e-9
# The lines of the array of nodes, of which the first are returned. The draws of a node lie from START to END.
COLUMN, CODE, MISSING_LEFT, LEFT, RIGHT, LABEL, N_DRAWS, N_RIGHT, START, END = range(10)

# Types of arguments. Functions that kernels call have them too: otherwise numba compiles some of them twice.
CODES, FLAGS, NUMBERS, NUMBER = reads(types.int32, 2, "C"), reads(types.bool_, 1), reads(types.float64, 1), types.intp
SIZES = LABELS = reads(types.intp, 1)
LINE, TABLE, GAINS = writes(types.intp, 1), writes(types.intp, 2), writes(types.float64, 1)


@compiled()
def _find_bucket(value: float, low: float, scale: float, n_buckets: int) -> int:
    """Return a bucket that never falls as the value rises."""
    place = (value - low) * scale
    if not place > 0:
        return 0
    return int(place) if place < n_buckets else n_buckets - 1


@compiled(NUMBERS, reads(types.float64, 1, "C"), LINE, writes(types.int32, 1))
def _bin(values: Floats, edges: Floats, starts: Ints, codes: NDArray[np.int32]) -> None:
    n_edges, n_buckets = len(edges), len(starts)
    low, scale = edges[0], 0.0
    if edges[n_edges - 1] > low:
        scale = n_buckets / (edges[n_edges - 1] - low)
    # The edges in buckets before a value's own lie under it; a search by halves would guess each branch half wrong.
    edge = 0
    for bucket in range(n_buckets):
        while edge < n_edges and _find_bucket(edges[edge], low, scale, n_buckets) < bucket:
            edge += 1
        starts[bucket] = edge
    for i in range(len(values)):
        value = values[i]
        code = starts[_find_bucket(value, low, scale, n_buckets)]
        while code < n_edges and value > edges[code]:
            code += 1
        codes[i] = n_edges + 1 if np.isnan(value) else code


def bin_numbers(values: Floats, edges: Floats) -> NDArray[np.int32]:
    """Return the number of ascending edges under each value; missing has a code of its own, after all others."""
    values = np.asarray(values, dtype=np.float64)
    if not len(edges):
        return np.isnan(values).astype(np.int32)
    codes = np.empty(len(values), dtype=np.int32)
    _bin(values, np.ascontiguousarray(edges), np.empty(BUCKETS_PER_EDGE * len(edges), dtype=np.intp), codes)
    return codes


@compiled(CODES, SIZES, FLAGS, LABELS, LABELS, TABLE, TABLE, NUMBER, TABLE, TABLE, NUMBER, is_inner=True)
def _find_split(
    codes: NDArray[np.int32],
    n_codes: Ints,
    is_number: Bools,
    labels: Ints,
    amounts: Ints,
    rows: Ints,
    nodes: Ints,
    node: int,
    totals: Ints,
    histogram: Ints,
    min_leaf: int,
) -> float:
    """Set the best split of a node and return its gain; 0 for a node without a split.

    The score of a split is Σ l²/|l| + Σ r²/|r|: the larger, the purer (Gini). With r = t - l, Σ r² is
    Σ l² - 2 Σ t·l + Σ t²: sums of whole numbers, so nothing is rounded.
    """
    start, end, left = nodes[START, node], nodes[END, node], histogram[len(histogram) - 1]
    n_labels, n_rows = totals.shape[1], end - start
    squares = 0
    for label in range(n_labels):
        squares += totals[node, label] * totals[node, label]
    # Draws with one label cannot be purer.
    if squares == n_rows * n_rows or n_rows < 2 * min_leaf:
        return 0.0
    # The first pair of entries leaves missing numbers on the right, the second takes them to the left.
    best, best_joined = -1.0, -1.0
    column, code, joined_column, joined_code = -1, -1, -1, -1
    for j in range(len(n_codes)):
        missing = n_codes[j]
        for i in range(start, end):
            # Unsigned indices are not checked for counting from the end.
            row = np.uint64(rows[0, i])
            code_here = np.uint32(codes[j, row])
            histogram[code_here, np.uint64(labels[row])] += amounts[row]
            histogram[code_here, np.uint64(n_labels)] += 1
        n_left, n_missing = 0, histogram[missing, n_labels] if is_number[j] else 0
        for label in range(n_labels):
            left[label] = 0
        for k in range(missing if is_number[j] else missing + 1):
            # A split after an empty bin is the one before it.
            n_here = histogram[k, n_labels]
            if n_here == 0:
                continue
            left_squares = product = joined_squares = joined_product = 0
            for label in range(n_labels):
                here = histogram[k, label] + (left[label] if is_number[j] else 0)
                left[label] = here
                left_squares += here * here
                product += totals[node, label] * here
                # The next column finds empty bins.
                histogram[k, label] = 0
            histogram[k, n_labels] = 0
            n_left = n_here + (n_left if is_number[j] else 0)
            if min(n_left, n_rows - n_left) >= min_leaf:
                score = left_squares / n_left + (left_squares - 2 * product + squares) / (n_rows - n_left)
                if score > best:
                    best, column, code = score, j, k
            n_both = n_left + n_missing
            if n_missing > 0 and min(n_both, n_rows - n_both) >= min_leaf:
                for label in range(n_labels):
                    joined = left[label] + histogram[missing, label]
                    joined_squares += joined * joined
                    joined_product += totals[node, label] * joined
                score = joined_squares / n_both + (joined_squares - 2 * joined_product + squares) / (n_rows - n_both)
                if score > best_joined:
                    best_joined, joined_column, joined_code = score, j, k
        for label in range(n_labels + 1):
            histogram[missing, label] = 0
    if best_joined > best:
        nodes[MISSING_LEFT, node] = 1
        best, column, code = best_joined, joined_column, joined_code
    nodes[COLUMN, node], nodes[CODE, node] = column, code
    gain = best - squares / n_rows
    return gain if gain > ROUNDING * n_rows else 0.0


@compiled(CODES, SIZES, FLAGS, LABELS, LABELS, TABLE, TABLE, NUMBER, TABLE, NUMBER, is_inner=True)
def _split(
    codes: NDArray[np.int32],
    n_codes: Ints,
    is_number: Bools,
    labels: Ints,
    amounts: Ints,
    rows: Ints,
    nodes: Ints,
    node: int,
    totals: Ints,
    left: int,
) -> None:
    """Make a node's two children, numbered ``left`` and ``left + 1``: draws that go left come first."""
    column, code, row, side = nodes[COLUMN, node], nodes[CODE, node], rows[0], rows[1]
    missing = n_codes[column] if nodes[MISSING_LEFT, node] else -1
    middle, n_right = nodes[START, node], 0
    for i in range(nodes[START, node], nodes[END, node]):
        here = codes[column, row[i]]
        if (here == missing) | (here == code) | (is_number[column] & (here < code)):
            totals[left, labels[row[i]]] += amounts[row[i]]
            row[middle] = row[i]
            middle += 1
        else:
            side[n_right] = row[i]
            n_right += 1
    for i in range(n_right):
        row[middle + i] = side[i]
    for label in range(totals.shape[1]):
        totals[left + 1, label] = totals[node, label] - totals[left, label]
    nodes[LEFT, node], nodes[RIGHT, node] = left, left + 1
    nodes[START, left], nodes[END, left] = nodes[START, node], middle
    nodes[START, left + 1], nodes[END, left + 1] = middle, nodes[END, node]


@compiled(CODES, SIZES, FLAGS, LABELS, LABELS, NUMBER, NUMBER, TABLE, GAINS, TABLE, TABLE, TABLE)
def _grow(
    codes: NDArray[np.int32],
    n_codes: Ints,
    is_number: Bools,
    labels: Ints,
    amounts: Ints,
    max_leaves: int,
    min_leaf: int,
    nodes: Ints,
    gains: Floats,
    totals: Ints,
    rows: Ints,
    histogram: Ints,
) -> int:
    """Grow a tree, parents before their children, and return its number of nodes."""
    n_nodes, n_known, first = 1, 0, 0
    nodes[END, 0] = len(labels)
    for i in range(len(labels)):
        totals[0, labels[i]] += amounts[i]
        rows[0, i] = i
    while n_nodes + 1 < 2 * max_leaves:
        while n_known < n_nodes:
            gains[n_known] = _find_split(
                codes, n_codes, is_number, labels, amounts, rows, nodes, n_known, totals, histogram, min_leaf
            )
            n_known += 1
        while first < n_nodes - 1 and gains[first] == 0:
            first += 1
        best = first
        # In a tree of any size every node is split, and the order changes nothing.
        if max_leaves < len(labels):
            for node in range(first, n_nodes):
                if gains[node] > gains[best]:
                    best = node
        if gains[best] == 0:
            break
        gains[best] = 0
        _split(codes, n_codes, is_number, labels, amounts, rows, nodes, best, totals, n_nodes)
        n_nodes += 2
    return n_nodes


@compiled(TABLE, NUMBER, types.bool_, LINE, LINE)
def _order(nodes: Ints, n_nodes: int, simplify: bool, waiting: Ints, order: Ints) -> int:
    """Write the nodes, the root first and then its left and its right subtree, and return their number.

    Two leaves with one label may be merged: their parent has that label too.
    """
    for node in range(n_nodes - 1, -1, -1):
        left, right = nodes[LEFT, node], nodes[RIGHT, node]
        are_leaves = left > 0 and nodes[LEFT, left] == nodes[LEFT, right] == 0
        if simplify and are_leaves and nodes[LABEL, left] == nodes[LABEL, right]:
            nodes[LEFT, node] = 0
    n_ordered, n_waiting = 0, 1
    waiting[0] = 0
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        order[n_ordered] = node
        n_ordered += 1
        if nodes[LEFT, node] > 0:
            waiting[n_waiting], waiting[n_waiting + 1] = nodes[RIGHT, node], nodes[LEFT, node]
            n_waiting += 2
    return n_ordered


def grow_nodes(
    codes: NDArray[np.int32],
    n_codes: Ints,
    is_number: Bools,
    labels: Ints,
    n_labels: int,
    max_leaves: int | None,
    *,
    min_leaf: int = 1,
    simplify: bool = True,
    amounts: Ints | None = None,
) -> Ints:
    """Grow a tree by Gini gain, the largest first, until it has ``max_leaves`` leaves or nothing is gained.

    Of equal gains the node that was made first is split. Of equal splits the first column and code are taken. Missing
    numbers go left only where that gains more. ``codes`` are by column and draw; ``n_codes`` is the number of bins or
    levels, which is also the code of missing; a leaf holds at least ``min_leaf`` draws. ``simplify`` undoes splits into
    two leaves with the same label. ``amounts`` are what each draw counts for its label, 2 or more, by default 1: with
    one label for all draws, the gain is the fall of the variance of the amounts, and ``n_right`` is their sum.

    The result has a column for each node, the root first, then its left and its right subtree, and the lines column
    (-1 for a leaf), code, missing_left, left, right, label, n_draws, n_right.
    """
    n_draws = len(labels)
    max_leaves = max(1, n_draws if max_leaves is None else min(max_leaves, n_draws))
    most = 2 * max_leaves - 1
    # Pages that are never written take no memory, so arrays may be as long as the largest tree.
    nodes, gains, totals = np.zeros((END + 1, most), np.intp), np.zeros(most), np.zeros((most, n_labels), np.intp)
    rows = np.empty((2, n_draws), np.intp)
    # A line for each code, one for missing and one for sums; after the labels a column for all of them.
    histogram = np.zeros((n_codes.max(initial=0) + 2, n_labels + 1), np.intp)
    codes, labels = np.ascontiguousarray(codes), np.ascontiguousarray(labels, dtype=np.intp)
    # A kernel does not check its indices.
    if n_draws and not 0 <= labels.min() <= labels.max() < n_labels:
        raise ValueError(f"labels lie between {labels.min()} and {labels.max()}, and there are {n_labels}.")
    amounts = np.ones(n_draws, np.intp) if amounts is None else np.ascontiguousarray(amounts, dtype=np.intp)
    n_nodes = _grow(
        codes, n_codes, is_number, labels, amounts, max_leaves, min_leaf, nodes, gains, totals, rows, histogram
    )
    totals = totals[:n_nodes]
    nodes[LABEL, :n_nodes], nodes[N_RIGHT, :n_nodes] = totals.argmax(axis=1), totals.max(axis=1)
    nodes[N_DRAWS, :n_nodes] = nodes[END, :n_nodes] - nodes[START, :n_nodes]
    waiting, order = np.empty((2, n_nodes), np.intp)
    order = order[: _order(nodes, n_nodes, simplify, waiting, order)]
    number = np.empty(n_nodes, np.intp)
    number[order] = np.arange(len(order))
    grown = nodes[: N_RIGHT + 1, order]
    is_leaf = grown[LEFT] == 0
    grown[LEFT], grown[RIGHT] = number[grown[LEFT]], number[grown[RIGHT]]
    grown[COLUMN:LABEL, is_leaf] = np.array([[-1], [0], [0], [-1], [-1]])
    return grown


@compiled(reads(types.float64, 2), LABELS, NUMBERS, NUMBERS, FLAGS, LABELS, LABELS, LINE)
def _pass(
    rows: Floats,
    column: Ints,
    threshold: Floats,
    level: Floats,
    missing_left: Bools,
    left: Ints,
    right: Ints,
    leaves: Ints,
) -> None:
    for i in range(len(rows)):
        node = 0
        while column[node] >= 0:
            value = rows[i, column[node]]
            # No comparison with NaN holds.
            goes_left = value <= threshold[node] or value == level[node]
            if np.isnan(value):
                goes_left = missing_left[node]
            node = left[node] if goes_left else right[node]
        leaves[i] = node


def find_leaves(
    rows: Floats, column: Ints, threshold: Floats, level: Floats, missing_left: Bools, left: Ints, right: Ints
) -> Ints:
    """Return the leaf in which each row ends. All but the rows are by node.

    ``column`` is the one on which a node splits; -1 at a leaf. A row goes left if its value is at most the threshold or
    equals the level. A split has one of the two; the other is NaN. ``missing_left`` is for missing values.
    """
    # A kernel does not check its indices.
    if column.max() >= rows.shape[1]:
        raise ValueError(f"a node splits on column {column.max()}, and rows have {rows.shape[1]} columns.")
    leaves = np.empty(len(rows), dtype=np.intp)
    _pass(np.asarray(rows, dtype=np.float64), column, threshold, level, missing_left, left, right, leaves)
    return leaves
