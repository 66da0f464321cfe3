"""Bounds hold for every choice, and no choice worth the cutoff contains a candidate that was dropped."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from oleander.selection.bounds import evaluate, still_possible, tighten
from oleander.selection.branching import BranchTree
from oleander.selection.model import plain_model
from tests.selection.making import best_of, every_choice, make_model

# Whole values move by one; the rest is room for rounding.
STEP = 1.0 - 1e-9


def plant(model, cutoff=0.0):
    everyone = np.arange(model.n_candidates)
    return BranchTree(model.sure, model.weights, model.limit, everyone, 0.5 * model.weights, cutoff=cutoff, step=STEP)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_any_multipliers_bound_every_choice(seed):
    model = make_model(seed)
    best = max(value for _, value in every_choice(model))
    multipliers = np.random.default_rng(seed).random(model.n_points) * model.weights
    assert evaluate(model, multipliers).bound >= best - 1e-9
    assert tighten(model, best, n_steps=60).bound >= best - 1e-9


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_no_choice_worth_the_cutoff_needs_a_dropped_candidate(seed):
    model = make_model(seed)
    choices = list(every_choice(model))
    best = max(value for _, value in choices)
    possible = set(still_possible(tighten(model, best, n_steps=60), cutoff=best - 1e-9).tolist())
    assert all(set(chosen.tolist()) <= possible for chosen, value in choices if value >= best - 1e-9)


def test_steps_make_the_bound_tight_where_the_relaxation_is():
    model = plain_model(np.kron(np.eye(4), np.ones(5)), budget=2)
    assert tighten(model, 10.0, n_steps=200).bound == pytest.approx(10.0, abs=0.05)


def test_digits_do_not_depend_on_the_threads_of_blas():
    rng = np.random.default_rng(0)
    model = plain_model(rng.random((40, 100_000)) < 0.1, 5, rng.random(100_000))
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(tighten(model, 0.0, n_steps=15))
    assert found[0].bound == found[1].bound
    np.testing.assert_array_equal(found[0].multipliers, found[1].multipliers)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_a_tree_finds_the_best(seed, k):
    covers = np.random.default_rng(seed).random((12, 25)) < 0.25
    model = plain_model(covers, k)
    tree = plant(model)
    tree.grow()
    best = best_of(covers, k)
    assert tree.is_complete
    assert tree.value == best
    assert tree.bound == best + STEP
    assert covers[list(tree.chosen)].any(axis=0).sum() == best


@pytest.mark.parametrize("seed", range(8))
def test_a_tree_that_stops_early_has_a_bound(seed, monkeypatch):
    monkeypatch.setattr("oleander.selection.branching.NODE_STEPS", 3)
    covers = np.random.default_rng(seed).random((16, 40)) < 0.25
    model = plain_model(covers, 4)
    tree = plant(model)
    bounds = []
    while tree.grow(max_nodes=1):
        bounds.append(tree.bound)
        assert tree.value <= best_of(covers, 4) < tree.bound + 1e-9
    # A better choice raises the cutoff, which may pass an open bound, but never the next whole value.
    wholes = np.floor(bounds).tolist()
    assert wholes == sorted(wholes, reverse=True)


def test_a_cutoff_over_the_optimum_finds_nothing():
    covers = np.random.default_rng(0).random((12, 25)) < 0.25
    best = best_of(covers, 3)
    tree = plant(plain_model(covers, 3), cutoff=best + STEP)
    tree.grow()
    assert (tree.is_complete, tree.chosen, tree.bound) == (True, (), best + STEP)
