"""Steps of the Lagrangian dual of maximum coverage, for models so small that a call of NumPy would take longer."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints
from oleander.kernels.compiling import compiled, reads, writes

Columns = NDArray[np.int32]

STARTS, COLUMNS, ROWS, WEIGHTS = (reads(kind, 1) for kind in (types.intp, types.int32, types.intp, types.float64))
LINE, FLAGS, NUMBER, VALUE = writes(types.float64, 1), writes(types.bool_, 1), types.intp, types.float64

# Positions of the numbers that the volume algorithm carries from step to step.
BOUND, THRESHOLD, FACTOR, STALLS, N_MADE, IS_DONE = range(6)


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


@compiled(STARTS, COLUMNS, ROWS, NUMBER, LINE, LINE, LINE, FLAGS, LINE, is_inner=True)
def _buy(
    starts: Ints,
    columns: Columns,
    rows: Ints,
    n_bought: int,
    multipliers: Floats,
    prices: Floats,
    work: Floats,
    is_bought: Bools,
    used: Floats,
) -> float:
    """Price every candidate, buy the best, count how often each point is bought, and return the smallest price."""
    for i in range(len(rows)):
        total = 0.0
        for entry in range(starts[rows[i]], starts[rows[i] + 1]):
            total += multipliers[np.uint32(columns[entry])]
        prices[i] = total
    last = _mark_largest(prices, n_bought, work, is_bought)
    for point in range(len(used)):
        used[point] = 0.0
    for i in range(len(rows)):
        if is_bought[i]:
            for entry in range(starts[rows[i]], starts[rows[i] + 1]):
                used[np.uint32(columns[entry])] += 1.0
    return last


@compiled(
    *(STARTS, COLUMNS, ROWS, WEIGHTS, NUMBER, VALUE, NUMBER),
    *(LINE, LINE, LINE, LINE, FLAGS, LINE, LINE, FLAGS, LINE, LINE),
)
def _take_polyak_steps(
    starts: Ints,
    columns: Columns,
    rows: Ints,
    weights: Floats,
    n_left: int,
    needed: float,
    n_steps: int,
    multipliers: Floats,
    best_multipliers: Floats,
    best_prices: Floats,
    times_bought: Floats,
    choice: Bools,
    prices: Floats,
    work: Floats,
    is_bought: Bools,
    used: Floats,
    slope: Floats,
) -> tuple[float, float, float]:
    n_rows, n_points = len(rows), len(weights)
    total = 0.0
    for point in range(n_points):
        total += weights[point]
    best_bound, threshold, first_bound, value = np.inf, 0.0, np.inf, -np.inf
    for step in range(n_steps):
        last = _buy(starts, columns, rows, n_left, multipliers, prices, work, is_bought, used)
        bound, reached, length = total, 0.0, 0.0
        for i in range(n_rows):
            if is_bought[i]:
                bound += prices[i]
                times_bought[i] += 1.0
        for point in range(n_points):
            bound -= multipliers[point]
            if used[point] > 0.0:
                reached += weights[point]
            # Where the multiplier is at its limit, counting once or not at all is the same; so it is without weight.
            if multipliers[point] < weights[point]:
                slope[point] = used[point] - 1.0
            elif weights[point] > 0.0:
                slope[point] = used[point] - min(used[point], 1.0)
            else:
                slope[point] = 0.0
            length += slope[point] * slope[point]
        if reached > value:
            value = reached
            for i in range(n_rows):
                choice[i] = is_bought[i]
        if bound < best_bound:
            best_bound, threshold = bound, last
            for i in range(n_rows):
                best_prices[i] = prices[i]
            for point in range(n_points):
                best_multipliers[point] = multipliers[point]
        if step == 0:
            first_bound = bound
        if best_bound < needed or length == 0.0:
            break
        # Half the steps without half the way: this descent will not get there, and branching will.
        if 2 * step >= n_steps and best_bound - needed > 0.5 * (first_bound - needed):
            break
        # Past the mark by half: the value needed is a mark to get under, not to reach.
        reach = 1.6 * max(bound - needed, 1e-9 * total) / length
        for point in range(n_points):
            multipliers[point] = min(max(multipliers[point] - reach * slope[point], 0.0), weights[point])
    return best_bound, threshold, value


@compiled(
    *(STARTS, COLUMNS, ROWS, WEIGHTS, NUMBER, VALUE, NUMBER),
    *(LINE, LINE, LINE, LINE, LINE, LINE, LINE, FLAGS, LINE, LINE),
)
def _take_volume_steps(
    starts: Ints,
    columns: Columns,
    rows: Ints,
    weights: Floats,
    n_bought: int,
    target: float,
    n_steps: int,
    multipliers: Floats,
    prices: Floats,
    slope: Floats,
    average: Floats,
    state: Floats,
    trial_prices: Floats,
    work: Floats,
    is_bought: Bools,
    trial: Floats,
    used: Floats,
) -> None:
    n_rows, n_points = len(rows), len(weights)
    total = 0.0
    for point in range(n_points):
        total += weights[point]
    for _ in range(n_steps):
        length = 0.0
        for point in range(n_points):
            length += slope[point] * slope[point]
        if length <= 1e-12 or state[FACTOR] < 1e-4:
            state[IS_DONE] = 1.0
            break
        state[N_MADE] += 1.0
        reach = state[FACTOR] * max(state[BOUND] - target, 1e-6 * abs(state[BOUND])) / length
        for point in range(n_points):
            trial[point] = min(max(multipliers[point] - reach * slope[point], 0.0), weights[point])
        last = _buy(starts, columns, rows, n_bought, trial, trial_prices, work, is_bought, used)
        bound = total
        for i in range(n_rows):
            average[i] *= 0.9
            if is_bought[i]:
                bound += trial_prices[i]
                average[i] += 0.1
        agreement = 0.0
        for point in range(n_points):
            bound -= trial[point]
            fresh = used[point] - (1.0 if trial[point] < weights[point] else min(used[point], 1.0))
            slope[point] = 0.9 * slope[point] + 0.1 * fresh
            agreement += fresh * slope[point]
        if bound < state[BOUND]:
            # A step along a slope that still agrees with the new one could have been longer.
            if agreement > 0.0:
                state[FACTOR] = min(2.0, state[FACTOR] * 1.1)
            state[BOUND], state[STALLS] = bound, 0.0
            state[THRESHOLD] = last if n_bought < n_rows else 0.0
            for point in range(n_points):
                multipliers[point] = trial[point]
            for i in range(n_rows):
                prices[i] = trial_prices[i]
        else:
            state[STALLS] += 1.0
            if state[STALLS] >= 15.0:
                state[FACTOR], state[STALLS] = state[FACTOR] * 0.66, 0.0


def take_polyak_steps(
    starts: Ints,
    columns: Columns,
    rows: Ints,
    weights: Floats,
    n_left: int,
    start: Floats,
    needed: float,
    n_steps: int,
) -> tuple[tuple[float, float, float], tuple[Floats, Floats, Floats, Bools]]:
    """Take Polyak steps on some candidates until the bound is under the value needed, or the steps are used up.

    ``starts`` and ``columns`` are the points of each candidate, as in a matrix stored by rows; ``rows`` are the
    candidates, of which ``n_left`` are bought. ``start`` is where the multipliers begin. Returns the best bound, the
    smallest price bought there, and the largest weight that a step covered; and the multipliers and prices of the best
    bound, how often each candidate was bought, and a mask of those bought at the step that covered most.
    """
    best_prices, times_bought, prices, work = np.zeros((4, len(rows)))
    choice, is_bought = np.zeros((2, len(rows)), dtype=bool)
    multipliers, best_multipliers, used, slope = np.zeros((4, len(weights)))
    multipliers[:] = start
    found = best_multipliers, best_prices, times_bought, choice
    given = starts, columns, rows, weights, n_left, needed, n_steps
    return _take_polyak_steps(*given, multipliers, *found, prices, work, is_bought, used, slope), found


def take_volume_steps(
    starts: Ints,
    columns: Columns,
    weights: Floats,
    n_bought: int,
    target: float,
    n_steps: int,
    multipliers: Floats,
    prices: Floats,
    slope: Floats,
    average: Floats,
    state: Floats,
) -> None:
    """Take steps of the volume algorithm, in place: the best multipliers, what they prove, and the next slope.

    ``starts`` and ``columns`` are as above; ``n_bought`` candidates are bought. ``target`` is the best value known: the
    length of a step is measured against it. ``state`` holds the bound, the smallest price that is bought, the factor of
    a step, stalls, steps made, and whether another step would change nothing.
    """
    rows, is_bought = np.arange(len(prices)), np.empty(len(prices), dtype=bool)
    trial_prices, work = np.empty((2, len(prices)))
    trial, used = np.empty((2, len(weights)))
    given = starts, columns, rows, weights, n_bought, target, n_steps, multipliers, prices, slope, average, state
    _take_volume_steps(*given, trial_prices, work, is_bought, trial, used)
