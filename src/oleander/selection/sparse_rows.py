"""Rows of boolean matrices, read without a loop over rows: lists of entries, or packed bits where there are many."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from oleander import kernels
from oleander.arrays import Bools, Ints, is_smaller_packed

if TYPE_CHECKING:
    from oleander.kernels import PackedRows

# A csr_array of SciPy, which has no types, or PackedRows.
Matrix: TypeAlias = Any


def is_packed(matrix: object) -> "TypeGuard[PackedRows]":
    """Return whether a matrix is packed bits."""
    # Only a matrix that is packed already needs the kernels. A frame may have a column of any name, but no method.
    return hasattr(type(matrix), "entries_of")


def packed(matrix: Matrix) -> "PackedRows":
    """Return the matrix as packed bits."""
    return matrix if is_packed(matrix) else kernels.PackedRows.from_sparse(matrix)


def compact(matrix: Matrix) -> Matrix:
    """Return the matrix as packed bits where these are smaller than a list of its many entries."""
    return packed(matrix) if is_smaller_packed(matrix.nnz, matrix.shape) else matrix


def listed(matrix: Matrix) -> sparse.csr_array:
    """Return the matrix as a list of entries."""
    return matrix.to_sparse() if is_packed(matrix) else matrix


def list_rows(rows: Sequence[NDArray[np.int32]], n_columns: int) -> sparse.csr_array:
    """Return a boolean matrix as a list of entries, given the columns of each row in order."""
    columns, indptr = np.concatenate(rows), np.cumsum([0, *(len(row) for row in rows)])
    return sparse.csr_array((np.ones(len(columns), dtype=bool), columns, indptr), shape=(len(rows), n_columns))


def transposed(matrix: Matrix) -> Matrix:
    """Return the matrix with rows for columns, stored by row."""
    return matrix.transposed() if is_packed(matrix) else sparse.csr_array(matrix.T.tocsr())


def row_of(matrix: Matrix, row: int) -> NDArray[np.int32]:
    """Return the columns of the entries of one row."""
    if is_packed(matrix):
        return matrix.entries_of(np.array([row]))[0]
    return np.asarray(matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]])


def entries_of(matrix: Matrix, rows: Ints) -> tuple[NDArray[np.int32], Ints]:
    """Return the column of every entry of these rows, and how many each row has.

    Examples
    --------
    >>> columns, lengths = entries_of(sparse.csr_array([[1, 0, 1], [0, 1, 0]]), np.array([1, 0]))
    >>> columns.tolist(), lengths.tolist()
    ([1, 0, 2], [1, 2])
    """
    if is_packed(matrix):
        return matrix.entries_of(rows)
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


def covered_by(matrix: Matrix, rows: Ints) -> Bools:
    """Return which columns at least one of these rows has.

    Examples
    --------
    >>> covered_by(sparse.csr_array([[1, 0, 1], [0, 1, 0]]), np.array([0])).tolist()
    [True, False, True]
    """
    if is_packed(matrix):
        return matrix.covered_by(rows)
    covered = np.zeros(matrix.shape[1], dtype=np.bool_)
    covered[entries_of(matrix, rows)[0]] = True
    return covered


def keep_rows(matrix: Matrix, rows: Bools) -> Matrix:
    """Return the matrix with the other rows emptied."""
    if is_packed(matrix):
        return matrix.keep_rows(rows)
    lengths = np.diff(matrix.indptr)
    stays = np.repeat(rows, lengths)
    indptr = np.concatenate([[0], np.cumsum(np.where(rows, lengths, 0))])
    return sparse.csr_array((matrix.data[stays], matrix.indices[stays], indptr), shape=matrix.shape)
