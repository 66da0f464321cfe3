"""Trees that have grown: rows passed down to their leaves."""

import numpy as np
from numba import types

from oleander.arrays import Bools, Floats, Ints
from oleander.kernels.compiling import compiled, reads, writes


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
