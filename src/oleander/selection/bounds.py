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
    """Multipliers, one per point, and what they prove."""

    multipliers: Floats
    # No choice is worth more.
    bound: float
    # The worth of each candidate at these multipliers.
    prices: Floats
    # The price of the last candidate that was bought: one that comes in displaces it.
    threshold: float
    # How often each candidate was bought: close to a solution of the linear relaxation.
    average: Floats
    n_steps: int = 0


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


def evaluate(model: CoverageModel, multipliers: Floats) -> DualPoint:
    """Return the bound that these multipliers prove.

    >>> from oleander.selection.model import plain_model
    >>> model = plain_model(np.array([[1, 1, 0], [0, 1, 1]]), budget=1)
    >>> evaluate(model, model.weights).bound
    2.0
    """
    return _evaluate(model, np.clip(multipliers, 0.0, model.weights))[0]


def _evaluate(model: CoverageModel, multipliers: Floats) -> tuple[DualPoint, Floats]:
    """Return the bound and a subgradient: how often a point is bought, less the once that it may count."""
    prices, taken = model.sure @ multipliers, None
    if model.maybe is not None:
        per_weight = multipliers / np.maximum(model.weights, np.finfo(float).tiny)
        taken = _fill_allowance(model, per_weight)
        prices += taken @ per_weight
    bought, threshold = np.arange(model.n_candidates), 0.0
    if model.limit < model.n_candidates:
        bought = np.argpartition(-prices, model.limit)[: model.limit]
        threshold = float(prices[bought].min())
    bound = float((model.weights - multipliers).sum()) + float(prices[bought].sum())
    average = np.zeros(model.n_candidates)
    average[bought] = 1.0
    used = np.bincount(model.sure.entries_of(bought)[0], minlength=model.n_points).astype(np.float64)
    if taken is not None:
        used += taken[bought].sum(axis=0) / model.weights
    slope = used - np.where(multipliers < model.weights, 1.0, np.minimum(used, 1.0))
    return DualPoint(multipliers, bound, prices, threshold, average), slope


def still_possible(point: DualPoint, cutoff: float) -> Ints:
    """Return the candidates that a choice worth the cutoff may contain, by their reduced cost in the dual.

    Taking a candidate whose price is under that of the last one bought lowers the bound by the difference.

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

    The length of a step is measured against the target, the best value known. Steps begin at `start`, by default half
    of each point's weight. `should_stop` is asked with the best point so far, in a compiled loop after every ten steps.
    """
    weights = model.weights
    if start is None:
        start = 0.5 * weights
    point, slope = _evaluate(model, np.clip(start, 0.0, weights))
    if model.is_plain and not model.sure.is_dense:
        return _tighten_plain(model, target, point, slope, n_steps, should_stop)
    average = point.average
    factor, stalls, n_made = 0.1, 0, 0
    while n_made < n_steps and not should_stop(point):
        # Not by a dot product, whose digits depend on the threads of BLAS.
        length = float(np.square(slope).sum())
        if length <= 1e-12 or factor < 1e-4:
            break
        n_made += 1
        reach = factor * max(point.bound - target, 1e-6 * abs(point.bound)) / length
        multipliers = np.clip(point.multipliers - reach * slope, 0.0, weights)
        trial, fresh = _evaluate(model, multipliers)
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


def descend(
    sure: "PackedRows", candidates: Ints, weights: Floats, n_left: int, start: Floats, *, needed: float, n_steps: int
) -> tuple[DualPoint, float, Ints]:
    """Bound the choices of at most `n_left` of some candidates by Polyak steps, until the bound is under `needed`.

    For the many small problems of branching, where averaging slopes would cost more steps than it saves. Points without
    weight are covered already. Returns also the largest weight that the candidates bought at a step cover, and these.
    """
    multipliers, prices, times_bought = np.empty(len(weights)), np.empty(len(candidates)), np.zeros(len(candidates))
    choice = np.empty(len(candidates), dtype=np.bool_)
    bound, threshold, value = kernels.take_polyak_steps(
        *sure.lists,
        candidates,
        weights,
        min(n_left, len(candidates)),
        np.array(start, dtype=np.float64),
        needed,
        n_steps,
        multipliers,
        prices,
        times_bought,
        choice,
    )
    return DualPoint(multipliers, bound, prices, threshold, times_bought), value, np.flatnonzero(choice)
