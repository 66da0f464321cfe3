import numpy as np
import pytest
from scipy.stats import beta

from oleander.judging.floor import Floor


def test_the_bound_is_measured_at_its_level():
    for level in (0.05, 0.2):
        # Clopper and Pearson's bound is a quantile of a beta law.
        expected = beta.ppf(level, 38, 40 - 38 + 1)
        assert Floor("bound", confidence=1 - level).measure(38, 40) == pytest.approx(expected)


def test_the_raw_share_is_the_papers():
    measured = Floor("share", min_support=1).measure([0, 3, 4], [4, 4, 4])
    assert measured.tolist() == [0.0, 0.75, 1.0]


@pytest.mark.parametrize("on", ["bound", "share"])
def test_small_support_is_no_evidence(on):
    measured = Floor(on, min_support=10).measure([9, 10, 0], [9, 10, 0])
    assert measured[0] == 0.0
    assert measured[1] > 0.5
    assert measured[2] == 0.0


def test_a_bound_is_under_its_share():
    n_rows = np.arange(10, 200)
    n_right = np.round(0.93 * n_rows)
    share = Floor("share").measure(n_right, n_rows)
    assert (Floor("bound").measure(n_right, n_rows) < share).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": "mean"}, "floor.on='mean' is not known; use 'bound' or 'share'"),
        ({"min_support": 0}, "floor.min_support=0 is not allowed: give a whole number, 1 or more"),
        ({"confidence": 0.0}, "floor.confidence=0.0 is not allowed: give a number over 0 and under 1"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        Floor(**options).check()


@pytest.mark.parametrize("on", ["bound", "share"])
def test_good_options(on):
    Floor(on).check()
