"""Two runs made by hand, whose claims differ in a figure or in a verdict."""

import pytest

from studies.compare import compare_runs
from studies.report import Finished, judge_claims
from studies.timing import Duration


def run_with(n_activities, n_trials=87):
    facts = {"data_facts": {"classes": dict.fromkeys("abcde"[:n_activities], 1), "n_trials": n_trials}}
    claims = judge_claims("geriatric", facts, is_synthetic=False)
    return {"geriatric": Finished("geriatric", None, facts, claims, {"data_facts": Duration(30.0, 50.0)})}


@pytest.mark.parametrize(
    ("other", "is_equal", "words"),
    [
        (
            run_with(4),
            True,
            "Verdicts are equal on 32 of 32 claims, all figures of the claim on 32. The steps took 30 s",
        ),
        (run_with(4, n_trials=86), True, "fourteen people, figures: 87 trials"),
        (run_with(3), False, "three activities: does not hold | holds"),
    ],
)
def test_verdicts_and_figures_are_compared(other, is_equal, words):
    found, equal = compare_runs(run_with(4), other)
    assert equal is is_equal
    assert words in found
