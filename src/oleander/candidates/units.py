"""The evidence for each candidate of a pool, counted in groups."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Bools, Ints
from oleander.data.rows import Rows


class GroupCounter:
    """Counts the groups behind some points.

    A group is one unit, however many of its rows a candidate covers. It counts by the share of these rows that is
    asked for, such as the right ones.

    Parameters
    ----------
    rows : Rows
        With groups.
    """

    def __init__(self, rows: Rows) -> None:
        self._weights = rows.weights
        self._groups = np.asarray(pd.factorize(rows.groups)[0])

    def count(self, points: Ints | NDArray[np.int32], counts: Bools) -> float:
        """Return the number of groups of the points, each by the share of its rows that a mask of the points counts."""
        group, weights = self._groups[points], self._weights[points]
        n_rows = np.bincount(group, weights=weights)
        share = np.bincount(group, weights=np.where(counts, weights, 0)) / np.maximum(n_rows, 1)
        # One by one, in the order of the groups.
        return float(sum(share.tolist()))
