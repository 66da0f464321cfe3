"""Fits with a floor in each subgroup: silence where it is not shown, in every method."""

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Balls, Draws, NothingFoundError
from oleander.report.page import rows_to_show
from tests.making import QUICK


def make_rows(n_rows, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.uniform(size=(n_rows, 2)), columns=["a", "b"])
    frame["sex"] = rng.choice(["F", "M"], n_rows)
    return frame


class Model:
    """Clear for women; for men, whom it knows by b only, a quarter of the answers have no pattern."""

    feature_names_in_ = np.array(["a", "b"])

    def predict(self, X):
        noise = (X["b"] > 0.5) & (np.floor(1e6 * X["b"]) % 4 == 0)
        return np.where((X["a"] > 0.5) ^ noise, "yes", "no")


def make_men_hard(frame):
    """Let sex decide b, so that men have answers without a pattern."""
    return frame.assign(b=np.where(frame["sex"] == "M", 0.5 + frame["b"] / 2, frame["b"] / 2))


X, BACKGROUND = make_men_hard(make_rows(800, 0)), make_men_hard(make_rows(800, 1))


@pytest.fixture(scope="module")
def atlas():
    explainer = AggregateExplainer(Model(), min_fidelity=0.85, draws=Draws(2_000), random_state=0)
    return explainer.fit(X, background=BACKGROUND, floor_by="sex")


def test_men_get_no_answer_and_women_do(atlas):
    by = atlas.record_.floor_by
    assert by.is_certified
    assert by.speaking == {"sex=F"}
    answers = atlas.predict(X)
    is_man = (X["sex"] == "M").to_numpy()
    assert np.ma.getmaskarray(answers)[is_man].all()
    assert not np.ma.getmaskarray(answers)[~is_man].all()
    assert atlas.coverage_ == pytest.approx((~np.ma.getmaskarray(answers)).mean())
    claim = atlas.certificate_.answers
    assert (claim.n_rows, claim.bound) == (atlas.evaluation_.n_answered, 0.85)


def test_the_models_own_accuracy_is_of_the_rows_that_get_answers():
    explainer = AggregateExplainer(Model(), min_fidelity=0.85, draws=Draws(500), random_state=0)
    score = explainer.fit(X, X["a"].gt(0.5).map({True: "yes", False: "no"}), background=BACKGROUND, floor_by="sex")
    assert score.record_.model_score.n_answered == score.evaluation_.n_answered < (X["sex"] == "F").sum() + 1


def test_every_method_is_silent_in_the_same_rows(atlas, tmp_path):
    silent = np.ma.getmaskarray(atlas.predict(X))
    assert (atlas.covers(X).any(axis=0) == ~silent).all()
    assert ((atlas.responsible(X) < 0) == silent).all()
    assert atlas.evaluate(X).n_answered == (~silent).sum()
    assert atlas.uncovered(X).n_silent == silent.sum()
    table = atlas.explain_many(X)
    assert (table["answer"].isna().to_numpy() == silent).all()
    man = X[(X["sex"] == "M")].iloc[[0]]
    assert table.loc[man.index[0], "why_silent"].startswith("the rules are silent in its subgroup")
    assert "silent in its subgroup" in str(atlas.explain(man))
    assert atlas.router().certificate_ is None
    atlas.save(tmp_path / "atlas.oleander")
    again = AggregateExplainer.load(tmp_path / "atlas.oleander")
    assert (np.ma.getmaskarray(again.predict(X)) == silent).all()
    assert again.record_.floor_by == atlas.record_.floor_by


def test_the_summary_names_both(atlas):
    text = atlas.summary()
    assert "Within each of these subgroups, at least 85% of answers match (certified for all of them together):" in text
    assert "Silent in these subgroups, where a floor of 85% could not be shown:\n  sex=M" in text
    assert "sex=F" in text


def test_what_cannot_be_silent_in_subgroups_is_refused(atlas):
    for method in (atlas.to_sql, lambda: atlas.without(1), lambda: atlas.reserve(X)):
        with pytest.raises(ValueError, match="cannot be silent in subgroups"):
            method()
    with pytest.raises(ValueError, match=r"target=0.9 is for one floor"):
        atlas.router(target=0.9)
    with pytest.raises(ValueError, match="floor_by names the column 'sex', and X has"):
        atlas.predict(X[["a", "b"]])


def test_values_are_given_again():
    atlas = AggregateExplainer(Model(), min_fidelity=0.85, draws=Draws(2_000), random_state=0)
    atlas.fit(X[["a", "b"]], background=BACKGROUND[["a", "b"]], floor_by=X["sex"].to_numpy())
    silent = np.ma.getmaskarray(atlas.predict(X[["a", "b"]], floor_by=X["sex"]))
    assert silent[X["sex"] == "M"].all()
    assert atlas.evaluate(X[["a", "b"]], floor_by=X["sex"]).n_answered == (~silent).sum()
    with pytest.raises(ValueError, match="silent for 'M' of the array"):
        atlas.predict(X[["a", "b"]])


def test_fits_that_cannot_have_floors_by_subgroup_are_refused():
    plain = AggregateExplainer(Model(), draws=Draws(2_000), random_state=0)
    with pytest.raises(ValueError, match="folds judge here, which certify nothing: give a background"):
        plain.fit(X, floor_by="sex")
    with pytest.raises(ValueError, match="floor_by is for rules that are learned by asking"):
        AggregateExplainer(Model(), **QUICK | {"candidates": Balls()}).fit(X, floor_by="sex")
    with pytest.raises(ValueError, match=r"floor_by puts rows of group 0 into 2 subgroups"):
        plain.fit(X, background=BACKGROUND, floor_by="sex", groups=np.arange(len(X)) // 4)
    with pytest.raises(NothingFoundError, match="within any subgroup of floor_by"):
        plain.fit(X[["a", "b"]], background=BACKGROUND[["a", "b"]], floor_by=np.arange(len(X)) // 10)
    with pytest.raises(ValueError, match=r"floor_by makes [\d,]+ subgroups with fewer than 5 rows"):
        plain.fit(X[["a", "b"]], background=BACKGROUND[["a", "b"]], floor_by=np.arange(len(X)))
    with pytest.raises(ValueError, match="floor_by is for explainers that were fitted with it"):
        plain.fit(X[["a", "b"]], background=BACKGROUND[["a", "b"]]).predict(X, floor_by=X["sex"])


def test_the_page_counts_silent_subgroups_as_unanswered(atlas):
    n_silent = int(np.ma.getmaskarray(atlas.predict(X)).sum())
    for given in (None, X):
        shown = rows_to_show(atlas, given, None, {}, None)
        answers = atlas.record_.explainers.read(shown.values, shown.heard)
        assert (~answers.answered).sum() == n_silent
        page = atlas.report(X=given).html
        assert "sex=M" in page
        assert '"silent_for":["sex=M"]' in page
