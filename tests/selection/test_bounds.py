"""Bounds hold for every choice, and what is fixed by them is not needed."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.selection.bounds import descend, evaluate, tighten
from oleander.selection.constraints import Constraints
from oleander.selection.fix import still_possible
from oleander.selection.formulations import build_model, plain_model, selective_rules


def every_choice(model):
    for size in range(model.limit + 1):
        for choice in combinations(range(model.n_candidates), size):
            chosen = np.array(choice, dtype=np.intp)
            if model.satisfies(chosen):
                yield chosen, model.value(chosen)


def make_model(seed, kind):
    rng = np.random.default_rng(seed)
    covers = rng.random((7, 12)) < rng.uniform(0.2, 0.6)
    weights = rng.integers(1, 4, size=12).astype(float)
    if kind == "selective":
        agrees = covers & (rng.random(covers.shape) < 0.7)
        nobody = np.empty(0, dtype=np.intp)
        rules = selective_rules(*(plain_model(matrix, 3).sure for matrix in (covers, agrees)), weights, 0.8)
        return build_model(rules, weights, Constraints(3.0, None, nobody, nobody, None))
    model = plain_model(covers, 3, weights)
    if kind == "costs":
        model = replace(model, cost=rng.integers(1, 5, size=7) / 2)
    if kind == "forced":
        model = replace(model, forced=np.array([1]))
    return model


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["plain", "costs", "forced", "selective"]))
def test_any_multipliers_bound_every_choice(seed, kind):
    model = make_model(seed, kind)
    best = max(value for _, value in every_choice(model))
    multipliers = np.random.default_rng(seed).random(model.n_points) * model.weights
    assert evaluate(model, multipliers).bound >= best - 1e-9
    assert tighten(model, best, n_steps=60).bound >= best - 1e-9


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["plain", "costs", "forced", "selective"]))
def test_no_choice_worth_the_cutoff_needs_what_is_fixed(seed, kind):
    model = make_model(seed, kind)
    choices = list(every_choice(model))
    best = max(value for _, value in choices)
    possible = set(still_possible(model, tighten(model, best, n_steps=60), cutoff=best - 1e-9).tolist())
    assert all(set(chosen.tolist()) <= possible for chosen, value in choices if value >= best - 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_a_descent_bounds_with_and_without_each_candidate(seed):
    model = make_model(seed, "plain")
    choices = [(set(chosen.tolist()), value) for chosen, value in every_choice(model)]
    start = 0.5 * model.weights
    descent = descend(model.sure, model.weights, 3, start, needed=0.0, n_steps=20)
    assert descent.value == model.value(descent.choice)
    for candidate, bound in enumerate(descent.with_each()):
        assert bound >= max(value for chosen, value in choices if candidate in chosen) - 1e-9
        assert descent.without(candidate) >= max(v for chosen, v in choices if candidate not in chosen) - 1e-9


def test_steps_make_the_bound_tight_where_the_relaxation_is():
    model = plain_model(np.kron(np.eye(4), np.ones(5)), budget=2)
    assert tighten(model, 10.0, n_steps=200).bound == pytest.approx(10.0, abs=0.05)
