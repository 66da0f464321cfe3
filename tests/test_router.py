"""A router answers by rules, asks the model elsewhere, and keeps what it claims."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression

from oleander import AggregateExplainer, Balls, Draws, NothingFoundError
from oleander.black_box.answers import BlackBoxError
from oleander.judging.bounds import lower_bound
from oleander.judging.certificate import PART_OF_AGREEMENT
from tests.making import QUICK, Recording

RNG = np.random.default_rng(0)
X, BACKGROUND = RNG.uniform(size=(600, 2)), RNG.uniform(size=(600, 2))


def left_or_right(X):
    """Left is inside, right is out, and in the middle three rows of five are inside, without any pattern."""
    is_odd = np.floor(1e6 * X[:, 1]) % 5 < 2
    return np.where((X[:, 0] > 0.7) | ((X[:, 0] > 0.3) & is_odd), "out", "inside")


@pytest.fixture(scope="module")
def atlas():
    explainer = AggregateExplainer(left_or_right, draws=Draws(2_000), random_state=0)
    return explainer.fit(X, background=BACKGROUND)


def test_rules_answer_and_the_model_is_asked_elsewhere(atlas):
    model = Recording(left_or_right)
    router = atlas.router(model)
    new = np.random.default_rng(1).uniform(size=(500, 2))
    found, rules = router.predict(new), atlas.predict(new)
    silent = np.ma.getmaskarray(rules)
    assert 0 < silent.sum() == model.n_rows == router.n_asked_ < router.n_rows_ == 500
    assert (found[~silent] == rules[~silent]).all()
    assert (found[silent] == left_or_right(new[silent])).all()


def test_the_claims_are_exact_bounds_for_all_steps(atlas):
    certificate, n_rows = atlas.router().certificate_, len(X)
    answers = atlas.predict(X)
    wrong = int((~np.ma.getmaskarray(answers) & (np.ma.getdata(answers) != left_or_right(X))).sum())
    assert certificate.is_certified
    assert (certificate.agreement.n_right, certificate.agreement.n_rows) == (n_rows - wrong, n_rows)
    judged = atlas.engine_.learner.judge_sets([atlas.record_.max_explainers], [0.9])
    level = 0.05 / len(judged.sequence.steps)
    bounds = [lower_bound(n_rows - wrong, n_rows, PART_OF_AGREEMENT * level)]
    bounds.append(lower_bound((~np.ma.getmaskarray(answers)).sum(), n_rows, (1 - PART_OF_AGREEMENT) * level))
    assert [certificate.agreement.bound, certificate.answered.bound] == pytest.approx([*map(float, bounds)])


def test_a_target_answers_more_and_is_shown(atlas):
    n_queries = atlas.n_queries_
    low, high = atlas.router(target=0.9), atlas.router(target=0.97)
    assert low.atlas.coverage_ >= high.atlas.coverage_
    assert low.atlas.coverage_ > atlas.coverage_
    for router, target in ((low, 0.9), (high, 0.97)):
        certificate = router.certificate_
        assert certificate.agreement.bound == target
        bound = lower_bound(certificate.agreement.n_right, len(X), PART_OF_AGREEMENT * 0.05)
        assert bound >= target
        new = np.random.default_rng(2).uniform(size=(4_000, 2))
        assert (router.predict(new) == left_or_right(new)).mean() >= target
        assert router.n_asked_ / router.n_rows_ <= certificate.most_asked
        assert f"on at least {target:.0%} of rows" in str(certificate)
    assert atlas.n_queries_ == n_queries + 0
    assert low.atlas.certificate_ is None


def test_a_router_comes_back_from_a_file(atlas, tmp_path):
    router = atlas.router(target=0.95)
    router.atlas.save(tmp_path / "router.oleander")
    again = AggregateExplainer.load(tmp_path / "router.oleander").router(left_or_right)
    assert again.certificate_ == router.certificate_
    assert (again.predict(X) == router.predict(X)).all()


def test_it_counts_what_it_saves(atlas):
    router = atlas.router()
    cost = router.cost(X[:200])
    assert cost.calls_saved == pytest.approx(1 - cost.n_asked / 200)
    assert router.n_asked_ == 200 + cost.n_asked
    assert f"asked on {cost.n_asked} of 200 rows" in str(cost)


def test_folds_certify_nothing():
    atlas = AggregateExplainer(left_or_right, draws=Draws(2_000), random_state=0).fit(X)
    certificate = atlas.router(target=0.9).certificate_
    assert not certificate.is_certified
    assert "not certified" in str(certificate)


def test_groups_are_counted_as_groups():
    groups = np.arange(len(X)) // 3
    atlas = AggregateExplainer(left_or_right, draws=Draws(2_000), random_state=0)
    certificate = atlas.fit(X, background=BACKGROUND, groups=groups).router(target=0.9).certificate_
    assert certificate.agreement.unit == certificate.answered.unit == "groups"
    assert certificate.agreement.n_rows == 200


def test_balls_route_too_with_held_out_rows():
    atlas = AggregateExplainer(left_or_right, **QUICK).fit(X)
    certificate = atlas.router().certificate_
    assert certificate.agreement.n_rows == len(atlas.engine_.parts.held)
    with pytest.raises(ValueError, match=r"target=0.9 chooses among rule sets that are learned by asking"):
        atlas.router(target=0.9)
    assert (
        AggregateExplainer(left_or_right, **QUICK | {"holdout": 0, "candidates": Balls(n_draws=300)})
        .fit(X[:200])
        .router()
        .certificate_
        is None
    )


def test_it_is_a_classifier_of_frames_with_the_models_probabilities():
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = LogisticRegression().fit(frame, X[:, 0] + X[:, 1] > 1)
    atlas = AggregateExplainer(model, draws=Draws(2_000), random_state=0).fit(
        frame, background=pd.DataFrame(BACKGROUND, columns=["a", "b"])
    )
    router = clone(atlas.router())
    assert is_classifier(router)
    assert router.classes_.tolist() == [False, True]
    assert np.array_equal(router.predict_proba(frame.assign(other=1)), model.predict_proba(frame))
    assert router.n_asked_ == len(frame)
    with pytest.raises(AttributeError, match="predict_proba"):
        atlas.router(model.predict).predict_proba(frame)


def test_exports_flag_the_rows_to_ask_about():
    frame = pd.DataFrame(X, columns=["a", "answer"])
    atlas = AggregateExplainer(lambda X: left_or_right(X.to_numpy()), draws=Draws(2_000), random_state=0)
    router = atlas.fit(frame, background=pd.DataFrame(BACKGROUND, columns=frame.columns)).router()
    silent = np.ma.getmaskarray(router.atlas.predict(frame))
    database = sqlite3.connect(":memory:")
    frame.to_sql("data", database, index=False)
    flags = pd.read_sql(router.to_sql("sqlite"), database)["ask_model"].astype(bool).to_numpy()
    assert (flags == silent).all()
    space: dict = {}
    exec(router.to_python(), space)
    assert [space["ask_model"](row) for row in frame.to_dict("records")] == silent.tolist()


@pytest.mark.parametrize("target", [1.2, 0, "0.9", True])
def test_a_target_that_is_no_share_is_refused(atlas, target):
    with pytest.raises(ValueError, match=r"target=.* is not allowed: give a number over 0 and under 1"):
        atlas.router(target=target)


def test_edits_are_not_lost_by_a_target(atlas):
    with pytest.raises(ValueError, match=r"target=0\.9 chooses among the rule sets of the fit, which have none of the"):
        atlas.without(1).router(target=0.9)
    assert len(atlas.without(1).router().atlas.explainers_) == len(atlas.explainers_) - 1


def test_what_cannot_be_routed_is_said(atlas, tmp_path):
    atlas.save(tmp_path / "atlas.oleander")
    loaded = AggregateExplainer.load(tmp_path / "atlas.oleander")
    with pytest.raises(ValueError, match=r"give one, as in atlas.router\(model\)"):
        loaded.router()
    with pytest.raises(ValueError, match="loaded from a file, which holds no rule sets that target= could choose from"):
        loaded.router(left_or_right, target=0.9)
    with pytest.raises(BlackBoxError, match=r"such as 3, and the rules such as '\w+': give the model that"):
        loaded.router(lambda X: np.full(len(X), 3)).predict(X)
    with pytest.raises(NothingFoundError, match=r"target=0.999 is not reached.*600 rows"):
        atlas.router(target=0.999)
