import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from oleander.judging.bounds import (
    CAPITAL,
    STAKES,
    fewest_right_groups,
    lower_bound,
    lower_bound_of_ratio,
    ratio_reaches,
)


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


class TestRatio:
    def test_equal_groups_that_are_all_right(self):
        """The capital is a sum of powers, which reaches 1 / level at the bound."""
        bound = lower_bound_of_ratio([5] * 40, [5] * 40, 5, 0.05)
        assert (CAPITAL * (1 + STAKES * (1 / bound - 1)) ** 40).sum() == pytest.approx(20)
        assert bound < lower_bound(40, 40, 0.05)

    def test_groups_without_rows_change_nothing(self):
        right, rows = np.array([3, 0, 4, 8]), np.array([3, 1, 5, 8])
        alone = lower_bound_of_ratio(right, rows, 8, 0.1)
        assert lower_bound_of_ratio([*right, 0, 0], [*rows, 0, 0], 8, 0.1) == alone

    @given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30), st.floats(0.01, 0.3))
    def test_the_bound_is_under_the_share_and_is_reached(self, groups, level):
        right, rows = (np.array(counts) for counts in zip(*((min(pair), max(pair)) for pair in groups), strict=True))
        bound = lower_bound_of_ratio(right, rows, 9, level)
        assert bound <= right.sum() / max(rows.sum(), 1)
        assert ratio_reaches(right, rows, 9, max(bound, 1e-6), level) or bound < 1e-6

    def test_the_bound_holds_where_large_groups_are_wrong_more_often(self):
        """A tenth of the groups holds half of the rows: at 5% error, 40 of 800 bounds may be over the true share."""
        rng = np.random.default_rng(0)
        truth = (0.1 * 40 * 0.6 + 0.9 * 4 * 0.98) / (0.1 * 40 + 0.9 * 4)
        n_false = 0
        for _ in range(800):
            is_large = rng.random(60) < 0.1
            rows = np.where(is_large, 40, 4)
            right = np.where(rng.random(60) < np.where(is_large, 0.6, 0.98), rows, 0)
            n_false += ratio_reaches(right, rows, 40, truth, 0.05)
        assert n_false <= 40

    def test_thirty_two_groups_without_an_error_show_nine_tenths(self):
        assert CAPITAL.sum() == pytest.approx(1)
        assert lower_bound_of_ratio(np.ones(32), np.ones(32), 1, 0.05) >= 0.9
        assert lower_bound(29, 29, 0.05) >= 0.9

    @pytest.mark.parametrize("draw", [(18, 2), (1.8, 0.2), (0.9, 0.1)], ids=str)
    def test_the_bound_on_shares_of_groups_holds(self, draw):
        """Groups of five whose true mean share is 0.9: at 5% error, 40 of 800 bounds may be over it."""
        rng = np.random.default_rng(0)
        shares = rng.binomial(5, rng.beta(*draw, size=(800, 60))) / 5
        assert sum(ratio_reaches(share, np.ones(60), 1, 0.9, 0.05) for share in shares) <= 40

    def test_the_fewest_right_groups_are_those_of_the_bound(self):
        for n_groups in (20, 40, 100):
            fewest = fewest_right_groups(n_groups, 0.9, 0.05)
            bounds = [
                lower_bound_of_ratio(np.arange(n_groups) < n_right, np.ones(n_groups), 1, 0.05)
                for n_right in range(n_groups + 1)
            ]
            assert sum(bound < 0.9 for bound in bounds) == fewest
