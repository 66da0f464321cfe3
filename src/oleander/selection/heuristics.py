"""Search for good choices: lazy greedy, and a tabu walk over swaps."""

from collections.abc import Callable

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.selection.model import CoverageModel


def greedy(model: CoverageModel, start: Ints | None = None, *, should_stop: Callable[[], bool] = lambda: False) -> Ints:
    """Return the choice that adds the largest weight at every step, smallest index first on ties.

    An old gain of plain coverage bounds a new one, so only candidates that could still be the best are evaluated again.
    The choice then reaches at least 1 − 1/e of the optimum unless `should_stop` ends the search.

    >>> from oleander.selection.model import plain_model
    >>> model = plain_model(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]), budget=2)
    >>> greedy(model).tolist()
    [0, 2]
    """
    chosen = np.asarray(() if start is None else start, dtype=np.intp)
    left = model.weights - model.counts(chosen)
    upper = model.gains(left)
    while len(chosen) < model.limit and not should_stop():
        upper[chosen] = 0.0
        best = int(upper.argmax())
        gain = model.gain(best, left)
        if gain < upper[best]:
            upper[best] = gain
            continue
        if gain <= 0.0:
            break
        chosen = np.append(chosen, best)
        left = model.weights - model.counts(chosen)
    return chosen


class SwapState:
    """The change of value that every swap would make, kept up to date while swaps are made.

    `owned[i, s]` is the weight in candidate i that only slot s covers, and `loss[s]` all the weight that only slot s
    covers. What no slot covers is owned by one more slot, the last. So swapping i into slot s changes the value by
    owned[i, last] + owned[i, s] − loss[s].
    """

    def __init__(self, model: CoverageModel, chosen: Ints) -> None:
        self.sure, self.by_point, self.weights = model.sure, model.by_point, model.weights
        self.chosen = chosen.copy()
        n_candidates, n_points = self.sure.shape
        self.count = np.zeros(n_points, dtype=np.int32)
        # The sum of the covering slots: the slot itself where exactly one covers.
        self.slots = np.zeros(n_points, dtype=np.int64)
        self.owned = np.zeros((n_candidates, len(chosen) + 1))
        self.owned[:, -1] = self.sure @ self.weights
        self.loss = np.zeros(len(chosen) + 1)
        self.value = 0.0
        for slot, candidate in enumerate(chosen):
            self._enter(slot, int(candidate))

    def swap(self, slot: int, candidate: int) -> None:
        """Put a candidate into a slot in place of the one that is there."""
        self._leave(slot)
        self._enter(slot, candidate)
        self.chosen[slot] = candidate

    def _enter(self, slot: int, candidate: int) -> None:
        points = self.sure.row(candidate).astype(np.intp)
        count = self.count[points]
        new, single = points[count == 0], points[count == 1]
        self._add(new, np.full(len(new), len(self.chosen)), -1.0)
        self._add(new, np.full(len(new), slot), 1.0)
        self._add(single, self.slots[single], -1.0)
        self.count[points] += 1
        self.slots[points] += slot
        self.value += float(self.weights[new].sum())

    def _leave(self, slot: int) -> None:
        points = self.sure.row(int(self.chosen[slot])).astype(np.intp)
        self.count[points] -= 1
        self.slots[points] -= slot
        count = self.count[points]
        lost, single = points[count == 0], points[count == 1]
        self._add(lost, np.full(len(lost), len(self.chosen)), 1.0)
        self.owned[:, slot] = self.loss[slot] = 0.0
        self._add(single, self.slots[single], 1.0)
        self.value -= float(self.weights[lost].sum())

    def _add(self, points: Ints, slots: Ints, sign: float) -> None:
        """Add the weight of points to what their slots own, or take it away."""
        for part in self.by_point.parts(points):
            candidates, lengths = self.by_point.entries_of(points[part])
            cells = candidates.astype(np.intp) * len(self.loss) + np.repeat(slots[part], lengths)
            np.add.at(self.owned.reshape(-1), cells, np.repeat(sign * self.weights[points[part]], lengths))
        self.loss += np.bincount(slots, weights=sign * self.weights[points], minlength=len(self.loss))

    def after(self) -> Floats:
        """Return the weight of the union after each swap."""
        return np.asarray(self.value + self.owned[:, -1:] + self.owned[:, :-1] - self.loss[:-1])


def walk(
    model: CoverageModel,
    start: Ints,
    *,
    patience: int,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[Ints, int]:
    """Return the best choice met on a walk of best swaps, and the number of swaps made; in plain maximum coverage.

    A candidate that left may not come back, and one that came may not leave, for some moves, so the walk
    climbs out of local optima; a move that beats the best value so far is always allowed. The walk ends after
    `patience` moves without a better choice.
    """
    rng = np.random.default_rng(0)
    state, n_slots = SwapState(model, start), len(start)
    best, best_value = start, state.value
    enter_after = np.zeros(model.n_candidates, dtype=np.int64)
    leave_after = np.zeros(n_slots, dtype=np.int64)
    stay = min(4, max(0, n_slots // 3))
    move = last_better = 0
    while n_slots and move - last_better < patience and not should_stop():
        values = state.after()
        values[state.chosen] = -np.inf
        cell = int(values.argmax())
        if values.flat[cell] <= best_value:
            values[enter_after > move] = -np.inf
            values[:, leave_after > move] = -np.inf
            cell = int(values.argmax())
            if values.flat[cell] == -np.inf:
                break
        candidate, slot = divmod(cell, n_slots)
        enter_after[state.chosen[slot]] = move + rng.integers(10, 21)
        leave_after[slot] = move + 1 + stay
        state.swap(slot, candidate)
        move += 1
        if state.value > best_value:
            best, best_value, last_better = state.chosen.copy(), state.value, move
    return best, move
