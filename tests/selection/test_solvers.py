"""The contract of every solver: an allowed choice with its own value, a bound that holds, a record."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.selection import SelectionProblem
from oleander.selection.solvers import GREEDY_SHARE, SOLVERS, try_every_choice
from tests.selection.making import make_instance


@pytest.fixture(params=[*SOLVERS, try_every_choice])
def solver(request):
    return request.param


def rows(seed, n_candidates=9, n_points=20):
    rng = np.random.default_rng(seed)
    covers = rng.random((n_candidates, n_points)) < 0.3
    return covers, covers & (rng.random(covers.shape) < 0.8)


@pytest.mark.parametrize("formulation", ["strict", "selective"])
@pytest.mark.parametrize("seed", range(10))
def test_the_answer_is_allowed_has_its_value_and_a_record_and_comes_again(seed, formulation, solver):
    covers, agrees = rows(seed)
    problem = SelectionProblem(covers, agrees)
    result, again = (problem.solve(3, 0.7, formulation=formulation, solver=solver) for _ in range(2))
    assert len(result.chosen) <= 3
    assert result.chosen.tolist() == sorted(set(result.chosen.tolist())) == again.chosen.tolist()
    assert result.objective == result.covered.sum() == pytest.approx(20 * result.coverage)
    assert result.objective <= result.bound
    assert result.gap == pytest.approx((result.bound - result.objective) / result.objective)
    assert (result.status == "optimal") == (result.gap == 0.0)
    assert result.is_proven_optimal or solver in ("greedy", "quick")
    assert result.stages
    assert all(stage.runtime >= 0 and stage.value <= stage.bound for stage in result.stages)
    assert result.runtime > 0
    if formulation == "strict":
        fidelity = agrees.sum(axis=1) / covers.sum(axis=1)
        assert (fidelity[result.chosen] >= 0.7).all()
        assert (result.covered == covers[result.chosen].any(axis=0)).all()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 5), formulation=st.sampled_from(["strict", "selective"]))
def test_greedy_keeps_its_guarantee(seed, k, formulation):
    rows = make_instance(seed)
    problem = SelectionProblem(rows.covers, rows.agrees)
    best = problem.solve(k, 0.75, formulation=formulation, solver=try_every_choice).objective
    assert problem.solve(k, 0.75, formulation=formulation, solver="greedy").objective >= GREEDY_SHARE * best
