"""Search for at most K sets of packed bits whose union is large."""

import numpy as np
from numba import types

from oleander.arrays import Ints
from oleander.kernels.bits import BYTES, FOUR, FOURS, LAST_BYTE, ONE, ONES, PAIRS, TWO, Bits
from oleander.kernels.compiling import compiled, reads, writes

NOTHING = -1


@compiled()
def _count(sets: Bits, number: int, left: Bits) -> np.uint64:
    """Return the number of bits that are left in a set."""
    total = np.uint64(0)
    for word in range(len(left)):
        here = sets[number, word] & left[word]
        here -= (here >> ONE) & PAIRS
        here = (here & FOURS) + ((here >> TWO) & FOURS)
        here = (here + (here >> FOUR)) & BYTES
        total += (here * ONES) >> LAST_BYTE
    return total


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
        total = _count(sets, number, left)
        if total > most:
            best, most = number, total
    return best, most


@compiled(reads(types.uint64, 2, "C"), writes(types.intp, 1), writes(types.uint64, 1))
def _find_cover(sets: Bits, slots: Ints, left: Bits) -> None:
    for slot in range(len(slots)):
        if slots[slot] == NOTHING:
            slots[slot] = _find_widest(sets, slots, left)[0]
    n_stale = slot = 0
    while n_stale < len(slots):
        own = slots[slot]
        slots[slot] = NOTHING
        best, most = _find_widest(sets, slots, left)
        if own != NOTHING and _count(sets, own, left) == most:
            best = own
        n_stale = 1 if best != own else n_stale + 1
        slots[slot] = best
        slot = (slot + 1) % len(slots)


def find_cover(sets: Bits, chosen: Ints) -> Ints:
    """Fill up a choice of sets greedily, then exchange one set at a time until no exchange widens the union.

    ``sets`` has a row of words per set; ``chosen`` has the set in each slot, -1 where a slot is empty, behind all
    others. Returns the chosen sets, as many as there are slots or as help.
    """
    slots = chosen.astype(np.intp)
    _find_cover(sets, slots, np.empty(sets.shape[1], dtype=np.uint64))
    return slots[slots != NOTHING]
