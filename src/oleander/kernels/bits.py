"""Memberships of rows as packed bits, and counts of them."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from oleander.arrays import Bools, Ints
from oleander.kernels.compiling import compiled, reads, writes

Bits = NDArray[np.uint64]

# Masks of the usual way to count bits: sums of pairs, of nibbles and of bytes, side by side in one word.
PAIRS, FOURS, BYTES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
ONES, ONE, TWO, FOUR, LAST_BYTE = np.uint64(0x0101010101010101), np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


@compiled(reads(types.int32, 1), reads(types.bool_, 1), writes(types.uint64, 1))
def _pack(codes: NDArray[np.int32], table: Bools, bits: Bits) -> None:
    for word in range(len(bits)):
        packed = np.uint64(0)
        for i in range(word * 64, min(word * 64 + 64, len(codes))):
            # An unsigned index is not checked for counting from the end.
            packed |= np.uint64(table[np.uint32(codes[i])]) << np.uint64(i % 64)
        bits[word] = packed


@compiled(reads(types.uint64, 2, "C"), reads(types.intp, 1), reads(types.uint64, 2, "C"), writes(types.intp, 2))
def _count(bits: Bits, lines: Ints, masks: Bits, counts: Ints) -> None:
    for i in range(len(lines)):
        for j in range(len(masks)):
            total = np.uint64(0)
            for word in range(bits.shape[1]):
                here = bits[lines[i], word] & masks[j, word]
                here -= (here >> ONE) & PAIRS
                here = (here & FOURS) + ((here >> TWO) & FOURS)
                here = (here + (here >> FOUR)) & BYTES
                total += (here * ONES) >> LAST_BYTE
            counts[i, j] = total


def pack_matches(codes: NDArray[np.int32], table: Bools) -> Bits:
    """Return which rows have a code that the table allows, in 64-bit words padded with zeros.

    Parameters
    ----------
    codes : int32 array of shape (n_rows,)
    table : bool array of shape (n_codes,)
    """
    bits = np.empty(-(-len(codes) // 64), dtype=np.uint64)
    _pack(codes, table, bits)
    return bits


def count_common(bits: Bits, lines: Ints, masks: Bits) -> Ints:
    """Return the number of bits that lines of ``bits`` have in common with each mask.

    Parameters
    ----------
    bits : uint64 array of shape (n_sets, n_words)
    lines : int array of shape (n_lines,)
    masks : uint64 array of shape (n_masks, n_words)

    Returns
    -------
    int array of shape (n_lines, n_masks)
    """
    counts = np.empty((len(lines), len(masks)), dtype=np.intp)
    _count(bits, lines, masks, counts)
    return counts


def pack(rows: Bools) -> Bits:
    """Pack the last axis of a boolean array into 64-bit words, padded with zeros."""
    padding = -rows.shape[-1] % 64
    if padding:
        rows = np.concatenate([rows, np.zeros((*rows.shape[:-1], padding), dtype=bool)], axis=-1)
    # Bits are read back by the same order, so the order of bytes in a word does not matter.
    return np.ascontiguousarray(np.packbits(rows, axis=-1, bitorder="little")).view(np.uint64)


def unpack(bits: Bits, n_rows: int) -> Bools:
    """Undo ``pack``."""
    return np.unpackbits(bits.view(np.uint8), axis=-1, bitorder="little")[..., :n_rows].astype(bool)


def count_bits(bits: Bits) -> Ints:
    """Return the number of bits in each line."""
    bits = np.ascontiguousarray(bits)
    return count_common(bits, np.arange(len(bits)), np.full((1, bits.shape[1]), ~np.uint64(0)))[:, 0]
