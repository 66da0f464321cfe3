import numpy as np
import pandas as pd
import pytest

from studies.steps import filter_cost as step


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_slope_finds_the_power(power):
    sizes = pd.Series([10, 20, 40, 80])
    assert step.slope(sizes, 0.003 * sizes**power) == pytest.approx(power)


def test_time_is_measured():
    assert 0 < step.time_filter(20_000, 5, 2, 0, n_repeats=1) < 5
    assert np.isfinite(step.time_filter(20_000, 5, 1, 0, n_repeats=1))
