"""The rows of the program; HiGHS: proofs by refutation, and the smallest choice."""

import numpy as np
import pytest

from oleander.selection.highs import find_smallest, linear_program, solve_by_highs
from oleander.selection.model import plain_model
from oleander.selection.result import Run
from tests.selection.making import best_of, every_choice


@pytest.mark.parametrize("with_cutoff", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_is_found_and_a_better_value_refuted(seed, with_cutoff):
    rng = np.random.default_rng(seed)
    covers = rng.random((10, 20)) < 0.3
    model = plain_model(covers, 3)
    run = Run(model)
    for _ in range(2 if with_cutoff else 1):
        solve_by_highs(model, run, with_cutoff=with_cutoff)
    assert run.value == best_of(covers, 3)
    assert run.is_proven


@pytest.mark.parametrize("seed", range(6))
def test_the_smallest_choice_is_found(seed):
    model = plain_model(np.random.default_rng(seed).random((9, 14)) < 0.4, 9)
    value = model.value(np.arange(9))
    fewest = min(len(chosen) for chosen, reached in every_choice(model) if reached == value)
    found = find_smallest(model, value, np.inf, max_nodes=1_000)
    assert (len(found), model.value(found)) == (fewest, value)


def test_a_value_out_of_reach_has_no_sets():
    assert find_smallest(plain_model(np.eye(3), 2), 3.0, np.inf, max_nodes=10) is None


def test_a_cutoff_is_one_more_row():
    program = linear_program(plain_model(np.eye(3), 2, [1, 2, 3]), cutoff=5.0)
    assert program.rows.toarray()[-1].tolist() == program.cost.tolist() == [0, 0, 0, 1, 2, 3]
    assert (program.row_lower[-1], program.row_upper[-1]) == (5.0, np.inf)
