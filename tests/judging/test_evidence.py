"""Evidence that may be looked at after every batch: seldom a false alarm, and a broken floor is found."""

import numpy as np
import pytest

from oleander.judging.evidence import Batch, gather, watch

LEVEL = 0.05


def simulate(truth, n_batches, n_runs, n_rows=100, seed=0):
    """Return the correct rows of each batch and run, where a row is correct with a probability by batch."""
    rng = np.random.default_rng(seed)
    return rng.binomial(n_rows, np.broadcast_to(truth, n_batches)[:, None], (n_batches, n_runs))


def share_alarmed(right, n_rows=100, floor=0.9):
    return (gather(right, np.full(right.shape, n_rows), floor) >= -np.log(LEVEL)).any(axis=0).mean()


@pytest.mark.parametrize("truth", [0.9, 0.92, 0.99])
def test_a_floor_that_holds_seldom_alarms_however_often_one_looks(truth):
    assert share_alarmed(simulate(truth, 2_000, 400)) <= LEVEL


def test_single_rows_are_batches_too():
    assert share_alarmed(simulate(0.9, 3_000, 300, n_rows=1), n_rows=1) <= LEVEL


@pytest.mark.parametrize(("truth", "most_batches"), [(0.85, 30), (0.8, 8)])
def test_a_drop_after_two_years_is_found_within_days(truth, most_batches):
    truths = np.where(np.arange(730 + most_batches) < 730, 0.93, truth)
    right = simulate(truths, len(truths), 200)
    assert share_alarmed(right) > 0.9
    assert share_alarmed(right[:730]) <= LEVEL


def test_the_evidence_is_a_mean_of_products():
    """Against the definition: a weighted mean over shares and over the batch before which the share fell."""
    from oleander.judging.evidence import PARTS

    right, rows, floor = np.array([9, 7, 5, 10]), np.array([10, 9, 10, 10]), 0.9
    total = 1 / (len(rows) + 1)
    for part in PARTS:
        share = part * floor
        ratio = (share / floor) ** right * ((1 - share) / (1 - floor)) ** (rows - right)
        total += sum(ratio[start:].prod() / ((start + 1) * (start + 2)) for start in range(len(rows))) / len(PARTS)
    np.testing.assert_allclose(np.exp(gather(right, rows, floor)[-1]), total)


def test_a_floor_of_one_is_broken_by_one_row():
    assert np.isinf(gather([5, 4], [5, 5], 1.0)[-1])
    assert not np.isnan(gather([5, 5], [5, 5], 1.0)).any()


def batch(name, right=95, rule=(50, 49), n_answered=100):
    return Batch(name, 120, n_answered, right, (rule, (n_answered - 1, right - 1)))


def test_the_alarm_names_its_rule_and_stays():
    days = [batch(f"day {number}") for number in range(5)]
    days += [batch(f"day {number}", rule=(50, 20)) for number in range(5, 9)]
    days += [batch(f"day {number}") for number in range(9, 40)]
    found = watch(days, 2, floor=0.9, min_coverage=0.7, level=LEVEL)
    states = {one.about: one.state for one in found.evidence}
    assert states == {"agreement": "well", "coverage": "well", "1": "alarm", "2": "well"}
    assert found.state == "alarm"
    assert "Rule 1 matches the model on" in str(found)
    assert "Alarm since batch day 5." in str(found)


def test_rules_that_stop_answering_are_noticed():
    days = [batch(str(number)) for number in range(5)]
    days += [Batch(str(number), 120, 40, 39, ((20, 20), (20, 19))) for number in range(5, 9)]
    found = watch(days, 2, floor=0.9, min_coverage=0.7, level=LEVEL)
    assert [one.about for one in found.evidence if one.state == "alarm"] == ["coverage"]


def test_suspicion_comes_before_the_alarm():
    states = [
        watch(
            [batch(str(day), right=86, rule=(20, 19)) for day in range(n)], 2, floor=0.9, min_coverage=0.5, level=0.05
        )
        for n in range(1, 25)
    ]
    order = [found.evidence[0].state for found in states]
    assert order[0] == "well"
    assert order.index("suspicion") < order.index("alarm")
