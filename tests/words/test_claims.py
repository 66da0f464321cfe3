"""Bounds in words: never more than was shown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oleander.judging.bounds import lower_bound
from oleander.judging.certificate import Certificate, Claim, JointCertificate
from oleander.results.fit_record import OneTree
from oleander.words.claims import (
    describe_certificate,
    describe_claim,
    describe_joint_certificate,
    describe_verdict,
    show_counts,
    why_too_few,
)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (Claim(0, 0, 0.0), "nothing is certified: no held-out row"),
        (Claim(58, 60, 0.87), "certified: at least 87% on new rows (58 of 60 rows), below the floor of 90%"),
        (Claim(24504, 24515, 0.9991), "certified: at least 99% on new rows (24,504 of 24,515 rows)"),
        (
            Claim(58.2, 60, 0.91, "groups"),
            "certified: at least 91% for a random row of a random group (average over 60 groups: 97.0%)",
        ),
    ],
)
def test_a_claim(claim, words):
    assert describe_claim(claim, 0.9) == words


@given(st.integers(1, 100_000), st.data())
def test_no_claim_says_more_than_its_bound(n_rows, data):
    n_right = data.draw(st.integers(0, n_rows))
    bound = data.draw(st.floats(0.0, n_right / n_rows))
    said = re.search(r"at least (\d+)% on new rows \(([\d,]+) of ([\d,]+) row", str(Claim(n_right, n_rows, bound)))
    assert int(said[1]) <= 100 * bound + 1e-9
    assert (int(said[1]) == 100) == (bound == 1)
    assert [int(said[k].replace(",", "")) for k in (2, 3)] == [n_right, n_rows]


def test_a_sum_of_shares_is_never_rounded_up():
    assert show_counts(Claim(38.79, 41, 0.9, "groups")) == "38.7 of 41 groups"
    assert show_counts(Claim(285.58, 299, 0.9, "groups")) == "285.5 of 299 groups"
    assert show_counts(Claim(1234.0, 2000, 0.5)) == "1,234 of 2,000 rows"


class TestCertificate:
    def test_of_answers(self):
        (line,) = describe_certificate(Certificate(Claim(408, 441, 0.9), 0.95))
        assert line == "Certified: at least 90% of answers match the model (95% confidence; 408 of 441 rows)."

    def test_of_held_out_rows(self):
        certificate = JointCertificate(Claim(78, 80, 0.92), 0.95, coverage=Claim(80, 200, 0.34), fidelity=())
        assert describe_joint_certificate(certificate, 0.9) == [
            "Certified on rows that nothing was learned from (95% confidence for all statements together):",
            "  Rows that are answered: at least 34% (80 of 200 rows).",
            "  Answers that match the model: at least 92% (78 of 80 rows).",
        ]

    @pytest.mark.parametrize(
        ("answers", "words"),
        [
            (Claim(78, 80, 0.8999), "on new rows the share may be as low as 89%"),
            (Claim(0, 0, 0.0), "Nothing is certified of the answers: the rules are silent on all of these rows."),
        ],
    )
    def test_a_bound_under_the_floor_says_what_that_means(self, answers, words):
        certificate = JointCertificate(answers, 0.95, coverage=Claim(80, 200, 0.34), fidelity=())
        assert words in describe_joint_certificate(certificate, 0.9)[-1]

    @pytest.mark.parametrize(
        ("bound", "words"),
        [
            (
                0.9,
                "Also certified: at least 90% of all answered rows match the model (95% confidence by itself; 95 of ",
            ),
            (0.0, "The share of all answered rows is not certified, because groups differ in size"),
        ],
    )
    def test_a_certificate_of_groups_and_rows(self, bound, words):
        certificate = Certificate(Claim(40.3, 41, 0.9, "groups"), 0.95, Claim(95, 99, bound))
        first, second = describe_certificate(certificate)
        assert "for a random row of a random group (95% confidence; average over 41 groups: 98.3%)." in first
        assert second.startswith(words)

    def test_text_and_html_name_every_claim_and_what_voids_it(self):
        claims = {"coverage": Claim(19, 20, 0.7), "fidelity": (Claim(9, 10, 0.5999),)}
        certificate = JointCertificate(Claim(1999, 2000, 0.9999), 0.975, **claims)
        parts = (
            "97.5% confidence",
            "Explainer 1",
            "9 of 10",
            "at least 59%",
            "1,999 of 2,000",
            "at least 99%",
            "voids it",
        )
        for shown in (str(certificate), certificate._repr_html_()):
            assert all(part in shown for part in parts)


def test_what_one_tree_would_do():
    assert describe_verdict(OneTree(9, 1.0, 0.85, 0.8, 0.7), 0.9) == [
        "One plain tree instead (9 leaves) would answer all rows and match the model on 85.0% of those that it was not "
        "grown on (at least 80.0% on new rows)."
    ]
    (enough,) = describe_verdict(OneTree(1, 1.0, 0.95, 0.92, 1.0), 0.9)
    assert enough.endswith(" It would be enough: it keeps the floor of 90%.")
    assert describe_verdict(None, 0.9) == []


class TestTooFew:
    @pytest.mark.parametrize(("floor", "level"), [(0.9, 0.05), (0.8, 0.05), (0.95, 0.01)])
    def test_the_number_that_is_needed_is_the_least_that_can_show_the_floor(self, floor, level):
        said = why_too_few(3, "rows", floor, level)
        needed = int(re.search(r"([\d,]+) are needed", said)[1])
        assert lower_bound(needed, needed, level) >= floor > lower_bound(needed - 1, needed - 1, level)
        assert why_too_few(needed, "rows", floor, level) is None

    def test_where_folds_judge_few_units_more_are_needed(self):
        assert "38 are needed" in why_too_few(14, "groups", 0.9, 0.05, of_widest=True)
        assert why_too_few(100, "groups", 0.9, 0.05, of_widest=True) is None

    def test_a_floor_of_1_cannot_be_shown(self):
        assert "cannot be shown on 1 group, even if every answer matches: no number" in why_too_few(
            1, "groups", 1.0, 0.05
        )

    def test_the_highest_floor_that_can_be_shown_is_named(self):
        assert "At most min_fidelity=0.86 can be shown on 21 groups." in why_too_few(21, "groups", 0.9, 0.05)
