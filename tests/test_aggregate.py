import warnings
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

from oleander import AggregateExplainer, Balls, FeatureSchema, Floor, PerRow
from oleander.black_box.asking import BlackBoxError
from oleander.candidates import Boxes, Nodes, Trees
from oleander.candidates.choosing import PoolProgram
from oleander.draws.options import Draws
from oleander.explainers import LimeLinear, UnfilteredTree
from oleander.fitting.nothing_found import NothingFoundError

BALLS = Balls(n_draws=300, max_candidates=40)
QUICK = {"candidates": BALLS, "max_explainers": 3, "max_rules": 40, "holdout": 0.25, "random_state": 0}
ROWS_ONLY = {"draws": Draws(0), "holdout": 0.25, "random_state": 0}
ASKING = {"draws": Draws(2_000), "random_state": 0}


def halves(X):
    return X[:, 0] > 0.5


class Recording:
    """A black box that counts the rows it is asked about."""

    def __init__(self, answer=halves):
        self.answer, self.n_rows = answer, 0

    def __call__(self, X):
        self.n_rows += len(X)
        return self.answer(X)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"})
    return X, y, RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])


@pytest.fixture(scope="module")
def atlas(cancer):
    X, _, model = cancer
    return AggregateExplainer(model, **QUICK).fit(X[1::2])


@pytest.fixture(scope="module")
def square():
    return np.random.default_rng(0).uniform(size=(300, 3))


class TestFit:
    def test_fitted_attributes(self, atlas, cancer):
        X = cancer[0]
        assert 1 <= len(atlas.explainers_) <= 3
        assert atlas.coverage_ == pytest.approx(atlas.evaluation_.coverage)
        assert atlas.fidelity_ == min(member.fidelity for member in atlas.explainers_)
        assert all(member.floor_value >= 0.9 for member in atlas.explainers_)
        assert all(member.radius in {c.region.radius for c in atlas.pool_.candidates} for member in atlas.explainers_)
        assert atlas.feature_names_in_.tolist() == list(X.columns)
        assert atlas.n_features_in_ == 30
        assert atlas.result_.gap == 0
        assert atlas.proof_ == atlas.result_.proof
        assert set(atlas.evaluation_.classes["label"]) == {"benign", "malignant"}
        assert len(atlas.certificate_.fidelity) == len(atlas.explainers_)
        assert "local explainer" in atlas.summary()

    def test_the_default_learns_by_asking(self, square):
        box = Recording()
        atlas = AggregateExplainer(box, random_state=0).fit(square)
        assert atlas.coverage_ > 0.95
        assert box.n_rows == atlas.n_queries_ == 20_000 + 300 + 100
        assert {member.origin for member in atlas.explainers_} == {"asking"}
        # Folds judged: the word for it is not certified.
        assert atlas.certificate_ is None
        assert atlas.proof_ is None
        assert atlas.record_.status == "judged"
        with pytest.raises(AttributeError, match="learned by asking"):
            atlas.pool_  # noqa: B018

    def test_with_a_background_every_row_certifies(self, square):
        background = np.random.default_rng(1).uniform(size=(500, 3))
        atlas = AggregateExplainer(halves, **ASKING).fit(square, background=background)
        answers = atlas.predict(square)
        certificate = atlas.certificate_
        assert atlas.record_.status == "certified"
        assert certificate.answers.n_rows == (~answers.mask).sum()
        assert certificate.answers.n_right == (answers.compressed() == halves(square)[~answers.mask]).sum()
        assert certificate.answers.bound == 0.9

    def test_without_draws_it_learns_from_the_rows_alone(self, square):
        box = Recording()
        atlas = AggregateExplainer(box, **ROWS_ONLY).fit(square)
        assert atlas.coverage_ > 0.95
        # Each row once, and a hundred again to see whether answers change.
        assert box.n_rows == atlas.n_queries_ == 300 + 100
        assert atlas.complexity <= 20
        assert {member.origin for member in atlas.explainers_} <= {"trees", "nodes"}

    @pytest.mark.parametrize("labels", ["int", "str", "bool", "float"])
    def test_labels_of_every_kind(self, square, labels):
        kinds = {
            "int": lambda X: halves(X).astype(int) * 7,
            "str": lambda X: np.where(halves(X), "yes", "no"),
            "bool": halves,
            "float": lambda X: halves(X).astype(float),
        }
        black_box = kinds[labels]
        atlas = AggregateExplainer(black_box, **QUICK).fit(square)
        answers = atlas.predict(square).compressed()
        assert set(answers) <= set(black_box(square))
        assert answers.dtype.kind == black_box(square).dtype.kind

    def test_mixed_and_missing_columns_reach_the_black_box_as_they_came(self, mixed, mixed_black_box):
        atlas = AggregateExplainer(mixed_black_box, min_fidelity=0.7, floor=Floor(on="share"), **QUICK).fit(mixed)
        assert atlas.coverage_ > 0.2
        assert atlas.predict(mixed).shape == (300,)

    def test_xgboost_and_lightgbm(self, square):
        xgboost = pytest.importorskip("xgboost")
        lightgbm = pytest.importorskip("lightgbm")
        labels = halves(square).astype(int)
        table = pd.DataFrame(square, columns=["a", "b", "c"])
        for model in (
            xgboost.XGBClassifier(n_estimators=5),
            lightgbm.LGBMClassifier(n_estimators=5, verbose=-1),
        ):
            atlas = AggregateExplainer(model.fit(table, labels), **QUICK).fit(table)
            assert atlas.coverage_ > 0.8

    def test_a_pipeline_as_black_box_and_a_place_in_a_pipeline(self, cancer):
        X, y, _ = cancer
        black_box = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
        assert AggregateExplainer(black_box, **QUICK).fit(X[1::2]).coverage_ > 0.3
        scaled = StandardScaler().set_output(transform="pandas").fit(X)
        inner = LogisticRegression().fit(scaled.transform(X[::2]), y[::2])
        pipeline = make_pipeline(scaled, AggregateExplainer(inner, **QUICK)).fit(X[1::2])
        assert pipeline.predict(X).shape == (569,)

    @pytest.mark.slow
    def test_the_same_seed_gives_the_same_answer(self, cancer, atlas):
        X, _, model = cancer
        again = AggregateExplainer(model, **QUICK, n_jobs=2).fit(X[1::2])
        assert again.summary() == atlas.summary()

    def test_groups_are_kept_whole(self, square):
        groups = np.arange(300) // 5
        atlas = AggregateExplainer(halves, **{**QUICK, "holdout": 0.3}).fit(square, groups=groups)
        learned = {tuple(row) for row in atlas.pool_.rows.values}
        is_learned = np.array([tuple(row) in learned for row in square])
        by_group = [is_learned[groups == group] for group in range(60)]
        assert all(part.all() or not part.any() for part in by_group)
        assert atlas.certificate_.by_group
        assert atlas.certificate_.coverage.n_rows == 18

    def test_held_out_rows_are_used_for_nothing_else(self, square):
        atlas = AggregateExplainer(halves, **QUICK).fit(square)
        assert atlas.pool_.rows.weights.sum() == 225
        assert atlas.certificate_.coverage.n_rows == 75
        assert AggregateExplainer(halves, **{**QUICK, "holdout": None}).fit(square).certificate_ is None

    def test_rows_that_look_like_training_rows_get_a_warning(self, cancer):
        X, y, model = cancer
        with pytest.warns(
            UserWarning, match=r"the black box is right on 9\d.\d% of these rows, so they look like the rows"
        ) as caught:
            AggregateExplainer(model, **QUICK).fit(X[::2], y[::2])
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            AggregateExplainer(model, **QUICK).fit(X[1::2], y[1::2])

    def test_one_class(self, square):
        atlas = AggregateExplainer(lambda X: np.full(len(X), "same"), **QUICK).fit(square)
        assert atlas.fidelity_ == 1.0
        assert set(atlas.predict(square).compressed()) == {"same"}

    def test_any_generator_can_propose(self, square):
        generators = [Balls(0.5, max_candidates=10, n_draws=100), Balls(1.0, max_candidates=10, n_draws=100)]
        atlas = AggregateExplainer(halves, candidates=generators, random_state=0).fit(square)
        assert len(atlas.pool_.candidates) == 20

    def test_generators_that_learn_from_rows_ask_nothing_and_are_saved(self, square, tmp_path):
        """Candidates of several kinds stand in one pool, groups reach them, and a file brings all of them back."""
        groups = np.arange(300) // 5
        generators = [Trees(n_trees=6), Nodes(n_trees=4), Boxes(n_centers=10)]
        atlas = AggregateExplainer(halves, candidates=generators, max_explainers=3, random_state=0)
        atlas.fit(square, groups=groups)
        assert atlas.coverage_ > 0.9
        assert all(member.floor_value >= 0.9 for member in atlas.explainers_)
        # The rows once, and some of them again to see whether answers change.
        assert atlas.n_queries_ <= 2 * 300
        group_of = atlas.pool_.rows.groups
        for candidate in atlas.pool_.candidates:
            assert not set(group_of[candidate.learned_from]) & set(group_of[~candidate.learned_from])
        atlas.save(tmp_path / "atlas.oleander")
        again = AggregateExplainer.load(tmp_path / "atlas.oleander")
        np.testing.assert_array_equal(
            np.ma.getmaskarray(again.predict(square)), np.ma.getmaskarray(atlas.predict(square))
        )
        np.testing.assert_array_equal(again.predict(square).compressed(), atlas.predict(square).compressed())

    @pytest.mark.slow
    def test_classes_can_count_alike(self):
        """The rare class is hard to tell: with balance the answer says more of it."""
        X = np.random.default_rng(0).uniform(size=(2000, 4))

        def rare(X):
            return np.where((X[:, 0] > 0.9) & (X[:, 1] + 0.3 * np.sin(40 * X[:, 2]) > 0.6), "rare", "common")

        plain = AggregateExplainer(rare, **ROWS_ONLY).fit(X)
        balanced = AggregateExplainer(rare, balance="class", **ROWS_ONLY).fit(X)
        shares = [a.evaluation_.classes.set_index("label").loc["rare", "answered_rightly"] for a in (plain, balanced)]
        assert shares[1] >= shares[0]
        assert "rare:" in plain.summary()

    @pytest.mark.parametrize("has_rich", [True, False])
    def test_progress_is_shown_on_request(self, square, capsys, monkeypatch, has_rich):
        monkeypatch.setattr("oleander.running.progress.SECONDS_BETWEEN_LINES", 0.0)
        if not has_rich:
            monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        AggregateExplainer(halves, **QUICK).fit(square)
        assert capsys.readouterr().err == ""
        AggregateExplainer(halves, verbose=1, **QUICK).fit(square)
        assert "training explainers" in capsys.readouterr().err


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

    def test_every_option_of_the_balls_reaches_them(self):
        schema = FeatureSchema.infer(np.random.default_rng(0).uniform(size=(20, 3)), scale="range")
        local = LimeLinear()
        options = {"max_flips": 2, "norm": 2.0, "scale": "std", "centers": "rounded", "max_candidates": 9}
        atlas = AggregateExplainer.paper(halves, radius=[1.0, 2.0], n_draws=30, local=local, schema=schema, **options)
        balls = atlas.candidates
        assert {name: getattr(balls, name) for name in options} == options
        assert (balls.radius, balls.n_draws, balls.local, balls.uncut) == ([1.0, 2.0], 30, local, False)
        assert AggregateExplainer.paper(halves, radius=1.0, schema=schema).candidates.scale == "none"

    @pytest.mark.parametrize("change", [{"holdout": 0.4}, {"max_queries": 40_000}])
    def test_one_radius_per_row_follows_its_row(self, square, change):
        """Rows are repeated, shuffled, held out and left out; each ball has the radius of a row that is its center."""
        rng = np.random.default_rng(0)
        X = np.concatenate([square, square[:100]])[rng.permutation(len(square) + 100)]
        radii = np.where(X[:, 1] > 0.5, 0.4, 0.2) + X[:, 0] / 100
        atlas = AggregateExplainer.paper(
            halves, radius=PerRow(radii), n_draws=100, max_explainers=3, random_state=0, **change
        ).fit(X)
        radius_of = {tuple(row): radius for row, radius in zip(X, radii, strict=True)}
        regions = [candidate.region for candidate in atlas.pool_.candidates]
        assert len(regions) == atlas.pool_.rows.n_points
        assert all(region.radius == radius_of[tuple(region.center)] for region in regions)

    def test_a_ladder_as_long_as_the_rows_is_refused(self, square):
        with pytest.raises(ValueError, match="write radius=PerRow"):
            AggregateExplainer.paper(halves, radius=np.linspace(0.1, 0.4, len(square)), holdout=0.2).fit(square)
        with pytest.raises(ValueError, match="has 3 values, and X has 300 rows"):
            AggregateExplainer.paper(halves, radius=PerRow([0.1, 0.2, 0.3])).fit(square)

    def test_the_letter(self, square):
        options = {"radius": 0.3, "n_draws": 200, "max_explainers": 3, "random_state": 0}
        atlas = AggregateExplainer.paper(halves, letter=True, **options)
        balls = atlas.candidates
        assert (atlas.formulation, balls.uncut, balls.local.alpha, balls.local.max_leaves) == (
            "selective",
            True,
            None,
            None,
        )
        assert (balls.scale, balls.centers, balls.flips, balls.norm, balls.local.n_bins) == (
            "none",
            "rows",
            "paper",
            np.inf,
            3,
        )
        atlas.fit(square)
        assert atlas.pool_.is_trained.all()
        draws = atlas.pool_.candidates[0].recipe.draw()
        assert draws.min() < 0 or draws.max() > 1

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"formulation": "strict"}, "letter=True stands for the printed program, .* formulation='strict' is given"),
            ({"local": UnfilteredTree()}, "letter=True stands for a tree behind the filter .* local is given"),
            ({"centers": "rounded"}, "letter=True stands for rows as centers, .* centers='rounded' is given"),
        ],
    )
    def test_the_letter_refuses_what_contradicts_it(self, given, message):
        with pytest.raises(ValueError, match=message):
            AggregateExplainer.paper(halves, radius=1.0, letter=True, **given)


class TestReading:
    def test_predict_abstains_outside_and_agrees_inside(self, atlas, cancer):
        X, _, model = cancer
        answers = atlas.predict(X)
        covered = atlas.covers(X).any(axis=0)
        np.testing.assert_array_equal(~np.ma.getmaskarray(answers), covered)
        np.testing.assert_array_equal(atlas.responsible(X) == -1, ~covered)
        assert (answers[covered] == model.predict(X)[covered]).mean() > 0.9
        far = X.iloc[:1] * 0 + 1e6
        assert atlas.predict(far).mask.all()
        assert atlas.explain(far).label is None

    def test_the_first_explainer_that_covers_a_row_answers(self, atlas, cancer):
        X = cancer[0]
        answers, covers, first = atlas.predict(X), atlas.covers(X), atlas.responsible(X)
        rows = atlas.schema_.encode(X)
        for i in np.flatnonzero(first >= 0)[::7]:
            assert first[i] == np.flatnonzero(covers[:, i])[0]
            assert answers[i] == atlas.explainers_[first[i]].explainer.predict(rows[[i]])[0]
            assert answers[i] == atlas.explain(X.iloc[i]).label

    def test_one_row_in_every_shape(self, atlas, cancer):
        X, _, _ = cancer
        row = X.iloc[[7]]
        said = str(atlas.explain(row))
        assert said == str(atlas.explain(row.iloc[0])) == str(atlas.explain(row.iloc[0].to_dict()))
        assert said == str(atlas.explain(row.to_numpy()[0]))
        with pytest.raises(ValueError, match="explain takes one row, and 2 were given"):
            atlas.explain(X.iloc[:2])

    def test_evaluate_and_uncovered(self, atlas, cancer):
        X, _, model = cancer
        result = atlas.evaluate(X)
        labels = model.predict(X)
        covers = atlas.covers(X)
        assert result.coverage == pytest.approx(covers.any(axis=0).mean())
        fidelity = [
            (member.explainer.predict(atlas.schema_.encode(X)[inside]) == labels[inside]).mean()
            for member, inside in zip(atlas.explainers_, covers, strict=True)
        ]
        assert result.fidelity == pytest.approx(min(fidelity))
        assert atlas.uncovered(X).n_rows == (~covers.any(axis=0)).sum()
        assert atlas.uncovered(X, labels).classes["rows"].sum() == len(X)

    def test_columns_may_come_in_another_order_but_must_be_the_same(self, atlas, cancer):
        X, _, _ = cancer
        with pytest.raises(ValueError, match="the data lack column 'mean radius'"):
            atlas.predict(X.drop(columns="mean radius"))
        with pytest.raises(ValueError, match="have column 'extra', which the schema does not know"):
            atlas.predict(X.assign(extra=1))
        np.testing.assert_array_equal(atlas.predict(X[X.columns[::-1]]).filled("?"), atlas.predict(X).filled("?"))


class TestUnreadableRows:
    """Rows with values that were never seen are left unanswered, and the others are answered as ever."""

    @pytest.fixture
    def box(self):
        return Recording(lambda table: np.where(table["ward"] == "south", "unheard of", (table["a"] > 0.5).astype(str)))

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
        assert "never seen" in str(atlas.explain(odd.iloc[[0]]))

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
        assert atlas.uncovered(odd).n_rows == np.ma.getmaskarray(atlas.predict(odd)).sum()

    def test_where_no_row_can_be_read_none_is_answered(self, box, table):
        atlas = AggregateExplainer(box, **ROWS_ONLY).fit(table)
        odd = table.assign(ward="south")
        assert np.ma.getmaskarray(atlas.predict(odd)).all()
        assert atlas.evaluate(odd).coverage == 0

    def test_a_black_box_that_fails_on_them_is_named(self, table):
        def strict(rows):
            assert set(rows["ward"]) <= {"east", "west"}, "an unknown ward"
            return rows["a"] > 0.5

        atlas = AggregateExplainer(strict, **ROWS_ONLY).fit(table)
        with pytest.raises(BlackBoxError, match="raised AssertionError when asked about 200 rows: an unknown ward"):
            atlas.evaluate(table.assign(ward="south"))

    def test_they_are_held_to_the_limit(self, box, table):
        atlas = AggregateExplainer(box, max_queries=300, **ROWS_ONLY).fit(table)
        with pytest.raises(RuntimeError, match="max_queries=300 leaves 0 rows to ask about, and 200 are needed"):
            atlas.evaluate(table.assign(ward="south"))


class TestCounting:
    """Every row sent to the black box is counted, none twice, and none beyond ``max_queries``."""

    @pytest.mark.parametrize("options", [QUICK, ASKING, {**ASKING, "holdout": 0.4}], ids=["balls", "folds", "held out"])
    def test_every_row_sent_to_the_black_box_is_counted(self, square, options):
        box = Recording()
        atlas = AggregateExplainer(box, **options).fit(square)
        assert atlas.n_queries_ == box.n_rows
        atlas.tradeoff(max_explainers=[1, 2], min_fidelity=[0.8, 0.9])
        assert atlas.n_queries_ == box.n_rows

    @pytest.mark.parametrize("options", [QUICK, ASKING], ids=["balls", "asking"])
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
        calls = [
            lambda: atlas.evaluate(np.vstack([new, new, square])),
            lambda: atlas.uncovered(new),
            lambda: atlas.report(tmp_path / "page.html", new),
        ]
        for call in calls:
            before = box.n_rows
            call()
            assert box.n_rows - before == 40
            assert atlas.n_queries_ == box.n_rows
        atlas.evaluate(new, halves(new))
        assert atlas.n_queries_ == box.n_rows == 400 + 3 * 40

    def test_new_rows_are_held_to_the_limit(self, square, tmp_path):
        box = Recording()
        atlas = AggregateExplainer(box, max_queries=420, **ROWS_ONLY).fit(square)
        new = np.random.default_rng(1).uniform(size=(40, 3))
        for call in (atlas.evaluate, atlas.uncovered, lambda X: atlas.report(tmp_path / "page.html", X)):
            with pytest.raises(RuntimeError, match="max_queries=420 leaves 20 rows to ask about, and 40 are needed"):
                call(new)
        assert box.n_rows == 400
        atlas.evaluate(new[:20])
        assert box.n_rows == atlas.n_queries_ == 420

    def test_equal_rows_are_asked_about_once(self):
        X = np.tile(np.arange(12.0)[:, None], (25, 1))
        box = Recording(lambda rows: np.where(rows[:, 0] > 5, "high", "low"))
        atlas = AggregateExplainer(box, max_explainers=2, **ROWS_ONLY).fit(X)
        # The twelve, and the same again to see whether answers change.
        assert box.n_rows == atlas.n_queries_ == 12 + 12
        assert atlas.certificate_.coverage.n_rows == 75

    def test_a_loaded_explainer_counts_on(self, square, tmp_path):
        box = Recording()
        AggregateExplainer(box, **ROWS_ONLY).fit(square).save(tmp_path / "atlas")
        loaded = AggregateExplainer.load(tmp_path / "atlas", box)
        assert loaded.n_queries_ == 400
        loaded.evaluate(square[:7])
        assert loaded.n_queries_ == box.n_rows == 407


class TestCertificate:
    @pytest.mark.slow
    def test_what_is_certified_is_what_predict_does(self):
        """On the held-out rows the certificate counts exactly what predict answers, in 30 random fits."""
        n_silent = n_overlaps = 0
        for seed in range(30):
            rng = np.random.default_rng(seed)
            X = rng.uniform(size=(160, 3)).round(rng.integers(1, 4))
            slope = rng.uniform(-1, 1, size=3)

            def black_box(X, slope=slope):
                return np.where(X @ slope + 0.15 * np.sin(25 * X[:, 0]) > slope.sum() / 2, "above", "below")

            candidates = ["trees", Balls([0.5, 1.0], n_draws=100, max_candidates=15), "nodes"][seed % 3]
            floor = Floor(on="share", over=["each", "union", "both"][seed % 3], min_support=3)
            atlas = AggregateExplainer(
                black_box,
                candidates=candidates,
                min_fidelity=0.75,
                floor=floor,
                holdout=0.25,
                random_state=seed,
                max_rules=None,
            ).fit(X)
            held = atlas._workings.held
            rows = held.values[held.point_of_row]
            answers, truth = atlas.predict(rows), black_box(rows)
            answered = ~np.ma.getmaskarray(answers)
            right = answered & (np.ma.getdata(answers) == truth)
            certificate = atlas.certificate_
            assert (certificate.coverage.n_right, certificate.coverage.n_rows) == (answered.sum(), len(rows))
            assert (certificate.answers.n_right, certificate.answers.n_rows) == (right.sum(), answered.sum())
            covers = atlas.covers(rows)
            for member, claim, inside in zip(atlas.explainers_, certificate.fidelity, covers, strict=True):
                assert member.claim == claim
                agrees = member.explainer.predict(rows[inside]) == truth[inside]
                assert (claim.n_right, claim.n_rows) == (agrees.sum(), inside.sum())
            n_silent += (~answered).sum()
            n_overlaps += (covers.sum(axis=0) > 1).sum()
        # Otherwise the order of the explainers and their silence would not have mattered.
        assert n_silent > 50
        assert n_overlaps > 50

    @pytest.mark.slow
    def test_what_is_certified_is_what_predict_does_after_asking(self):
        """The certificate counts the answers of predict on every judging row, in 12 random fits."""
        n_silent = n_certified = 0
        for seed in range(12):
            rng = np.random.default_rng(seed)
            X, background = rng.normal(size=(2, 300, 3))
            # Rows of the background are no evidence, not even those that are in X too.
            background[:20] = X[:20]

            def black_box(X):
                return np.where(X[:, 0] + 0.5 * X[:, 1] + 0.2 * np.sin(9 * X[:, 2]) > 0.4, "above", "below")

            options = {"draws": Draws(1_500), "max_explainers": 1 + seed % 6, "min_fidelity": 0.75}
            explainer = AggregateExplainer(black_box, random_state=seed, **options)
            if seed % 2:
                with pytest.warns(UserWarning, match="20 of 300 rows of X stand in the background too"):
                    atlas = explainer.fit(X, background=background)
                judging = X[20:]
            else:
                atlas = explainer.set_params(holdout=0.5).fit(X)
                judging = atlas._workings.held.values
                assert len(judging) == 150
            answers = atlas.predict(judging)
            answered = ~np.ma.getmaskarray(answers)
            right = answered & (np.ma.getdata(answers) == black_box(judging))
            claim = atlas.certificate_.answers if atlas.certificate_ else atlas.record_.judged
            assert (claim.n_right, claim.n_rows) == (right.sum(), answered.sum())
            assert atlas.evaluation_.coverage == pytest.approx(answered.mean())
            assert atlas.evaluation_.agreement == pytest.approx(claim.share)
            n_silent += (~answered).sum()
            n_certified += atlas.certificate_ is not None
        assert n_silent > 50
        assert n_certified >= 6


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"max_explainers": 0}, "max_explainers=0 is not allowed"),
            ({"max_explainers": 2.5}, "max_explainers=2.5 is not allowed"),
            ({"min_fidelity": 1.5}, "min_fidelity=1.5 is not allowed"),
            ({"min_fidelity": 0}, "min_fidelity=0 is not allowed"),
            ({"max_rules": 0}, "max_rules=0 is not allowed"),
            ({"confidence": 1.0}, "confidence=1.0 is not allowed"),
            ({"holdout": 1.0}, "holdout=1.0 is not allowed"),
            ({"holdout": 0.999}, "holdout=0.999 of 300 rows leaves none to learn from"),
            ({"floor": Floor(on="median")}, "floor.on='median' is not known; use 'bound' or 'share'"),
            ({"floor": Floor(over="all")}, "floor.over='all' is not known"),
            ({"floor": Floor(min_support=0)}, "floor.min_support=0 is not allowed"),
            ({"floor": Floor(level=1.5)}, "floor.level=1.5 is not allowed"),
            ({"balance": "rows"}, "balance='rows' is not known; use 'class'"),
            ({"formulation": "loose"}, "formulation='loose' is not known"),
            ({"formulation": "selective"}, "formulation='selective' counts rows itself"),
            ({"candidates": "cubes"}, "candidates='cubes' is not known"),
            ({"candidates": []}, "candidates is empty"),
            ({"solver": "simplex"}, "solver='simplex' is not known"),
            ({"time_limit": 0}, "time_limit=0 is not allowed: give a number over 0, or None"),
            ({"random_state": 1.5}, "random_state=1.5 is not allowed"),
            ({"random_state": -1}, "random_state=-1 is not allowed"),
            ({"max_queries": 1}, "max_queries=1 is not allowed"),
        ],
    )
    def test_bad_options_are_refused_before_the_black_box_is_asked(self, square, options, message):
        box = Recording()
        with pytest.raises(ValueError, match=message):
            AggregateExplainer(box, **{**QUICK, **options}).fit(square)
        assert box.n_rows == 0

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"floor": "share"}, "floor is a str; give a Floor"),
            ({"schema": {"a": 1}}, "schema is a dict; give a FeatureSchema"),
            ({"candidates": 3}, "candidates holds a int; give names or generators"),
        ],
    )
    def test_options_of_another_type(self, square, options, message):
        with pytest.raises(TypeError, match=message):
            AggregateExplainer(halves, **{**QUICK, **options}).fit(square)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [({"radius": "wide"}, "radius='wide' is not known"), ({"scale": "miles"}, "scale='miles' is not known")],
    )
    def test_bad_options_of_balls(self, square, changes, message):
        with pytest.raises(ValueError, match=message):
            AggregateExplainer(halves, **{**QUICK, "candidates": replace(BALLS, **changes)}).fit(square)

    def test_y_and_groups_of_another_length(self, square):
        with pytest.raises(ValueError, match=r"groups has shape \(3,\); one entry for each of 300 rows"):
            AggregateExplainer(halves, **QUICK).fit(square, groups=[1, 2, 3])
        with pytest.raises(ValueError, match=r"y has shape \(3,\)"):
            AggregateExplainer(halves, **QUICK).fit(square, [1, 2, 3])
        with pytest.raises(ValueError, match="groups names one group only"):
            AggregateExplainer(halves, **QUICK).fit(square, groups=np.zeros(300))

    def test_rows_that_the_black_box_cannot_take(self, cancer):
        X, y, _ = cancer
        model = LogisticRegression().fit(StandardScaler().fit_transform(X), y)
        with pytest.raises(BlackBoxError, match="raised ValueError when asked about"):
            AggregateExplainer(model, **QUICK).fit(X.iloc[:, :5].to_numpy())

    def test_not_fitted(self):
        for name in ("predict", "covers", "responsible", "explain", "evaluate", "uncovered"):
            with pytest.raises(NotFittedError, match="is not fitted: call fit"):
                getattr(AggregateExplainer(halves), name)(np.zeros((1, 3)))
        for name in ("tradeoff", "summary"):
            with pytest.raises(NotFittedError, match="is not fitted: call fit"):
                getattr(AggregateExplainer(halves), name)()

    def test_nothing_is_faithful_enough(self, square):
        noise = np.random.default_rng(1)
        table = {tuple(row): noise.random() < 0.5 for row in square}

        def black_box(X):
            return np.array([table.get(tuple(row), row[0] > 0.5) for row in X])

        with pytest.raises(
            NothingFoundError, match=r"min_fidelity=0.95 leaves no candidate: the best of \d+ reaches 0\.\d+"
        ):
            AggregateExplainer(black_box, **{**QUICK, "min_fidelity": 0.95}).fit(square)

    def test_what_left_no_candidate_trained_is_named(self, square):
        with pytest.raises(NothingFoundError, match="time_limit=1e-09 ended before a candidate was trained"):
            AggregateExplainer(halves, **QUICK, time_limit=1e-9).fit(square)
        with pytest.raises(NothingFoundError, match="max_queries=450 leaves 50 rows to ask about, too few"):
            AggregateExplainer(halves, **QUICK, max_queries=450).fit(square)

    def test_max_rules_that_no_explainer_keeps_is_named(self, square):
        def bands(X):
            return (X[:, 0] * 4).astype(int) % 2

        balls = Balls(2.0, n_draws=500, max_candidates=5)
        options = {"candidates": balls, "min_fidelity": 0.7, "max_explainers": 2, "random_state": 0}
        message = r"max_rules=1 leaves no choice: of \d explainers .* has \d rules\. Raise max_rules"
        with pytest.raises(NothingFoundError, match=message):
            AggregateExplainer(bands, max_rules=1, **options).fit(square)

    def test_confidence_without_a_certificate_is_refused(self, square):
        for options, words in [
            ({}, "without a background or a holdout"),
            ({"candidates": BALLS}, "without a background or a holdout"),
            ({"holdout": 0.3, "floor": Floor(on="share")}, r"with floor\.on='share'"),
        ]:
            with pytest.raises(ValueError, match=f"confidence=0.8 is that of a certificate, and there is none {words}"):
                AggregateExplainer(halves, confidence=0.8, **options).fit(square)

    def test_more_explainers_than_candidates(self):
        X = np.random.default_rng(0).uniform(size=(60, 2))
        balls = Balls(2.0, max_candidates=5)
        with pytest.warns(UserWarning, match="max_explainers=50, but there are only 5 candidates") as caught:
            AggregateExplainer(halves, max_explainers=50, max_rules=None, candidates=balls, random_state=0).fit(X)
        assert caught[0].filename == __file__

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
        assert "black_box__n_estimators" not in explainer.get_params()
        assert explainer.set_params(max_explainers=2).max_explainers == 2

    def test_options_of_parts_are_parameters(self):
        explainer = AggregateExplainer(halves, candidates=Balls(2.0))
        params = explainer.get_params(deep=True)
        assert params["candidates__radius"] == 2.0
        assert params["floor__on"] == "bound"
        assert not any("__" in name for name in explainer.get_params(deep=False))
        explainer.set_params(candidates__radius=3.0, floor__on="share")
        assert explainer.candidates == Balls(3.0)
        assert explainer.floor == Floor(on="share")
        copied = clone(explainer)
        assert (copied.candidates, copied.floor) == (Balls(3.0), Floor(on="share"))

    def test_options_of_parts_reach_the_fit(self, square):
        explainer = AggregateExplainer(halves, **QUICK).set_params(candidates__radius=1.5, floor__min_support=40)
        atlas = explainer.fit(square)
        assert {candidate.region.radius for candidate in atlas.pool_.candidates} == {1.5}
        assert all(member.support >= 40 for member in atlas.explainers_)

    @pytest.mark.parametrize("name", ["radius", "candidates__width", "floor__floor", "candidates__local__max_leaves"])
    def test_an_unknown_name_is_refused_in_a_sentence(self, name):
        with pytest.raises(ValueError, match=f"there is no parameter '{name}'; there are balance, black_box") as caught:
            AggregateExplainer(halves, candidates=Balls()).set_params(**{name: 1})
        assert "\n" not in str(caught.value)

    def test_generators_by_name_have_no_options(self):
        with pytest.raises(ValueError, match="there is no parameter 'candidates__radius'"):
            AggregateExplainer(halves, candidates="balls").set_params(candidates__radius=1.0)
