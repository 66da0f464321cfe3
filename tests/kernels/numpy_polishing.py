"""The polishing of a box in NumPy, move by move: the oracle of the kernel."""

import numpy as np

from oleander.arrays import Bools, Floats, Ints


def best_runs(sums: Floats) -> tuple[Floats, Ints, Ints]:
    """Return, per line, the largest sum of consecutive entries and the run's first and last entry.

    Of runs with equal sums the longest is taken, so that a box reaches on where there are no draws.

    Examples
    --------
    >>> largest, first, last = best_runs(np.array([[-1.0, 2.0, 0.0, 3.0, -4.0, 1.0]]))
    >>> float(largest[0]), int(first[0]), int(last[0])
    (5.0, 1, 3)
    """
    prefix = np.concatenate([np.zeros((len(sums), 1)), np.cumsum(sums, axis=1)], axis=1)
    lowest = np.minimum.accumulate(prefix, axis=1)
    best = prefix[:, 1:] - lowest[:, :-1]
    largest = best.max(axis=1)
    near = best >= largest[:, None] - 1e-9
    last = near.shape[1] - 1 - near[:, ::-1].argmax(axis=1)
    first = (prefix <= lowest[np.arange(len(sums)), last][:, None] + 1e-9).argmax(axis=1)
    return largest, first, last


def improve(
    cells: Ints,
    n_codes: Ints,
    is_number: Bools,
    allowed: Bools,
    reward: Floats,
    penalty: float,
    max_cuts: int,
    max_moves: int,
) -> Bools:
    """Return the codes that the box allows after the best moves of single columns."""
    allowed = allowed.copy()
    lines = np.arange(len(n_codes))
    for _ in range(max_moves):
        held = allowed[lines, cells]
        n_fails = (~held).sum(axis=1)
        current = float(reward[n_fails == 0].sum())
        sums = np.zeros(allowed.shape)
        for line in lines:
            # Draws inside, and draws that only this column's cut keeps out.
            here = n_fails - ~held[:, line] == 0
            sums[line] = np.bincount(cells[here, line], weights=reward[here], minlength=allowed.shape[1])
        is_cut = np.array([not allowed[line, : n_codes[line] + 1].all() for line in lines])
        missing = sums[lines, n_codes]
        known = sums.copy()
        known[lines, n_codes] = 0.0
        runs, first, last = best_runs(known)
        best = np.where(is_number, runs + np.maximum(missing, 0.0), np.maximum(sums, 0.0).sum(axis=1))
        # A cut column has paid for its cut, and gets the penalty back when the cut goes.
        moved = best - current - np.where(is_cut, 0.0, penalty)
        dropped = np.where(is_cut, sums.sum(axis=1) - current + penalty, -np.inf)
        gains = np.maximum(moved, dropped)
        if is_cut.sum() >= max_cuts:
            gains[~is_cut] = -np.inf
        line = int(gains.argmax())
        if gains[line] <= 1e-6 + 0.02 * penalty:
            break
        codes = np.arange(n_codes[line] + 1)
        if dropped[line] >= moved[line]:
            new = np.ones(len(codes), dtype=bool)
        elif is_number[line]:
            new = (codes >= first[line]) & (codes <= last[line])
            new[-1] = missing[line] >= 0
        else:
            new = sums[line, codes] >= 0
        allowed[line, codes] = new
    return allowed
