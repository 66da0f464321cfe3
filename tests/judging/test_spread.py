import numpy as np
import pytest
from scipy.stats import binom

from oleander.judging.spread import Spread, bound_quantile


@pytest.mark.parametrize(("n_rows", "share"), [(29, 0.9), (60, 0.9), (200, 0.8)])
def test_it_fails_as_seldom_as_stated(n_rows, share):
    rng = np.random.default_rng(0)
    n_false = 0
    for _ in range(2_000):
        size = bound_quantile(rng.random(n_rows), share, 0.05)
        # The errors are uniform, so that this share of new rows lies under the size.
        n_false += size < share
    assert n_false <= binom.ppf(0.999, 2_000, 0.05)


def test_too_few_rows_say_nothing():
    assert bound_quantile(np.zeros(28), 0.9, 0.05) is None
    assert bound_quantile(np.zeros(29), 0.9, 0.05) == 0
    assert bound_quantile(np.zeros(0), 0.9, 0.05) is None


@pytest.mark.parametrize("data", [{"share": 0, "size": 1}, {"share": 0.9, "size": -1}, {"share": 0.9, "size": np.inf}])
def test_spreads_that_cannot_be_are_refused(data):
    with pytest.raises(ValueError, match="cannot be"):
        Spread.from_dict(data)
