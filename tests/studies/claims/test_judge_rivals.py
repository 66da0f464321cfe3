import pytest

from studies.claims import judge_rivals as judges
from studies.claims.views import ON_DATA, ON_HELD_OUT

FAITHFUL_ANCHORS = {"anchors": ((0.3, 0.35), (0.99, 0.99))}
WIDE_PICK = {"submodular pick": ((0.2, 0.7), (0.6, 0.6))}
GOOD_TREE = {"active tree": ((1, 1), (0.97, 0.97))}
GOOD_TREES = GOOD_TREE | {"naive tree": ((1, 1), (0.97, 0.97))}


@pytest.mark.parametrize(
    ("judge", "changes", "expected"),
    [
        (judges.more_coverage("by_trial"), {}, True),
        (judges.more_coverage(), WIDE_PICK, False),
        (judges.outperforms, {}, True),
        (judges.outperforms, FAITHFUL_ANCHORS, False),
        (judges.pareto, {}, True),
        (judges.pareto, GOOD_TREE, False),
        (judges.more_fidelity, {}, True),
        (judges.more_fidelity, GOOD_TREE, False),
        (judges.many_classes, {}, True),
        (judges.many_classes, FAITHFUL_ANCHORS, False),
    ],
)
def test_judges_of_any_task(make_facts, judge, changes, expected):
    holds, ours, why = judge(make_facts(changes), ON_HELD_OUT)
    assert holds is expected
    assert ours
    assert expected or why


@pytest.mark.parametrize(
    ("judge", "changes", "expected"),
    [
        (judges.low_floors_alike, {}, True),
        (judges.low_floors_alike, {"strict 0.5": ((0.6, 0.8), (0.4, 0.4))}, False),
        (judges.high_floor_above, {}, True),
        (judges.high_floor_above, FAITHFUL_ANCHORS, False),
        (judges.trees_unbeaten, {}, False),
        (judges.trees_unbeaten, GOOD_TREES, True),
        (judges.several_class_fidelity, {}, True),
        (judges.several_class_fidelity, GOOD_TREE, False),
        (judges.several_class_coverage, {}, True),
        (judges.several_class_coverage, {"strict 0.9": ((0.1, 0.2), (0.9, 0.9))}, False),
        # The lead must be larger with five classes than with two, and both tasks have the same figures here.
        (judges.many_classes, {}, False),
    ],
)
def test_judges_of_the_cohort(make_facts, judge, changes, expected):
    assert judge(make_facts(changes, ("five_classes", "binary")), ON_HELD_OUT)[0] is expected


def test_a_method_that_covers_no_row_is_not_ahead(make_facts):
    silent = {"strict 0.9": ((0.0, 0.0), (None, None))}
    assert judges.more_coverage()(make_facts(silent), ON_HELD_OUT)[0] is False
    assert judges.pareto(make_facts(silent), ON_HELD_OUT)[0] is False


def test_the_worst_case_is_named(make_facts):
    why = judges.more_coverage()(make_facts(WIDE_PICK), ON_HELD_OUT)[2]
    assert (
        why == "by trial, strict 0.9, K = 10: submodular pick coverage 70.0% against 50.0% (figure by_trial_held_out)"
    )


def test_better_rivals_are_named(make_facts):
    assert "as wide and as faithful: active tree (" in judges.pareto(make_facts(GOOD_TREE), ON_HELD_OUT)[2]
    assert (
        "as faithful or more: active tree and naive tree ("
        in judges.more_fidelity(make_facts(GOOD_TREES), ON_HELD_OUT)[2]
    )


def test_the_two_kinds_of_rows_may_differ(make_facts):
    # On D every answer of the trees is right, and the program's worst explainer is not.
    assert judges.more_fidelity(make_facts(), ON_HELD_OUT)[0] is True
    assert judges.more_fidelity(make_facts(), ON_DATA)[0] is False
