import numpy as np
import pytest
from scipy.stats import binom, binomtest

from oleander.judging.bounds import lower_bound


@pytest.mark.parametrize(("right", "rows"), [(0, 5), (1, 1), (5, 5), (37, 40), (900, 1000)])
@pytest.mark.parametrize("level", [0.05, 0.005])
def test_bound_is_clopper_and_pearsons(right, rows, level):
    expected = binomtest(right, rows, alternative="greater").proportion_ci(1 - level, method="exact").low
    assert lower_bound(right, rows, level) == pytest.approx(expected, abs=1e-9)


def test_bound_fails_no_more_often_than_stated():
    """Over all outcomes of a binomial, the bound is over the true share with at most the stated chance."""
    for share in (0.5, 0.9, 0.97):
        outcomes = np.arange(61)
        fails = lower_bound(outcomes, np.full(61, 60), 0.05) > share
        assert binom.pmf(outcomes[fails], 60, share).sum() <= 0.05


def test_bound_rises_with_right_rows_and_with_evidence():
    assert (np.diff(lower_bound(np.arange(101), 100, 0.05)) > 0).all()
    # The same share of ever more rows, the counts shrunk by a design effect included.
    sizes = np.array([0.5, 3.7, 10.0, 33.3, 1000.0])
    bounds = lower_bound(0.9 * sizes, sizes, 0.05)
    assert (np.diff(bounds) > 0).all()
    assert (bounds < 0.9).all()


def test_no_row_no_claim():
    assert lower_bound([0, 0], [0, 7], 0.05).tolist() == [0.0, 0.0]
