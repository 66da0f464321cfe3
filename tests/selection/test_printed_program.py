"""The paper's printed program: what counts is a largest flow, and two plain programs stand around it."""

import numpy as np
import pytest
from scipy import optimize

from oleander.selection import SelectionProblem
from oleander.selection.model import pack_matrix
from oleander.selection.printed_program import SelectiveModel
from tests.selection.making import every_choice, make_instance, solve_literally

FLOORS = (0.6, 0.75, 0.9, 1.0)


@pytest.mark.parametrize("seed", range(60))
def test_the_optimum_is_that_of_the_paper_s_program(seed):
    rows = make_instance(seed, n_candidates=5, n_points=8, max_weight=1 if seed % 3 else 2)
    k, floor = 1 + seed % 3, FLOORS[seed % 4]
    result = SelectionProblem(rows.covers, rows.agrees, rows.weights).solve(k, floor, formulation="selective")
    assert result.is_proven_optimal
    assert result.objective == solve_literally(rows, k, floor)


def test_counted_weight_keeps_the_floor():
    for seed in range(15):
        rows = make_instance(seed, max_weight=3)
        problem = SelectionProblem(rows.covers, rows.agrees, rows.weights)
        result = problem.solve(3, 0.75, formulation="selective")
        counted = result.counted.toarray()
        right = (counted * rows.agrees[result.chosen]).sum(axis=1)
        assert (right >= 0.75 * counted.sum(axis=1) - 1e-9).all()
        assert (counted <= rows.covers[result.chosen] * rows.weights).all()
        together = np.where((counted * rows.agrees[result.chosen]).any(axis=0), rows.weights, counted.sum(axis=0))
        assert np.minimum(together, rows.weights).sum() == result.objective


def make_allowing(seed, n=4, m=9):
    rng = np.random.default_rng(seed)
    sure, maybe = rng.random((2, n, m)) < 0.3
    allowance, weights = rng.integers(0, 4, n).astype(float), rng.integers(1, 3, m).astype(float)
    return SelectiveModel(pack_matrix(sure), weights, 3, np.arange(n), pack_matrix(maybe), allowance)


@pytest.mark.parametrize("seed", range(15))
def test_allowances_go_to_as_many_points_as_possible(seed):
    model = make_allowing(seed)
    chosen = np.random.default_rng(seed).permutation(4)[:3]
    maybe, allowance, m = model.maybe.toarray()[chosen], model.allowance[chosen], model.n_points
    room = np.where(model.sure.toarray()[chosen].any(axis=0), 0.0, model.weights)
    best = optimize.linprog(
        -np.ones(3 * m),
        A_ub=np.vstack([np.kron(np.eye(3), np.ones(m)), np.kron(np.ones(3), np.eye(m))]),
        b_ub=np.concatenate([allowance, room]),
        bounds=[(0.0, limit) for limit in np.where(maybe, np.inf, 0.0).ravel()],
    )
    shared = model.share_out(chosen).toarray() * (room > 0)
    assert model.value(chosen) - model.weights[room == 0].sum() == shared.sum() == pytest.approx(-best.fun)
    assert (shared[~maybe] == 0).all()
    assert (shared.sum(axis=1) <= allowance).all()
    assert (shared.sum(axis=0) <= room).all()
    assert (shared == np.round(shared)).all()


@pytest.mark.parametrize("seed", range(15))
def test_two_plain_programs_stand_around_it(seed):
    model = make_allowing(seed)
    for chosen, value in every_choice(model):
        assert model.merge().value(chosen) == value
        assert model.surely().value(chosen) <= value <= model.relax().value(chosen)


def test_no_candidate_counts_nothing():
    model, none = make_allowing(0), np.empty(0, dtype=np.intp)
    assert model.value(none) == 0.0
    assert model.share_out(none).shape == (0, model.n_points)


def test_allowances_count_between_even_weights():
    # Ten right and three of the wrong: no value that can occur is a multiple of two but by chance.
    agrees = np.arange(7)[None, :] < 5
    result = SelectionProblem(np.ones((1, 7)), agrees, np.full(7, 2)).solve(1, 0.75, formulation="selective")
    assert (result.objective, result.bound, result.status) == (13.0, 13.0, "optimal")


def test_equal_candidates_have_an_allowance_each():
    # One counts ten points alone, and both count all eleven.
    agrees = np.arange(11)[None, :] < 9
    problem = SelectionProblem(np.ones((2, 11)), np.repeat(agrees, 2, axis=0))
    found = [problem.solve(k, 0.9, formulation="selective").objective for k in (1, 2)]
    assert found == [10.0, 11.0]


def test_a_candidate_that_counts_nothing_is_not_chosen():
    covers, agrees = np.ones((2, 4), dtype=bool), np.array([[True] * 4, [False] * 4])
    for solver in ("auto", "highs", "greedy", "quick"):
        result = SelectionProblem(covers, agrees).solve(2, formulation="selective", solver=solver, start=[0, 1])
        assert result.chosen.tolist() == [0]
