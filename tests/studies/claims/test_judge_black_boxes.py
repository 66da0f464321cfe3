import pytest

from studies.claims import judge_black_boxes as judges


@pytest.mark.parametrize(("best", "n", "expected"), [(5, 5, True), (4, 5, None), (2, 5, False), (2, 2, None)])
def test_few_splits_decide_nothing(best, n, expected):
    facts = {"task": {"repeats": {"n": n, "forest_best": best, "logistic_worst": best, "mean": {"forest": 0.9}}}}
    assert judges.forest_best(facts)[0] is expected
    assert judges.logistic_worst(facts)[0] is expected


@pytest.mark.parametrize(("ahead", "expected"), [(0.03, True), (-0.03, False), (0.01, None), (-0.01, None)])
def test_a_tie_decides_nothing(ahead, expected):
    facts = {"task": {"forest": {"papers_lead": {"ahead": ahead, "margin": 0.02}}}}
    assert judges.fifty_trees(facts)[0] is expected
