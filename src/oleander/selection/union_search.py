"""Find good choices under a floor over the union: greedy that keeps it, and a walk that may leave it for a while.

Whether the floor holds is not monotone. A candidate that breaks it can be mended by a later one that covers
much and adds few wrong points, or that is wrong on the same points. So the walk goes through choices that break
it, at a price that rises while they do and falls while they do not.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from oleander.arrays import Floats, Ints
from oleander.selection.model import TOLERANCE, CoverageModel, covered_by
from oleander.selection.run import Run
from oleander.selection.search import SwapState

# The price of a unit of weight by which a choice breaks its constraints: at first, and how fast it moves.
FIRST_PRICE, PRICE_FACTOR = 2.0, 1.3


def greedy_within_floor(model: CoverageModel, start: Ints | None = None) -> Ints:
    """Return the choice that adds the most weight per cost at every step and keeps the floor over the union.

    A start that breaks the floor is mended first: while it does, what breaks it least comes next.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from oleander.selection.formulations import plain_model
    >>> covers = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 0, 1]])
    >>> wrong = sparse.csr_array(np.array([[0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]))
    >>> greedy_within_floor(replace(plain_model(covers, 2), wrong=wrong, union_fidelity=0.9)).tolist()
    [1, 2]
    """
    assert model.wrong is not None
    chosen = [int(i) for i in (model.forced if start is None else start)]
    left = model.budget - float(model.cost[chosen].sum())
    while True:
        now = np.asarray(chosen, dtype=np.intp)
        covered, wrong = covered_by(model.sure, now), covered_by(model.wrong, now)
        gain = model.sure @ np.where(covered, 0.0, model.weights)
        excess = model.excess(now) + model.wrong @ np.where(wrong, 0.0, model.weights)
        excess -= (1.0 - model.union_fidelity) * gain
        possible = (model.cost <= left + TOLERANCE) & (gain > model.slack)
        possible[now] = False
        within = possible & (excess <= model.slack)
        if within.any():
            best = int(np.where(within, gain / model.cost, -1.0).argmax())
        elif model.excess(now) > model.slack and possible.any():
            best = int(np.where(possible, excess, np.inf).argmin())
        else:
            return now
        chosen.append(best)
        left -= float(model.cost[best])


def offer_within_floor(model: CoverageModel, run: Run, starts: Sequence[Ints], *, patience: int) -> int:
    """Offer greedy choices that keep the floor, and the best of walks from them; return the number of moves."""
    n_moves = 0
    for start in starts:
        for mended in (False, True):
            chosen = greedy_within_floor(model, start) if mended else start
            if model.satisfies(chosen):
                run.offer(model.value(chosen), model.names(chosen))
        found, n_made = walk(model, chosen, patience=patience, should_stop=run.should_stop)
        n_moves += n_made
        if found is not None:
            run.offer(model.value(found), model.names(found))
    return n_moves


def walk(
    model: CoverageModel,
    start: Ints,
    *,
    patience: int,
    seed: int = 0,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[Ints | None, int]:
    """Return the best allowed choice met on a walk of best moves, or None, and the number of moves made.

    A move adds a candidate, drops one, or swaps two; an empty slot holds a candidate that covers nothing. What
    left may not come back, and what came may not leave, for some moves, unless that beats the best so far.
    The walk ends after `patience` moves without a better choice.
    """
    rng = np.random.default_rng(seed)
    moves = Moves(model, start)
    best = moves.choice() if model.satisfies(moves.choice()) else None
    best_value = -np.inf if best is None else moves.value
    nobody, n_slots = model.n_candidates, moves.n_slots
    enter_after = np.zeros(nobody + 1, dtype=np.int64)
    leave_after = np.zeros(n_slots, dtype=np.int64)
    stay = min(4, max(0, n_slots // 3))
    price = FIRST_PRICE
    move = last_better = 0
    while n_slots and move - last_better < patience and not should_stop():
        values, breach = moves.outcomes()
        allowed = np.where(breach <= model.slack, values, -np.inf)
        cell = int(allowed.argmax())
        if allowed.flat[cell] <= best_value + model.slack:
            score = values - price * breach
            score[enter_after > move] = -np.inf
            score[:, leave_after > move] = -np.inf
            cell = int(score.argmax())
            if score.flat[cell] == -np.inf:
                break
        candidate, slot = divmod(cell, n_slots)
        old = int(moves.slots[slot])
        if old != nobody:
            enter_after[old] = move + rng.integers(10, 21)
        if candidate != nobody:
            leave_after[slot] = move + 1 + stay
        is_within = breach.flat[cell] <= model.slack
        moves.make(slot, candidate)
        move += 1
        price = float(np.clip(price / PRICE_FACTOR if is_within else price * PRICE_FACTOR, 0.05, 1e3))
        # Sums kept up to date carry rounding errors: the model itself has the last word.
        if is_within and moves.value > best_value + model.slack and model.satisfies(moves.choice()):
            best, best_value, last_better = moves.choice(), moves.value, move
    return best, move


class Moves:
    """Every move from a choice: what it would cover, and by how much weight it would break the constraints.

    What is covered, what is wrong, and what is covered of a group are all weights of unions, so one `SwapState`
    each keeps them up to date.
    """

    def __init__(self, model: CoverageModel, start: Ints) -> None:
        assert model.wrong is not None
        self.model, self.n_forced = model, len(model.forced)
        self.n_slots = min(model.limit, model.n_candidates)
        nobody = model.n_candidates
        self.slots = np.full(self.n_slots, nobody, dtype=np.intp)
        order = np.concatenate([model.forced, np.setdiff1d(start, model.forced)])[: self.n_slots]
        self.slots[: len(order)] = order
        self.cost = np.append(model.cost, 0.0)
        self.covered = self._state(model.sure, model.weights)
        self.wrong = self._state(model.wrong, model.weights)
        self.in_group: list[SwapState] = []
        self.needs = np.empty(0) if model.needs is None else model.needs
        if model.groups is not None:
            masks = model.groups.toarray()
            self.in_group = [self._state(model.sure, model.weights * mask) for mask in masks]

    def _state(self, matrix: sparse.csr_array, weights: Floats) -> SwapState:
        """Return the weights of unions of these rows, with an empty row for nobody."""
        indptr = np.append(matrix.indptr, matrix.indptr[-1])
        rows = sparse.csr_array((matrix.data, matrix.indices, indptr), shape=(matrix.shape[0] + 1, matrix.shape[1]))
        return SwapState(rows, sparse.csr_array(rows.T.tocsr()), weights, self.slots)

    @property
    def value(self) -> float:
        """The value of the choice as it is."""
        return self.covered.value + self.model.offset

    def choice(self) -> Ints:
        """Return the choice without its empty slots."""
        return self.slots[self.slots < self.model.n_candidates].copy()

    def outcomes(self) -> tuple[Floats, Floats]:
        """Return value and breach of putting each candidate, or nobody, into each slot; −∞ where it may not go."""
        covered, wrong = _after(self.covered), _after(self.wrong)
        breach = np.maximum(wrong - (1.0 - self.model.union_fidelity) * covered, 0.0)
        for state, need in zip(self.in_group, self.needs, strict=True):
            breach += np.maximum(need - _after(state), 0.0)
        nobody = self.model.n_candidates
        values = covered + self.model.offset
        values[self.choice()] = -np.inf
        values[nobody, self.slots == nobody] = -np.inf
        values[:, : self.n_forced] = -np.inf
        if not self.model.counts_explainers:
            spent = float(self.cost[self.slots].sum())
            price = spent - self.cost[self.slots][None, :] + self.cost[:, None]
            values[price > self.model.budget + TOLERANCE] = -np.inf
        return values, breach

    def make(self, slot: int, candidate: int) -> None:
        """Put the candidate into the slot."""
        for state in (self.covered, self.wrong, *self.in_group):
            state.swap(slot, candidate)
        self.slots[slot] = candidate


def _after(state: SwapState) -> Floats:
    """Return the weight of the union after each swap."""
    return np.asarray(state.value + state.gain[:, None] + state.exchange)
