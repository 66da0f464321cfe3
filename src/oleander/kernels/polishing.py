"""Move the sides of a box to where it gains most: at a price for wrong draws, or under a floor on the share right."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints
from oleander.kernels.compiling import compiled, reads, writes

Cells = NDArray[np.uint16]

# Sums that differ by less are equal.
ROUNDING = 1e-9
# A move must gain this much, and this share of the penalty.
LEAST_GAIN, LEAST_SHARE = 1e-6, 0.02

# Types of arguments. Functions that kernels call have them too: otherwise numba compiles some of them twice.
CELLS, SIZES, LINE, NUMBER = reads(types.uint16, 2, "C"), reads(types.intp, 1), writes(types.intp, 1), types.intp
FLAGS, ALLOWED, IS_CUT = reads(types.bool_, 1), writes(types.bool_, 2), writes(types.bool_, 1)
REWARD, SUMS, PREFIX = reads(types.float64, 1), writes(types.float64, 2), writes(types.float64, 1)
VALUE, FOUND = types.float64, PREFIX


@compiled(CELLS, ALLOWED, LINE, NUMBER, NUMBER, NUMBER, LINE)
def _count_fails(cells: Cells, allowed: Bools, live: Ints, n_live: int, line: int, change: int, n_fails: Ints) -> None:
    """Add ``change`` to the failed cuts of every draw that a column's cut keeps out."""
    for i in range(n_live):
        n_fails[i] += 0 if allowed[line, cells[live[i], line]] else change


@compiled(CELLS, ALLOWED, IS_CUT, REWARD, LINE, NUMBER, LINE, SUMS, SUMS)
def _sum_rewards(
    cells: Cells,
    allowed: Bools,
    is_cut: Bools,
    reward: Floats,
    live: Ints,
    n_live: int,
    n_fails: Ints,
    sums: Floats,
    near: Floats,
) -> float:
    """Sum rewards by column and code: inside the box, and of draws that only the column's own cut keeps out.

    Returns the sum inside the box.
    """
    n_lines, width = sums.shape
    for line in range(n_lines):
        for code in range(width):
            sums[line, code] = near[line, code] = 0.0
    current = 0.0
    for i in range(n_live):
        if n_fails[i] > 1:
            continue
        draw = np.uint64(live[i])
        worth = reward[draw]
        if n_fails[i] == 0:
            current += worth
            for line in range(n_lines):
                sums[line, cells[draw, line]] += worth
            continue
        line = 0
        while allowed[line, cells[draw, line]]:
            line += 1
        near[line, cells[draw, line]] += worth
    for line in range(n_lines):
        for code in range(width if is_cut[line] else 0):
            sums[line, code] += near[line, code]
    return current


@compiled(SUMS, NUMBER, NUMBER, PREFIX, PREFIX)
def _find_run(sums: Floats, line: int, n_codes: int, prefix: Floats, lowest: Floats) -> tuple[float, int, int]:
    """Return the largest sum of consecutive bins of a line, and the first and last bin of the longest such run."""
    prefix[0] = lowest[0] = largest = 0.0
    # The code after the last bin is that of missing, and stands for a run of no bins.
    for code in range(n_codes + 1):
        prefix[code + 1] = prefix[code] + (sums[line, code] if code < n_codes else 0.0)
        lowest[code + 1] = min(lowest[code], prefix[code + 1])
        largest = max(largest, prefix[code + 1] - lowest[code])
    last = n_codes
    while prefix[last + 1] - lowest[last] < largest - ROUNDING:
        last -= 1
    first = 0
    while prefix[first] > lowest[last] + ROUNDING:
        first += 1
    return largest, first, last


@compiled(
    CELLS,
    SIZES,
    FLAGS,
    ALLOWED,
    IS_CUT,
    REWARD,
    types.float64,
    NUMBER,
    NUMBER,
    writes(types.float64, 3),
    writes(types.intp, 2),
)
def _improve(
    cells: Cells,
    n_codes: Ints,
    is_number: Bools,
    allowed: Bools,
    is_cut: Bools,
    reward: Floats,
    penalty: float,
    max_cuts: int,
    max_moves: int,
    work: Floats,
    draws: Ints,
) -> None:
    sums, near, prefix, lowest = work[0], work[1], work[2, 0], work[3, 0]
    live, n_fails, n_live, n_cuts = draws[0], draws[1], 0, 0
    # Draws without reward, most of all those that other boxes answer, change nothing.
    for draw in range(len(reward)):
        live[n_live], n_fails[n_live] = draw, 0
        n_live += reward[draw] != 0.0
    for line in range(len(is_cut)):
        if is_cut[line]:
            n_cuts += 1
            _count_fails(cells, allowed, live, n_live, line, 1, n_fails)
    for _ in range(max_moves):
        current = _sum_rewards(cells, allowed, is_cut, reward, live, n_live, n_fails, sums, near)
        best, line, is_dropped = -np.inf, -1, False
        for j in range(len(n_codes)):
            if n_cuts >= max_cuts and not is_cut[j]:
                continue
            moved = total = 0.0
            for code in range(n_codes[j] + 1):
                total += sums[j, code]
                moved += max(sums[j, code], 0.0)
            if is_number[j]:
                largest, _first, _last = _find_run(sums, j, n_codes[j], prefix, lowest)
                moved = largest + max(sums[j, n_codes[j]], 0.0)
            # A cut column has paid for its cut, and gets the penalty back when the cut goes.
            moved -= current + (0.0 if is_cut[j] else penalty)
            dropped = total - current + penalty if is_cut[j] else -np.inf
            if max(moved, dropped) > best:
                best, line, is_dropped = max(moved, dropped), j, dropped >= moved
        if best <= LEAST_GAIN + LEAST_SHARE * penalty:
            break
        _count_fails(cells, allowed, live, n_live, line, -1, n_fails)
        n_cuts -= is_cut[line]
        is_cut[line] = False
        _largest, first, last = _find_run(sums, line, n_codes[line], prefix, lowest)
        for code in range(n_codes[line] + 1):
            if is_dropped:
                allows = True
            elif is_number[line] and code < n_codes[line]:
                allows = first <= code <= last
            else:
                allows = sums[line, code] >= 0.0
            allowed[line, code] = allows
            is_cut[line] = is_cut[line] or not allows
        n_cuts += is_cut[line]
        _count_fails(cells, allowed, live, n_live, line, 1, n_fails)


@compiled(CELLS, ALLOWED, REWARD, REWARD, LINE, SUMS, SUMS)
def _sum_pairs(
    cells: Cells, allowed: Bools, gain: Floats, slack: Floats, n_fails: Ints, gains: Floats, slacks: Floats
) -> tuple[float, float]:
    """Sum gain and slack by column and code: of draws in the box, and of those that only that column keeps out.

    Returns both sums inside the box.
    """
    n_lines, width = gains.shape
    for line in range(n_lines):
        for code in range(width):
            gains[line, code] = slacks[line, code] = 0.0
    inside = kept = 0.0
    for draw in range(len(gain)):
        if n_fails[draw] > 1:
            continue
        if n_fails[draw] == 0:
            inside += gain[draw]
            kept += slack[draw]
            for line in range(n_lines):
                code = cells[draw, line]
                gains[line, code] += gain[draw]
                slacks[line, code] += slack[draw]
            continue
        line = 0
        while allowed[line, cells[draw, line]]:
            line += 1
        gains[line, cells[draw, line]] += gain[draw]
        slacks[line, cells[draw, line]] += slack[draw]
    return inside, kept


@compiled(types.bool_, VALUE, types.bool_, VALUE)
def _is_better(is_kept: bool, worth: float, was_kept: bool, least: float) -> bool:
    """Return whether a move is better: one that keeps the floor beats one that does not."""
    return worth > least if is_kept == was_kept else is_kept


@compiled(VALUE, VALUE, VALUE)
def _measure(gain: float, slack: float, penalty: float) -> tuple[bool, float]:
    """Return whether a box keeps the floor, and its worth: what it gains, or its slack where it is under the floor.

    A box that gains nothing, such as one without a draw, is worth no move, however faithful it is.
    """
    if gain <= 0.0:
        return False, -np.inf
    return (True, gain - penalty) if slack >= -ROUNDING else (False, slack)


@compiled(SUMS, SUMS, NUMBER, NUMBER, VALUE, LINE, PREFIX, PREFIX, FOUND)
def _find_range(
    gains: Floats,
    slacks: Floats,
    line: int,
    n_codes: int,
    penalty: float,
    starts: Ints,
    gain_to: Floats,
    slack_to: Floats,
    found: Floats,
) -> None:
    """Find the best range of a number: whether it keeps the floor, its worth, first and last bin, missing or not.

    Its worth is minus infinity where no range gains anything.
    """
    # Missing values alone are a range without bins.
    found[0], found[1] = _measure(gains[line, n_codes], slacks[line, n_codes], penalty)
    found[2], found[3], found[4] = 0.0, -1.0, 1.0
    for missing in (1, 0):
        if missing == 0 and gains[line, n_codes] == 0.0 and slacks[line, n_codes] == 0.0:
            break
        # The sums before each bin. As gains are not negative, the longest range that ends in a bin and keeps the floor
        # gains most, and it begins where the slack before is lower than before every earlier bin.
        gain = slack = 0.0
        n_starts = 0
        for code in range(n_codes):
            gain_to[code], slack_to[code] = gain, slack
            if n_starts == 0 or slack < slack_to[starts[n_starts - 1]]:
                starts[n_starts] = code
                n_starts += 1
            gain += gains[line, code]
            slack += slacks[line, code]
            own_gain = gain + (gains[line, n_codes] if missing else 0.0)
            own_slack = slack + (slacks[line, n_codes] if missing else 0.0)
            low, high = 0, n_starts - 1
            while low < high:
                middle = (low + high) // 2
                if own_slack - slack_to[starts[middle]] >= -ROUNDING:
                    high = middle
                else:
                    low = middle + 1
            first = starts[low]
            is_whole = missing == 1 and first == 0 and code == n_codes - 1
            is_kept, worth = _measure(
                own_gain - gain_to[first], own_slack - slack_to[first], 0.0 if is_whole else penalty
            )
            # Of equal ranges the longest is the one least cut to these draws.
            is_longer = missing == found[4] and code - first > found[3] - found[2]
            if _is_better(is_kept, worth, found[0] > 0, found[1] + (-ROUNDING if is_longer else ROUNDING)):
                found[0], found[1], found[2], found[3], found[4] = is_kept, worth, first, code, missing


@compiled(SUMS, SUMS, NUMBER, NUMBER, VALUE, IS_CUT, FOUND)
def _find_levels(
    gains: Floats, slacks: Floats, line: int, n_codes: int, penalty: float, taken: Bools, found: Floats
) -> None:
    """Take the levels without a loss, then those that gain most for the slack that they use, as long as it lasts."""
    gain = slack = 0.0
    n_taken = 0
    for code in range(n_codes + 1):
        taken[code] = slacks[line, code] >= 0.0
        if taken[code]:
            gain += gains[line, code]
            slack += slacks[line, code]
            n_taken += 1
    while True:
        best, chosen = 0.0, -1
        for code in range(n_codes + 1):
            if not taken[code] and slack + slacks[line, code] >= -ROUNDING:
                ratio = gains[line, code] / -slacks[line, code]
                if ratio > best:
                    best, chosen = ratio, code
        if chosen < 0:
            break
        taken[chosen] = True
        gain += gains[line, chosen]
        slack += slacks[line, chosen]
        n_taken += 1
    found[0], found[1] = _measure(gain, slack, 0.0 if n_taken == n_codes + 1 else penalty)


@compiled(
    CELLS,
    SIZES,
    FLAGS,
    ALLOWED,
    IS_CUT,
    REWARD,
    REWARD,
    VALUE,
    NUMBER,
    NUMBER,
    writes(types.float64, 3),
    writes(types.bool_, 1),
    LINE,
    LINE,
)
def _widen(
    cells: Cells,
    n_codes: Ints,
    is_number: Bools,
    allowed: Bools,
    is_cut: Bools,
    gain: Floats,
    slack: Floats,
    penalty: float,
    max_cuts: int,
    max_moves: int,
    work: Floats,
    taken: Bools,
    every_draw: Ints,
    n_fails: Ints,
) -> None:
    gains, slacks, found = work[0], work[1], np.empty(5)
    gain_to, slack_to, starts = work[2, 0], work[3, 0], np.empty(allowed.shape[1], dtype=np.intp)
    n_draws, n_cuts = len(gain), 0
    for line in range(len(is_cut)):
        if is_cut[line]:
            n_cuts += 1
            _count_fails(cells, allowed, every_draw, n_draws, line, 1, n_fails)
    for _ in range(max_moves):
        inside, kept = _sum_pairs(cells, allowed, gain, slack, n_fails, gains, slacks)
        best_is_kept, best_line = kept >= -ROUNDING, -1
        best = LEAST_GAIN + (inside + LEAST_SHARE * penalty if best_is_kept else kept)
        for line in range(len(n_codes)):
            if n_cuts >= max_cuts and not is_cut[line]:
                continue
            if is_number[line]:
                _find_range(gains, slacks, line, n_codes[line], penalty, starts, gain_to, slack_to, found)
            else:
                _find_levels(gains, slacks, line, n_codes[line], penalty, taken, found)
            # A cut column has paid for its cut.
            worth = found[1] + (penalty if is_cut[line] and found[0] > 0 else 0.0)
            if _is_better(found[0] > 0, worth, best_is_kept, best):
                best_is_kept, best, best_line = found[0] > 0, worth, line
        if best_line < 0:
            break
        line = best_line
        if is_number[line]:
            _find_range(gains, slacks, line, n_codes[line], penalty, starts, gain_to, slack_to, found)
            for code in range(n_codes[line]):
                taken[code] = found[2] <= code <= found[3]
            taken[n_codes[line]] = found[4] > 0
        else:
            _find_levels(gains, slacks, line, n_codes[line], penalty, taken, found)
        _count_fails(cells, allowed, every_draw, n_draws, line, -1, n_fails)
        n_cuts -= is_cut[line]
        is_cut[line] = False
        for code in range(n_codes[line] + 1):
            allowed[line, code] = taken[code]
            is_cut[line] = is_cut[line] or not taken[code]
        n_cuts += is_cut[line]
        _count_fails(cells, allowed, every_draw, n_draws, line, 1, n_fails)


def improve_box(
    cells: Cells,
    n_codes: Ints,
    is_number: Bools,
    allowed: Bools,
    is_cut: Bools,
    reward: Floats,
    penalty: float,
    max_cuts: int,
    max_moves: int,
) -> None:
    """Move a box, in place, by the best moves of single columns until none gains.

    With all other columns fixed, the best range of a number is the run of bins with the largest sum of rewards, the
    longest of equals. The best set of levels holds those whose sum is not negative. Each move is exact.

    Parameters
    ----------
    cells : uint16 array of shape (n_draws, n_columns)
        Bin codes.
    n_codes : int array of shape (n_columns,)
        The number of bins or levels, which is also the code of missing.
    is_number : bool array of shape (n_columns,)
    allowed : bool array of shape (n_columns, n_codes)
        The codes that the box allows.
    is_cut : bool array of shape (n_columns,)
        Whether the box allows less than every code.
    reward : array of shape (n_draws,)
        What the box gains by each draw inside.
    penalty : float
        What a cut must gain to be worth reading.
    max_cuts : int
        The most columns that are cut; a box that is cut along more keeps its cuts or loses some.
    max_moves : int
    """
    # The first line of the third and fourth part holds running sums, which are one longer than a line of codes.
    work = np.empty((4, len(n_codes), allowed.shape[1] + 1))
    draws = np.empty((2, len(reward) + 1), dtype=np.intp)
    _improve(cells, n_codes, is_number, allowed, is_cut, reward, penalty, max_cuts, max_moves, work, draws)


def widen_box(
    cells: Cells,
    n_codes: Ints,
    is_number: Bools,
    allowed: Bools,
    is_cut: Bools,
    gain: Floats,
    slack: Floats,
    penalty: float,
    max_cuts: int,
    max_moves: int,
) -> None:
    """Move a box, in place, to where it gains most while its slack stays at zero or over, column by column.

    With all other columns fixed, the best range of a number under the floor is found exactly; levels are taken by the
    gain for the slack that they use. A box under the floor moves towards it first.

    Parameters
    ----------
    cells, n_codes, is_number, allowed, is_cut, penalty, max_cuts, max_moves
        As in ``improve_box``.
    gain : array of shape (n_draws,)
        What the box gains by each draw inside, not negative.
    slack : array of shape (n_draws,)
        1 − θ for a draw on which the box is right and −θ for one on which it is wrong, for a floor of θ.
    """
    width, n_draws = allowed.shape[1], len(gain)
    work, taken = np.empty((4, len(n_codes), width)), np.empty(width, dtype=bool)
    every_draw, n_fails = np.arange(n_draws), np.zeros(n_draws, dtype=np.intp)
    _widen(
        cells,
        n_codes,
        is_number,
        allowed,
        is_cut,
        gain,
        slack,
        penalty,
        max_cuts,
        max_moves,
        work,
        taken,
        every_draw,
        n_fails,
    )
