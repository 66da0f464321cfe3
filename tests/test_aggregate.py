import warnings

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

from oleander import AggregateExplainer
from oleander.black_box.asking import BlackBoxError
from oleander.candidates import Balls, Boxes, Nodes, Trees
from oleander.candidates.choosing import PoolSelection

QUICK = {"candidates": "balls", "max_explainers": 3, "n_draws": 300, "max_candidates": 40, "random_state": 0}


def halves(X):
    return X[:, 0] > 0.5


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


def test_what_a_fit_leaves(atlas, cancer):
    X = cancer[0]
    assert 1 <= len(atlas.explainers_) <= 3
    assert atlas.coverage_ == pytest.approx(atlas.evaluation_.coverage)
    assert atlas.fidelity_ == min(member.fidelity for member in atlas.explainers_)
    assert all(member.floor_value >= 0.9 for member in atlas.explainers_)
    assert all(member.radius in {c.region.radius for c in atlas.pool_.candidates} for member in atlas.explainers_)
    assert atlas.feature_names_in_.tolist() == list(X.columns)
    assert atlas.n_features_in_ == 30
    assert atlas.result_.gap == 0
    assert set(atlas.evaluation_.classes["label"]) == {"benign", "malignant"}
    assert len(atlas.certificate_.fidelity) == len(atlas.explainers_)
    assert "local explainers with" in atlas.summary()


def test_every_row_sent_to_the_black_box_is_counted(square):
    asked = [0]

    def black_box(X):
        asked[0] += len(X)
        return halves(X)

    atlas = AggregateExplainer(black_box, **QUICK).fit(square)
    assert atlas.n_queries_ == asked[0]
    atlas.evaluate(square[:50])
    atlas.frontier(max_explainers=[1, 2], min_fidelity=[0.8, 0.9])
    assert atlas.n_queries_ == asked[0]


def test_predict_abstains_outside_and_agrees_inside(atlas, cancer):
    X, _, model = cancer
    answers = atlas.predict(X)
    covered = atlas.covers(X).any(axis=0)
    np.testing.assert_array_equal(~np.ma.getmaskarray(answers), covered)
    assert (answers[covered] == model.predict(X)[covered]).mean() > 0.9
    far = X.iloc[:1] * 0 + 1e6
    assert atlas.predict(far).mask.all()
    assert atlas.explain(far).label is None


def test_one_row_in_every_shape(atlas, cancer):
    X, _, _ = cancer
    row = X.iloc[[7]]
    said = str(atlas.explain(row))
    assert said == str(atlas.explain(row.iloc[0])) == str(atlas.explain(row.iloc[0].to_dict()))
    assert said == str(atlas.explain(row.to_numpy()[0]))
    with pytest.raises(ValueError, match="explain takes one row, and 2 were given"):
        atlas.explain(X.iloc[:2])


def test_evaluate_and_uncovered(atlas, cancer):
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


def test_frontier(atlas):
    table = atlas.frontier(max_explainers=[1, 3], min_fidelity=[0.8, 0.9]).table
    assert len(table) == 4
    assert (table["status"] == "optimal").all()
    here = table[(table["max_explainers"] == 3) & (table["min_fidelity"] == 0.9)]
    assert here["coverage"].item() == pytest.approx(atlas.coverage_)


@pytest.mark.parametrize("labels", ["int", "str", "bool", "float"])
def test_labels_of_every_kind(square, labels):
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


def test_mixed_and_missing_columns_reach_the_black_box_as_they_came(mixed, mixed_black_box):
    atlas = AggregateExplainer(mixed_black_box, min_fidelity=0.7, floor_on="share", **QUICK).fit(mixed)
    assert atlas.coverage_ > 0.2
    assert atlas.predict(mixed).shape == (300,)


def test_xgboost_and_lightgbm(square):
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


def test_a_pipeline_as_black_box_and_a_place_in_a_pipeline(cancer):
    X, y, _ = cancer
    black_box = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
    assert AggregateExplainer(black_box, **QUICK).fit(X[1::2]).coverage_ > 0.3
    scaled = StandardScaler().set_output(transform="pandas").fit(X)
    inner = LogisticRegression().fit(scaled.transform(X[::2]), y[::2])
    pipeline = make_pipeline(scaled, AggregateExplainer(inner, **QUICK)).fit(X[1::2])
    assert pipeline.predict(X).shape == (569,)


def test_the_black_box_is_never_copied(cancer):
    _, _, model = cancer
    explainer = AggregateExplainer(model, max_explainers=4)
    copied = clone(explainer)
    assert copied.black_box is model
    assert copied.get_params() == explainer.get_params()
    assert "black_box__n_estimators" not in explainer.get_params()
    assert explainer.set_params(max_explainers=2).max_explainers == 2


def test_the_same_seed_gives_the_same_answer(cancer, atlas):
    X, _, model = cancer
    again = AggregateExplainer(model, **QUICK, n_jobs=2).fit(X[1::2])
    assert again.summary() == atlas.summary()


def test_groups_are_never_torn_apart(square):
    groups = np.arange(300) // 5
    seen = []

    def black_box(X):
        seen.append(X)
        return halves(X)

    atlas = AggregateExplainer(black_box, holdout=0.3, **QUICK).fit(square, groups=groups)
    learned = {tuple(row) for row in atlas.pool_.rows.values}
    which = np.array([tuple(row) in learned for row in square])
    assert all(which[groups == group].all() or not which[groups == group].any() for group in range(60))
    assert atlas.certificate_.by_group
    assert atlas.certificate_.coverage.n_rows == 18


def test_held_out_rows_are_used_for_nothing_else(square):
    atlas = AggregateExplainer(halves, **QUICK).fit(square)
    assert atlas.pool_.rows.weights.sum() == 225
    assert atlas.certificate_.coverage.n_rows == 75
    assert AggregateExplainer(halves, holdout=None, **QUICK).fit(square).certificate_ is None


def test_rows_that_look_like_training_rows_get_a_warning(cancer):
    X, y, model = cancer
    with pytest.warns(
        UserWarning, match=r"the black box is right on 9\d.\d% of these rows, so they look like the rows"
    ):
        AggregateExplainer(model, **QUICK).fit(X[::2], y[::2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AggregateExplainer(model, **QUICK).fit(X[1::2], y[1::2])


def test_the_papers_settings(square):
    paper = AggregateExplainer.paper(halves, radius=0.3, n_draws=200, max_explainers=3, random_state=0)
    atlas = paper.fit(square)
    assert len(atlas.pool_.candidates) == 300
    assert {candidate.region.radius for candidate in atlas.pool_.candidates} == {0.3}
    assert atlas.certificate_ is None
    assert atlas.fidelity_ >= 0.9
    selective = AggregateExplainer.paper(
        halves, radius=0.3, n_draws=200, max_explainers=3, formulation="selective", random_state=0
    ).fit(square)
    assert selective.result_.objective >= atlas.result_.objective


def test_any_generator_can_propose(square):
    generators = [Balls(0.5, max_candidates=10, n_draws=100), Balls(1.0, max_candidates=10, n_draws=100)]
    atlas = AggregateExplainer(halves, candidates=generators, random_state=0).fit(square)
    assert len(atlas.pool_.candidates) == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_explainers": 0}, "max_explainers=0 is not allowed"),
        ({"max_explainers": 2.5}, "max_explainers=2.5 is not allowed"),
        ({"min_fidelity": 1.5}, "min_fidelity=1.5 is not allowed"),
        ({"min_fidelity": 0}, "min_fidelity=0 is not allowed"),
        ({"confidence": 1.0}, "confidence=1.0 is not allowed"),
        ({"holdout": 1.0}, "holdout=1.0 is not allowed"),
        ({"floor_on": "median"}, "floor_on='median' is not known; use 'bound' or 'share'"),
        ({"training": "hard"}, "training='hard' is not known"),
        ({"formulation": "loose"}, "formulation='loose' is not known"),
        ({"formulation": "selective"}, "formulation='selective' counts rows itself"),
        ({"local": "forest"}, "local='forest' is not known; use 'filtered_tree' or"),
        ({"candidates": "cubes"}, "candidates='cubes' is not known"),
        ({"radius": "wide"}, "radius='wide' is not known"),
        ({"scale": "miles"}, "scale='miles' is not known"),
    ],
)
def test_bad_options(square, options, message):
    with pytest.raises(ValueError, match=message):
        AggregateExplainer(halves, **{**QUICK, **options}).fit(square)


def test_bad_rows_labels_and_groups(square, atlas, cancer):
    X, _, _ = cancer
    with pytest.raises(ValueError, match=r"groups has shape \(3,\); one entry for each of 300 rows"):
        AggregateExplainer(halves, **QUICK).fit(square, groups=[1, 2, 3])
    with pytest.raises(ValueError, match=r"y has shape \(3,\)"):
        AggregateExplainer(halves, **QUICK).fit(square, [1, 2, 3])
    with pytest.raises(ValueError, match="groups names one group only"):
        AggregateExplainer(halves, **QUICK).fit(square, groups=np.zeros(300))
    with pytest.raises(ValueError, match="the data lack column 'mean radius'"):
        atlas.predict(X.drop(columns="mean radius"))
    with pytest.raises(ValueError, match="have column 'extra', which the schema does not know"):
        atlas.predict(X.assign(extra=1))
    np.testing.assert_array_equal(atlas.predict(X[X.columns[::-1]]).filled("?"), atlas.predict(X).filled("?"))


def test_rows_that_the_black_box_cannot_take(cancer):
    X, y, _ = cancer
    model = LogisticRegression().fit(StandardScaler().fit_transform(X), y)
    with pytest.raises(BlackBoxError, match="raised ValueError when asked about"):
        AggregateExplainer(model, **QUICK).fit(X.iloc[:, :5].to_numpy())


def test_not_fitted():
    for ask in ("predict", "covers", "explain", "evaluate", "uncovered"):
        with pytest.raises(NotFittedError, match="is not fitted: call fit"):
            getattr(AggregateExplainer(halves), ask)(np.zeros((1, 3)))


def test_nothing_is_faithful_enough(square):
    noise = np.random.default_rng(1)
    table = {tuple(row): noise.random() < 0.5 for row in square}

    def black_box(X):
        return np.array([table.get(tuple(row), row[0] > 0.5) for row in X])

    with pytest.raises(ValueError, match=r"min_fidelity=0.95 leaves no candidate: the best of \d+ reaches 0\.\d+"):
        AggregateExplainer(black_box, **{**QUICK, "min_fidelity": 0.95}).fit(square)


def test_more_explainers_than_candidates():
    X = np.random.default_rng(0).uniform(size=(60, 2))
    with pytest.warns(UserWarning, match="max_explainers=50, but there are only 5 candidates") as caught:
        AggregateExplainer(halves, max_explainers=50, candidates=Balls(2.0, max_candidates=5), random_state=0).fit(X)
    assert caught[0].filename == __file__


def test_an_error_leaves_a_fitted_object_as_it_was(square):
    atlas = AggregateExplainer(halves, **QUICK).fit(square)
    before = atlas.summary()
    atlas.black_box = lambda X: 1 / 0
    with pytest.raises(BlackBoxError):
        atlas.fit(square)
    assert atlas.summary() == before


def test_an_interrupt_leaves_no_half_fitted_object(square, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(PoolSelection, "select", interrupted)
    explainer = AggregateExplainer(halves, **QUICK)
    with pytest.raises(KeyboardInterrupt):
        explainer.fit(square)
    assert not hasattr(explainer, "explainers_")


@pytest.mark.parametrize("has_rich", [True, False])
def test_progress_is_told_on_request(square, capsys, monkeypatch, has_rich):
    monkeypatch.setattr("oleander.running.progress.SECONDS_BETWEEN_LINES", 0.0)
    if not has_rich:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    AggregateExplainer(halves, **QUICK).fit(square)
    assert capsys.readouterr().err == ""
    AggregateExplainer(halves, verbose=1, **QUICK).fit(square)
    assert "training explainers" in capsys.readouterr().err


def test_one_class(square):
    atlas = AggregateExplainer(lambda X: np.full(len(X), "same"), **QUICK).fit(square)
    assert atlas.fidelity_ == 1.0
    assert set(atlas.predict(square).compressed()) == {"same"}


class TestForms:
    def test_one_tree_is_enough_and_is_said_to_be(self, square):
        atlas = AggregateExplainer(halves, random_state=0).fit(square)
        assert atlas.combine_ == "tree"
        assert atlas.coverage_ > 0.95
        assert "one tree is enough" in atlas.summary()
        assert atlas.result_.status == "feasible"
        assert not hasattr(atlas, "pool_")
        assert atlas.verdict_["form"].tolist() == ["plain tree", "tree with abstention", "consensus", "union"]

    def test_a_consensus_answers_where_its_trees_agree(self, cancer):
        X, _, model = cancer
        atlas = AggregateExplainer(model, combine="consensus", random_state=0).fit(X[1::2])
        assert atlas.combine_ == "consensus"
        assert 2 <= len(atlas.explainers_) <= 10
        assert atlas.complexity <= 40
        answers, covers = atlas.predict(X), atlas.covers(X)
        assert (answers[1::2].compressed() == model.predict(X[1::2])[~answers[1::2].mask]).mean() > 0.9
        np.testing.assert_array_equal(atlas.responsible(X) == -1, np.ma.getmaskarray(answers))
        said = [atlas.explain(X.iloc[i]) for i in range(0, 200, 7)]
        for i, explanation in zip(range(0, 200, 7), said, strict=True):
            assert len(explanation.statements) == covers[:, i].sum()
            assert explanation.label == (None if answers.mask[i] else answers[i])
            assert bool(explanation.silence) == (answers.mask[i] and covers[:, i].any())

    def test_figures_are_of_rows_not_learned_from(self, cancer):
        X, _, model = cancer
        atlas = AggregateExplainer(model, holdout=None, random_state=0).fit(X[1::2])
        form = "consensus" if atlas.combine_ == "consensus" else "tree with abstention"
        line = atlas.verdict_.set_index("form").loc[form]
        assert atlas.coverage_ == pytest.approx(line["coverage"])
        assert atlas.fidelity_ == pytest.approx(line["agreement"])
        assert line["bound"] >= 0.9
        assert atlas.evaluation_.coverage == pytest.approx(atlas.coverage_)
        assert atlas.evaluation_.agreement == pytest.approx(atlas.fidelity_)

    def test_no_form_keeps_the_floor(self):
        X = np.random.default_rng(0).uniform(size=(300, 2))
        with pytest.raises(ValueError, match=r"min_fidelity=0\.9 is kept by no form of answer on 225 judged rows"):
            AggregateExplainer(lambda X: (X.sum(axis=1) * 1e6).astype(int) % 2, random_state=0).fit(X)

    def test_more_judged_rows_need_no_labels_and_are_counted(self, square):
        asked = [0]

        def black_box(X):
            asked[0] += len(X)
            return halves(X)

        more = np.random.default_rng(2).uniform(size=(500, 3))
        atlas = AggregateExplainer(black_box, random_state=0).fit(square, judge_rows=more)
        assert atlas.n_queries_ == asked[0]
        alone = AggregateExplainer(halves, random_state=0).fit(square)
        assert atlas.verdict_.loc[0, "bound"] > alone.verdict_.loc[0, "bound"]

    def test_draws_between_neighbours_are_counted_and_help_to_learn(self, mixed, mixed_black_box):
        asked = [0]

        def black_box(X):
            asked[0] += len(X)
            return mixed_black_box(X)

        atlas = AggregateExplainer(black_box, min_fidelity=0.7, neighbour_draws=500, random_state=0).fit(mixed)
        assert atlas.n_queries_ == asked[0]
        assert atlas.coverage_ > 0.5

    def test_frontier_of_what_was_judged(self, cancer):
        X, _, model = cancer
        atlas = AggregateExplainer(model, random_state=0).fit(X[1::2])
        table = atlas.frontier(max_explainers=[1, 5, 10], min_fidelity=[0.8, 0.9, 0.999]).table
        here = table[(table["max_explainers"] == 10) & (table["min_fidelity"] == 0.9)]
        assert here["coverage"].item() == pytest.approx(atlas.coverage_)
        assert (table["status"] != "optimal").all()
        assert (table.loc[table["min_fidelity"] == 0.999, "coverage"] == 0).all()

    def test_classes_can_count_alike(self):
        """The rare class is hard to tell: balance takes the answer that says something of it."""
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(2000, 4))

        def rare(X):
            return np.where((X[:, 0] > 0.9) & (X[:, 1] + 0.3 * np.sin(40 * X[:, 2]) > 0.6), "rare", "common")

        plain = AggregateExplainer(rare, random_state=0).fit(X)
        balanced = AggregateExplainer(rare, balance="class", random_state=0).fit(X)
        shares = [a.evaluation_.classes.set_index("label").loc["rare", "answered_rightly"] for a in (plain, balanced)]
        assert shares[1] >= shares[0]
        assert "rare:" in plain.summary()

    def test_saved_and_loaded(self, cancer, tmp_path):
        X, _, model = cancer
        atlas = AggregateExplainer(model, combine="consensus", random_state=0).fit(X[1::2])
        atlas.save(tmp_path / "atlas.oleander")
        loaded = AggregateExplainer.load(tmp_path / "atlas.oleander")
        assert loaded.summary() == atlas.summary()
        assert loaded.predict(X).tolist() == atlas.predict(X).tolist()
        assert str(loaded.explain(X.iloc[3])) == str(atlas.explain(X.iloc[3]))

    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({"combine": "vote"}, "combine='vote' is not known; use 'auto' or 'tree' or 'consensus' or 'union'"),
            ({"balance": "rows"}, "balance='rows' is not known"),
            ({"max_leaves_total": 1}, "max_leaves_total=1 is not allowed"),
        ],
    )
    def test_bad_options(self, square, options, match):
        with pytest.raises(ValueError, match=match):
            AggregateExplainer(halves, **options).fit(square)


def test_generators_that_learn_from_rows_ask_nothing_and_are_saved(square, tmp_path):
    """Candidates of several kinds stand in one pool, groups reach them, and the file brings all of them back."""
    groups = np.arange(300) // 5
    generators = [Trees(n_trees=6), Nodes(n_trees=4), Boxes(n_centers=10)]
    atlas = AggregateExplainer(halves, candidates=generators, max_explainers=3, random_state=0)
    atlas.fit(square, groups=groups)
    assert atlas.coverage_ > 0.9
    assert all(member.floor_value >= 0.9 for member in atlas.explainers_)
    # The rows once, some of them again to see whether answers change, and nothing else.
    assert atlas.n_queries_ <= 2 * 300
    belongs = atlas.pool_.rows.groups
    for candidate in atlas.pool_.candidates:
        assert not set(belongs[candidate.learned_from]) & set(belongs[~candidate.learned_from])
    atlas.save(tmp_path / "atlas.oleander")
    again = AggregateExplainer.load(tmp_path / "atlas.oleander")
    np.testing.assert_array_equal(np.ma.getmaskarray(again.predict(square)), np.ma.getmaskarray(atlas.predict(square)))
    np.testing.assert_array_equal(again.predict(square).compressed(), atlas.predict(square).compressed())


def test_no_row_is_asked_about_twice_for_being_held_out():
    """Equal rows are asked about once, whether they are learned from, held out or only judged."""
    X = np.tile(np.arange(12.0)[:, None], (25, 1))
    asked = []

    def black_box(rows):
        asked.append(len(rows))
        return np.where(rows[:, 0] > 5, "high", "low")

    atlas = AggregateExplainer(black_box, random_state=0).fit(X, judge_rows=np.array([[3.0], [40.0]]))
    # The twelve, those asked again to see whether answers change, and the one that is new.
    assert sum(asked) == atlas.n_queries_ == 12 + 12 + 1
    assert atlas.certificate_.coverage.n_rows == 75
