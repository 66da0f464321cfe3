"""The judges of the aggregation claims on facts written by hand."""

import pytest

from studies import aggregation_judges as judges
from studies.claims import CLAIMS


def method(coverage, agreement):
    return {"held out": {"coverage": list(coverage), "agreement": list(agreement)}}


def facts(tasks=("by_trial",), **methods):
    """Two budgets and two floors; the program at the high floor covers less and is right more often."""
    known = {
        "strict_0.5": method((0.6, 0.8), (0.8, 0.85)),
        "strict_0.9": method((0.4, 0.5), (0.95, 0.96)),
        "selective_0.5": method((0.6, 0.8), (0.8, 0.85)),
        "selective_0.9": method((0.4, 0.5), (0.95, 0.96)),
        "anchors": method((0.3, 0.35), (0.7, 0.75)),
        "submodular_pick": method((0.2, 0.3), (0.6, 0.6)),
        "decision_set": method((1, 1), (0.7, 0.7)),
        "active_tree": method((1, 1), (0.75, 0.75)),
        "naive_tree": method((1, 1), (0.7, 0.7)),
        **methods,
    }
    solved = {"n_cells": 4, "n_proven": 4, "worst_gap": 0.0, "seconds": 1.0, "most_seconds": 0.5}
    task = {
        "methods": {name.replace("_", " "): found for name, found in known.items()},
        "programs": {"strict": solved, "selective": solved},
        "reach": {"3": 1.0},
    }
    return {"budgets": [5, 10], "floors": [0.5, 0.9], "tasks": dict.fromkeys(tasks, task)}


FAITHFUL_ANCHORS = {"anchors": method((0.3, 0.35), (0.99, 0.99))}
WIDE_PICK = {"submodular_pick": method((0.2, 0.7), (0.6, 0.6))}
GOOD_TREE = {"active_tree": method((1, 1), (0.97, 0.97))}
ALIKE = {"selective_0.9": method((0.6, 0.8), (0.8, 0.85))}


@pytest.mark.parametrize(
    ("judge", "changes", "expected"),
    [
        (judges.solvable, {}, True),
        (judges.more_explainers, {}, True),
        (judges.more_explainers, {"strict_0.9": method((0.4, 0.5), (0.96, 0.95))}, False),
        (judges.floor_is_a_knob, {}, True),
        (judges.floor_is_a_knob, ALIKE, False),
        (judges.more_coverage("by_trial"), {}, True),
        (judges.more_coverage(), WIDE_PICK, False),
        (judges.outperforms, {}, True),
        (judges.outperforms, FAITHFUL_ANCHORS, False),
        (judges.pareto, {}, True),
        (judges.pareto, GOOD_TREE, False),
        (judges.not_whole, {}, True),
        (judges.not_whole, {"strict_0.5": method((1, 1), (0.8, 0.85))}, False),
        (judges.more_fidelity, {}, True),
        (judges.more_fidelity, GOOD_TREE, False),
        (judges.many_classes, {}, True),
        (judges.many_classes, FAITHFUL_ANCHORS, False),
    ],
)
def test_judges_of_any_task(judge, changes, expected):
    comes_out, ours, why = judge(facts(**changes))
    assert comes_out is expected
    assert ours
    assert expected or why


@pytest.mark.parametrize(
    ("judge", "changes", "expected"),
    [
        (judges.low_floors_alike, {}, True),
        (judges.low_floors_alike, {"strict_0.5": method((0.6, 0.8), (0.4, 0.4))}, False),
        (judges.high_floor_above, {}, True),
        (judges.high_floor_above, FAITHFUL_ANCHORS, False),
        (judges.trees_unbeaten, {}, False),
        (judges.trees_unbeaten, GOOD_TREE | {"naive_tree": method((1, 1), (0.97, 0.97))}, True),
        (judges.five_class_fidelity, {}, True),
        (judges.five_class_fidelity, GOOD_TREE, False),
        (judges.five_class_coverage, {}, True),
        (judges.five_class_coverage, {"strict_0.9": method((0.1, 0.2), (0.9, 0.9))}, False),
        # With five classes it must be ahead by more than with two, and here the two tasks are one.
        (judges.many_classes, {}, False),
    ],
)
def test_judges_of_the_cohort(judge, changes, expected):
    assert judge(facts(("five_classes", "binary"), **changes))[0] is expected


def test_who_covers_nobody_is_not_ahead():
    silent = {"strict_0.9": method((0.0, 0.0), (None, None))}
    assert judges.more_coverage()(facts(**silent))[0] is False
    assert judges.pareto(facts(**silent))[0] is False


def test_the_worst_case_is_named():
    why = judges.more_coverage()(facts(**WIDE_PICK))[2]
    assert (
        why == "by trial, strict 0.9, K = 10: submodular pick coverage 70.0% against 50.0% (figure by_trial_held_out)"
    )


def gain(mean, n_ahead):
    found = {"mean": mean, "n_ahead": n_ahead, "n": 2}
    return {"held out": {"coverage": found, "agreement": found}}


@pytest.mark.parametrize(
    ("judge", "binary", "five", "expected"),
    [
        (judges.filter_covers_more("binary", "coverage"), gain(0.1, 2), gain(0, 0), True),
        (judges.filter_covers_more("five_classes", "coverage", "agreement"), gain(0.1, 2), gain(0.1, 1), False),
        (judges.filter_adds("binary", "agreement", 0.04), gain(0.05, 2), gain(0, 0), True),
        (judges.filter_adds("binary", "agreement", 0.04), gain(0.01, 2), gain(0, 0), False),
        (judges.filter_adds("binary", "agreement", 0.04), gain(None, 0), gain(0, 0), None),
        (judges.filter_adds_less, gain(0.1, 2), gain(0.05, 2), True),
        (judges.filter_adds_less, gain(0.01, 2), gain(0.05, 2), False),
    ],
)
def test_judges_of_the_filter_inside(judge, binary, five, expected):
    tasks = {
        name: {"gain": dict.fromkeys(("strict", "selective"), found)}
        for name, found in (("five_classes", five), ("binary", binary))
    }
    assert judge({"tasks": tasks})[0] is expected


def test_every_claim_has_a_judge():
    assert [claim.name for claim in CLAIMS if claim.judge is None] == []
