"""Bin codes of numbers, cut at edges."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from oleander.arrays import Floats
from oleander.kernels.compiling import compiled, reads, writes


@compiled(reads(types.float64, 1), reads(types.float64, 1), writes(types.int32, 1))
def _bin(values: Floats, edges: Floats, codes: NDArray[np.int32]) -> None:
    for i in range(len(values)):
        value = values[i]
        if np.isnan(value):
            codes[i] = len(edges) + 1
            continue
        first, n_left = 0, len(edges)
        while n_left > 0:
            half = n_left // 2
            is_over = value > edges[first + half]
            first = first + half + 1 if is_over else first
            n_left = n_left - half - 1 if is_over else half
        codes[i] = first


def bin_numbers(values: Floats, edges: Floats) -> NDArray[np.int32]:
    """Return the number of ascending edges under each value; missing has a code of its own, after all others.

    Parameters
    ----------
    values : array of shape (n_values,)
    edges : array of shape (n_edges,)
    """
    codes = np.empty(len(values), dtype=np.int32)
    _bin(values, edges, codes)
    return codes
