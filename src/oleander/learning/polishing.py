"""Move the sides of boxes to where they gain most on draws, one column at a time."""

from collections.abc import Callable, Sequence

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints
from oleander.learning.grid import Key, Memberships, mask_table, read_table

MOST_MOVES = 12
MOST_COLUMNS = 64
MOST_CODES = 2**16


def find_useful_columns(keys: Sequence[Key]) -> Ints:
    """Return the columns that boxes are cut along, the most frequent if there are very many."""
    columns, counts = np.unique([cut[0] for key in keys for cut in key], return_counts=True)
    return np.sort(columns[np.argsort(-counts, kind="stable")[:MOST_COLUMNS]]).astype(np.intp)


class Polisher:
    """Draws as bin codes, laid out for sums of rewards by column and bin.

    Parameters
    ----------
    draws : Memberships
    positions : int array
        Columns that boxes may be cut along.
    max_conditions : int or None
        The most columns that a box is cut along.
    """

    def __init__(self, draws: Memberships, positions: Ints, max_conditions: int | None = None) -> None:
        self.max_conditions = max_conditions
        # Narrow cells are read faster. A column with more levels than they can tell apart keeps its cuts.
        fits = [draws.grid.columns[j].n_codes < MOST_CODES for j in positions.tolist()]
        self.draws, self.positions = draws, positions[np.array(fits, dtype=bool)]
        self.line = {int(position): line for line, position in enumerate(self.positions)}
        columns = [draws.grid.columns[j] for j in self.positions.tolist()]
        self.n_codes = np.array([column.n_codes for column in columns], dtype=np.intp)
        self.is_number = np.array([column.is_number for column in columns], dtype=bool)
        # One line per draw: the draws inside a box are then read as whole lines.
        self.cells = np.ascontiguousarray(draws.codes[self.positions].T, dtype=np.uint16)

    def covers(self, keys: Sequence[Key]) -> Bools:
        """Return which draws lie in which boxes, of shape (n_boxes, n_draws)."""
        return self.draws.covers(keys)

    def improve(self, key: Key, reward: Floats, penalty: float) -> Key:
        """Return the box after the best moves of single columns, none of which lowers its worth.

        Parameters
        ----------
        key : Key
        reward : array of shape (n_draws,)
            What the box gains by each draw inside.
        penalty : float
            What a cut must gain to be worth reading.
        """
        return self._move(key, (reward,), penalty, kernels.improve_box)

    def widen(self, key: Key, gain: Floats, slack: Floats, penalty: float) -> Key:
        """Return the box after the best moves of single columns that keep its sum of slack at zero or over.

        Parameters
        ----------
        key : Key
        gain : array of shape (n_draws,)
            What the box gains by each draw inside.
        slack : array of shape (n_draws,)
            By how much a draw inside raises the box over its floor, or lowers it.
        penalty : float
            What a cut must gain to be worth reading.
        """
        return self._move(key, (gain, slack), penalty, kernels.widen_box)

    def _move(self, key: Key, amounts: tuple[Floats, ...], penalty: float, kernel: Callable[..., None]) -> Key:
        if not len(self.positions):
            return key
        allowed = np.ones((len(self.positions), int(self.n_codes.max(initial=0)) + 1), dtype=bool)
        is_cut = np.zeros(len(self.positions), dtype=bool)
        fixed = tuple(cut for cut in key if cut[0] not in self.line)
        for position, mask in key:
            if position in self.line:
                line = self.line[position]
                is_cut[line] = True
                allowed[line, : self.n_codes[line] + 1] = mask_table(mask, int(self.n_codes[line]))
        if fixed:
            inside = self.covers([fixed])[0]
            amounts = tuple(np.where(inside, amount, 0.0) for amount in amounts)
        most = len(self.positions) if self.max_conditions is None else self.max_conditions - len(fixed)
        kernel(self.cells, self.n_codes, self.is_number, allowed, is_cut, *amounts, penalty, most, MOST_MOVES)
        cuts = [
            (int(self.positions[line]), read_table(allowed[line, : self.n_codes[line] + 1]))
            for line in np.flatnonzero(is_cut).tolist()
        ]
        return tuple(sorted([*fixed, *cuts]))
