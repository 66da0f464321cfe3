"""The volume algorithm on the Lagrangian dual of maximum coverage: an upper bound that falls step by step."""

from typing import TYPE_CHECKING

import numpy as np
from numba import types
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints
from oleander.kernels.compiling import compiled, find_one, reads, writes

if TYPE_CHECKING:
    from oleander.kernels.bits import PackedRows

Bits = NDArray[np.uint64]
Columns = NDArray[np.int32]

WORDS, STARTS, COLUMNS, ROWS = (
    reads(types.uint64, 2, "C"),
    *(reads(kind, 1) for kind in (types.intp, types.int32, types.intp)),
)
WEIGHTS, LINE, LINES = reads(types.float64, 1), writes(types.float64, 1), writes(types.float64, 2)
FLAGS, PAIR, NUMBER, VALUE = writes(types.bool_, 1), writes(types.bool_, 2), types.intp, types.float64

# Positions of the numbers that steps carry on.
BOUND, THRESHOLD, WIDEST, FACTOR, STALLS, N_MADE, IS_DONE = range(7)
# Matrices with a larger share of ones are read as bits, and others as lists.
DENSE = 1 / 16


@compiled(LINE, NUMBER, LINE, FLAGS, is_inner=True)
def _mark_largest(prices: Floats, n_marked: int, work: Floats, is_marked: Bools) -> float:
    """Mark the largest prices, the first of equal ones, and return the smallest that is marked; by quickselect."""
    for i in range(len(prices)):
        work[i] = prices[i]
    low, high, wanted = 0, len(prices) - 1, n_marked - 1
    while low < high:
        pivot = work[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while work[i] > pivot:
                i += 1
            while work[j] < pivot:
                j -= 1
            if i <= j:
                work[i], work[j] = work[j], work[i]
                i, j = i + 1, j - 1
        if wanted <= j:
            high = j
        elif wanted >= i:
            low = i
        else:
            break
    last = work[wanted]
    n_equal = n_marked
    for i in range(len(prices)):
        is_marked[i] = prices[i] > last
        n_equal -= is_marked[i]
    for i in range(len(prices)):
        if n_equal > 0 and prices[i] == last:
            is_marked[i] = True
            n_equal -= 1
    return last


@compiled(WORDS, STARTS, COLUMNS, NUMBER, LINE, is_inner=True)
def _weigh(words: Bits, starts: Ints, columns: Columns, row: int, weights: Floats) -> float:
    """Return the sum of the weights of a row's columns, which are listed unless the matrix is dense."""
    total = 0.0
    if len(starts):
        for entry in range(starts[row], starts[row + 1]):
            total += weights[np.uint32(columns[entry])]
        return total
    for number in range(words.shape[1]):
        word = words[row, number]
        while word:
            total += weights[np.uint64(64 * number) + find_one(word)]
            word &= word - np.uint64(1)
    return total


@compiled(WORDS, STARTS, COLUMNS, NUMBER, LINE, is_inner=True)
def _count(words: Bits, starts: Ints, columns: Columns, row: int, used: Floats) -> None:
    """Add one at each of a row's columns."""
    if len(starts):
        for entry in range(starts[row], starts[row + 1]):
            used[np.uint32(columns[entry])] += 1.0
        return
    for number in range(words.shape[1]):
        word = words[row, number]
        while word:
            used[np.uint64(64 * number) + find_one(word)] += 1.0
            word &= word - np.uint64(1)


@compiled(WORDS, STARTS, COLUMNS, ROWS, WEIGHTS, NUMBER, VALUE, NUMBER, LINES, LINES, PAIR, LINE)
def _take_steps(
    words: Bits,
    starts: Ints,
    columns: Columns,
    rows: Ints,
    weights: Floats,
    n_bought: int,
    target: float,
    n_steps: int,
    of_points: Floats,
    of_rows: Floats,
    flags: Bools,
    state: Floats,
) -> None:
    multipliers, slope, trial, used = of_points[0], of_points[1], of_points[2], of_points[3]
    prices, average, new_prices, work = of_rows[0], of_rows[1], of_rows[2], of_rows[3]
    is_bought, choice = flags[0], flags[1]
    total = 0.0
    for point in range(len(weights)):
        total += weights[point]
    for _ in range(n_steps):
        # The first step evaluates the start.
        is_first, reach, length = state[N_MADE] < 0.0, 0.0, 0.0
        if not is_first:
            for point in range(len(weights)):
                length += slope[point] * slope[point]
            if length <= 1e-12 or state[FACTOR] < 1e-4 or state[BOUND] < target:
                state[IS_DONE] = 1.0
                break
            reach = state[FACTOR] * max(state[BOUND] - target, 1e-6 * abs(state[BOUND])) / length
        state[N_MADE] += 1.0
        bound, covered, agreement, share = total, 0.0, 0.0, 1.0 if is_first else 0.1
        for point in range(len(weights)):
            trial[point] = min(max(multipliers[point] - reach * slope[point], 0.0), weights[point])
            bound -= trial[point]
            used[point] = 0.0
        for i in range(len(rows)):
            new_prices[i] = _weigh(words, starts, columns, rows[i], trial)
        last = _mark_largest(new_prices, n_bought, work, is_bought)
        for i in range(len(rows)):
            average[i] *= 1.0 - share
            if is_bought[i]:
                bound += new_prices[i]
                average[i] += share
                _count(words, starts, columns, rows[i], used)
        for point in range(len(weights)):
            covered += weights[point] if used[point] > 0.0 else 0.0
            # Where the multiplier is at its limit, counting once or not at all is the same; so it is without weight.
            once = 1.0 if trial[point] < weights[point] else min(used[point], 1.0)
            fresh = used[point] - once if weights[point] > 0.0 else 0.0
            slope[point] = (1.0 - share) * slope[point] + share * fresh
            agreement += fresh * slope[point]
        if covered > state[WIDEST]:
            state[WIDEST] = covered
            for i in range(len(rows)):
                choice[i] = is_bought[i]
        if bound < state[BOUND]:
            # A step along a slope that still agrees with the new one could have been longer.
            if agreement > 0.0 and not is_first:
                state[FACTOR] = min(2.0, state[FACTOR] * 1.1)
            state[BOUND], state[STALLS] = bound, 0.0
            state[THRESHOLD] = last if n_bought < len(rows) else 0.0
            for point in range(len(weights)):
                multipliers[point] = trial[point]
            for i in range(len(rows)):
                prices[i] = new_prices[i]
        else:
            state[STALLS] += 1.0
            if state[STALLS] >= 15.0:
                state[FACTOR], state[STALLS] = state[FACTOR] * 0.66, 0.0


class Dual:
    """Multipliers, one per point, and what they prove of the choices of ``n_bought`` of some candidates.

    ``start`` is where the multipliers begin, between 0 and the points' weights. The first steps have a length of
    ``factor`` times the one that would reach the target if the bound kept falling at its first rate. Points without
    weight are covered already.

    >>> from oleander.kernels import PackedRows
    >>> sure = PackedRows.pack(np.array([[True, True, False], [False, True, True]]), (2, 3))
    >>> dual = Dual(sure, np.ones(3), 1, np.ones(3))
    >>> dual.bound, dual.value, dual.prices.tolist()
    (2.0, 2.0, [2.0, 2.0])
    """

    def __init__(
        self,
        sure: "PackedRows",
        weights: Floats,
        n_bought: int,
        start: Floats,
        *,
        candidates: Ints | None = None,
        factor: float = 0.1,
    ) -> None:
        rows = np.arange(sure.shape[0]) if candidates is None else candidates
        is_dense = sure.nnz > DENSE * sure.shape[0] * sure.shape[1]
        lists = (np.empty(0, dtype=np.intp), np.empty(0, dtype=np.int32)) if is_dense else sure.lists
        self.sure = sure
        self._given = sure.words, *lists, rows, weights, min(n_bought, len(rows))
        self._of_points, self._of_rows = np.zeros((4, len(weights))), np.zeros((4, len(rows)))
        self._flags = np.zeros((2, len(rows)), dtype=bool)
        self._state = np.array([np.inf, 0.0, -np.inf, factor, 0.0, -1.0, 0.0])
        # The price of each candidate at the best multipliers; and how often it was bought, later steps counting more:
        # close to a solution of the linear relaxation.
        self.multipliers, self.prices, self.average = self._of_points[0], self._of_rows[0], self._of_rows[1]
        self.multipliers[:] = start
        self.take(1, 0.0)

    def take(self, n_steps: int, target: float) -> None:
        """Take steps until the bound is under the target, the best value known or the one that is needed."""
        given = *self._given, target, n_steps
        _take_steps(*given, self._of_points, self._of_rows, self._flags, self._state)
        # No choice is worth more than the bound; a candidate that comes in displaces the last one bought, whose price
        # is the threshold; and the largest weight that the candidates bought at a step cover is a value.
        self.bound, self.threshold, self.value, _, _, n_made, is_done = self._state.tolist()
        self.n_steps, self.is_done = int(n_made), bool(is_done)

    @property
    def choice(self) -> Ints:
        """The candidates bought at the step that covered most, by their positions."""
        return np.flatnonzero(self._flags[1])
