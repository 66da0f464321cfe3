"""A boolean matrix as packed bits, 64 to a word: where over one entry in 32 is true, smaller than a list of entries."""

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
from numba import types
from numpy.typing import NDArray
from scipy.sparse import csr_array

from oleander.arrays import Bools, Floats, Ints
from oleander.kernels.bits import Bits, count_bits, pack, unpack
from oleander.kernels.compiling import compiled, reads, writes

WORDS, LINES = reads(types.uint64, 2, "C"), reads(types.intp, 1)
ONE = np.uint64(1)
# The product of this number and a single bit has other first six digits for every place of the bit.
DE_BRUIJN, FIRST_SIX = np.uint64(0x03F79D71B4CB0A89), np.uint64(58)
PLACES = np.empty(64, dtype=np.uint64)
with np.errstate(over="ignore"):
    PLACES[(DE_BRUIJN << np.arange(64, dtype=np.uint64)) >> FIRST_SIX] = np.arange(64, dtype=np.uint64)


@compiled()
def _find_column(number: int, bit: np.uint64) -> np.uint64:
    """Return the column of a single bit of a word; an unsigned index is not checked for counting from the end."""
    return np.uint64(64 * number) + PLACES[(bit * DE_BRUIJN) >> FIRST_SIX]


@compiled(WORDS, reads(types.float64, 1), writes(types.float64, 1))
def _weigh(words: Bits, weights: Floats, totals: Floats) -> None:
    for row in range(len(words)):
        total = 0.0
        for number in range(words.shape[1]):
            word = words[row, number]
            while word:
                bit = word & (~word + ONE)
                total += weights[_find_column(number, bit)]
                word ^= bit
        totals[row] = total


@compiled(WORDS, reads(types.uint64, 1), writes(types.uint64, 1))
def _add(words: Bits, terms: Bits, totals: Bits) -> None:
    for row in range(len(words)):
        for number in range(words.shape[1]):
            word = words[row, number]
            while word:
                bit = word & (~word + ONE)
                totals[_find_column(number, bit)] += terms[row]
                word ^= bit


@compiled(WORDS, LINES, writes(types.int32, 1))
def _list(words: Bits, rows: Ints, columns: NDArray[np.int32]) -> None:
    n_listed = 0
    for row in rows:
        for number in range(words.shape[1]):
            word = words[row, number]
            while word:
                bit = word & (~word + ONE)
                columns[n_listed] = _find_column(number, bit)
                word ^= bit
                n_listed += 1


@compiled(WORDS, writes(types.uint64, 2))
def _transpose(words: Bits, turned: Bits) -> None:
    for row in range(len(words)):
        own = ONE << np.uint64(row % 64)
        for number in range(words.shape[1]):
            word = words[row, number]
            while word:
                bit = word & (~word + ONE)
                turned[_find_column(number, bit), row // 64] |= own
                word ^= bit


@compiled(WORDS, LINES, writes(types.uint64, 2))
def _take_columns(words: Bits, columns: Ints, taken: Bits) -> None:
    for row in range(len(words)):
        for new in range(len(columns)):
            old = columns[new]
            bit = (words[row, old // 64] >> np.uint64(old % 64)) & ONE
            taken[row, new // 64] |= bit << np.uint64(new % 64)


class PackedRows:
    """A boolean matrix, the bits of a row next to each other.

    Sums run over the columns of a row in order, as those of a SciPy matrix do, so both give the same digits.

    Parameters
    ----------
    words : uint64 array of shape (n_rows, n_words)
        Bits after the last column are zero.
    n_columns : int

    Examples
    --------
    >>> matrix = PackedRows.pack([np.array([True, False, True]), np.array([False, True, True])], (2, 3))
    >>> (matrix @ np.array([1.0, 2.0, 4.0])).tolist(), matrix.nnz
    ([5.0, 6.0], 4)
    >>> matrix[:, np.array([2, 0])].toarray().tolist()
    [[True, True], [True, False]]
    """

    def __init__(self, words: Bits, n_columns: int) -> None:
        self.words, self.shape = words, (len(words), n_columns)

    @classmethod
    def pack(cls, rows: Iterable[Bools], shape: tuple[int, int]) -> Self:
        """Return the matrix of some rows, each a mask of the columns."""
        words = np.empty((shape[0], count_words(shape[1])), dtype=np.uint64)
        for line, row in zip(words, rows, strict=True):
            line[:] = pack(row)
        return cls(words, shape[1])

    @classmethod
    def from_sparse(cls, matrix: csr_array) -> Self:
        """Return the same entries, packed."""
        columns = (matrix.indices[start:end] for start, end in pairwise(matrix.indptr.tolist()))
        return cls.pack((mark(line, matrix.shape[1]) for line in columns), matrix.shape)

    def to_sparse(self) -> csr_array:
        """Return the same entries as a list."""
        columns, _ = self.entries_of(np.arange(self.shape[0]))
        return csr_array((np.ones(len(columns)), columns, self.indptr), shape=self.shape)

    @cached_property
    def indptr(self) -> Ints:
        """The place of each row's first entry in a list of all entries."""
        return np.concatenate([np.zeros(1, dtype=np.intp), np.cumsum(count_bits(self.words))])

    @property
    def nnz(self) -> int:
        """The number of entries that are true."""
        return int(self.indptr[-1])

    def __getitem__(self, key: Ints | tuple[slice, Ints]) -> "PackedRows":
        """Return some rows, or all rows with some columns."""
        if not isinstance(key, tuple):
            return PackedRows(self.words[key], self.shape[1])
        columns = np.asarray(key[1], dtype=np.intp)
        taken = np.zeros((self.shape[0], count_words(len(columns))), dtype=np.uint64)
        _take_columns(self.words, columns, taken)
        return PackedRows(taken, len(columns))

    def __matmul__(self, weights: Floats) -> Floats:
        """Return the sum of the weights of each row's columns."""
        totals = np.empty(self.shape[0])
        _weigh(self.words, np.asarray(weights, dtype=np.float64), totals)
        return totals

    def __or__(self, other: "PackedRows") -> "PackedRows":
        """Return the entries of either matrix."""
        return PackedRows(self.words | other.words, self.shape[1])

    def __sub__(self, other: "PackedRows") -> "PackedRows":
        """Return the entries that the other matrix does not have."""
        return PackedRows(self.words & ~other.words, self.shape[1])

    def keep_rows(self, rows: Bools) -> "PackedRows":
        """Return the matrix with the other rows emptied."""
        return PackedRows(np.where(rows[:, None], self.words, np.uint64(0)), self.shape[1])

    def transposed(self) -> "PackedRows":
        """Return the matrix with rows for columns."""
        # Whole words of columns are written, and those behind the last column are empty.
        turned = np.zeros((64 * self.words.shape[1], count_words(self.shape[0])), dtype=np.uint64)
        _transpose(self.words, turned)
        return PackedRows(turned[: self.shape[1]], self.shape[0])

    def entries_of(self, rows: Ints) -> tuple[NDArray[np.int32], Ints]:
        """Return the column of every entry of these rows, and how many each row has."""
        rows = np.asarray(rows, dtype=np.intp)
        lengths = self.indptr[rows + 1] - self.indptr[rows]
        columns = np.empty(int(lengths.sum()), dtype=np.int32)
        _list(self.words, rows, columns)
        return columns, lengths

    def covered_by(self, rows: Ints) -> Bools:
        """Return which columns at least one of these rows has."""
        return unpack(np.bitwise_or.reduce(self.words[rows], axis=0), self.shape[1])

    def mask_of(self, row: int) -> Bools:
        """Return a row as a mask of the columns."""
        return unpack(self.words[row], self.shape[1])

    def sum_by_column(self, terms: Bits) -> Bits:
        """Return the sum of the terms of the rows that have each column; whole numbers that wrap around."""
        totals = np.zeros(64 * self.words.shape[1], dtype=np.uint64)
        _add(self.words, terms, totals)
        return totals[: self.shape[1]]

    def toarray(self) -> Bools:
        """Return the matrix with a byte for each entry."""
        return np.array([self.mask_of(row) for row in range(self.shape[0])], dtype=bool).reshape(self.shape)


def mark(columns: Ints | NDArray[np.int32], n_columns: int) -> Bools:
    """Return a mask of some columns."""
    mask = np.zeros(n_columns, dtype=bool)
    mask[columns] = True
    return mask


def count_words(n_columns: int) -> int:
    """Return the number of words that hold a bit for each column."""
    return -(-n_columns // 64)
