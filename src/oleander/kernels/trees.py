"""Trees: bin codes of numbers to grow on, cut at edges, and rows passed down to leaves."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints
from oleander.kernels.compiling import compiled, reads, writes

# With several buckets of equal width for each edge, few values have to be compared with more than one edge.
BUCKETS_PER_EDGE = 8


@compiled()
def _find_bucket(value: float, low: float, scale: float, n_buckets: int) -> int:
    """Return a bucket that never falls as the value rises."""
    place = (value - low) * scale
    if not place > 0:
        return 0
    return int(place) if place < n_buckets else n_buckets - 1


@compiled(reads(types.float64, 1), reads(types.float64, 1, "C"), writes(types.intp, 1), writes(types.int32, 1))
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
