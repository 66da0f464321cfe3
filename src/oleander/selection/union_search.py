"""Search for good choices under a floor over the union: greedy that keeps it, and moves that may break it for a while.

Whether the floor holds is not monotone. A candidate that breaks it can be mended by a later one that covers
much and adds few wrong points, or that is wrong on the same points. So the walk passes through choices that
break it.
"""

from collections.abc import Callable, Sequence

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.selection.model import CoverageModel
from oleander.selection.run import Run
from oleander.selection.search import Swaps, SwapState, walk
from oleander.selection.sparse_rows import covered_by, transposed


def greedy_within_floor(
    model: CoverageModel, start: Ints | None = None, *, should_stop: Callable[[], bool] = lambda: False
) -> Ints:
    """Return the choice that adds the most weight per cost at every step and keeps the floor over the union.

    A start that breaks the floor is mended first: while it does, the candidate that breaks it least comes next.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from scipy import sparse
    >>> from oleander.selection.formulations import plain_model
    >>> covers = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 0, 1]])
    >>> wrong = sparse.csr_array(np.array([[0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]))
    >>> greedy_within_floor(replace(plain_model(covers, 2), wrong=wrong, union_fidelity=0.9)).tolist()
    [1, 2]
    """
    assert model.wrong is not None
    chosen = [int(i) for i in (model.forced if start is None else start)]
    spent = float(model.cost[chosen].sum())
    while True:
        now = np.asarray(chosen, dtype=np.intp)
        covered, wrong = covered_by(model.sure, now), covered_by(model.wrong, now)
        gain = model.sure @ np.where(covered, 0.0, model.weights)
        excess = model.excess(now) + model.wrong @ np.where(wrong, 0.0, model.weights)
        excess -= (1.0 - model.union_fidelity) * gain
        possible = model.within_budget(spent + model.cost) & (gain > model.slack)
        possible[now] = False
        within = possible & (excess <= model.slack)
        if should_stop():
            return now
        if within.any():
            best = int(np.where(within, gain / model.cost, -1.0).argmax())
        elif model.excess(now) > model.slack and possible.any():
            best = int(np.where(possible, excess, np.inf).argmin())
        else:
            return now
        chosen.append(best)
        spent += float(model.cost[best])


def offer_within_floor(model: CoverageModel, run: Run, starts: Sequence[Ints], *, patience: int) -> int:
    """Offer greedy choices that keep the floor, and the best of walks from them; return the number of moves."""
    n_moves = 0
    for start in starts:
        for mended in (False, True):
            chosen = greedy_within_floor(model, start, should_stop=run.should_stop) if mended else start
            if model.satisfies(chosen):
                run.offer(model.value(chosen), model.names(chosen))
        if patience and not run.should_stop():
            found, n_made = walk(model, UnionMoves(model, chosen), patience=patience, should_stop=run.should_stop)
            n_moves += n_made
            if found is not None:
                run.offer(model.value(found), model.names(found))
    return n_moves


class UnionMoves(Swaps):
    """Every move from a choice under a floor over the union: add a candidate, drop one, or swap two.

    An empty slot holds a candidate that covers nothing. The weight covered, the weight that is wrong and the
    weight covered of a group are all weights of unions, so one `SwapState` each keeps them up to date.
    """

    def __init__(self, model: CoverageModel, start: Ints) -> None:
        assert model.wrong is not None
        self.model = model
        slots = np.full(model.limit, model.n_candidates, dtype=np.intp)
        order = np.concatenate([model.forced, np.setdiff1d(start, model.forced)])[: len(slots)]
        slots[: len(order)] = order
        self.cost = np.append(model.cost, 0.0)
        self.covered = SwapState(model.sure, model.by_point, model.weights, slots, may_be_empty=True)
        self.wrong = SwapState(model.wrong, transposed(model.wrong), model.weights, slots, may_be_empty=True)
        self.in_group: list[SwapState] = []
        self.needs = np.empty(0) if model.needs is None else model.needs
        if model.groups is not None:
            masks = model.groups.toarray()
            self.in_group = [
                SwapState(model.sure, model.by_point, model.weights * mask, slots, may_be_empty=True) for mask in masks
            ]

    def outcomes(self) -> tuple[Floats, Floats]:
        """Return value and breach of putting each candidate, or none, into each slot; −∞ where it may not go."""
        values, _ = super().outcomes()
        covered = self.covered.after()
        breach = np.maximum(self.wrong.after() - (1.0 - self.model.union_fidelity) * covered, 0.0)
        for state, need in zip(self.in_group, self.needs, strict=True):
            breach += np.maximum(need - state.after(), 0.0)
        values[-1, self.slots == self.model.n_candidates] = -np.inf
        values[:, : len(self.model.forced)] = -np.inf
        if not self.model.counts_explainers:
            cost = self.cost[self.slots]
            values[~self.model.within_budget(cost.sum() - cost[None, :] + self.cost[:, None])] = -np.inf
        return values, breach

    def make(self, slot: int, candidate: int) -> None:
        """Put a candidate, or none, into a slot."""
        for state in (self.covered, self.wrong, *self.in_group):
            state.swap(slot, candidate)
