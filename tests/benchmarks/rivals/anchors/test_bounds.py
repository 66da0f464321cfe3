import numpy as np
import pytest
from scipy.optimize import brentq

from benchmarks.rivals.anchors.lucb import exploration_rate, kl_upper

SHARES = [0.0, 0.01, 0.3, 0.5, 0.95, 0.999, 1.0]


def divergence(p, q):
    with np.errstate(divide="ignore", invalid="ignore"):
        one = 0.0 if p == 0 else p * np.log(p / q)
        other = 0.0 if p == 1 else (1 - p) * np.log((1 - p) / (1 - q))
    return one + other


@pytest.mark.parametrize("level", [0.001, 0.02, 0.3, 3.0])
@pytest.mark.parametrize("p", SHARES)
def test_bounds_against_a_root_finder(p, level):
    least, most = 1e-15, 1 - 1e-15
    # Where even the end of the range is within the level, that end is the bound.
    upper = most if divergence(p, most) <= level else brentq(lambda q: divergence(p, q) - level, max(p, least), most)
    lower = least if divergence(p, least) <= level else brentq(lambda q: divergence(p, q) - level, least, min(p, most))
    assert kl_upper(p, level) == pytest.approx(upper, abs=1e-5)
    assert 1 - kl_upper(1 - p, level) == pytest.approx(lower, abs=1e-5)


def test_bounds_hold_as_often_as_stated():
    """With level log(1 / δ) / n, one side fails in at most a share δ of all samples (Chernoff)."""
    n_draws, delta, p = 200, 0.05, 0.9
    shares = np.random.default_rng(0).binomial(n_draws, p, size=20_000) / n_draws
    level = np.log(1 / delta) / n_draws
    assert (1 - kl_upper(1 - shares, level) > p).mean() <= delta
    assert (kl_upper(shares, level) < p).mean() <= delta


def test_the_rate_by_hand():
    # k · n · t^α / δ = 405.5 · 20 · 3^1.1 / 0.1
    inner = np.log(405.5 * 20 * 3**1.1 / 0.1)
    assert exploration_rate(20, 3, 0.1) == pytest.approx(inner + np.log(inner))
    assert exploration_rate(20, 4, 0.1) > exploration_rate(20, 3, 0.1)
