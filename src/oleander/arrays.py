"""Names for the arrays that the package passes around."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]
Labels = NDArray[Any]

# A boolean matrix with fewer entries is small however it is stored.
MANY_ENTRIES = 1_000_000


def is_smaller_packed(n_entries: int, shape: tuple[int, int]) -> bool:
    """Return whether a large boolean matrix takes less memory as packed bits than as a list of its true entries."""
    # A number of four bytes for each entry, or a bit for each cell.
    return n_entries > MANY_ENTRIES and 32 * n_entries > shape[0] * shape[1]
