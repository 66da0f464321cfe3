"""HiGHS: proofs by refutation, fewest candidates, and turns of several threads."""

from itertools import combinations

import numpy as np
import pytest

from oleander.selection.formulations import plain_model
from oleander.selection.run import Run
from oleander.selection.solvers.highs import count_fewest, run_highs, solve_by_highs
from tests.selection.making import every_choice


@pytest.mark.parametrize("seed", range(10))
def test_a_better_value_is_refuted_where_the_bound_is_no_proof(seed):
    rng = np.random.default_rng(seed)
    model = plain_model(rng.random((10, 20)) < 0.3, 3, rng.random(20))
    best = max(model.value(np.array(chosen)) for chosen in combinations(range(10), 3))
    run = Run(model)
    run_highs(model, run, with_cutoff=False)
    assert run.value == pytest.approx(best, rel=1e-9)
    assert not run.is_proven
    solve_by_highs(model, run, with_cutoff=False)
    assert run.is_proven
    assert run.bound >= best - run.slack


@pytest.mark.parametrize("seed", range(10))
def test_the_fewest_sets_are_counted(seed):
    model = plain_model(np.random.default_rng(seed).random((9, 14)) < 0.4, 9)
    value = model.value(np.arange(9))
    fewest = min(len(chosen) for chosen, reached in every_choice(model) if reached == value)
    found = count_fewest(model, value - model.slack, Run(model), max_nodes=1_000)
    assert (len(found), model.value(found)) == (fewest, value)


def test_a_value_out_of_reach_has_no_sets():
    model = plain_model(np.eye(3), 2)
    assert count_fewest(model, 3.0, Run(model), max_nodes=10) is None
