import re

import numpy as np
import pytest
from scipy.stats import beta

from oleander.judging.bounds import lower_bound
from oleander.judging.floor import Floor, why_too_few


def test_the_bound_is_measured_at_its_level():
    for level in (0.05, 0.2):
        # Clopper and Pearson's bound is a quantile of a beta law.
        expected = beta.ppf(level, 38, 40 - 38 + 1)
        assert Floor("bound", level=level).measure(38, 40) == pytest.approx(expected)


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
        ({"over": "all"}, "floor.over='all' is not known; use 'each' or 'union' or 'both'"),
        ({"min_support": 0}, "floor.min_support=0 is not allowed: give a whole number, 1 or more"),
        ({"level": 0.0}, "floor.level=0.0 is not allowed: give a number over 0 and under 1"),
        ({"on": "share", "level": 0.1}, "floor.level is the error of a bound, and floor.on='share' has none"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        Floor(**options).check()


@pytest.mark.parametrize("over", ["each", "union", "both", None])
@pytest.mark.parametrize("on", ["bound", "share"])
def test_good_options(on, over):
    Floor(on, over).check()


class TestTooFew:
    @pytest.mark.parametrize(("floor", "level"), [(0.9, 0.05), (0.8, 0.05), (0.95, 0.01)])
    def test_the_number_that_is_needed_is_the_least_that_can_show_the_floor(self, floor, level):
        said = why_too_few(3, "rows", floor, level)
        needed = int(re.search(r"([\d,]+) are needed", said)[1])
        assert lower_bound(needed, needed, level) >= floor > lower_bound(needed - 1, needed - 1, level)
        assert why_too_few(needed, "rows", floor, level) is None

    def test_where_folds_judge_few_units_more_are_needed(self):
        assert "38 are needed" in why_too_few(14, "groups", 0.9, 0.05, of_widest=True)
        assert why_too_few(100, "groups", 0.9, 0.05, of_widest=True) is None

    def test_a_floor_of_1_cannot_be_shown(self):
        assert "cannot be shown on 1 group, even if every answer is right: no number" in why_too_few(
            1, "groups", 1.0, 0.05
        )
