"""Figures and bounds of a family of answers, on cases whose figures are known."""

import numpy as np
import pytest
from scipy.stats import binom

from oleander.judging.bounds import lower_bound
from oleander.judging.judged import Judged


def make_judged(answered, right, weights=None, groups=None):
    answered, right = np.atleast_2d(answered), np.atleast_2d(right)
    weights = np.ones(answered.shape[1], dtype=int) if weights is None else weights
    return Judged(answered, right, weights, groups)


class TestFigures:
    def test_shares_of_rows(self):
        answered = np.array([[True] * 100, [True] * 60 + [False] * 40, [False] * 100])
        right = answered & (np.arange(100) < 57)
        judged = make_judged(answered, right)
        assert judged.coverage().tolist() == [1.0, 0.6, 0.0]
        assert judged.agreement()[:2].tolist() == [0.57, 0.95]
        assert np.isnan(judged.agreement()[2])
        assert judged.bounds(0.05) == pytest.approx(lower_bound([57, 57, 0], [100, 60, 0], 0.05))

    def test_a_point_counts_as_often_as_it_occurs(self):
        answered = np.array([True, True, False, True])
        right = np.array([True, False, False, True])
        weights = np.array([3, 1, 5, 2])
        merged = make_judged(answered, right, weights)
        rows = make_judged(np.repeat(answered, weights), np.repeat(right, weights))
        for figure in ("coverage", "agreement", "bounds"):
            assert getattr(merged, figure)() == pytest.approx(getattr(rows, figure)())


class TestUnits:
    def test_without_groups_units_are_rows(self):
        judged = make_judged([True, True, False], [True, False, False], np.array([2, 3, 4]))
        assert [counts.tolist() for counts in judged.count_units(0)] == [[2], [5]]

    def test_one_answered_row_of_each_group_counts(self):
        groups = np.repeat(np.arange(20), 10)
        # Groups up to 15 are answered rightly; the others are answered on every second row, wrongly.
        right = groups < 15
        answered = right | (np.arange(200) % 2 == 0)
        for seed in range(5):
            counts = make_judged(answered, right, groups=groups).count_units(seed)
            assert [count.tolist() for count in counts] == [[15], [20]]

    def test_a_point_is_drawn_as_often_as_it_occurs(self):
        """Of each group one row counts: with nine right rows in ten, nine groups in ten are right."""
        groups = np.repeat(np.arange(2000), 2)
        right = np.tile([True, False], 2000)
        n_right, n_units = make_judged(np.ones(4000, bool), right, np.tile([9, 1], 2000), groups).count_units(0)
        assert n_units.tolist() == [2000]
        low, high = binom.ppf([0.001, 0.999], 2000, 0.9)
        assert low <= n_right[0] <= high


class TestGroups:
    def test_equal_visits_of_a_group_count_once(self):
        groups = np.repeat(np.arange(40), 8)
        right = np.repeat(np.arange(40) % 4 > 0, 8)
        judged = make_judged(np.ones(320, dtype=bool), right, groups=groups)
        assert judged.bounds(0.05)[0] == pytest.approx(float(lower_bound(30, 40, 0.05)))

    def test_a_group_that_is_not_answered_does_not_count(self):
        groups = np.repeat(np.arange(10), 3)
        answered = groups < 6
        assert make_judged(answered, answered, groups=groups).bounds(0.05)[0] == float(lower_bound(6, 6, 0.05))

    def test_bounds_with_groups_hold_as_often_as_stated(self):
        """Groups whose members err together: the bound is over the true share in at most 5% of 400 samples."""
        rng = np.random.default_rng(1)
        fails = 0
        for _ in range(400):
            quality = rng.beta(18, 2, size=30)
            right = rng.random((30, 10)) < quality[:, None]
            judged = make_judged(np.ones(300, dtype=bool), right.ravel(), groups=np.arange(300) // 10)
            fails += judged.bounds(0.05)[0] > 0.9
        assert fails / 400 < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


class TestShareOfRows:
    def test_large_groups_weigh_more_than_small_ones(self):
        """Of 100 groups one is wrong. It holds a third of all rows."""
        groups = np.concatenate([np.arange(99), np.full(50, 99)])
        right = groups < 99
        judged = make_judged(np.ones(149, dtype=bool), right, groups=groups)
        assert judged.bounds(0.05)[0] > 0.95
        assert judged.row_bounds(0.05)[0] < 99 / 149
        assert judged.rows_reach(0.9, 0.05).tolist() == [False]

    def test_a_floor_is_reached_as_far_as_the_bound_goes(self):
        groups = np.repeat(np.arange(80), 3)
        right = np.arange(240) % 40 > 0
        judged = make_judged([np.ones(240, bool), right], [right, right], groups=groups)
        for floor in (0.85, 0.9, 0.95):
            assert judged.rows_reach(floor, 0.05).tolist() == (judged.row_bounds(0.05) >= floor).tolist()

    def test_without_groups_rows_are_counted_exactly(self):
        judged = make_judged([True] * 50, [True] * 48 + [False] * 2)
        assert judged.row_bounds(0.05)[0] == pytest.approx(float(lower_bound(48, 50, 0.05)))
        assert judged.rows_reach(0.85, 0.05).tolist() == [True]
