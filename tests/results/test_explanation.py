from dataclasses import replace

import numpy as np

from oleander.explainers.base import Rule
from oleander.results.changing import Change
from oleander.results.explanation import Explanation, Statement

CHANGE = Change(3, "rule 3", "b", (0,), ("age ≤ 52",), np.zeros(1))


def statement(number, label):
    return Statement(number, Rule(("age > 52",), label, 10, 1.0), f"rule {number}", "right on 9 of 10 rows")


def test_the_first_statement_answers():
    explanation = Explanation((statement(1, "b"), statement(0, "a")), black_box="b", change=CHANGE)
    assert explanation.label == "b"
    assert explanation.disagree
    assert str(explanation).splitlines() == [
        "the black box says 'b', and the explanation agrees",
        "rule 1: age > 52 → b (right on 9 of 10 rows)",
        "rule 0: age > 52 → a (right on 9 of 10 rows)",
        "the explainers disagree; the first one answers",
        "would be 'b' (rule 3) if age ≤ 52",
    ]


def test_rules_that_speak_in_turn_do_not_disagree():
    explanation = Explanation((statement(0, "b"), statement(1, "a")), in_turn=True)
    assert explanation.label == "b"
    assert "the rules are read in order: the first one answers" in str(explanation)


def test_what_the_black_box_says_is_compared_with_the_answer():
    explanation = Explanation((statement(0, "a"),))
    cases = [
        (explanation, None, "the black box was not asked"),
        (replace(explanation, not_asked="it is not here"), None, "the black box was not asked: it is not here"),
        (replace(explanation, black_box="a"), True, "the black box says 'a', and the explanation agrees"),
        (replace(explanation, black_box="b"), False, "the black box says 'b', and the explanation does not agree"),
        (Explanation((), black_box="b"), None, "the black box says 'b', and the explainers abstain"),
        (Explanation((), black_box=2.34567891), None, "the black box says 2.34567891, and the explainers abstain"),
        (Explanation((), black_box=0.1 + 0.2), None, "the black box says 0.3, and the explainers abstain"),
        (Explanation((), black_box=1234567.0), None, "the black box says 1234567, and the explainers abstain"),
    ]
    for one, agrees, words in cases:
        assert one.agrees is agrees
        assert str(one).splitlines()[0] == words


def test_explainers_that_agree_are_only_listed():
    explanation = Explanation((statement(0, "a"), statement(2, "a")))
    assert explanation.label == "a"
    assert not explanation.disagree
    assert "disagree" not in str(explanation)


def test_silence_has_its_reason():
    disagreeing = (statement(0, "a"), statement(1, "b"))
    cases = [
        (Explanation(()), "no explainer covers this row"),
        (Explanation((), silence=("explainer 0 abstains where age > 3",)), "explainer 0 abstains where age > 3"),
        (Explanation(disagreeing, "silent"), "the explainers disagree"),
        (Explanation((), unreadable="column 'ward' holds 'south'"), "column 'ward' holds 'south'"),
    ]
    for explanation, why in cases:
        assert explanation.label is None
        assert explanation.why_silent == why
        assert f"no answer is given: {why}" in str(explanation)
    assert Explanation(disagreeing).why_silent == ""


def test_values_far_outside_are_warned_about():
    assert "warning: age = 900 lies far over" in str(Explanation((), far_outside=("age = 900 lies far over",)))


def test_html_shows_hostile_names_as_text():
    hostile = '<script>alert("1")</script>'
    one = Statement(0, Rule((f"{hostile} > 1",), hostile, 10, 1.0), "rule 0", hostile)
    change = replace(CHANGE, label=hostile, terms=(hostile,))
    explanation = Explanation((one,), change=change, black_box=hostile, far_outside=(hostile,), not_asked=hostile)
    html = explanation._repr_html_()
    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= 6
