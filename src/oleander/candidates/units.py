"""The evidence for each candidate of a pool, counted in groups."""

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from oleander.arrays import Bools, Floats
from oleander.data.rows import Rows


class GroupCounter:
    """Counts groups behind the memberships of candidates.

    A group is one unit, however many of its rows a candidate covers. It counts by the share of these rows that is
    asked for, such as the right ones.

    Parameters
    ----------
    covers : sparse bool array of shape (n_candidates, n_points)
    rows : Rows
        With groups.
    is_judged : bool array of shape (n_memberships,)
        The memberships that count at all.
    """

    def __init__(self, covers: csr_array, rows: Rows, is_judged: Bools) -> None:
        self.n_candidates = covers.shape[0]
        self._weights = np.where(is_judged, rows.weights[covers.indices], 0)
        candidate = np.repeat(np.arange(self.n_candidates), np.diff(covers.indptr))
        group, n_groups = np.asarray(pd.factorize(rows.groups)[0]), rows.n_points
        # A cell is a group of a candidate.
        cells, self._cell = np.unique(candidate * n_groups + group[covers.indices], return_inverse=True)
        self._candidate = cells // n_groups
        self._n_rows = self._weigh(is_judged)

    def _weigh(self, memberships: Bools) -> Floats:
        weights = np.where(memberships, self._weights, 0)
        return np.bincount(self._cell, weights=weights, minlength=len(self._candidate)).astype(float)

    def count(self, memberships: Bools) -> Floats:
        """Return the groups behind each candidate's memberships in the mask, as shares that are added up."""
        share = self._weigh(memberships) / np.maximum(self._n_rows, 1)
        return np.bincount(self._candidate, weights=share, minlength=self.n_candidates).astype(float)
