"""The volume algorithm, against the same steps in NumPy and against the best choice."""

import numpy as np
import pytest

from oleander.kernels import Dual, PackedRows
from oleander.selection.bounds import still_possible
from oleander.selection.model import pack_matrix
from tests.selection.making import every_choice, make_model


def take_in_numpy(covers, weights, n_bought, multipliers, target, n_steps, factor):
    """Return the best bound, how often each candidate was bought lately, and the largest weight covered."""
    best, widest, stalls, slope, average = np.inf, 0.0, 0, 0.0, 0.0
    trial = multipliers
    for step in range(n_steps + 1):
        prices = covers @ trial
        bought = np.argsort(-prices, kind="stable")[:n_bought]
        bound = (weights - trial).sum() + prices[bought].sum()
        used = covers[bought].sum(axis=0)
        widest = max(widest, weights[used > 0].sum())
        fresh = np.where(weights > 0, used - np.where(trial < weights, 1, np.minimum(used, 1)), 0)
        is_bought = np.isin(np.arange(len(covers)), bought)
        slope = 0.9 * slope + 0.1 * fresh if step else fresh
        average = 0.9 * average + 0.1 * is_bought if step else is_bought
        if bound < best:
            factor = min(2, 1.1 * factor) if step and fresh @ slope > 0 else factor
            best, stalls, multipliers = bound, 0, trial
        else:
            stalls += 1
            factor, stalls = (0.66 * factor, 0) if stalls == 15 else (factor, stalls)
        if best < target:
            break
        reach = factor * max(best - target, 1e-6 * abs(best)) / (slope @ slope)
        trial = np.clip(multipliers - reach * slope, 0, weights)
    return best, average, widest


def make(seed, n_candidates=25, n_points=60, density=0.2):
    rng = np.random.default_rng(seed)
    # Weights without equal sums, so that no two prices are equal but by rounding.
    return rng.random((n_candidates, n_points)) < density, rng.random(n_points) * (rng.random(n_points) < 0.9)


# Matrices of the smaller density are read as lists.
@pytest.mark.parametrize("density", [0.05, 0.2])
@pytest.mark.parametrize("n_bought", [1, 4, 25])
@pytest.mark.parametrize("seed", range(6))
def test_steps_are_those_of_numpy(seed, n_bought, density):
    covers, weights = make(seed, density=density)
    start, target = 0.5 * weights, 0.5 * weights.sum()
    dual = Dual(pack_matrix(covers), weights, n_bought, start, factor=0.5)
    dual.take(10, target)
    dual.take(30, target)
    bound, average, value = take_in_numpy(covers, weights, n_bought, start, target, 40, 0.5)
    assert dual.bound == pytest.approx(bound)
    assert dual.value == pytest.approx(value)
    assert weights[covers[dual.choice].any(axis=0)].sum() == pytest.approx(value)
    np.testing.assert_allclose(dual.average, average)
    np.testing.assert_allclose(dual.prices, covers @ dual.multipliers)
    bought = np.sort(dual.prices)[-n_bought:]
    assert dual.threshold == (bought[0] if n_bought < 25 else 0.0)
    assert dual.bound == pytest.approx((weights - dual.multipliers).sum() + bought.sum())
    assert dual.n_steps == 40 or dual.is_done
    np.testing.assert_array_equal(start, 0.5 * weights)


@pytest.mark.parametrize("density", [0.05, 0.3])
def test_steps_on_some_candidates_are_those_of_their_rows(density):
    covers, weights = make(3, density=density)
    some = np.array([20, 3, 11, 7])
    among = Dual(pack_matrix(covers), weights, 2, 0.5 * weights, candidates=some)
    alone = Dual(pack_matrix(covers[some]), weights, 2, 0.5 * weights)
    for dual in (among, alone):
        dual.take(10, 0.0)
    assert among.bound == alone.bound
    np.testing.assert_array_equal(among.prices, alone.prices)
    np.testing.assert_array_equal(among.choice, alone.choice)


def test_of_equal_prices_the_first_are_bought():
    assert Dual(pack_matrix(np.eye(5)), np.ones(5), 2, np.full(5, 0.5)).choice.tolist() == [0, 1]


@pytest.mark.parametrize("seed", range(10))
def test_choices_with_each_candidate_are_bounded(seed):
    model = make_model(seed)
    choices = [(set(chosen.tolist()), value) for chosen, value in every_choice(model)]
    dual = Dual(model.sure, model.weights, 3, 0.5 * model.weights, factor=1.0)
    dual.take(20, 0.0)
    assert dual.value == model.value(dual.choice)
    for candidate in range(model.n_candidates):
        best = max(value for chosen, value in choices if candidate in chosen)
        assert candidate in still_possible(dual, cutoff=best - 1e-9)


def test_a_dense_matrix_takes_no_list():
    rows = PackedRows.pack(np.ones((4, 100), dtype=bool), (4, 100))
    assert Dual(rows, np.ones(100), 2, np.ones(100)).bound == 200.0
    assert "lists" not in vars(rows)
