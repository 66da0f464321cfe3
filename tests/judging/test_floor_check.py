"""Whether a floor holds on new rows."""

import numpy as np
import pytest
from scipy.stats import binomtest

from oleander.judging.floor_check import FloorCheck


@pytest.mark.parametrize(("n_right", "n_rows"), [(0, 7), (7, 7), (85, 100), (912, 1000)])
def test_the_bounds_are_those_of_clopper_and_pearson(n_right, n_rows):
    check = FloorCheck.count(n_right, n_rows, floor=0.9)
    ends = binomtest(n_right, n_rows).proportion_ci(0.9, method="exact")
    assert (check.lower, check.upper) == pytest.approx((ends.low, ends.high))


@pytest.mark.parametrize(
    ("n_right", "n_rows", "state", "alarms"),
    [
        (990, 1000, "holds", ()),
        (92, 100, "open", ("unproven",)),
        (88, 100, "open", ("under", "unproven")),
        (800, 1000, "broken", ("broken", "under", "unproven")),
    ],
)
def test_states_and_alarms(n_right, n_rows, state, alarms):
    check = FloorCheck.count(n_right, n_rows, floor=0.9)
    assert check.state == state
    assert tuple(word for word in ("broken", "under", "unproven") if check.alarms(word)) == alarms
    said = {"holds": "90% holds.", "open": "Open: these rows show neither", "broken": "The floor of 90% is broken"}
    assert said[state] in str(check)


def test_an_alarm_is_rarely_false():
    rng = np.random.default_rng(0)
    n_right = rng.binomial(300, 0.9, 2_000)
    alarms = [FloorCheck.count(int(right), 300, floor=0.9).alarms("broken") for right in n_right]
    assert np.mean(alarms) < 0.065


def test_an_unknown_alarm():
    with pytest.raises(ValueError, match="alarm='loud' is not known"):
        FloorCheck.count(1, 2, floor=0.9).alarms("loud")
