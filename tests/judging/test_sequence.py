import numpy as np

from oleander.judging.bounds import lower_bound
from oleander.judging.sequence import find_passed, find_start, pass_chances


def test_the_first_failure_ends_the_sequence():
    bounds = np.array([0.95, 0.85, 0.99])
    assert find_passed(bounds, 0, 0.9).tolist() == [0]
    assert find_passed(bounds, 1, 0.9).tolist() == []
    assert find_passed(bounds, 2, 0.9).tolist() == [2]


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
