"""Trees that have grown: rows passed down to their leaves, and the best cut back to a budget of leaves."""

import numpy as np
from numba import types

from oleander.arrays import Bools, Floats, Ints
from oleander.kernels.compiling import compiled, reads, writes

# Worths that differ by less are equal.
ROUNDING = 1e-9


@compiled(
    reads(types.float64, 2),
    reads(types.intp, 1),
    reads(types.float64, 1),
    reads(types.float64, 1),
    reads(types.bool_, 1),
    reads(types.intp, 1),
    reads(types.intp, 1),
    writes(types.intp, 1),
)
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


@compiled(
    reads(types.intp, 1),
    reads(types.intp, 1),
    reads(types.float64, 1),
    types.intp,
    writes(types.float64, 2),
    writes(types.intp, 2),
    writes(types.intp, 1),
)
def _solve(left: Ints, right: Ints, value: Floats, max_leaves: int, best: Floats, taken: Ints, sizes: Ints) -> None:
    """Find the best worth of each node for every budget, and the share of it that goes to the left child.

    A share of -1 says that the node speaks as a whole.
    """
    for node in range(len(value) - 1, -1, -1):
        own = max(value[node], 0.0)
        if left[node] < 0:
            sizes[node] = 2
            best[node, 0], best[node, 1], taken[node, 1] = 0.0, own, -1
            continue
        one, other = left[node], right[node]
        sizes[node] = min(max_leaves, sizes[one] + sizes[other] - 2) + 1
        for budget in range(sizes[node]):
            best[node, budget] = -np.inf
        for n_left in range(sizes[one]):
            for budget in range(n_left, min(sizes[node], n_left + sizes[other])):
                total = best[one, n_left] + best[other, budget - n_left]
                if total > best[node, budget] + ROUNDING:
                    best[node, budget], taken[node, budget] = total, n_left
        for budget in range(1, sizes[node]):
            best[node, budget] = max(best[node, budget], best[node, budget - 1])
        for budget in range(1, sizes[node]):
            if own >= best[node, budget]:
                best[node, budget], taken[node, budget] = own, -1


def find_best_cut(left: Ints, right: Ints, value: Floats, max_leaves: int) -> Ints:
    """Return the nodes that speak in the best cut of at most ``max_leaves``, by the exact program over budgets.

    A node speaks as a whole, or is silent, or leaves the answer to its children, between which the budget is shared.
    Children stand after their parents, and are -1 at a leaf. ``value`` is what a node is worth if it speaks.
    """
    n_nodes = len(value)
    # No subtree has more leaves than this.
    width = min(max_leaves, (n_nodes + 1) // 2) + 1
    best, taken, sizes = np.zeros((n_nodes, width)), np.zeros((n_nodes, width), np.intp), np.zeros(n_nodes, np.intp)
    _solve(left, right, np.asarray(value, dtype=np.float64), max_leaves, best, taken, sizes)
    # From the root down, with the budget of each node.
    waiting, speaking = [(0, int(sizes[0]) - 1)], []
    while waiting:
        node, given = waiting.pop()
        budget = min(given, int(sizes[node]) - 1)
        # The smallest budget with the same worth is the one whose shares were stored.
        while budget > 0 and best[node, budget - 1] >= best[node, budget] - ROUNDING:
            budget -= 1
        share = int(taken[node, budget])
        if budget > 0 and share == -1:
            speaking.append(node)
        elif budget > 0:
            waiting += [(int(left[node]), share), (int(right[node]), budget - share)]
    return np.array(speaking, dtype=np.intp)
