import numpy as np
import pandas as pd
import pytest

from studies.steps import filter_cost as step


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_slope_finds_the_power(power):
    sizes = pd.Series([10, 20, 40, 80])
    assert step.slope(sizes, 0.003 * sizes**power) == pytest.approx(power)


def test_every_feature_is_picked_and_work_is_counted():
    found = step.measure_filter(4000, 12, 0, n_repeats=1)
    assert found["n_picked"] == 12
    # All draws in the first round, then fewer draws and fewer features in each.
    assert 4000 * 12 < found["counts"] <= 4000 * 12 * 13 / 2
    assert 0 < found["one_round"] < found["seconds"] < 5


def test_draws_flip_at_most_three_bits():
    bits, labels = step.draw_bits(2000, 9, 0)
    assert set(np.unique(bits.sum(axis=0))) == {0, 1, 2, 3}
    assert set(np.unique(labels)) == set(range(step.N_LABELS))
