import numpy as np
import pytest
from scipy import stats

from studies.claims.testing import Answered, compare_coverage, compare_fidelity

N = 120


def answered(mask, right=None):
    return Answered(mask, mask if right is None else mask & right)


def test_coverage_is_the_exact_sign_test():
    """Of the rows that one method alone answers, either is as likely: the swaps have the binomial law."""
    rng = np.random.default_rng(1)
    one, other = rng.random(N) < 0.6, rng.random(N) < 0.5
    found = compare_coverage("", answered(one), answered(other))
    n_one, n_other = int((one & ~other).sum()), int((other & ~one).sum())
    exact = stats.binomtest(n_one, n_one + n_other).pvalue
    assert found.difference == pytest.approx(one.mean() - other.mean())
    assert found.p == pytest.approx(exact, abs=0.03)


def test_methods_that_are_alike_seldom_differ():
    """At a level of 5% about one pair in twenty differs."""
    rng = np.random.default_rng(2)
    p_values = []
    for _ in range(200):
        one, other = (answered(rng.random(N) < 0.7, rng.random(N) < 0.8) for _ in range(2))
        p_values.append(compare_fidelity("", one, other).p)
    assert np.mean(np.array(p_values) < 0.05) < 0.1


@pytest.mark.parametrize(("n_answered", "share"), [(3, 0.65), (6, 0.65), (6, 0.9), (15, 0.9), (60, 0.8)])
def test_a_method_that_answers_few_rows_seldom_differs(n_answered, share):
    """Equal fidelity at unequal coverage: at a level of 5% at most about one pair in twenty differs."""
    rng = np.random.default_rng(3)
    p_values = []
    for _ in range(200):
        right, few = rng.random(N) < share, np.zeros(N, dtype=bool)
        few[rng.choice(N, n_answered, replace=False)] = True
        p_values.append(compare_fidelity("", answered(few, right), answered(rng.random(N) < 0.95, right)).p)
    assert np.mean(np.array(p_values) < 0.05) < 0.09


def test_a_clear_difference_in_fidelity_is_found_at_unequal_coverage():
    rows = np.arange(N)
    assert compare_fidelity("", answered(rows < 40, rows < 39), answered(rows >= 0, rows >= 50)).p < 0.01


def test_rows_of_a_trial_count_once():
    """Ten trials of equal rows are ten pieces of evidence, however many rows they have."""
    trials = np.repeat(np.arange(10), 50)
    one, other = answered(trials < 9), answered(trials < 5)
    assert compare_coverage("", one, other).p < 0.001
    assert compare_coverage("", one, other, trials).p > 0.05


def test_fidelity_is_undefined_where_nothing_is_answered():
    nothing, all_rows = answered(np.zeros(5, bool)), answered(np.ones(5, bool))
    assert nothing.fidelity is None
    assert compare_fidelity("", nothing, all_rows) is None
    assert compare_fidelity("", all_rows, nothing) is None


def test_a_large_difference_outlives_many_comparisons():
    """2,000 swaps cannot show less than 0.0005; a correction of 144 comparisons needs less."""
    rows = np.arange(140)
    found = compare_coverage("", answered(rows < 130), answered(rows < 30))
    assert 0 < found.p < 1e-6
    # Ten trials of which all differ allow no less than 2 in 1,024.
    trials = np.repeat(np.arange(10), 14)
    assert compare_coverage("", answered(rows < 140), answered(rows < 0), trials).p >= 2 / 1024
