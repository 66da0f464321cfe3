"""Boolean matrices as packed bits, 64 to a word: sets of rows, counts and sums over them, and covers by few sets."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
from numba import types
from numpy.typing import NDArray
from scipy.sparse import csr_array

from oleander.arrays import Bools, Floats, Ints
from oleander.kernels.compiling import compiled, count_ones, find_one, reads, writes

Bits = NDArray[np.uint64]

WORDS, LINE, LINES = reads(types.uint64, 2, "C"), reads(types.uint64, 1, "C"), reads(types.intp, 1)
# At most about this number of entries is listed at once.
MOST_LISTED = 2_000_000
# An empty slot of a cover.
NOTHING = -1
ONE = np.uint64(1)


@compiled(LINE, LINE, is_inner=True)
def _count_common(line: Bits, mask: Bits) -> np.uint64:
    total = np.uint64(0)
    for word in range(len(line)):
        total += count_ones(line[word] & mask[word])
    return total


@compiled(WORDS, LINES, WORDS, writes(types.intp, 2))
def _count(bits: Bits, lines: Ints, masks: Bits, counts: Ints) -> None:
    for i in range(len(lines)):
        for j in range(len(masks)):
            counts[i, j] = _count_common(bits[lines[i]], masks[j])


@compiled(WORDS, reads(types.float64, 1), writes(types.float64, 1))
def _weigh(words: Bits, weights: Floats, totals: Floats) -> None:
    for row in range(len(words)):
        total = 0.0
        for number in range(words.shape[1]):
            word = words[row, number]
            while word:
                total += weights[np.uint64(64 * number) + find_one(word)]
                word &= word - ONE
        totals[row] = total


@compiled(WORDS, LINES, writes(types.int32, 1))
def _list(words: Bits, rows: Ints, columns: NDArray[np.int32]) -> None:
    n_listed = 0
    for row in rows:
        for number in range(words.shape[1]):
            word = words[row, number]
            while word:
                columns[n_listed] = np.uint64(64 * number) + find_one(word)
                word &= word - ONE
                n_listed += 1


@compiled(WORDS, writes(types.uint64, 2))
def _transpose(words: Bits, turned: Bits) -> None:
    for row in range(len(words)):
        own = ONE << np.uint64(row % 64)
        for number in range(words.shape[1]):
            word = words[row, number]
            while word:
                turned[np.uint64(64 * number) + find_one(word), row // 64] |= own
                word &= word - ONE


@compiled()
def _find_widest(sets: Bits, slots: Ints, left: Bits) -> tuple[int, np.uint64]:
    """Return the first set with the most bits that no slot covers, and their number; ``left`` is room to work in."""
    for word in range(len(left)):
        covered = np.uint64(0)
        for slot in range(len(slots)):
            if slots[slot] != NOTHING:
                covered |= sets[slots[slot], word]
        left[word] = ~covered
    best, most = NOTHING, np.uint64(0)
    for number in range(len(sets)):
        total = _count_common(sets[number], left)
        if total > most:
            best, most = number, total
    return best, most


@compiled(WORDS, writes(types.intp, 1), writes(types.uint64, 1))
def _find_cover(sets: Bits, slots: Ints, left: Bits) -> None:
    for slot in range(len(slots)):
        if slots[slot] == NOTHING:
            slots[slot] = _find_widest(sets, slots, left)[0]
    n_stale = slot = 0
    while n_stale < len(slots):
        own = slots[slot]
        slots[slot] = NOTHING
        best, most = _find_widest(sets, slots, left)
        if own != NOTHING and _count_common(sets[own], left) == most:
            best = own
        n_stale = 1 if best != own else n_stale + 1
        slots[slot] = best
        slot = (slot + 1) % len(slots)


def find_cover(sets: Bits, chosen: Ints) -> Ints:
    """Fill up a choice of sets greedily, then exchange one set at a time until no exchange widens the union.

    ``sets`` has a row of words per set; ``chosen`` has the set in each slot, -1 where a slot is empty, after all
    others. Returns the chosen sets, as many as there are slots or as help.
    """
    slots = chosen.astype(np.intp)
    _find_cover(sets, slots, np.empty(sets.shape[1], dtype=np.uint64))
    return slots[slots != NOTHING]


def count_common(bits: Bits, lines: Ints, masks: Bits) -> Ints:
    """Return the number of bits that lines of ``bits`` have in common with each mask, of shape (n_lines, n_masks)."""
    counts = np.empty((len(lines), len(masks)), dtype=np.intp)
    _count(bits, lines, masks, counts)
    return counts


def pack(rows: Bools) -> Bits:
    """Pack the last axis of a boolean array into 64-bit words, padded with zeros."""
    packed = np.packbits(rows, axis=-1, bitorder="little")
    words = np.zeros((*rows.shape[:-1], 8 * count_words(rows.shape[-1])), dtype=np.uint8)
    words[..., : packed.shape[-1]] = packed
    # Bits are read back by the same order, so the order of bytes in a word does not matter.
    return words.view(np.uint64)


def unpack(bits: Bits, n_rows: int) -> Bools:
    """Undo ``pack``."""
    return np.unpackbits(bits.view(np.uint8), axis=-1, count=n_rows, bitorder="little").view(bool)


def count_bits(bits: Bits) -> Ints:
    """Return the number of bits in each line."""
    everything = np.full((1, bits.shape[1]), ~np.uint64(0))
    return count_common(np.ascontiguousarray(bits), np.arange(len(bits)), everything)[:, 0]


class PackedRows:
    """A boolean matrix, the bits of a row next to each other: candidates and the points that they cover.

    Smaller than a list of entries where over one in 32 is true. Sums run over the columns of a row in order, as those
    of a SciPy matrix do, so both give the same digits. Bits after the last column are zero.

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
        """Return the entries of a list, packed."""
        columns = (matrix.indices[start:end] for start, end in pairwise(matrix.indptr.tolist()))
        return cls.pack((mark(line, matrix.shape[1]) for line in columns), matrix.shape)

    def to_sparse(self) -> csr_array:
        """Return the same entries as a list of ones."""
        indptr, columns = self.lists
        return csr_array((np.ones(len(columns)), columns, indptr), shape=self.shape)

    @cached_property
    def lists(self) -> tuple[Ints, NDArray[np.int32]]:
        """The place of each row's first entry, and the column of each entry, as compiled loops read them."""
        return self.indptr, self.entries_of(np.arange(self.shape[0]))[0]

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
        return self.transposed()[key[1]].transposed()

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

    def row(self, row: int) -> NDArray[np.int32]:
        """Return the columns of one row."""
        return self.entries_of(np.array([row]))[0]

    def entries_of(self, rows: Ints) -> tuple[NDArray[np.int32], Ints]:
        """Return the column of every entry of these rows, and how many each row has."""
        rows = np.asarray(rows, dtype=np.intp)
        lengths = self.indptr[rows + 1] - self.indptr[rows]
        columns = np.empty(int(lengths.sum()), dtype=np.int32)
        _list(self.words, rows, columns)
        return columns, lengths

    def parts(self, rows: Ints) -> Iterator[slice]:
        """Yield slices of the rows, each with a bounded number of entries, so that lists of them fit in memory."""
        size = max(1, MOST_LISTED * self.shape[0] // max(self.nnz, 1))
        for start in range(0, len(rows), size):
            yield slice(start, start + size)

    def covered_by(self, rows: Ints) -> Bools:
        """Return which columns at least one of these rows has."""
        return unpack(np.bitwise_or.reduce(self.words[rows], axis=0), self.shape[1])

    def toarray(self) -> Bools:
        """Return the matrix with a byte for each entry."""
        return unpack(self.words, self.shape[1])


def mark(columns: Ints | NDArray[np.int32], n_columns: int) -> Bools:
    """Return a mask of some columns."""
    mask = np.zeros(n_columns, dtype=bool)
    mask[columns] = True
    return mask


def count_words(n_columns: int) -> int:
    """Return the number of words that hold a bit for each column."""
    return -(-n_columns // 64)
