from dataclasses import replace

import numpy as np

from oleander.data.schema import Feature, Kind
from oleander.judging.certificate import Claim
from oleander.results.changing import Change
from oleander.results.explainer_set import ChosenExplainer
from oleander.results.explanation import Explanation, FarValue, Statement
from oleander.rules import Box, Constant
from oleander.rules.base import Rule
from oleander.words.rules import describe_all, describe_evidence
from tests.results.test_rules import BOX, TREE, member

CHANGE = Change(3, "rule 3", "b", (0,), ("age ≤ 52",), np.zeros(1))


MEMBER = ChosenExplainer(Box(()), Constant("a", 10, 1.0), "test", 10, 0.9, 1.0, judged=(Claim(9, 10, 0.6),))


def statement(number, label, term="age > 52"):
    return Statement(number, Rule((term,), label, 10, 1.0), f"rule {number}", MEMBER, 0)


def test_the_first_statement_answers():
    explanation = Explanation((statement(1, "b"), statement(0, "a")), black_box="b", change=CHANGE)
    assert explanation.label == "b"
    assert explanation.disagree
    assert str(explanation).splitlines() == [
        "The model says 'b'; the explanation agrees.",
        "rule 1: age > 52 → b (matches the model on 9 of 10 rows; at least 60% on new rows)",
        "rule 0: age > 52 → a (matches the model on 9 of 10 rows; at least 60% on new rows)",
        "The rules that hold disagree; the first one, which is the most faithful, answers.",
        "The rules would answer 'b' (rule 3) if age ≤ 52.",
    ]


def test_rules_beyond_two_are_only_named_and_one_that_disagrees_is_written_out():
    explanation = Explanation(tuple(statement(number, label) for number, label in enumerate("aaab")))
    lines = str(explanation).splitlines()
    assert [line.partition(":")[0] for line in lines[1:3]] == ["rule 0", "rule 3"]
    assert lines[3] == "Also hold: rule 1, rule 2."
    assert repr(explanation) == str(explanation)


def test_what_the_black_box_says_is_compared_with_the_answer():
    explanation = Explanation((statement(0, "a"),))
    cases = [
        (explanation, None, "The model was not asked."),
        (
            replace(explanation, not_asked="it is not in the saved file"),
            None,
            "The model was not asked: it is not in the saved file.",
        ),
        (replace(explanation, black_box="a"), True, "The model says 'a'; the explanation agrees."),
        (replace(explanation, black_box="b"), False, "The model says 'b'; the explanation does not agree."),
        (Explanation((), black_box="b"), None, "The model says 'b'."),
        (Explanation((), black_box=2.34567891), None, "The model says 2.34567891."),
        (Explanation((), black_box=1234567.0), None, "The model says 1234567."),
    ]
    for one, agrees, words in cases:
        assert one.agrees is agrees
        assert str(one).splitlines()[0] == words


def test_silence_has_its_reason():
    cases = [
        (Explanation(()), "no rule holds for this row"),
        (Explanation((), unreadable="column 'ward' holds 'south'"), "column 'ward' holds 'south'"),
    ]
    for explanation, why in cases:
        assert explanation.label is None
        assert f"The rules are silent: {why}." in str(explanation)
    assert "silent" not in str(Explanation((statement(0, "a"), statement(1, "b"))))
    assert "disagree" not in str(Explanation((statement(0, "a"), statement(2, "a"))))


def test_values_far_outside_are_warned_about():
    age = Feature("age", Kind.INTEGER, "int64", lower=18, upper=90)
    assert "Warning: age = 900 lies far above" in str(Explanation((), far_outside=(FarValue(age, 900.0),)))


class TestEvidence:
    RULE = TREE.rules()[1]
    CLAIMS = (Claim(9, 10, 0.606), Claim(0, 0, 0.0), Claim(29, 29, 0.9018), Claim(1, 1, 0.05))

    def test_rows_that_judged_the_rule(self):
        judged = member(TREE, judged=self.CLAIMS)
        assert describe_evidence(judged, 0, self.RULE) == "matches the model on 9 of 10 rows; at least 60% on new rows"
        assert describe_evidence(judged, 3, self.RULE) == (
            "matches the model on 1 of 1 row; too few rows for a bound, but it matches the model on "
            f"100% of {self.RULE.n_draws} rows it was learned from"
        )
        assert describe_evidence(judged, 1, self.RULE) == (
            f"not checked on any row; matches the model on 100% of {self.RULE.n_draws} rows it was learned from"
        )
        assert describe_all(judged) == "matches the model on 39 of 40 rows"

    def test_in_sample_rows_are_called_so(self):
        assert describe_evidence(member(TREE), 0, self.RULE) == "matches the model on 38 of 40 rows it was chosen on"
        nothing = replace(member(TREE), support=0, fidelity=float("nan"))
        assert describe_evidence(nothing, 0, self.RULE) == "not checked on any row"

    def test_a_certified_explainer(self):
        claim = Claim(58, 60, 0.8999)
        certified = member(TREE, judged=self.CLAIMS, claim=claim)
        assert describe_evidence(certified, 0, self.RULE) == (
            "matches the model on 9 of 10 rows; at least 60% on new rows; its explainer is certified: at least 89% on "
            "new rows"
        )
        assert describe_evidence(replace(BOX, claim=claim), 0, BOX.rules()[0]) == (
            "matches the model on 58 of 60 rows; certified: at least 89% on new rows"
        )
        assert "certified" not in describe_evidence(replace(BOX, claim=Claim(0, 0, 0.0)), 0, BOX.rules()[0])
