"""Search for good choices: lazy greedy for every model, and a tabu walk over swaps."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.selection.model import CoverageModel
from oleander.selection.sparse_rows import Matrix, entries_of, row_of

# The price of a unit of weight by which a choice breaks its constraints: the first one, and the factor of its moves.
FIRST_PRICE, PRICE_FACTOR = 2.0, 1.3
# About the most memberships that are read at once.
MOST_ENTRIES = 2_000_000


def greedy(
    model: CoverageModel,
    start: Ints | None = None,
    *,
    enough: float = np.inf,
    should_stop: Callable[[], bool] = lambda: False,
) -> Ints:
    """Return the choice that adds the most weight per cost at every step, smallest index first on ties.

    The value of a choice is monotone and submodular in both formulations, so an old gain bounds a new one and
    only candidates that could still be the best are evaluated again. When explainers are counted the choice
    reaches at least 1 − 1/e of the optimum. A value of `enough` ends the search, and so does `should_stop`.

    Examples
    --------
    >>> from oleander.selection.formulations import plain_model
    >>> model = plain_model(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]), budget=2)
    >>> greedy(model).tolist(), greedy(model, enough=2.0).tolist()
    ([0, 2], [0])
    """
    chosen = [int(i) for i in (model.forced if start is None else start)]
    left = model.weights.copy()
    left[entries_of(model.sure, np.asarray(chosen, dtype=np.intp))[0]] = 0.0
    value = model.value(np.asarray(chosen, dtype=np.intp))
    upper = gains(model, left)
    upper[chosen] = 0.0
    is_fresh = np.zeros(model.n_candidates, dtype=np.bool_)
    spent = float(model.cost[chosen].sum())
    while value < enough - model.slack and not should_stop():
        affordable = model.within_budget(spent + model.cost)
        best = int(np.where(affordable, upper / model.cost, 0.0).argmax())
        if not affordable[best] or upper[best] <= model.slack:
            break
        row = row_of(model.sure, best)
        if not is_fresh[best]:
            if model.maybe is None:
                upper[best] = left[row].sum()
            else:
                upper[best] = model.value(np.asarray([*chosen, best], dtype=np.intp)) - value
            is_fresh[best] = True
            continue
        chosen.append(best)
        value += upper[best]
        spent += float(model.cost[best])
        left[row] = 0.0
        if model.maybe is not None:
            # An evaluation takes a matching, so the cheap bound spares some.
            upper = np.minimum(upper, gains(model, left))
        upper[best] = 0.0
        is_fresh[:] = False
    return np.asarray(chosen, dtype=np.intp)


def gains(model: CoverageModel, left: Floats) -> Floats:
    """Return an upper bound on the weight that each candidate adds where `left` is not yet surely counted.

    With all weight left it is exactly the value of each candidate alone.
    """
    added = np.asarray(model.sure @ left, dtype=np.float64)
    if model.maybe is not None and model.allowance is not None:
        added += np.minimum(model.allowance, model.maybe @ left)
    return added


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
        chosen = greedy(boosted, should_stop=should_stop)
        if boosted.is_plain and len(chosen) > 1:
            found, _ = walk(boosted, Swaps(boosted, chosen), patience=30, should_stop=should_stop)
            chosen = chosen if found is None else found
        short = model.groups @ model.counts(chosen) < model.needs - model.slack
        if not short.any():
            return chosen
        boost[short] = np.maximum(1.0, 2.0 * boost[short])
    return None


class SwapState:
    """The change of value that every swap would make, kept up to date while swaps are made.

    `gain[i]` is the uncovered weight in candidate i, `owned[i, s]` the weight in i that only slot s covers, and
    `loss[s]` all the weight that only slot s covers. So swapping i into slot s changes the value by
    gain + owned − loss. With `may_be_empty` a slot may hold one candidate more, behind the last, which covers nothing.
    """

    def __init__(
        self, sure: Matrix, by_point: Matrix, weights: Floats, chosen: Ints, *, may_be_empty: bool = False
    ) -> None:
        self.sure, self.by_point, self.weights = sure, by_point, weights
        self.chosen = chosen.copy()
        n_candidates, n_points = sure.shape[0] + may_be_empty, sure.shape[1]
        self.count = np.zeros(n_points, dtype=np.int32)
        # The sum of the covering slots: the slot itself where exactly one covers.
        self.slots = np.zeros(n_points, dtype=np.int64)
        self.gain = np.zeros(n_candidates)
        self.gain[: sure.shape[0]] = sure @ weights
        self.owned = np.zeros((n_candidates, len(chosen)))
        self.loss = np.zeros(len(chosen))
        self.value = 0.0
        for slot, candidate in enumerate(chosen):
            self._enter(slot, int(candidate))

    def swap(self, slot: int, candidate: int) -> None:
        """Put a candidate into a slot in place of the one that is there."""
        self._leave(slot)
        self._enter(slot, candidate)
        self.chosen[slot] = candidate

    def _row(self, candidate: int) -> Ints:
        is_empty = candidate == self.sure.shape[0]
        return np.zeros(0, dtype=np.intp) if is_empty else row_of(self.sure, candidate).astype(np.intp)

    def _enter(self, slot: int, candidate: int) -> None:
        points = self._row(candidate)
        count = self.count[points]
        new, single = points[count == 0], points[count == 1]
        self._add_gain(new, -1.0)
        self._add_owned(new, np.full(len(new), slot), 1.0)
        self._add_owned(single, self.slots[single], -1.0)
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
        self.owned[:, slot] = self.loss[slot] = 0.0
        self._add_owned(single, self.slots[single], 1.0)
        self.value -= float(self.weights[lost].sum())

    def _add_gain(self, points: Ints, sign: float) -> None:
        for part in self._parts(points):
            candidates, lengths = entries_of(self.by_point, points[part])
            amounts = np.repeat(sign * self.weights[points[part]], lengths)
            self.gain += np.bincount(candidates, weights=amounts, minlength=len(self.gain))

    def _add_owned(self, points: Ints, slots: Ints, sign: float) -> None:
        for part in self._parts(points):
            candidates, lengths = entries_of(self.by_point, points[part])
            cells = candidates.astype(np.intp) * len(self.loss) + np.repeat(slots[part], lengths)
            np.add.at(self.owned.reshape(-1), cells, np.repeat(sign * self.weights[points[part]], lengths))
        self.loss += np.bincount(slots, weights=sign * self.weights[points], minlength=len(self.loss))

    def _parts(self, points: Ints) -> Iterator[slice]:
        """Yield slices of the points with a bounded number of entries, whose temporary arrays would fill the memory."""
        size = max(1, MOST_ENTRIES * self.by_point.shape[0] // max(self.by_point.nnz, 1))
        for start in range(0, len(points), size):
            yield slice(start, start + size)

    def after(self) -> Floats:
        """Return the weight of the union after each swap."""
        return np.asarray(self.value + self.gain[:, None] + self.owned - self.loss)


class Swaps:
    """Every swap of one chosen candidate for another, in plain maximum coverage.

    Parameters
    ----------
    model : CoverageModel
    start : array of int
        The first choice, one candidate a slot.
    """

    def __init__(self, model: CoverageModel, start: Ints) -> None:
        self.model = model
        self.covered = SwapState(model.sure, model.by_point, model.weights, start)

    @property
    def slots(self) -> Ints:
        """The candidate in each slot; an empty slot holds the number of candidates."""
        return self.covered.chosen

    @property
    def value(self) -> float:
        """The value of the present choice."""
        return self.covered.value + self.model.offset

    def choice(self) -> Ints:
        """Return the present choice."""
        return self.slots[self.slots < self.model.n_candidates]

    def outcomes(self) -> tuple[Floats, Floats | None]:
        """Return the value of putting each candidate into each slot, −∞ where it may not go, and the breach.

        The breach is the weight by which the constraints would be broken; None if there are none.
        """
        values = self.covered.after()
        values += self.model.offset
        values[self.choice()] = -np.inf
        return values, None

    def make(self, slot: int, candidate: int) -> None:
        """Put a candidate into a slot."""
        self.covered.swap(slot, candidate)


def walk(
    model: CoverageModel,
    moves: Swaps,
    *,
    patience: int,
    seed: int = 0,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[Ints | None, int]:
    """Return the best allowed choice met on a walk of best moves, or None, and the number of moves made.

    A candidate that left may not come back, and one that came may not leave, for some moves, so the walk
    climbs out of local optima; a move that beats the best value so far is always allowed. Choices that break a
    constraint are allowed on the way, at a price that rises while they do and falls while they do not.
    The walk ends after `patience` moves without a better choice.
    """
    rng = np.random.default_rng(seed)
    n_slots, empty = len(moves.slots), model.n_candidates
    best = moves.choice() if model.satisfies(moves.choice()) else None
    best_value = -np.inf if best is None else moves.value
    enter_after = np.zeros(empty + 1, dtype=np.int64)
    leave_after = np.zeros(n_slots, dtype=np.int64)
    stay = min(4, max(0, n_slots // 3))
    price = FIRST_PRICE
    move = last_better = 0
    while n_slots and move - last_better < patience and not should_stop():
        values, breach = moves.outcomes()
        allowed = values if breach is None else np.where(breach <= model.slack, values, -np.inf)
        cell = int(allowed.argmax())
        if allowed.flat[cell] <= best_value + model.slack:
            score = values if breach is None else values - price * breach
            score[enter_after[: len(score)] > move] = -np.inf
            score[:, leave_after > move] = -np.inf
            cell = int(score.argmax())
            if score.flat[cell] == -np.inf:
                break
        candidate, slot = divmod(cell, n_slots)
        old = int(moves.slots[slot])
        if old != empty:
            enter_after[old] = move + rng.integers(10, 21)
        if candidate != empty:
            leave_after[slot] = move + 1 + stay
        is_within = breach is None or breach.flat[cell] <= model.slack
        moves.make(slot, candidate)
        move += 1
        price = float(np.clip(price / PRICE_FACTOR if is_within else price * PRICE_FACTOR, 0.05, 1e3))
        # Sums kept up to date carry rounding errors: the model itself has the last word.
        if is_within and moves.value > best_value + model.slack and model.satisfies(moves.choice()):
            best, best_value, last_better = moves.choice(), moves.value, move
    return best, move
