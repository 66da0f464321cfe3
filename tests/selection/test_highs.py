"""The rows of the program; HiGHS: proofs by refutation, and the smallest choice."""

from itertools import combinations

import numpy as np
import pytest

from oleander.selection.highs import find_smallest, linear_program, run_highs, solve_by_highs
from oleander.selection.model import plain_model
from oleander.selection.result import Run
from tests.selection.making import every_choice


@pytest.mark.parametrize("seed", range(6))
def test_a_better_value_is_refuted_where_the_bound_is_no_proof(seed):
    rng = np.random.default_rng(seed)
    model = plain_model(rng.random((10, 20)) < 0.3, 3, rng.random(20))
    best = max(model.value(np.array(chosen)) for chosen in combinations(range(10), 3))
    run = Run(model)
    run_highs(model, run, with_cutoff=False)
    assert run.value == pytest.approx(best, rel=1e-9)
    # No choice covers more than everything.
    assert run.is_proven == (best == pytest.approx(model.weights.sum()))
    solve_by_highs(model, run, with_cutoff=False)
    assert run.is_proven
    assert run.bound >= best - run.slack


@pytest.mark.parametrize("seed", range(6))
def test_the_smallest_choice_is_found(seed):
    model = plain_model(np.random.default_rng(seed).random((9, 14)) < 0.4, 9)
    value = model.value(np.arange(9))
    fewest = min(len(chosen) for chosen, reached in every_choice(model) if reached == value)
    found = find_smallest(model, value - model.slack, np.inf, max_nodes=1_000)
    assert (len(found), model.value(found)) == (fewest, value)


def test_a_value_out_of_reach_has_no_sets():
    model = plain_model(np.eye(3), 2)
    assert find_smallest(model, 3.0, np.inf, max_nodes=10) is None


@pytest.mark.parametrize(
    ("weights", "unit", "is_whole"),
    [([1, 2, 3], 1.0, True), ([4, 6, 8], 0.5, True), ([1e6, 1, 1], None, False), ([1e-9, 2e-9, 1e-3], None, False)],
)
def test_weights_are_brought_to_the_scale_of_the_solver(weights, unit, is_whole):
    model = plain_model(np.eye(3), 2, weights)
    program = linear_program(model, cutoff=float(sum(weights)))
    total = program.cost.sum()
    assert program.is_whole == is_whole
    assert program.unit == unit or (unit is None and 2**20 <= total < 2**21)
    # A power of two, or a whole divisor, changes no digit of a weight.
    assert (program.cost[3:] / program.unit).tolist() == [float(weight) for weight in weights]
    assert program.row_lower[-1] == pytest.approx(total)
