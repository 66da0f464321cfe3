from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.rivals.lime_linear import LimeLinear
from oleander import AggregateExplainer, Draws, Floor
from oleander.black_box.answers import BlackBoxError
from oleander.candidates.lazy_training import PoolProgram
from oleander.rules import FilteredTree, UnfilteredTree
from tests.making import ASKING, QUICK, ROWS_ONLY, Recording, halves


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"})
    return X, y, RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])


@pytest.fixture(scope="module")
def atlas(cancer):
    X, _, model = cancer
    return AggregateExplainer(model, **QUICK).fit(X[1::2])


class TestFit:
    def test_fitted_attributes(self, atlas, cancer):
        X = cancer[0]
        assert 1 <= len(atlas.explainers_) <= 3
        assert atlas.coverage_ == pytest.approx(atlas.evaluation_.coverage)
        assert atlas.fidelity_ == min(member.fidelity for member in atlas.explainers_)
        for member in atlas.explainers_:
            assert Floor().measure(member.fidelity * member.support, member.support) >= 0.9
        assert all(
            member.region.radius in {c.region.radius for c in atlas.pool_.candidates} for member in atlas.explainers_
        )
        assert atlas.feature_names_in_.tolist() == list(X.columns)
        assert atlas.n_features_in_ == 30
        assert atlas.result_.gap == 0
        assert atlas.proof_ == atlas.result_.proof
        assert set(atlas.evaluation_.classes["label"]) == {"benign", "malignant"}
        assert len(atlas.certificate_.fidelity) == len(atlas.explainers_)
        assert "explainer" in atlas.summary()

    def test_a_pipeline_as_black_box_and_a_place_in_a_pipeline(self, cancer):
        X, y, _ = cancer
        black_box = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
        assert AggregateExplainer(black_box, **QUICK).fit(X[1::2]).coverage_ > 0.3
        scaled = StandardScaler().set_output(transform="pandas").fit(X)
        inner = LogisticRegression().fit(scaled.transform(X[::2]), y[::2])
        pipeline = make_pipeline(scaled, AggregateExplainer(inner, **QUICK)).fit(X[1::2])
        assert pipeline.predict(X).shape == (569,)


class TestPaper:
    def test_the_papers_settings(self, square):
        options = {"radius": 0.3, "n_draws": 200, "max_explainers": 3, "random_state": 0}
        atlas = AggregateExplainer.paper(halves, **options).fit(square)
        assert len(atlas.pool_.candidates) == 300
        assert {candidate.region.radius for candidate in atlas.pool_.candidates} == {0.3}
        assert atlas.certificate_ is None
        assert atlas.fidelity_ >= 0.9
        selective = AggregateExplainer.paper(halves, formulation="selective", **options).fit(square)
        assert selective.result_.objective >= atlas.result_.objective

    def test_a_radius_is_in_raw_units(self, square):
        """A radius of 10 in raw units holds one feature's whole width, whatever the width of the others."""
        stretched = square * [100, 1, 1]
        box = lambda X: X[:, 0] > 50  # noqa: E731
        atlas = AggregateExplainer.paper(box, radius=10.0, n_draws=200, max_explainers=3, random_state=0).fit(stretched)
        ball = atlas.explainers_[0].region
        inside = ball.contains(stretched)
        assert np.abs(stretched[inside, 0] - ball.center[0]).max() <= 10
        assert 5 < inside.sum() < 100

    @pytest.mark.parametrize("formulation", [None, "strict"])
    def test_the_letter(self, square, formulation):
        options = {"radius": 0.3, "n_draws": 200, "max_explainers": 3, "random_state": 0}
        atlas = AggregateExplainer.paper(halves, letter=True, formulation=formulation, **options).fit(square)
        balls, local = atlas.candidates, atlas.candidates.local
        assert atlas.program.formulation == (formulation or "selective")
        assert (balls.bounds, balls.scale, balls.centers) == ("uncut", "none", "rows")
        assert (local.alpha, local.max_leaves, local.n_bins) == (None, None, 3)
        draws = atlas.pool_.candidates[0].recipe.draw()
        assert draws.min() < 0 or draws.max() > 1
        assert atlas.pool_.is_trained.all() if formulation is None else atlas.fidelity_ >= 0.9

    @pytest.mark.parametrize("local", [LimeLinear(), UnfilteredTree(), FilteredTree()])
    def test_what_is_given_beside_the_letter_wins(self, local):
        atlas = AggregateExplainer.paper(halves, radius=1.0, letter=True, local=local, centers="rounded")
        assert (atlas.candidates.local, atlas.candidates.centers) == (local, "rounded")
        assert (atlas.candidates.bounds, atlas.program.formulation) == ("uncut", "selective")
        other = AggregateExplainer.paper(halves, radius=1.0, letter=True, bounds="cut")
        assert (other.candidates.bounds, other.candidates.local) == ("cut", FilteredTree(max_leaves=None, alpha=None))

    @pytest.mark.parametrize("local", ["lime", LimeLinear])
    def test_local_is_an_explainer(self, square, local):
        with pytest.raises(TypeError, match=r"local=.* is not allowed: give an explainer, such as FilteredTree\(\)"):
            AggregateExplainer.paper(halves, radius=1.0, local=local).fit(square)


class TestReading:
    def test_predict_is_silent_outside_and_agrees_inside(self, atlas, cancer):
        X, _, model = cancer
        answers = atlas.predict(X)
        covered = atlas.covers(X).any(axis=0)
        np.testing.assert_array_equal(~np.ma.getmaskarray(answers), covered)
        np.testing.assert_array_equal(atlas.responsible(X) == -1, ~covered)
        assert (answers[covered] == model.predict(X)[covered]).mean() > 0.9
        far = X.iloc[:1] * 0 + 1e6
        assert atlas.predict(far).mask.all()
        assert atlas.explain(far).label is None

    def test_one_row_in_every_shape(self, atlas, cancer):
        X, _, _ = cancer
        row = X.iloc[[7]]
        said = str(atlas.explain(row))
        assert said == str(atlas.explain(row.iloc[0])) == str(atlas.explain(row.iloc[0].to_dict()))
        assert said == str(atlas.explain(row.to_numpy()[0]))
        plain = atlas.explain(row, change=False)
        assert plain.change is None
        assert replace(atlas.explain(row), change=None) == plain
        with pytest.raises(TypeError, match=r"explain takes one row, and 3 was given; .* is X.iloc\[3\]"):
            atlas.explain(3)
        with pytest.raises(ValueError, match="explain takes one row, and 2 were given"):
            atlas.explain(X.iloc[:2])

    def test_rows_that_the_fit_has_seen_certify_nothing(self):
        X, new = np.split(np.random.default_rng(0).uniform(size=(600, 3)), 2)
        atlas = AggregateExplainer(lambda X: X[:, 0] > 0.5, draws=Draws(0), random_state=0).fit(X)
        labels = X[:, 0] > 0.5
        for given in ((X,), (X[:200],), (X, labels)):
            with pytest.raises(ValueError, match="only new rows can certify"):
                atlas.certify(*given)
        assert atlas.certify(new).answers.n_rows > 250
        assert atlas.evaluate(X).n_rows == 300


class TestUnreadableRows:
    """Rows with values that no rule's column ever had are left unanswered, and the others are answered as ever."""

    @pytest.fixture
    def box(self):
        def say(table):
            high = (table["a"] > 0.5) & (table["ward"] == "east")
            return np.where(table["ward"] == "south", "unheard of", high.astype(str))

        return Recording(say)

    @pytest.fixture
    def table(self):
        rng = np.random.default_rng(0)
        return pd.DataFrame({"a": rng.uniform(size=200), "ward": rng.choice(["east", "west"], 200)})

    def test_they_are_left_unanswered(self, box, table):
        atlas = AggregateExplainer(box, **ROWS_ONLY).fit(table)
        odd = table.copy()
        odd.loc[:4, "ward"] = "south"
        odd.loc[5, "a"] = np.nan
        before, after = atlas.predict(table), atlas.predict(odd)
        assert np.ma.getmaskarray(after)[:6].all()
        assert after[6:].tolist() == before[6:].tolist()
        assert not atlas.covers(odd)[:, :6].any()
        assert (atlas.responsible(odd)[:6] == -1).all()
        assert atlas.explain(odd.iloc[0]).label is None
        assert "column 'ward' holds 'south' in row 0" in str(atlas.explain(odd.iloc[[0]]))

    def test_a_column_that_no_rule_uses_silences_none(self, table):
        box = Recording(lambda table: (table["a"] > 0.5).astype(str))
        atlas = AggregateExplainer(box, **ROWS_ONLY).fit(table)
        odd = table.assign(ward="south")
        assert atlas.record_.explainers.columns == {0}
        assert atlas.predict(odd).tolist() == atlas.predict(table).tolist()
        assert atlas.evaluate(odd).to_dict() == atlas.evaluate(table).to_dict()
        explained = atlas.explain(odd.iloc[0])
        assert explained.label == atlas.predict(table)[0]
        assert explained.black_box == box(odd[:1])[0]
        assert not explained.far_outside
        whole = atlas.explain_many(odd)
        assert whole["answer"].tolist() == atlas.explain_many(table)["answer"].tolist()
        assert atlas.uncovered(odd).n_silent == atlas.uncovered(table).n_silent

    def test_they_count_as_not_answered_and_are_asked_about_as_they_are(self, box, table):
        atlas = AggregateExplainer(box, **ROWS_ONLY).fit(table)
        odd = table.copy()
        odd.loc[:4, "ward"] = "south"
        before = box.n_rows
        evaluation = atlas.evaluate(odd)
        # Only the five are new to the black box.
        assert box.n_rows - before == 5
        assert atlas.n_queries_ == box.n_rows
        classes = evaluation.classes.set_index("label")
        assert classes.loc["unheard of", "rows"] == 5
        assert classes.loc["unheard of", "covered"] == 0
        assert atlas.uncovered(odd).n_silent == np.ma.getmaskarray(atlas.predict(odd)).sum()


class TestCounting:
    """Every row sent to the black box is counted, none twice, and none beyond ``max_queries``."""

    @pytest.mark.parametrize("options", [QUICK, ASKING, {**ASKING, "holdout": 0.4}], ids=["balls", "folds", "held out"])
    def test_every_row_sent_to_the_black_box_is_counted(self, square, options):
        box = Recording()
        atlas = AggregateExplainer(box, **options).fit(square)
        assert atlas.n_queries_ == box.n_rows
        atlas.tradeoff(max_explainers=[1, 2], min_fidelity=[0.8, 0.9])
        assert atlas.n_queries_ == box.n_rows

    @pytest.mark.parametrize("options", [QUICK, {**ASKING, "max_explainers": 3}], ids=["balls", "asking"])
    def test_rows_of_the_fit_are_not_asked_about_again(self, square, tmp_path, options):
        box = Recording()
        atlas = AggregateExplainer(box, **options).fit(square)
        # The page shows the trade-off, which trains more candidates.
        atlas.tradeoff()
        before = box.n_rows
        atlas.evaluate(square)
        atlas.evaluate(square[::-1][:50])
        atlas.uncovered(square)
        atlas.summary()
        atlas.report(tmp_path / "page.html")
        atlas.report(tmp_path / "page.html", square)
        assert atlas.n_queries_ == box.n_rows == before

    def test_new_rows_are_asked_about_once_a_call_and_counted(self, square, tmp_path):
        box = Recording()
        atlas = AggregateExplainer(box, **ROWS_ONLY).fit(square)
        new = np.random.default_rng(1).uniform(size=(40, 3))
        for call in (
            lambda: atlas.evaluate(np.vstack([new, new, square])),
            lambda: atlas.report(tmp_path / "page.html", new),
        ):
            before = box.n_rows
            call()
            assert box.n_rows - before == 40
            assert atlas.n_queries_ == box.n_rows
        atlas.uncovered(new)
        atlas.evaluate(new, halves(new))
        assert atlas.n_queries_ == box.n_rows == 375 + 2 * 40

    def test_new_rows_are_held_to_the_limit(self, square, tmp_path):
        box = Recording()
        atlas = AggregateExplainer(box, max_queries=420, **ROWS_ONLY).fit(square)
        new = np.random.default_rng(1).uniform(size=(60, 3))
        for call in (atlas.evaluate, lambda X: atlas.report(tmp_path / "page.html", X)):
            with pytest.raises(RuntimeError, match="max_queries=420 leaves 45 rows to ask about, and 60 are needed"):
                call(new)
        assert box.n_rows == 375
        atlas.evaluate(new[:45])
        assert box.n_rows == atlas.n_queries_ == 420

    def test_a_loaded_explainer_counts_on(self, square, tmp_path):
        box = Recording()
        AggregateExplainer(box, **ROWS_ONLY).fit(square).save(tmp_path / "atlas")
        loaded = AggregateExplainer.load(tmp_path / "atlas", box)
        assert loaded.n_queries_ == 375
        loaded.evaluate(square[:7])
        assert loaded.n_queries_ == box.n_rows == 382


class TestRefusals:
    def test_y_and_groups_of_another_length(self, square):
        for name in ("y", "groups"):
            with pytest.raises(ValueError, match=rf"{name} has shape \(3,\); one entry for each of 300 rows"):
                AggregateExplainer(halves, **QUICK).fit(square, **{name: [1, 2, 3]})

    def test_not_fitted(self):
        for name in ("predict", "covers", "responsible", "explain", "evaluate", "uncovered"):
            with pytest.raises(NotFittedError, match="is not fitted: call fit"):
                getattr(AggregateExplainer(halves), name)(np.zeros((1, 3)))
        for name in ("tradeoff", "summary"):
            with pytest.raises(NotFittedError, match="is not fitted: call fit"):
                getattr(AggregateExplainer(halves), name)()

    def test_an_error_leaves_a_fitted_object_as_it_was(self, square):
        atlas = AggregateExplainer(halves, **QUICK).fit(square)
        before = atlas.summary()
        atlas.black_box = lambda X: 1 / 0
        with pytest.raises(BlackBoxError):
            atlas.fit(square)
        assert atlas.summary() == before

    def test_an_interrupt_leaves_no_half_fitted_object(self, square, monkeypatch):
        def interrupted(*args):
            raise KeyboardInterrupt

        monkeypatch.setattr(PoolProgram, "select", interrupted)
        explainer = AggregateExplainer(halves, **QUICK)
        with pytest.raises(KeyboardInterrupt):
            explainer.fit(square)
        assert not hasattr(explainer, "explainers_")


class TestParameters:
    def test_the_black_box_is_never_copied(self, cancer):
        _, _, model = cancer
        explainer = AggregateExplainer(model, max_explainers=4)
        copied = clone(explainer)
        assert copied.black_box is model
        assert copied.get_params() == explainer.get_params()
        assert explainer.set_params(max_explainers=2).max_explainers == 2
