import pytest

from studies.claims import judge_rivals as judges

FAITHFUL_ANCHORS = {"anchors": ((0.2, 0.25), (1.0, 1.0))}
WIDE_PICK = {"submodular pick": ((0.2, 0.7), (0.6, 0.6))}
GOOD_TREE = {"active tree": ((1, 1), (0.97, 0.97))}
GOOD_TREES = GOOD_TREE | {"naive tree": ((1, 1), (0.97, 0.97))}
SILENT = {"strict 0.9": ((0.0, 0.0), (None, None))}


@pytest.mark.parametrize(
    ("judge", "changes", "expected"),
    [
        (judges.more_coverage("strict", "by_trial"), {}, True),
        (judges.more_coverage("strict"), WIDE_PICK, False),
        # Each program is judged by itself.
        (judges.more_coverage("selective"), SILENT, True),
        (judges.more_coverage("strict"), SILENT, False),
        (judges.outperforms, {}, True),
        (judges.outperforms, {**FAITHFUL_ANCHORS, **WIDE_PICK}, False),
        (judges.pareto, {}, True),
        (judges.pareto, GOOD_TREE, False),
        (judges.more_fidelity, {}, True),
        (judges.more_fidelity, FAITHFUL_ANCHORS, None),
        (judges.more_fidelity, {"naive tree": ((1, 1), (1, 1))}, False),
        (judges.many_classes, {}, True),
        (judges.above_trees, {}, True),
        (judges.above_trees, GOOD_TREE, None),
        (judges.reaches_floor, {}, True),
        (judges.reaches_floor, {"strict 0.9": ((0.4, 0.5), (0.95, 0.8))}, False),
        (judges.reaches_floor, {"strict 0.9": ((0.4, 0.5), (0.95, 0.88))}, None),
        # Where nothing is covered, fidelity is undefined.
        (judges.reaches_floor, SILENT, None),
        (judges.wide_enough, {}, True),
        (judges.wide_enough, SILENT, False),
        (judges.wide_enough, {"strict 0.9": ((0.3, 0.38), (0.95, 0.95))}, None),
        # The paper's coverage is one at a fidelity of 0.9.
        (judges.wide_enough, {"strict 0.9": ((0.3, 0.5), (0.8, 0.8))}, False),
        (judges.wide_enough, {"strict 0.9": ((0.3, 0.5), (0.88, 0.88))}, None),
        (judges.trees_at_seventy, {}, True),
        (judges.trees_at_seventy, GOOD_TREE, False),
    ],
)
def test_judges_of_any_task(make_facts, judge, changes, expected):
    holds, ours, why = judge(make_facts(changes))
    assert holds is expected
    assert ours
    assert expected is not False or why


@pytest.mark.parametrize(
    ("judge", "changes", "expected"),
    [
        (judges.low_floors_alike, {}, True),
        (judges.low_floors_alike, {"strict 0.5": ((0.6, 0.8), (0.4, 0.4))}, False),
        (judges.high_floor_above, {}, True),
        (judges.high_floor_above, FAITHFUL_ANCHORS, None),
        (judges.trees_unbeaten, {}, False),
        (judges.trees_unbeaten, GOOD_TREES, True),
    ],
)
def test_judges_of_the_cohort(make_facts, judge, changes, expected):
    assert judge(make_facts(changes, ("five_classes", "binary")))[0] is expected


def test_every_task_is_wide_enough(make_facts):
    facts = make_facts(tasks=("wide", "narrow"))
    facts["tasks"]["narrow"] |= make_facts(SILENT)["tasks"]["by_trial"]
    holds, ours, why = judges.wide_enough(facts)
    assert holds is False
    assert ours.startswith("at least 40% of the rows at a fidelity of at least 90% on 1 of 2 tasks")
    assert why.startswith("fewer than 40% are covered, beyond chance: narrow")


def test_few_rows_decide_nothing(make_facts):
    """The same shares, on 400 rows and on 20."""
    assert judges.more_fidelity(make_facts())[0] is True
    assert judges.more_fidelity(make_facts(n=20))[0] is None


def test_a_silent_method_is_on_no_frontier_where_others_answer(make_facts):
    changes = {f"strict {floor}": ((0.0, 0.0), (None, None)) for floor in ("0.5", "0.9")}
    assert judges.pareto(make_facts(changes))[0] is False


def test_the_worst_case_is_named(make_facts):
    why = judges.more_coverage("strict")(make_facts(WIDE_PICK))[2]
    assert why == "by trial, strict 0.9 against submodular pick, K = 10: -20.0 points"
