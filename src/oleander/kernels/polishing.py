"""Move the sides of a box to where it gains most, and measure what each box of a choice adds."""

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


@compiled(
    reads(types.bool_, 2, "C"), reads(types.intp, 1), reads(types.float64, 2, "C"), types.intp, writes(types.float64, 1)
)
def _reward(covers: Bools, labels: Ints, values: Floats, box: int, reward: Floats) -> None:
    for i in range(len(reward)):
        reward[i] = values[labels[box], i]
        for other in range(len(labels)):
            if other != box and covers[other, i]:
                # A draw that a later box would answer gains only the difference.
                reward[i] = 0.0 if other < box else reward[i] - values[labels[other], i]
                break


@compiled(
    reads(types.bool_, 2, "C"),
    reads(types.intp, 1),
    reads(types.intp, 1),
    reads(types.float64, 2, "C"),
    writes(types.float64, 1),
)
def _lose(covers: Bools, kept: Ints, labels: Ints, values: Floats, losses: Floats) -> None:
    for i in range(covers.shape[1]):
        first = -1
        for k in range(len(kept)):
            if not covers[kept[k], i]:
                continue
            if first >= 0:
                losses[first] -= values[labels[kept[k]], i]
                break
            first = k
            losses[first] += values[labels[kept[k]], i]


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


def find_reward(covers: Bools, labels: Ints, values: Floats, box: int) -> Floats:
    """Return what a box of a choice gains by each draw, were it inside: 0 where a box before it answers.

    Parameters
    ----------
    covers : bool array of shape (n_boxes, n_draws)
    labels : int array of shape (n_boxes,)
    values : array of shape (n_classes, n_draws)
        What each label is worth on each draw.
    box : int
    """
    reward = np.empty(covers.shape[1])
    _reward(covers, labels, values, box, reward)
    return reward


def measure_losses(covers: Bools, kept: Ints, labels: Ints, values: Floats) -> Floats:
    """Return what the choice of the kept boxes, read in order, loses without each of them.

    Parameters
    ----------
    covers : bool array of shape (n_boxes, n_draws)
    kept : int array of shape (n_kept,)
        Boxes in the order in which they answer.
    labels : int array of shape (n_boxes,)
    values : array of shape (n_classes, n_draws)
    """
    losses = np.zeros(len(kept))
    _lose(covers, kept, labels, values, losses)
    return losses
