"""Find good choices: lazy greedy for every model, tabu swaps for plain maximum coverage."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse

from oleander.arrays import Floats, Ints
from oleander.selection.model import TOLERANCE, CoverageModel, entries_of


def greedy(model: CoverageModel, start: Ints | None = None) -> Ints:
    """Return the choice that adds the most weight per cost at every step, smallest index first on ties.

    The value of a choice is monotone and submodular in both formulations, so an old gain bounds a new one and
    only candidates that could still be the best are looked at again. When explainers are counted the choice
    reaches at least 1 − 1/e of the optimum.

    Examples
    --------
    >>> from oleander.selection.formulations import plain_model
    >>> greedy(plain_model(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]), budget=2)).tolist()
    [0, 2]
    """
    chosen = [int(i) for i in (model.forced if start is None else start)]
    uncovered = np.ones(model.n_points, dtype=np.bool_)
    uncovered[entries_of(model.sure, np.asarray(chosen, dtype=np.intp))[0]] = False
    value = model.value(np.asarray(chosen, dtype=np.intp))
    upper = gains_alone(model)
    upper[chosen] = 0.0
    fresh = np.zeros(model.n_candidates, dtype=np.bool_)
    left = model.budget - float(model.cost[chosen].sum())
    while True:
        best = int(np.where(model.cost <= left + TOLERANCE, upper / model.cost, 0.0).argmax())
        if model.cost[best] > left + TOLERANCE or upper[best] <= model.slack:
            return np.asarray(chosen, dtype=np.intp)
        row = model.sure.indices[model.sure.indptr[best] : model.sure.indptr[best + 1]]
        if not fresh[best]:
            if model.maybe is None:
                upper[best] = model.weights[row[uncovered[row]]].sum()
            else:
                upper[best] = model.value(np.asarray([*chosen, best], dtype=np.intp)) - value
            fresh[best] = True
            continue
        chosen.append(best)
        value += upper[best]
        left -= float(model.cost[best])
        uncovered[row] = False
        upper[best] = 0.0
        fresh[:] = False


def gains_alone(model: CoverageModel) -> Floats:
    """Return the weight that each candidate would count if it were the only one."""
    gains = np.asarray(model.sure @ model.weights, dtype=np.float64)
    if model.maybe is not None and model.allowance is not None:
        gains += np.minimum(model.allowance, model.maybe @ model.weights)
    return gains


def reach_minima(
    model: CoverageModel, n_rounds: int = 12, should_stop: Callable[[], bool] = lambda: False
) -> Ints | None:
    """Return a good choice that meets the group minima, or None if none was found.

    Groups that fall short weigh more in the next round: a rough dual of their constraints.
    """
    assert model.groups is not None
    assert model.needs is not None
    boost = np.zeros(len(model.needs))
    for _ in range(n_rounds):
        if should_stop():
            return None
        weights = model.weights * (1.0 + boost @ model.groups)
        boosted = replace(model, weights=weights, groups=None, needs=None)
        chosen = greedy(boosted)
        if boosted.is_plain and len(chosen) > 1:
            chosen, _ = tabu(boosted, chosen, patience=30, should_stop=should_stop)
        short = model.groups @ model.counts(chosen) < model.needs - model.slack
        if not short.any():
            return chosen
        boost[short] = np.maximum(1.0, 2.0 * boost[short])
    return None


class SwapState:
    """What every swap would change, kept up to date while swaps are made.

    `gain[i]` is the uncovered weight in candidate i; `exchange[i, s]` is the weight in i that only slot s
    covers, less all the weight that only slot s covers. So swapping i into slot s changes the value by their
    sum.
    """

    def __init__(self, sure: sparse.csr_array, by_point: sparse.csr_array, weights: Floats, chosen: Ints) -> None:
        self.sure, self.by_point, self.weights = sure, by_point, weights
        self.chosen = chosen.copy()
        n_candidates, n_points = sure.shape
        self.count = np.zeros(n_points, dtype=np.int32)
        # The sum of the covering slots: the slot itself where exactly one covers.
        self.slots = np.zeros(n_points, dtype=np.int64)
        self.gain = np.asarray(sure @ weights, dtype=np.float64)
        self.exchange = np.zeros((n_candidates, len(chosen)))
        self.value = 0.0
        for slot, candidate in enumerate(chosen):
            self._enter(slot, int(candidate))

    def swap(self, slot: int, candidate: int) -> None:
        """Put the candidate into the slot in place of the one that is there."""
        self._leave(slot)
        self._enter(slot, candidate)
        self.chosen[slot] = candidate

    def _row(self, candidate: int) -> Ints:
        return np.asarray(self.sure.indices[self.sure.indptr[candidate] : self.sure.indptr[candidate + 1]])

    def _enter(self, slot: int, candidate: int) -> None:
        points = self._row(candidate)
        count = self.count[points]
        new, single = points[count == 0], points[count == 1]
        self._add_gain(new, -1.0)
        self._add_exchange(new, np.full(len(new), slot), 1.0)
        self._add_exchange(single, self.slots[single], -1.0)
        self.count[points] += 1
        self.slots[points] += slot
        self.value += float(self.weights[new].sum())

    def _leave(self, slot: int) -> None:
        points = self._row(int(self.chosen[slot]))
        self.count[points] -= 1
        self.slots[points] -= slot
        count = self.count[points]
        lost, single = points[count == 0], points[count == 1]
        self._add_gain(lost, 1.0)
        self.exchange[:, slot] = 0.0
        self._add_exchange(single, self.slots[single], 1.0)
        self.value -= float(self.weights[lost].sum())

    def _add_gain(self, points: Ints, sign: float) -> None:
        candidates, lengths = entries_of(self.by_point, points)
        amounts = np.repeat(sign * self.weights[points], lengths)
        self.gain += np.bincount(candidates, weights=amounts, minlength=len(self.gain))

    def _add_exchange(self, points: Ints, slots: Ints, sign: float) -> None:
        candidates, lengths = entries_of(self.by_point, points)
        amounts = sign * self.weights[points]
        cells = candidates.astype(np.intp) * self.exchange.shape[1] + np.repeat(slots, lengths)
        np.add.at(self.exchange.reshape(-1), cells, np.repeat(amounts, lengths))
        self.exchange -= np.bincount(slots, weights=amounts, minlength=self.exchange.shape[1])


def tabu(
    model: CoverageModel,
    start: Ints,
    *,
    patience: int,
    seed: int = 0,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[Ints, int]:
    """Return the best choice met on a walk of best swaps, and the number of moves made.

    A candidate that left may not come back, and one that came may not leave, for some moves, so the walk
    climbs out of local optima; a swap that beats the best value so far is always allowed. The walk ends
    after `patience` moves without a better value.
    """
    rng = np.random.default_rng(seed)
    state = SwapState(model.sure, model.by_point, model.weights, start)
    n_slots = len(start)
    best, best_value = state.chosen.copy(), state.value
    enter_after = np.zeros(model.n_candidates, dtype=np.int64)
    leave_after = np.zeros(n_slots, dtype=np.int64)
    stay = min(4, max(0, n_slots // 3))
    move = last_better = 0
    while move - last_better < patience and not should_stop():
        change = state.exchange + state.gain[:, None]
        change[state.chosen] = -np.inf
        cell = int(change.argmax())
        if state.value + change.flat[cell] <= best_value + model.slack:
            change[enter_after > move] = -np.inf
            change[:, leave_after > move] = -np.inf
            cell = int(change.argmax())
            if change.flat[cell] == -np.inf:
                break
        candidate, slot = divmod(cell, n_slots)
        enter_after[state.chosen[slot]] = move + rng.integers(10, 21)
        leave_after[slot] = move + 1 + stay
        state.swap(slot, candidate)
        move += 1
        if state.value > best_value + model.slack:
            best, best_value, last_better = state.chosen.copy(), state.value, move
    return best, move
