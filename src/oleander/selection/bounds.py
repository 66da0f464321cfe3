"""Upper bounds by the Lagrangian dual of the covering constraints.

For any multipliers 0 ≤ λ ≤ w the bound L(λ) = Σ (w − λ) + (the best that the budget buys at prices Aλ) holds.
The volume algorithm looks for a λ that makes it small: two sparse products a step, and no linear program.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from oleander import kernels
from oleander.arrays import Floats, Ints
from oleander.selection.model import CoverageModel

if TYPE_CHECKING:
    from oleander.kernels import PackedRows

# Steps of the compiled loop between two looks at the clock.
STEPS_AT_ONCE = 10


@dataclass(frozen=True, eq=False)
class DualPoint:
    """Multipliers and what they prove.

    Attributes
    ----------
    multipliers : array of shape (n_points,)
    bound : float
        No choice is worth more.
    prices : array of shape (n_candidates,)
        The worth of each candidate at these multipliers.
    threshold : float
        The price of the last candidate that was bought: one that comes in displaces it.
    average : array of shape (n_candidates,)
        How often each candidate was bought: close to a solution of the linear relaxation.
    n_steps : int
    """

    multipliers: Floats
    bound: float
    prices: Floats
    threshold: float
    average: Floats
    n_steps: int = 0


def buy(prices: Floats, model: CoverageModel) -> tuple[float, Ints, float]:
    """Return the best worth within the budget, the candidates bought, and the threshold."""
    limit = min(model.budget, len(prices))
    if limit == len(prices):
        return float(prices.sum()), np.arange(limit), 0.0
    bought = np.argpartition(-prices, limit)[:limit]
    return float(prices[bought].sum()), bought, float(prices[bought].min(initial=np.inf))


def price(model: CoverageModel, multipliers: Floats) -> tuple[Floats, sparse.csr_array | None]:
    """Return the worth of each candidate at these multipliers, and the weight it takes of points it may count."""
    prices = model.sure @ multipliers
    if model.maybe is None:
        return prices, None
    per_weight = multipliers / np.maximum(model.weights, np.finfo(float).tiny)
    taken = _fill_allowance(model, per_weight)
    return prices + taken @ per_weight, taken


def _fill_allowance(model: CoverageModel, per_weight: Floats) -> sparse.csr_array:
    """Return the weight of each point that each candidate would best take of those that it may count."""
    assert model.allowance is not None
    # Transposing sorts: points by falling price, then back to rows, whose entries keep that order.
    order = np.argsort(-per_weight, kind="stable")
    ranked = sparse.csr_array(model.maybe_by_point[order].T.tocsr())
    columns = order[ranked.indices]
    weight = model.weights[columns]
    before = np.cumsum(weight) - weight
    lengths = np.diff(ranked.indptr)
    before -= np.repeat(before[ranked.indptr[:-1][lengths > 0]], lengths[lengths > 0])
    taken = np.clip(np.repeat(model.allowance, lengths) - before, 0.0, weight)
    return sparse.csr_array((taken, columns, ranked.indptr), shape=ranked.shape)


@dataclass(frozen=True, eq=False)
class _Purchase:
    """The candidates that a bound buys, and the weight they take of points they may count."""

    bought: Ints
    taken: sparse.csr_array | None

    def slope(self, model: CoverageModel, multipliers: Floats) -> Floats:
        """Return a subgradient of the bound: how often a point is bought, less the once that it may count."""
        columns = model.sure.entries_of(self.bought)[0]
        used = np.bincount(columns, minlength=model.n_points).astype(np.float64)
        if self.taken is not None:
            used += self.taken[self.bought].sum(axis=0) / model.weights
        return used - np.where(multipliers < model.weights, 1.0, np.minimum(used, 1.0))


def evaluate(model: CoverageModel, multipliers: Floats) -> DualPoint:
    """Return the bound that these multipliers prove.

    Examples
    --------
    >>> from oleander.selection.model import plain_model
    >>> model = plain_model(np.array([[1, 1, 0], [0, 1, 1]]), budget=1)
    >>> evaluate(model, model.weights).bound
    2.0
    """
    return _evaluate(model, np.clip(multipliers, 0.0, model.weights))[0]


def _evaluate(model: CoverageModel, multipliers: Floats) -> tuple[DualPoint, _Purchase]:
    prices, taken = price(model, multipliers)
    worth, bought, threshold = buy(prices, model)
    bound = float((model.weights - multipliers).sum()) + worth
    average = np.zeros(model.n_candidates)
    average[bought] = 1.0
    return DualPoint(multipliers, bound, prices, threshold, average), _Purchase(bought, taken)


def still_possible(point: DualPoint, cutoff: float) -> Ints:
    """Return the candidates that a choice worth the cutoff may contain, by their reduced cost in the dual.

    Taking a candidate whose price is under that of the last one bought lowers the bound by the difference.

    Examples
    --------
    >>> from oleander.selection.model import plain_model
    >>> model = plain_model(np.array([[1, 1, 1, 0], [0, 0, 0, 1]]), budget=1)
    >>> still_possible(evaluate(model, model.weights), cutoff=3.0).tolist()
    [0]
    """
    return np.flatnonzero(point.bound + np.minimum(point.prices - point.threshold, 0.0) >= cutoff)


def tighten(
    model: CoverageModel,
    target: float,
    start: Floats | None = None,
    *,
    n_steps: int = 200,
    should_stop: Callable[[DualPoint], bool] = lambda point: False,
) -> DualPoint:
    """Return multipliers with a small bound, by the volume algorithm.

    Parameters
    ----------
    model : CoverageModel
    target : float
        The best value known: the length of a step is measured against it.
    start : array of shape (n_points,), optional
        Where to begin; by default half of each point's weight.
    n_steps : int
    should_stop : callable
        Asked after every step with the best point so far.
    """
    weights = model.weights
    if start is None:
        start = 0.5 * weights
    point, purchase = _evaluate(model, np.clip(start, 0.0, weights))
    slope = purchase.slope(model, point.multipliers)
    if model.is_plain and not model.sure.is_dense:
        return _tighten_plain(model, target, point, slope, n_steps, should_stop)
    average = point.average
    factor, stalls = 0.1, 0
    n_made = 0
    while n_made < n_steps and not should_stop(point):
        # Not by a dot product, whose digits depend on the threads of BLAS.
        length = float(np.square(slope).sum())
        if length <= 1e-12 or factor < 1e-4:
            break
        n_made += 1
        reach = factor * max(point.bound - target, 1e-6 * abs(point.bound)) / length
        multipliers = np.clip(point.multipliers - reach * slope, 0.0, weights)
        trial, purchase = _evaluate(model, multipliers)
        fresh = purchase.slope(model, multipliers)
        slope = 0.9 * slope + 0.1 * fresh
        average = 0.9 * average + 0.1 * trial.average
        if trial.bound < point.bound:
            # A step along a slope that still agrees with the new one could have been longer.
            factor = min(2.0, factor * 1.1) if (fresh * slope).sum() > 0 else factor
            point, stalls = trial, 0
        else:
            stalls += 1
            if stalls >= 15:
                factor, stalls = factor * 0.66, 0
    return replace(point, average=average, n_steps=n_made)


def _tighten_plain(
    model: CoverageModel,
    target: float,
    point: DualPoint,
    slope: Floats,
    n_steps: int,
    should_stop: Callable[[DualPoint], bool],
) -> DualPoint:
    """Take the same steps in a compiled loop, where K candidates are bought and each counts all of its points."""
    multipliers, prices, average = point.multipliers.copy(), point.prices.copy(), point.average.copy()
    # Bound, threshold, factor, stalls, steps made, and whether the loop is done.
    state = np.array([point.bound, point.threshold, 0.1, 0.0, 0.0, 0.0])
    while state[4] < n_steps and not state[5] and not should_stop(point):
        n_more = min(STEPS_AT_ONCE, n_steps - int(state[4]))
        kernels.take_volume_steps(
            *model.sure.lists,
            model.weights,
            model.limit,
            target,
            n_more,
            multipliers,
            prices,
            slope,
            average,
            state,
        )
        point = DualPoint(multipliers, float(state[0]), prices, float(state[1]), average, int(state[4]))
    return point


@dataclass(frozen=True, eq=False)
class Descent:
    """The best bound of a short descent on plain coverage, and the candidates bought on the way.

    Attributes
    ----------
    bound : float
    multipliers, prices, bought : arrays
        Where the best bound was met, the worth of candidates there, and which were bought.
    times_bought : array
        How often each candidate was bought.
    value : float
    choice : array of int
        The weight covered by the best candidates that were bought at any step, and these candidates.
    """

    bound: float
    multipliers: Floats
    prices: Floats
    bought: Ints
    times_bought: Floats
    value: float
    choice: Ints

    def with_each(self) -> Floats:
        """Return the bound on choices with each candidate: it displaces the last that was bought."""
        last = float(self.prices[self.bought].min())
        return self.bound + np.minimum(self.prices - last, 0.0)

    def without(self, candidate: int) -> float:
        """Return the bound on choices without a candidate: the first not bought takes its place."""
        if candidate not in self.bought:
            return self.bound
        others = np.delete(self.prices, self.bought)
        return self.bound - float(self.prices[candidate]) + float(others.max(initial=0.0))


def descend(
    sure: "PackedRows",
    candidates: Ints,
    weights: Floats,
    n_left: int,
    start: Floats,
    *,
    needed: float,
    n_steps: int,
) -> Descent:
    """Take Polyak steps until the bound is under the value needed, or the steps are used up.

    For the many small problems of branching, where averaging slopes would cost more steps than it saves.
    Choices of at most `n_left` of some candidates are bounded; points without weight are covered already.
    """
    multipliers, prices, times_bought = np.empty(len(weights)), np.empty(len(candidates)), np.zeros(len(candidates))
    bought, choice = np.empty((2, len(candidates)), dtype=np.bool_)
    bound, value = kernels.take_polyak_steps(
        *sure.lists,
        candidates,
        weights,
        min(n_left, len(candidates)),
        np.array(start, dtype=np.float64),
        needed,
        n_steps,
        multipliers,
        prices,
        bought,
        times_bought,
        choice,
    )
    return Descent(bound, multipliers, prices, np.flatnonzero(bought), times_bought, value, np.flatnonzero(choice))
