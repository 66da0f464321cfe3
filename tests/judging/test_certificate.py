import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from oleander.aggregate import AggregateExplainer
from oleander.candidates import Balls
from oleander.judging.bounds import lower_bound_of_ratio
from oleander.judging.certificate import Certificate, Claim


def test_all_claims_share_the_error():
    covers = np.ones((4, 100), dtype=bool)
    certificate = Certificate.count(covers, covers, 0.95, answered=covers[0], right=covers[0])
    for claim in (*certificate.fidelity, certificate.coverage, certificate.answers):
        assert claim.bound == pytest.approx((0.05 / 6) ** (1 / 100))


def test_a_claim_in_words():
    assert Claim(0, 0, 0.0).describe(0.9) == "not certifiable: no held-out row"
    assert (
        Claim(3, 3, 0.2).describe(0.9) == "not certifiable: 3 rows, too few for a floor of 0.9 even if all were right"
    )
    assert (
        Claim(1, 1, 0.01).describe(0.9) == "not certifiable: 1 row, too few for a floor of 0.9 even if all were right"
    )
    assert Claim(58, 60, 0.87).describe(0.9) == "certified at least 0.87 (58 of 60 rows), under the floor of 0.9"
    assert Claim(24504, 24515, 0.9991).describe(0.9) == "certified at least 0.99 (24,504 of 24,515 rows)"


@given(st.integers(1, 100_000), st.data())
def test_no_claim_says_more_than_its_bound(n_rows, data):
    n_right = data.draw(st.integers(0, n_rows))
    bound = data.draw(st.floats(0.0, n_right / n_rows))
    said = re.search(r"at least ([\d.]+) \(([\d,]+) of ([\d,]+) row", Claim(n_right, n_rows, bound).describe(0.0))
    assert float(said[1]) <= bound
    assert (float(said[1]) == 1) == (bound == 1)
    assert [int(said[k].replace(",", "")) for k in (2, 3)] == [n_right, n_rows]


def test_html_names_every_claim():
    certificate = Certificate((Claim(9, 10, 0.5999),), Claim(19, 20, 0.7), Claim(1999, 2000, 0.9999), 0.975)
    html = certificate._repr_html_()
    for words in ("97.5% confidence", "explainer 0", "9 of 10", ">0.59<", "1,999 of 2,000", ">0.99<"):
        assert words in html


def test_one_row_of_each_group_counts():
    groups = np.repeat(np.arange(20), 10)
    covers = np.ones((1, 200), dtype=bool)
    agrees = np.tile(groups < 15, (1, 1))
    certificate = Certificate.count(
        covers, agrees, 0.95, answered=covers[0], right=agrees[0], groups=groups, rng=np.random.default_rng(0)
    )
    assert certificate.by_group
    assert (certificate.fidelity[0].n_right, certificate.fidelity[0].n_rows) == (15, 20)
    assert certificate.answers.describe(0.4) == "certified at least 0.47 (15 of 20 groups)"
    assert (certificate.rows.n_right, certificate.rows.n_rows, certificate.rows.unit) == (150, 200, "rows")
    # Four statements share the error.
    assert certificate.rows.bound == lower_bound_of_ratio([10] * 15 + [0] * 5, [10] * 20, 10, 0.05 / 4)


def test_groups_of_mixed_types_are_counted():
    covers = np.ones((1, 4), dtype=bool)
    groups = np.array(["a", 1, "a", 2], dtype=object)
    rng = np.random.default_rng(0)
    certificate = Certificate.count(covers, covers, 0.9, answered=covers[0], right=covers[0], groups=groups, rng=rng)
    assert certificate.answers.n_rows == 3


@pytest.mark.parametrize(
    ("unit", "bound", "words"),
    [
        ("rows", None, []),
        ("groups", 0.9, ["of all answered rows at least 0.90 are right too (95 of 99), if there are no larger groups"]),
        ("groups", 0.0, ["the share of all rows is not certified: groups differ in size"]),
        (
            "distinct rows",
            0.9,
            ["of all answered rows at least 0.90 are right too (95 of 99), if there are no rows with more copies"],
        ),
        ("distinct rows", 0.0, ["the share of all rows is not certified: rows have different numbers of copies"]),
    ],
)
def test_the_share_of_rows_in_words(unit, bound, words):
    rows = None if bound is None else Claim(95, 99, bound)
    said = Certificate((), None, Claim(40, 41, 0.9, unit), 0.95, rows).describe_rows()
    assert len(said) == len(words)
    assert all(part in line for part, line in zip(words, said, strict=True))


def test_json_round_trip():
    claims = (Claim(9, 10, 0.5, "groups"), Claim(0, 0, 0.0, "groups"))
    certificate = Certificate(claims, Claim(19, 20, 0.7), Claim(9, 10, 0.6, "distinct rows"), 0.9, Claim(90, 99, 0.3))
    assert Certificate.from_dict(json.loads(json.dumps(certificate.to_dict()))) == certificate


def test_nothing_may_be_claimed_of_coverage():
    certificate = Certificate((), None, Claim(9, 10, 0.6), 0.95)
    assert Certificate.from_dict(json.loads(json.dumps(certificate.to_dict()))) == certificate


@pytest.mark.parametrize(
    "claim",
    [
        {"n_right": 5, "n_rows": 4, "bound": 0.5},
        {"n_right": -1, "n_rows": 4, "bound": 0.5},
        {"n_right": 3, "n_rows": 4, "bound": 1.5},
        {"n_right": 3, "n_rows": 4, "bound": float("nan")},
    ],
)
def test_a_claim_that_cannot_be_is_not_read(claim):
    with pytest.raises(ValueError, match=r"a claim of .* in 4 rows with bound .* cannot be"):
        Claim.from_dict(claim)


def test_a_claim_of_an_unknown_unit_is_not_read():
    with pytest.raises(ValueError, match="the unit of a claim='people' is not known"):
        Claim.from_dict({"n_right": 3, "n_rows": 4, "bound": 0.5, "unit": "people"})


def test_the_share_of_no_rows_is_not_a_number():
    assert Claim(3, 4, 0.2).share == 0.75
    assert np.isnan(Claim(0, 0, 0.0).share)


def law(n_rows, rng):
    return rng.uniform(size=(n_rows, 2))


def wavy(X):
    return X[:, 1] > 0.5 + 0.3 * np.sin(7 * X[:, 0])


@pytest.mark.slow
def test_all_bounds_hold_together_as_often_as_stated():
    """200 problems with a known law: in at most 5% of them, and sampling error, one of the bounds fails."""
    truth = law(20_000, np.random.default_rng(0))
    labels = wavy(truth)
    n_failed = 0
    for seed in range(200):
        rng = np.random.default_rng(1000 + seed)
        balls = Balls(0.8, max_candidates=12, n_draws=150)
        atlas = AggregateExplainer(
            wavy,
            max_explainers=3,
            min_fidelity=0.8,
            candidates=balls,
            holdout=0.4,
            random_state=seed,
        ).fit(law(250, rng))
        result = atlas.evaluate(truth, labels)
        fidelity = result.explainers["fidelity"].to_numpy()
        bounds = np.array([claim.bound for claim in atlas.certificate_.fidelity])
        n_failed += bool((fidelity < bounds).any() or result.coverage < atlas.certificate_.coverage.bound)
    # The 99% quantile of a binomial with 200 tries at 5%.
    assert n_failed <= binom.ppf(0.99, 200, 0.05)
