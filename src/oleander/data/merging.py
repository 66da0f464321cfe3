"""Merging of equal rows into points with weights."""

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Floats, Ints


def merge_rows(rows: Floats) -> tuple[Ints, Ints, Ints]:
    """Merge equal rows.

    Returns
    -------
    first : array of shape (n_points,)
        The first row of each point, in the order in which they occur.
    weights : array of shape (n_points,)
        The number of rows that are equal to each point.
    point_of_row : array of shape (n_rows,)
        The point of each row.

    Examples
    --------
    >>> import numpy as np
    >>> merge_rows(np.array([[2.0, 1.0], [0.0, 1.0], [2.0, 1.0]]))
    (array([0, 1]), array([2, 1]), array([0, 1, 0]))
    """
    _, first, inverse, counts = np.unique(row_keys(rows), return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], counts[order], rank[inverse]


def row_keys(rows: Floats) -> NDArray[np.void]:
    """Return one key per row: equal where the rows are equal, missing values included."""
    # -0.0 and 0.0 are equal numbers with different bytes, and so are the many NaNs.
    canonical = np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows) + 0.0)
    return canonical.view(np.dtype((np.void, canonical.dtype.itemsize * canonical.shape[1]))).ravel()
