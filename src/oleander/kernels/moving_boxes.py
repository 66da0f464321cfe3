"""Move the sides of a box to where it gains most: freely, or under a floor on the share of right draws.

Every draw is of one of a few kinds, such as right and not yet covered, and each kind has its worth. So draws are only
counted while a box moves: counts are whole numbers, and their order changes nothing.
"""

from collections.abc import Sequence

import numpy as np
from numba import types
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints
from oleander.kernels.compiling import compiled, reads, writes

Cells = NDArray[np.uint16]
Kinds = NDArray[np.uint8]
Small = NDArray[np.int32]

# Sums that differ by less are equal.
ROUNDING = 1e-9
# A move must gain this much, and this share of the penalty.
LEAST_GAIN, LEAST_SHARE = 1e-6, 0.02
# What a failed cut adds to a draw's sum, beside the number of its column: one failed cut names its column.
ONE_FAIL = 2**16

# Types of arguments. Functions that kernels call have them too: otherwise numba compiles some of them twice.
CELLS, SIZES, LINE, NUMBER = reads(types.uint16, 2, "C"), reads(types.intp, 1), writes(types.intp, 1), types.intp
FLAGS, ALLOWED, TAKEN = reads(types.bool_, 1), writes(types.bool_, 2), writes(types.bool_, 1)
SMALL, KINDS, COUNTS = writes(types.int32, 1), reads(types.uint8, 1), writes(types.int32, 3)
DRAWS, DRAWS_BY_CODE, STARTS = reads(types.int32, 1, "C"), reads(types.int32, 2, "C"), reads(types.intp, 2, "C")
AMOUNTS, VALUE = writes(types.float64, 2), types.float64


@compiled(CELLS, SIZES, ALLOWED, TAKEN, KINDS, SMALL, SMALL, SMALL, SMALL, COUNTS, is_inner=True)
def _place(
    cells: Cells,
    n_codes: Ints,
    allowed: Bools,
    is_cut: Bools,
    kinds: Kinds,
    changes: Small,
    fails: Small,
    inside: Small,
    beside: Small,
    counts: Small,
) -> None:
    """Count draws by column, code and kind: those in the box, and those that only the column's own cut keeps out."""
    for line in range(len(is_cut)):
        if is_cut[line]:
            for code in range(n_codes[line] + 1):
                changes[code] = 0 if allowed[line, code] else ONE_FAIL + line
            for draw in range(len(fails)):
                fails[draw] += changes[cells[line, draw]]
    n_inside = n_beside = 0
    # Every draw is written down, and its place kept only where it counts: no branch that a processor guesses wrong.
    for draw in range(len(kinds)):
        inside[n_inside] = beside[n_beside] = draw
        n_inside += fails[draw] == 0
        n_beside += (fails[draw] != 0) & (fails[draw] < 2 * ONE_FAIL)
    # Places without a sign spare the compiled code a look at the other end of the array.
    for i in range(n_beside):
        place = np.uint64(beside[i])
        own_cut = np.uint64(fails[place] - ONE_FAIL)
        counts[own_cut, cells[own_cut, place], kinds[place]] += 1
    for line in range(len(cells)):
        for i in range(n_inside):
            place = np.uint64(inside[i])
            counts[line, cells[line, place], kinds[place]] += 1


@compiled(CELLS, KINDS, DRAWS, NUMBER, NUMBER, SMALL, COUNTS, is_inner=True)
def _change(by_draw: Cells, kinds: Kinds, draws: Small, line: int, change: int, fails: Small, counts: Small) -> None:
    """Add to the failed cuts of some draws, or take away, that of a column, and count the draws where they are now."""
    for i in range(len(draws)):
        place = np.uint64(draws[i])
        fewer = min(fails[place], fails[place] + change)
        fails[place] += change
        # A draw that comes in counted for this column before; one that other cuts keep out counts for none of them.
        if fewer == 0:
            for other in range(by_draw.shape[1]):
                if other != line:
                    counts[other, by_draw[place, np.uint64(other)], kinds[place]] += -1 if change > 0 else 1
        elif fewer < 2 * ONE_FAIL:
            own_cut = np.uint64(fewer - ONE_FAIL)
            counts[own_cut, by_draw[place, own_cut], kinds[place]] += -1 if change > 0 else 1


@compiled(AMOUNTS, NUMBER, types.bool_, VALUE, AMOUNTS, TAKEN, is_inner=True)
def _find_free(
    sums: Floats, n_codes: int, is_number: bool, penalty: float, before: Floats, taken: Bools
) -> tuple[bool, float]:
    """Take the run of bins with the largest gain, the longest of equals, or all levels that lose nothing.

    Every code is taken where the cut does not gain the penalty.
    """
    gains, prefix, lowest = sums[0], before[0], before[1]
    prefix[0] = lowest[0] = largest = total = best = 0.0
    # The code after the last bin is that of missing, and stands for a run of no bins.
    for code in range(n_codes + 1):
        prefix[code + 1] = prefix[code] + (gains[code] if code < n_codes else 0.0)
        lowest[code + 1] = min(lowest[code], prefix[code + 1])
        largest = max(largest, prefix[code + 1] - lowest[code])
        total += gains[code]
        best += max(gains[code], 0.0)
    last, first = n_codes, 0
    while prefix[last + 1] - lowest[last] < largest - ROUNDING:
        last -= 1
    while prefix[first] > lowest[last] + ROUNDING:
        first += 1
    if is_number:
        best = largest + max(gains[n_codes], 0.0)
    is_whole = total >= best - penalty
    for code in range(n_codes + 1):
        is_in_run = first <= code <= last if is_number and code < n_codes else gains[code] >= 0.0
        taken[code] = is_whole or is_in_run
    return True, total if is_whole else best - penalty


@compiled(types.bool_, VALUE, types.bool_, VALUE, is_inner=True)
def _is_better(is_kept: bool, worth: float, was_kept: bool, least: float) -> bool:
    """Return whether a move is better: one that keeps the floor beats one that does not."""
    return worth > least if is_kept == was_kept else is_kept


@compiled(VALUE, VALUE, VALUE, is_inner=True)
def _measure(gain: float, slack: float, penalty: float) -> tuple[bool, float]:
    """Return whether a box keeps the floor, and its worth: what it gains, or its slack where it is under the floor.

    A box that gains nothing, such as one without a draw, is worth no move, however faithful it is.
    """
    if gain <= 0.0:
        return False, -np.inf
    return (True, gain - penalty) if slack >= -ROUNDING else (False, slack)


@compiled(AMOUNTS, NUMBER, VALUE, LINE, AMOUNTS, TAKEN, is_inner=True)
def _find_range(
    sums: Floats, n_codes: int, penalty: float, starts: Ints, before: Floats, taken: Bools
) -> tuple[bool, float]:
    """Take the best range of a number under the floor, with missing values or without."""
    # Missing values alone are a range without bins.
    best_is_kept, best = _measure(sums[0, n_codes], sums[1, n_codes], penalty)
    best_first, best_last, best_missing = 0, -1, 1
    for missing in (1, 0):
        if missing == 0 and sums[0, n_codes] == 0.0 and sums[1, n_codes] == 0.0:
            break
        # The sums before each bin. As gains are not negative, the longest range that ends in a bin and keeps the floor
        # gains most, and it begins where the slack before is lower than before every earlier bin.
        gain = slack = 0.0
        n_starts = 0
        for code in range(n_codes):
            before[0, code], before[1, code] = gain, slack
            if n_starts == 0 or slack < before[1, starts[n_starts - 1]] - ROUNDING:
                starts[n_starts] = code
                n_starts += 1
            gain += sums[0, code]
            slack += sums[1, code]
            own_gain = gain + missing * sums[0, n_codes]
            own_slack = slack + missing * sums[1, n_codes]
            low, high = 0, n_starts - 1
            while low < high:
                middle = (low + high) // 2
                if own_slack - before[1, starts[middle]] >= -ROUNDING:
                    high = middle
                else:
                    low = middle + 1
            first = starts[low]
            is_whole = missing == 1 and first == 0 and code == n_codes - 1
            is_kept, worth = _measure(
                own_gain - before[0, first], own_slack - before[1, first], 0.0 if is_whole else penalty
            )
            # Of equal ranges the longest is the one least cut to these draws.
            is_longer = missing == best_missing and code - first > best_last - best_first
            if _is_better(is_kept, worth, best_is_kept, best + (-ROUNDING if is_longer else ROUNDING)):
                best_is_kept, best = is_kept, worth
                best_first, best_last, best_missing = first, code, missing
    for code in range(n_codes):
        taken[code] = best_first <= code <= best_last
    taken[n_codes] = best_missing == 1
    return best_is_kept, best


@compiled(AMOUNTS, NUMBER, VALUE, TAKEN, is_inner=True)
def _find_levels(sums: Floats, n_codes: int, penalty: float, taken: Bools) -> tuple[bool, float]:
    """Take the levels without a loss, then those that gain most for the slack that they use, as long as it lasts."""
    gain = slack = 0.0
    n_taken, chosen = 0, -1
    for code in range(n_codes + 1):
        taken[code] = sums[1, code] >= 0.0
        if taken[code]:
            gain += sums[0, code]
            slack += sums[1, code]
            n_taken += 1
    while True:
        best, chosen = 0.0, -1
        for code in range(n_codes + 1):
            if not taken[code] and slack + sums[1, code] >= -ROUNDING:
                ratio = sums[0, code] / -sums[1, code]
                if ratio > best:
                    best, chosen = ratio, code
        if chosen < 0:
            break
        taken[chosen] = True
        gain += sums[0, chosen]
        slack += sums[1, chosen]
        n_taken += 1
    return _measure(gain, slack, 0.0 if n_taken == n_codes + 1 else penalty)


@compiled(
    *(CELLS, CELLS, DRAWS_BY_CODE, STARTS, SIZES, FLAGS, writes(types.bool_, 3), ALLOWED, KINDS),
    *(writes(types.float64, 3), FLAGS, VALUE, NUMBER, NUMBER),
    *(writes(types.int32, 2), SMALL, COUNTS, writes(types.float64, 3), ALLOWED, LINE),
)
def _move(
    cells: Cells,
    by_draw: Cells,
    by_code: Small,
    starts: Ints,
    n_codes: Ints,
    is_number: Bools,
    allowed: Bools,
    is_cut: Bools,
    kinds: Kinds,
    worths: Floats,
    has_floor: Bools,
    penalty: float,
    max_cuts: int,
    max_moves: int,
    of_draws: Small,
    changes: Small,
    counts: Small,
    work: Floats,
    found: Bools,
    first_bins: Ints,
) -> None:
    """Move a box in one way after another, from line 0 of ``allowed`` and ``is_cut``; line k + 1 is written by way k.

    One call of all ways: a thread that comes back from a kernel may have to wait for others.
    """
    sums, before, taken, best_taken, fails = work[0], work[1], found[0], found[1], of_draws[0]
    _place(cells, n_codes, allowed[0], is_cut[0], kinds, changes, fails, of_draws[1], of_draws[2], counts)
    for way in range(len(worths)):
        own, cuts, n_cuts = allowed[way + 1], is_cut[way + 1], 0
        for line in range(len(cuts)):
            cuts[line] = is_cut[way, line]
            n_cuts += cuts[line]
            for code in range(own.shape[1]):
                own[line, code] = allowed[way, line, code]
        for _ in range(max_moves):
            best_is_kept, best, best_line = True, 0.0, -1
            for line in range(len(n_codes)):
                inside = kept = 0.0
                for code in range(n_codes[line] + 1):
                    sums[0, code] = sums[1, code] = 0.0
                    for kind in range(worths.shape[2]):
                        sums[0, code] += counts[line, code, kind] * worths[way, 0, kind]
                        sums[1, code] += counts[line, code, kind] * worths[way, 1, kind]
                    if own[line, code]:
                        inside += sums[0, code]
                        kept += sums[1, code]
                if line == 0:
                    best_is_kept = kept >= -ROUNDING
                    best = LEAST_GAIN + (inside + LEAST_SHARE * penalty if best_is_kept else kept)
                if n_cuts >= max_cuts and not cuts[line]:
                    continue
                if not has_floor[way]:
                    is_kept, worth = _find_free(sums, n_codes[line], is_number[line], penalty, before, taken)
                elif is_number[line]:
                    is_kept, worth = _find_range(sums, n_codes[line], penalty, first_bins, before, taken)
                else:
                    is_kept, worth = _find_levels(sums, n_codes[line], penalty, taken)
                # A cut column has paid for its cut.
                worth += penalty if cuts[line] and is_kept else 0.0
                if _is_better(is_kept, worth, best_is_kept, best):
                    best_is_kept, best, best_line = is_kept, worth, line
                    for code in range(n_codes[line] + 1):
                        best_taken[code] = taken[code]
            if best_line < 0:
                break
            n_cuts -= cuts[best_line]
            cuts[best_line] = False
            for code in range(n_codes[best_line] + 1):
                if own[best_line, code] != best_taken[code]:
                    draws = by_code[best_line, starts[best_line, code] : starts[best_line, code + 1]]
                    change = ONE_FAIL + best_line
                    _change(by_draw, kinds, draws, best_line, -change if best_taken[code] else change, fails, counts)
                own[best_line, code] = best_taken[code]
                cuts[best_line] = cuts[best_line] or not best_taken[code]
            n_cuts += cuts[best_line]


class CodedDraws:
    """Draws as bin codes of some columns, at most 64, along which boxes move.

    ``cells`` are by column and draw; ``n_codes`` is the number of bins or levels, which is also the code of missing.
    """

    def __init__(self, cells: Cells, n_codes: Ints, is_number: Bools) -> None:
        self.cells, self.n_codes, self.is_number = cells, n_codes, is_number
        self.width = int(n_codes.max(initial=0)) + 1
        # A draw that a move lets in is counted in every column, so its codes lie next to each other.
        self._by_draw = np.ascontiguousarray(cells.T)
        # The draws in the order of their codes in each column, and the place of the first draw with each code.
        self._by_code = cells.argsort(axis=1, kind="stable").astype(np.int32)
        codes = np.arange(self.width + 1)
        ordered = zip(cells, self._by_code, strict=True)
        self._starts = np.array([line[own].searchsorted(codes) for line, own in ordered], dtype=np.intp)

    def move_box(
        self,
        allowed: Bools,
        is_cut: Bools,
        kinds: Kinds,
        ways: Sequence[tuple[Floats, Floats | None]],
        penalty: float,
        max_cuts: int,
        max_moves: int,
        inside: Bools | None = None,
    ) -> list[tuple[Bools, Bools]]:
        """Move a box by the best moves of single columns until none gains enough: in one way, and then in the next.

        With all other columns fixed, the best range of a number is found exactly. Without a floor, so is the best set
        of levels; under one, levels are taken by the gain for the slack that they use. A box under the floor moves
        towards it first.

        The box allows the codes in ``allowed``, of shape (n_columns, width), and less than every code in the columns
        in ``is_cut``; draws outside ``inside`` are kept out by other columns. A way has two numbers for each kind of
        draws: what the box gains by one inside, not negative where there is a floor, and what it adds to the slack of
        the box, which stays at zero or over: 1 − θ for a right draw and −θ for a wrong one, for a floor of θ; None for
        no floor. A cut must gain the ``penalty`` to be worth reading; a box with more than ``max_cuts`` keeps its cuts
        or loses some.

        Returns after each way the codes that the box allows, and whether each column is cut.
        """
        n_ways, n_kinds = len(ways), len(ways[0][0])
        # The box as it is given, and after each way.
        boxes = np.empty((n_ways + 1, *allowed.shape), dtype=bool)
        cuts = np.empty((n_ways + 1, len(is_cut)), dtype=bool)
        boxes[0], cuts[0] = allowed, is_cut
        counts, changes = np.zeros((*allowed.shape, n_kinds), np.int32), np.empty(self.width, np.int32)
        # For each draw its failed cuts, and room for lists of draws.
        of_draws = np.zeros((3, len(kinds)), dtype=np.int32)
        if inside is not None:
            # As if two more cuts kept them out.
            of_draws[0, ~inside] = 2 * ONE_FAIL
        worths, has_floor = np.zeros((n_ways, 2, n_kinds)), np.zeros(n_ways, dtype=bool)
        for way, (gains, slacks) in enumerate(ways):
            worths[way, 0] = gains
            if slacks is not None:
                worths[way, 1], has_floor[way] = slacks, True
        # Running sums are one longer than a line of codes.
        sums, taken = np.empty((2, 2, self.width + 1)), np.empty((2, self.width), dtype=bool)
        columns = self.cells, self._by_draw, self._by_code, self._starts, self.n_codes, self.is_number
        prices = worths, has_floor, penalty, max_cuts, max_moves
        room = of_draws, changes, counts, sums, taken, np.empty(self.width, dtype=np.intp)
        _move(*(*columns, boxes, cuts, kinds, *prices, *room))
        return list(zip(boxes[1:], cuts[1:], strict=True))
