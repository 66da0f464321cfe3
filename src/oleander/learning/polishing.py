"""Move the sides of chosen boxes to where they gain most on draws, one column at a time.

With all other columns fixed, the best range of one column is the run of bins with the largest sum of rewards, and the
best set of levels holds the levels with a positive sum. Each move is exact, and no move lowers the choice's worth.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints
from oleander.learning.grid import Cut, Grid, Key, mask_table, restrict

MOST_MOVES = 12
MOST_COLUMNS = 64


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


def find_useful_columns(keys: Sequence[Key]) -> Ints:
    """Return the columns that boxes are cut along, the most frequent if there are very many."""
    columns, counts = np.unique([cut[0] for key in keys for cut in key], return_counts=True)
    return np.sort(columns[np.argsort(-counts, kind="stable")[:MOST_COLUMNS]]).astype(np.intp)


class Polisher:
    """Draws as bin codes, laid out for sums of rewards by column and bin.

    Parameters
    ----------
    grid : Grid
    codes : array of shape (n_features, n_draws)
    positions : int array
        Columns that boxes may be cut along.
    """

    def __init__(self, grid: Grid, codes: NDArray[np.uint16], positions: Ints) -> None:
        self.grid, self.codes, self.positions = grid, codes, positions
        self.place = {int(position): line for line, position in enumerate(positions)}
        self.n_codes = np.array([grid.columns[j].n_codes for j in positions.tolist()], dtype=np.intp)
        self.is_number = np.array([grid.columns[j].is_number for j in positions.tolist()], dtype=bool)
        self.width = int(self.n_codes.max(initial=0)) + 1
        starts = np.arange(len(positions), dtype=np.int32) * self.width
        # One line per draw: the draws inside a box are then read as whole lines.
        self.cells = np.ascontiguousarray((codes[positions].astype(np.int32) + starts[:, None]).T)

    def holds(self, cut: Cut) -> Bools:
        """Return which draws fulfil a cut."""
        held: Bools = mask_table(cut[1], self.grid.columns[cut[0]].n_codes)[self.codes[cut[0]]]
        return held

    def covers(self, keys: Sequence[Key]) -> Bools:
        """Return which draws lie in which boxes, of shape (n_boxes, n_draws)."""
        inside = np.ones((len(keys), self.codes.shape[1]), dtype=bool)
        for line, key in zip(inside, keys, strict=True):
            for cut in key:
                line &= self.holds(cut)
        return inside

    def improve(self, key: Key, reward: Floats, penalty: float) -> Key:
        """Return the box after the best moves of single columns.

        Parameters
        ----------
        key : Key
        reward : array of shape (n_draws,)
            What the box gains by each draw inside.
        penalty : float
            What a cut must gain to be worth reading.
        """
        # Draws without reward, most of all those that other boxes answer, change nothing.
        live = np.flatnonzero(reward)
        reward = reward[live]
        holds = {cut: self.holds(cut)[live] for cut in key}
        for _ in range(MOST_MOVES):
            move = self._best_move(holds, live, reward, penalty)
            if move is None:
                break
            key = restrict(key, *move, self.grid.full_mask(move[0]))
            holds = {cut: holds[cut] if cut in holds else self.holds(cut)[live] for cut in key}
        return key

    def _best_move(self, holds: dict[Cut, Bools], live: Ints, reward: Floats, penalty: float) -> tuple[int, int] | None:
        """Return the column and new mask of the move that gains most; None if no move gains."""
        if not len(self.positions):
            return None
        n_fails = np.zeros(len(live), dtype=np.int16)
        for held in holds.values():
            n_fails += ~held
        inside = np.flatnonzero(n_fails == 0)
        current = float(reward[inside].sum())
        sums = self._sum_by_cell(live[inside], reward[inside])
        is_cut = np.zeros(len(self.positions), dtype=bool)
        for cut, held in holds.items():
            if cut[0] not in self.place:
                continue
            line = self.place[cut[0]]
            is_cut[line] = True
            # What fails this cut alone would come in if the cut were moved.
            near = np.flatnonzero((n_fails == 1) & ~held)
            codes = self.codes[cut[0]][live[near]]
            sums[line] += np.bincount(codes, weights=reward[near], minlength=self.width)
        lines = np.arange(len(sums))
        missing = sums[lines, self.n_codes]
        known = sums.copy()
        known[lines, self.n_codes] = 0.0
        runs, first, last = best_runs(known)
        best = np.where(self.is_number, runs + np.maximum(missing, 0.0), np.maximum(sums, 0.0).sum(axis=1))
        # A cut column has paid for its cut, and gets the penalty back when the cut goes.
        moved = best - current - np.where(is_cut, 0.0, penalty)
        dropped = np.where(is_cut, sums.sum(axis=1) - current + penalty, -np.inf)
        gains = np.maximum(moved, dropped)
        line = int(gains.argmax())
        if gains[line] <= 1e-6 + 0.02 * penalty:
            return None
        position, n_codes = int(self.positions[line]), int(self.n_codes[line])
        if dropped[line] >= moved[line]:
            return position, self.grid.full_mask(position)
        if self.is_number[line]:
            end = min(int(last[line]), n_codes - 1)
            mask = (1 << (end + 1)) - (1 << int(first[line]))
            return position, mask | (int(missing[line] >= 0) << n_codes)
        return position, sum(1 << code for code in range(n_codes + 1) if sums[line, code] >= 0)

    def _sum_by_cell(self, draws: Ints, reward: Floats) -> Floats:
        cells = self.cells[draws]
        repeated = np.repeat(reward, cells.shape[1])
        # Of no draws `bincount` would count whole numbers.
        sums = np.bincount(cells.ravel(), weights=repeated, minlength=self.width * len(self.positions)).astype(float)
        return sums.reshape(len(self.positions), self.width)
