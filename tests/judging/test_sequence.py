import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oleander.judging.bounds import lower_bound
from oleander.judging.sequence import CAUTION, EXTRA_ERRORS, find_passed, find_start, pass_chances


def test_the_first_failure_ends_the_sequence():
    bounds = np.array([0.95, 0.85, 0.99])
    assert find_passed(bounds, 0, 0.9).tolist() == [0]
    assert find_passed(bounds, 1, 0.9).tolist() == []
    assert find_passed(bounds, 2, 0.9).tolist() == [2]


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


def test_the_start_is_the_boldest_step_that_is_likely_to_pass():
    chances = pass_chances(np.array([300.0, 300.0, 300.0]), np.array([1.0, 0.98, 0.9]), 0.9, 0.05)
    assert (np.diff(chances) < 0).all()
    assert find_start(chances) == 1


@pytest.mark.parametrize(("chances", "start"), [([0.95, 0.4, 0.92, 0.1], 2), ([0.3, 0.5, 0.4], 1), ([0.0, 0.0], 0)])
def test_where_no_step_is_likely_to_pass_the_likeliest_is_the_start(chances, start):
    assert find_start(chances) == start


def test_chances_against_a_simulation():
    agreement, floor, level = np.array([0.97, 0.95, 0.93]), 0.85, 0.05
    n_answered = np.array([80.0, 150.0, 300.0])
    expected = 1 - CAUTION * (1 - agreement) - EXTRA_ERRORS
    right = np.random.default_rng(0).binomial(n_answered.astype(int), expected, size=(20_000, 3))
    simulated = (lower_bound(right, n_answered, level) >= floor).mean(axis=0)
    np.testing.assert_allclose(pass_chances(n_answered, agreement, floor, level), simulated, atol=0.02)


def test_too_few_rows_cannot_pass():
    # 28 of 28 have a bound of 0.8985.
    assert pass_chances(np.array([0.0, 28.0]), np.ones(2), 0.9, 0.05).tolist() == [0.0, 0.0]
    assert pass_chances(np.array([29.0]), np.ones(1), 0.9, 0.05)[0] > 0.5
