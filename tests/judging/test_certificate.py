import json

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from oleander.aggregate import AggregateExplainer
from oleander.candidates import Balls
from oleander.judging.certificate import Certificate, Claim, lower_bound


@pytest.mark.parametrize(("right", "rows"), [(0, 5), (1, 1), (5, 5), (37, 40), (900, 1000)])
@pytest.mark.parametrize("level", [0.05, 0.005])
def test_bound_is_clopper_and_pearsons(right, rows, level):
    expected = binomtest(right, rows, alternative="greater").proportion_ci(1 - level, method="exact").low
    assert lower_bound(right, rows, level) == pytest.approx(expected, abs=1e-9)


def test_bound_keeps_its_word():
    """Over all outcomes of a binomial, the bound is over the true share with at most the stated chance."""
    for share in (0.5, 0.9, 0.97):
        outcomes = np.arange(61)
        fails = lower_bound(outcomes, np.full(61, 60), 0.05) > share
        assert binom.pmf(outcomes[fails], 60, share).sum() <= 0.05


def test_all_claims_share_the_error():
    covers = np.ones((4, 100), dtype=bool)
    certificate = Certificate.count(covers, covers, 0.95, answered=covers[0], right=covers[0])
    for claim in (*certificate.fidelity, certificate.coverage, certificate.answers):
        assert claim.bound == pytest.approx((0.05 / 6) ** (1 / 100))


def test_what_cannot_be_claimed_is_said():
    assert Claim(0, 0, 0.0).describe(0.9) == "not certifiable: no held-out row"
    assert Claim(3, 3, 0.2).describe(0.9) == "not certifiable: 3 rows"
    assert Claim(1, 1, 0.01).describe(0.9) == "not certifiable: 1 row"
    assert Claim(58, 60, 0.87).describe(0.9) == "certified at least 0.87 (58 of 60 rows)"


def test_one_row_of_each_group_counts():
    groups = np.repeat(np.arange(20), 10)
    covers = np.ones((1, 200), dtype=bool)
    agrees = np.tile(groups < 15, (1, 1))
    certificate = Certificate.count(
        covers, agrees, 0.95, answered=covers[0], right=agrees[0], groups=groups, rng=np.random.default_rng(0)
    )
    assert certificate.by_group
    assert (certificate.fidelity[0].n_right, certificate.fidelity[0].n_rows) == (15, 20)


def test_json_round_trip():
    certificate = Certificate((Claim(9, 10, 0.5), Claim(0, 0, 0.0)), Claim(19, 20, 0.7), Claim(9, 10, 0.6), 0.9, True)
    assert Certificate.from_dict(json.loads(json.dumps(certificate.to_dict()))) == certificate


def law(n_rows, rng):
    return rng.uniform(size=(n_rows, 2))


def wavy(X):
    return X[:, 1] > 0.5 + 0.3 * np.sin(7 * X[:, 0])


def test_the_joint_statement_holds_as_often_as_it_says():
    """200 problems with a known law: all bounds together fail in at most 5%, and sampling error."""
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
