"""Figures and bounds of a family of answers, on cases whose figures are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oleander.judging.bounds import lower_bound, lower_bound_of_ratio
from oleander.judging.fixed_sequence import CAUTION, EXTRA_ERRORS, Judged, find_passed, find_start, pass_chances


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
        for figure in (Judged.coverage, Judged.agreement, lambda judged: judged.bounds(0.05)):
            assert figure(merged) == pytest.approx(figure(rows))


class TestUnits:
    def test_without_groups_units_are_rows(self):
        judged = make_judged([True, True, False], [True, False, False], np.array([2, 3, 4]))
        assert [counts.tolist() for counts in judged.count_units()] == [[2], [5]]
        assert judged.expect_units(np.array([0.5, 1.0])).tolist() == [4, 9]
        assert not judged.has_bets

    def test_a_group_counts_by_its_share_of_right_rows(self):
        groups = np.repeat(np.arange(3), [4, 2, 2])
        answered = np.array([True, True, True, False, True, True, False, False])
        right = np.array([True, False, True, False, True, True, False, False])
        judged = make_judged(answered, right, groups=groups)
        n_right, n_units = judged.count_units()
        assert n_right.tolist() == pytest.approx([5 / 3])
        assert n_units.tolist() == [2]

    def test_groups_of_one_row_are_rows(self):
        right = np.arange(60) > 1
        judged = make_judged(np.ones(60, bool), right, groups=np.arange(60))
        assert judged.certified_bounds(0.05)[0] == lower_bound(58, 60, 0.05)

    def test_a_step_that_answers_few_rows_answers_few_groups(self):
        """Groups that are nearly single rows, and groups of twenty."""
        small = make_judged(np.ones(110, bool), np.ones(110, bool), groups=np.arange(110) % 100)
        large = make_judged(np.ones(2000, bool), np.ones(2000, bool), groups=np.arange(2000) % 100)
        assert small.expect_units(np.array([0.05])).tolist() == [5]
        assert large.expect_units(np.array([0.05])).tolist() == [64]


class TestGroups:
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

    def test_certified_bounds_are_bets_on_shares(self):
        rng = np.random.default_rng(0)
        right = rng.random(300) < 0.97
        judged = make_judged(np.ones(300, bool), right, groups=np.arange(300) // 5)
        shares = right.reshape(60, 5).mean(axis=1)
        assert judged.certified_bounds(0.05)[0] == lower_bound_of_ratio(shares, np.ones(60), 1, 0.05)


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


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.data(), st.floats(0.1, 0.9))
def test_all_passed_steps_reach_the_floor_and_the_next_does_not(bounds, data, floor):
    start = data.draw(st.integers(0, len(bounds) - 1))
    passed = find_passed(np.array(bounds), start, floor).tolist()
    assert passed == list(range(start, start + len(passed)))
    assert all(bounds[step] >= floor for step in passed)
    end = start + len(passed)
    assert end == len(bounds) or bounds[end] < floor


def test_a_false_claim_needs_the_first_false_step_to_pass():
    """Whatever the later steps are, steps under the floor are certified in at most the level of all runs."""
    rng = np.random.default_rng(0)
    true = np.array([0.97, 0.93, 0.89, 0.89, 0.95])
    n_rows, n_runs, n_false = 300, 4000, 0
    for right in rng.binomial(n_rows, true, size=(n_runs, len(true))):
        passed = find_passed(lower_bound(right, n_rows, 0.05), 0, 0.9)
        n_false += bool((true[passed] < 0.9).any())
    assert n_false / n_runs <= 0.05


def rows(number):
    return make_judged(np.ones(number, bool), np.ones(number, bool))


def test_the_start_is_the_boldest_step_that_is_likely_to_pass():
    chances = pass_chances(rows(300), np.ones(3), np.array([1.0, 0.98, 0.9]), 0.9, 0.05)
    assert (np.diff(chances) < 0).all()
    assert find_start(chances) == 1


def test_chances_against_a_simulation():
    agreement, floor, level = np.array([0.97, 0.95, 0.93]), 0.85, 0.05
    n_answered = np.array([80.0, 150.0, 300.0])
    expected = 1 - CAUTION * (1 - agreement) - EXTRA_ERRORS
    right = np.random.default_rng(0).binomial(n_answered.astype(int), expected, size=(20_000, 3))
    simulated = (lower_bound(right, n_answered, level) >= floor).mean(axis=0)
    np.testing.assert_allclose(pass_chances(rows(300), n_answered / 300, agreement, floor, level), simulated, atol=0.02)


def test_too_few_rows_cannot_pass():
    # 28 of 28 have a bound of 0.8985.
    assert pass_chances(rows(28), np.array([0.0, 1.0]), np.ones(2), 0.9, 0.05).tolist() == [0.0, 0.0]
    assert pass_chances(rows(29), np.ones(1), np.ones(1), 0.9, 0.05)[0] > 0.5
