"""The compiled steps of the dual, against the same steps in NumPy and against the best choice."""

import numpy as np
import pytest

from oleander import kernels
from oleander.selection.bounds import descend, evaluate, tighten
from oleander.selection.model import pack_matrix, plain_model
from tests.selection.making import best_of


def descend_in_numpy(covers, weights, n_left, multipliers, needed, n_steps):
    """Return the best bound, how often each candidate was bought, and the largest weight covered."""
    best, first, value, times = np.inf, np.inf, -np.inf, np.zeros(len(covers))
    for step in range(n_steps):
        prices = covers @ multipliers
        bought = np.argsort(-prices, kind="stable")[:n_left]
        bound = (weights - multipliers).sum() + prices[bought].sum()
        used = covers[bought].sum(axis=0)
        times[bought] += 1
        value, best = max(value, weights[used > 0].sum()), min(best, bound)
        once = np.where(multipliers < weights, 1, np.where(weights > 0, np.minimum(used, 1), used))
        slope = used - once
        length = slope @ slope
        first = bound if step == 0 else first
        if best < needed or length == 0 or (2 * step >= n_steps and best - needed > 0.5 * (first - needed)):
            break
        reach = 1.6 * max(bound - needed, 1e-9 * weights.sum()) / length
        multipliers = np.clip(multipliers - reach * slope, 0, weights)
    return best, times, value


def make(seed, n_candidates=25, n_points=60):
    rng = np.random.default_rng(seed)
    # Weights without equal sums, so that no two prices are equal but by rounding.
    return rng.random((n_candidates, n_points)) < 0.2, rng.random(n_points) * (rng.random(n_points) < 0.9)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_left", [1, 4, 25])
def test_a_descent_is_that_of_numpy(seed, n_left):
    covers, weights = make(seed)
    start, needed = 0.5 * weights, 0.8 * weights.sum()
    found, value, choice = descend(
        pack_matrix(covers), np.arange(25), weights, n_left, start, needed=needed, n_steps=30
    )
    best, times_bought, reached = descend_in_numpy(covers, weights, n_left, start, needed, 30)
    assert found.bound == pytest.approx(best)
    assert value == pytest.approx(reached)
    assert weights[covers[choice].any(axis=0)].sum() == pytest.approx(reached)
    np.testing.assert_array_equal(found.average, times_bought)
    np.testing.assert_allclose(found.prices, covers @ found.multipliers)
    assert len(choice) == n_left
    bought = np.sort(found.prices)[-n_left:]
    assert found.threshold == bought[0]
    assert found.bound == pytest.approx((weights - found.multipliers).sum() + bought.sum())
    np.testing.assert_array_equal(start, 0.5 * weights)


def test_a_descent_on_some_candidates_is_that_of_their_rows():
    covers, weights = make(3)
    some = np.array([20, 3, 11, 7])
    among, _, choice = descend(pack_matrix(covers), some, weights, 2, 0.5 * weights, needed=0.0, n_steps=10)
    alone, _, choice_alone = descend(
        pack_matrix(covers[some]), np.arange(4), weights, 2, 0.5 * weights, needed=0.0, n_steps=10
    )
    assert among.bound == alone.bound
    np.testing.assert_array_equal(among.prices, alone.prices)
    np.testing.assert_array_equal(choice, choice_alone)


def test_of_equal_prices_the_first_are_bought():
    _, _, choice = descend(pack_matrix(np.eye(5)), np.arange(5), np.ones(5), 2, np.full(5, 0.5), needed=0.0, n_steps=1)
    assert choice.tolist() == [0, 1]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("k", [1, 3, 12])
def test_the_volume_algorithm_bounds_every_choice(seed, k):
    covers = make(seed, 12, 30)[0]
    model = plain_model(covers, k)
    point = tighten(model, 0.0, n_steps=100)
    assert point.bound >= best_of(covers, k) - 1e-9
    assert point.bound <= evaluate(model, 0.5 * model.weights).bound
    again = evaluate(model, point.multipliers)
    assert again.bound == pytest.approx(point.bound)
    assert again.threshold == pytest.approx(point.threshold)
    np.testing.assert_allclose(again.prices, point.prices)
    assert 0 <= point.average.min() <= point.average.max() <= 1 + 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_the_volume_algorithm_takes_the_steps_of_numpy(seed, monkeypatch):
    covers, weights = make(seed)
    model = plain_model(covers, 5, weights + 0.01)
    one = tighten(model, 0.5 * weights.sum(), n_steps=40)
    # Dense bits keep the model out of the compiled loop, and buy the same candidates.
    monkeypatch.setattr(kernels.PackedRows, "is_dense", True)
    other = tighten(model, 0.5 * weights.sum(), n_steps=40)
    assert one.bound == pytest.approx(other.bound, rel=1e-6)
    assert one.n_steps == other.n_steps
