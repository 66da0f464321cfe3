"""The model: the step between values, the budget, and the constraints of a choice."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from oleander.selection.formulations import plain_model
from oleander.selection.model import grain_of


@pytest.mark.parametrize(
    ("weights", "grain"),
    [([2, 4], 2.0), ([3, 5], 1.0), ([0.5, 1], 0.0), ([0, 6], 6.0), ([], 1.0), ([1, 1e12], 0.0), ([1e12, 3e12], 1e12)],
)
def test_values_move_in_steps_of_the_common_divisor(weights, grain):
    assert grain_of(np.array(weights, dtype=float)) == grain


def test_allowances_and_the_offset_have_their_part_in_the_step():
    model = plain_model(np.eye(2), 1, [4.0, 4.0])
    assert model.grain == 4.0
    assert replace(model, offset=2.0).grain == 2.0
    allowing = replace(model, maybe=sparse.csr_array((2, 2)), allowance=np.array([3.0, 0.0]))
    assert allowing.grain == 1.0


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e9])
def test_a_budget_is_kept_at_every_scale(scale):
    model = replace(plain_model(np.eye(3), 1), cost=scale * np.array([0.1, 0.2, 0.4]), budget=scale * 0.3)
    # 0.1 + 0.2 is over 0.3 in binary.
    assert model.satisfies(np.array([0, 1]))
    assert not model.satisfies(np.array([2]))
    assert model.limit == 2


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e9])
def test_equal_sums_are_equal_at_every_scale(scale):
    weights = scale * np.array([0.1, 0.2, 0.3])
    model = plain_model(np.array([[1, 1, 0], [0, 0, 1]]), 1, weights)
    assert abs(model.value(np.array([0])) - model.value(np.array([1]))) <= model.slack
    assert model.slack < 1e-9 * weights.sum()
