"""Rows of sparse matrices, read without a loop over rows."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from oleander.arrays import Bools, Ints


def entries_of(matrix: sparse.csr_array, rows: Ints) -> tuple[NDArray[np.int32], Ints]:
    """Return the column of every entry of these rows, and how many each row has.

    Examples
    --------
    >>> columns, lengths = entries_of(sparse.csr_array([[1, 0, 1], [0, 1, 0]]), np.array([1, 0]))
    >>> columns.tolist(), lengths.tolist()
    ([1, 0, 2], [1, 2])
    """
    starts = matrix.indptr[rows].astype(np.intp)
    lengths = matrix.indptr[rows + 1].astype(np.intp) - starts
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    # One range per row, laid end to end without a loop over rows.
    positions = np.arange(total, dtype=np.intp) + np.repeat(starts - (ends - lengths), lengths)
    return matrix.indices[positions], lengths


def rows_of(matrix: sparse.csr_array) -> tuple[Ints, NDArray[np.int32]]:
    """Return where the entries of each row start, and the column of each entry, as compiled loops read them."""
    return matrix.indptr.astype(np.intp, copy=False), matrix.indices.astype(np.int32, copy=False)


def covered_by(matrix: sparse.csr_array, rows: Ints) -> Bools:
    """Return which columns at least one of these rows has.

    Examples
    --------
    >>> covered_by(sparse.csr_array([[1, 0, 1], [0, 1, 0]]), np.array([0])).tolist()
    [True, False, True]
    """
    covered = np.zeros(matrix.shape[1], dtype=np.bool_)
    covered[entries_of(matrix, rows)[0]] = True
    return covered
