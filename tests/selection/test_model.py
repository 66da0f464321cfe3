"""The model: the step between values, and sums that are equal."""

from dataclasses import replace

import numpy as np
import pytest

from oleander.selection.model import grain_of, pack_matrix, plain_model


@pytest.mark.parametrize(
    ("weights", "grain"),
    [([2, 4], 2.0), ([3, 5], 1.0), ([0.5, 1], 0.0), ([0, 6], 6.0), ([], 1.0), ([1, 1e12], 0.0), ([1e12, 3e12], 1e12)],
)
def test_values_move_in_steps_of_the_common_divisor(weights, grain):
    assert grain_of(np.array(weights, dtype=float)) == grain


def test_allowances_have_their_part_in_the_step():
    model = plain_model(np.eye(2), 1, [4.0, 4.0])
    assert model.grain == 4.0
    allowing = replace(model, maybe=pack_matrix(np.zeros((2, 2))), allowance=np.array([3.0, 0.0]))
    assert allowing.grain == 1.0


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e9])
def test_equal_sums_are_equal_at_every_scale(scale):
    weights = scale * np.array([0.1, 0.2, 0.3])
    model = plain_model(np.array([[1, 1, 0], [0, 0, 1]]), 1, weights)
    assert abs(model.value(np.array([0])) - model.value(np.array([1]))) <= model.slack
    assert model.slack < 1e-9 * weights.sum()
