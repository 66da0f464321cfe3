import pytest
from scipy.stats import beta, binomtest

from oleander.judging.floor import Floor, FloorCheck


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


@pytest.mark.parametrize(("n_right", "n_rows"), [(0, 7), (7, 7), (85, 100), (912, 1000)])
def test_a_check_has_the_bounds_of_clopper_and_pearson(n_right, n_rows):
    check = FloorCheck.count(n_right, n_rows, floor=0.9)
    ends = binomtest(n_right, n_rows).proportion_ci(0.9, method="exact")
    assert (check.lower, check.upper) == pytest.approx((ends.low, ends.high))


@pytest.mark.parametrize(
    ("n_right", "n_rows", "state"), [(990, 1000, "holds"), (92, 100, "open"), (88, 100, "open"), (800, 1000, "broken")]
)
def test_states(n_right, n_rows, state):
    check = FloorCheck.count(n_right, n_rows, floor=0.9)
    assert check.state == state
    said = {"holds": "90% holds.", "open": "Open: these rows show neither", "broken": "The floor of 90% is broken"}
    assert said[state] in str(check)
