from oleander.explainers.base import Rule
from oleander.judging.certificate import Claim
from oleander.results.explanation import Explanation, Statement


def statement(number, label, bound=None, n_rows=10):
    claim = None if bound is None else Claim(n_rows, n_rows, bound)
    return Statement(number, Rule((), label, 10, 1.0), 0.9, claim)


def test_the_first_statement_answers():
    explanation = Explanation((statement(1, "b", 0.7), statement(0, "a", 0.6)))
    assert explanation.label == "b"
    assert explanation.disagree
    assert str(explanation).splitlines() == [
        "explainer 1 (fidelity 0.90, certified at least 0.70): always → b (100% of 10 draws)",
        "explainer 0 (fidelity 0.90, certified at least 0.60): always → a (100% of 10 draws)",
        "the explainers disagree; the first one answers",
    ]


def test_explainers_that_agree_are_only_listed():
    explanation = Explanation((statement(0, "a"), statement(2, "a")))
    assert explanation.label == "a"
    assert not explanation.disagree
    assert "disagree" not in str(explanation)


def test_without_a_held_out_row_nothing_is_called_certified():
    assert str(statement(0, "a", 0.0, n_rows=0)) == "explainer 0 (fidelity 0.90): always → a (100% of 10 draws)"


def test_no_explainer_covers_the_row():
    explanation = Explanation(())
    assert explanation.label is None
    assert not explanation.disagree
    assert str(explanation) == "no explainer covers this row: no answer is given"
