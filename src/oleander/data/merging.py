"""Merging of equal rows into points with weights."""

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Floats, Ints

# Rows that are hashed or compared at a time: a sort of whole rows would copy them several times.
BLOCK = 10_000
# An odd number with bits everywhere mixes the bits below it, and half of a word brings the upper ones down.
FACTOR, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


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
    hashes = hash_rows(rows)
    found = np.unique(hashes, return_index=True, return_inverse=True, return_counts=True)
    if not _are_equal(rows, found[1][found[2]]):
        found = np.unique(row_keys(rows), return_index=True, return_inverse=True, return_counts=True)
    _, first, inverse, counts = found
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], counts[order], rank[inverse]


def row_keys(rows: Floats) -> NDArray[np.void]:
    """Return one key per row: equal where the rows are equal, missing values included."""
    canonical = _canonical(rows)
    return canonical.view(np.dtype((np.void, canonical.dtype.itemsize * canonical.shape[1]))).ravel()


def _canonical(rows: Floats) -> Floats:
    """Return rows of which equal ones have the same bytes."""
    # -0.0 and 0.0 are equal numbers with different bytes, and so are the many NaNs.
    return np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows) + 0.0)


def hash_rows(rows: Floats) -> NDArray[np.uint64]:
    """Return one number per row: equal where the rows are equal, and hardly ever elsewhere."""
    hashes = np.zeros(len(rows), dtype=np.uint64)
    for start in range(0, len(rows), BLOCK):
        block = hashes[start : start + BLOCK]
        for column in _canonical(rows[start : start + BLOCK]).view(np.uint64).T:
            block ^= column
            block *= FACTOR
            block ^= block >> HALF
    return hashes


def _are_equal(rows: Floats, leaders: Ints) -> bool:
    """Return whether each row is equal to its leader."""
    led = np.flatnonzero(leaders != np.arange(len(rows)))
    parts = (led[start : start + BLOCK] for start in range(0, len(led), BLOCK))
    return all(np.array_equal(rows[part], rows[leaders[part]], equal_nan=True) for part in parts)
