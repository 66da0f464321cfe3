import json

import numpy as np
import pytest
from scipy.stats import binom

from oleander.candidates.balls import Balls
from oleander.explainer import AggregateExplainer
from oleander.judging.bounds import lower_bound_of_ratio
from oleander.judging.certificate import Certificate, Claim, JointCertificate, read_certificate
from oleander.judging.fixed_sequence import Judged


def count(right, confidence, groups=None):
    """Return the certificate of explainers that hold everywhere, the first of which answers."""
    every, right = np.ones((len(right) + 2, right.shape[1]), dtype=bool), np.vstack([right, right[:1], right[:1]])
    right[-2] = True
    return JointCertificate.count(Judged(every, right, np.ones(right.shape[1], dtype=np.intp), groups), confidence)


def test_all_claims_share_the_error():
    certificate = count(np.ones((4, 100), dtype=bool), 0.95)
    for claim in (*certificate.fidelity, certificate.coverage, certificate.answers):
        assert claim.bound == pytest.approx((0.05 / 6) ** (1 / 100))


def test_groups_count_by_their_share():
    groups = np.repeat(np.arange(20), 10)
    certificate = count(groups[None] < 15, 0.95, groups)
    assert certificate.unit == "groups"
    assert (certificate.fidelity[0].n_right, certificate.fidelity[0].n_rows) == (15, 20)
    assert certificate.answers.bound == lower_bound_of_ratio([1] * 15 + [0] * 5, [1] * 20, 1, 0.05 / 4)
    assert certificate.as_judged() == Claim(150, 200, certificate.answers.bound, "groups")
    assert (certificate.rows.n_right, certificate.rows.n_rows, certificate.rows.unit) == (150, 200, "rows")
    # Four statements share the error.
    assert certificate.rows.bound == lower_bound_of_ratio([10] * 15 + [0] * 5, [10] * 20, 10, 0.05 / 4)


def test_groups_of_mixed_types_are_counted():
    groups = np.array(["a", 1, "a", 2], dtype=object)
    assert count(np.ones((1, 4), dtype=bool), 0.9, groups).answers.n_rows == 3


ANSWERS = Claim(8.7, 10, 0.6, "groups")


@pytest.mark.parametrize(
    "certificate",
    [
        Certificate(ANSWERS, 0.9, Claim(90, 99, 0.3)),
        JointCertificate(ANSWERS, 0.9, coverage=Claim(19, 20, 0.7), fidelity=(ANSWERS, Claim(0, 0, 0.0, "groups"))),
    ],
)
def test_json_round_trip(certificate):
    again = read_certificate(json.loads(json.dumps(certificate.to_dict())))
    assert again == certificate
    assert type(again) is type(certificate)


@pytest.mark.parametrize(
    "claim",
    [
        {"n_right": 5, "n_rows": 4, "bound": 0.5},
        {"n_right": 3, "n_rows": 4, "bound": 1.5},
        {"n_right": 3, "n_rows": 4, "bound": float("nan")},
    ],
)
def test_a_claim_that_cannot_be_is_not_read(claim):
    with pytest.raises(ValueError, match=r"a claim of .* in 4 rows with bound .* cannot be"):
        Claim.from_dict({**claim, "unit": "rows"})


@pytest.mark.parametrize("count", [-1, 10**400, 2.0, True])
def test_counts_that_cannot_be_are_not_read(count):
    with pytest.raises(ValueError, match=r"a count is a whole number from 0 to 2\^53 - 1"):
        Claim.from_dict({"n_right": count, "n_rows": 4, "bound": 0.5, "unit": "rows"})


def test_the_share_of_no_rows_is_not_a_number():
    assert Claim(3, 4, 0.2).share == 0.75
    assert np.isnan(Claim(0, 0, 0.0).share)


def law(n_rows, rng):
    return rng.uniform(size=(n_rows, 2))


def wavy(X):
    return X[:, 1] > 0.5 + 0.3 * np.sin(7 * X[:, 0])


@pytest.mark.slow
def test_all_bounds_hold_together_as_often_as_stated():
    """60 problems with a known law: in at most 5% of them, and sampling error, one of the bounds fails."""
    truth = law(10_000, np.random.default_rng(0))
    labels = wavy(truth)
    n_failed = 0
    for seed in range(60):
        rng = np.random.default_rng(1000 + seed)
        balls = Balls(0.8, max_candidates=10, n_draws=100)
        atlas = AggregateExplainer(
            wavy, max_explainers=3, min_fidelity=0.8, candidates=balls, holdout=0.4, random_state=seed
        ).fit(law(250, rng))
        result = atlas.evaluate(truth, labels)
        fidelity = result.explainers["fidelity"].to_numpy()
        bounds = np.array([claim.bound for claim in atlas.certificate_.fidelity])
        n_failed += bool((fidelity < bounds).any() or result.coverage < atlas.certificate_.coverage.bound)
    # The 99% quantile of a binomial with 60 tries at 5%.
    assert n_failed <= binom.ppf(0.99, 60, 0.05)
