"""Fits of black boxes that answer with numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from benchmarks.rivals.lime_linear import LimeLinear
from benchmarks.subjects.number_laws import judge_law
from oleander import AggregateExplainer, Balls, Draws, Output, open_source
from oleander.black_box.answers import BlackBoxError
from oleander.rules import FilteredTree, UnfilteredTree
from tests.making import OwnTrees, Recording

DRAWS = {"draws": Draws(2_000), "random_state": 0}
OPTIONS = {"tolerance": 0.03, "min_fidelity": 0.95, **DRAWS}


def make_rows(n_rows, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 90, n_rows),
            "sbp": rng.normal(130, 15, n_rows).round(4),
            "ward": rng.choice(["east", "west"], n_rows),
        }
    )


def steps(table):
    """Three constants, a little apart from themselves everywhere."""
    risk = np.select([(table["age"] > 60) & (table["sbp"] > 140), table["ward"] == "east"], [0.31, 0.12], 0.05)
    return np.asarray(risk + 0.01 * np.sin(table["sbp"]))


X, BACKGROUND, NEW = make_rows(400, 0), make_rows(400, 1), make_rows(3_000, 2)


@pytest.fixture(scope="module")
def certified():
    return AggregateExplainer(steps, **OPTIONS).fit(X, background=BACKGROUND)


class TestSteps:
    """A law with three levels, which a tolerance of 0.03 tells apart."""

    def test_every_row_is_answered_with_its_level(self, certified):
        assert certified.coverage_ > 0.97
        assert certified.certificate_ is not None
        said = certified.predict(NEW)
        truth = steps(NEW)
        near = np.abs(said - truth) <= 0.03
        assert near.mean() > 0.97
        result = certified.evaluate(NEW)
        # The mean of a masked array is over the answered rows.
        assert result.agreement == pytest.approx(float(near.mean()))
        assert result.coverage == pytest.approx(1 - np.ma.getmaskarray(said).mean())
        assert result.classes["rows"].sum() == certified.uncovered(NEW).n_rows == 3_000

    def test_rules_show_the_tolerance(self, certified):
        assert "± 0.03 (matches the model on" in certified.summary()
        assert " within ± 0.03 on" in certified.summary()
        high = pd.Series({"age": 80, "sbp": 160.0, "ward": "west"})
        explanation = certified.explain(high)
        assert abs(explanation.label - 0.31) < 0.03
        assert explanation.agrees
        assert f"→ {explanation.label:.3g} ± 0.03" in str(explanation)
        assert explanation.change is not None
        assert abs(explanation.change.label - explanation.label) > 0.03

    def test_a_saved_explainer_is_the_same(self, certified, tmp_path):
        certified.tradeoff()
        # What one tree would do is judged for the first summary, and saved with it.
        summary = certified.summary()
        certified.save(tmp_path / "a.oleander")
        loaded = AggregateExplainer.load(tmp_path / "a.oleander", steps)
        assert loaded.tolerance == 0.03
        assert loaded.summary() == summary
        np.testing.assert_array_equal(loaded.predict(NEW), certified.predict(NEW))
        assert loaded.evaluate(NEW).to_dict() == certified.evaluate(NEW).to_dict()
        assert loaded.tradeoff().table.equals(certified.tradeoff().table)
        assert loaded.evaluate(NEW, steps(NEW)).agreement == certified.evaluate(NEW).agreement

    def test_folds_judge(self):
        atlas = AggregateExplainer(steps, tolerance=0.03, **DRAWS).fit(X, groups=np.arange(len(X)) // 4)
        assert atlas.record_.by_folds
        assert atlas.coverage_ > 0.9


class TestTolerances:
    def test_a_share_of_the_answer(self):
        def price(table):
            return np.asarray(np.where(table["ward"] == "east", 1_000.0, 10.0) * (1 + 0.05 * np.sin(table["sbp"])))

        atlas = AggregateExplainer(price, tolerance="10%", **DRAWS).fit(X, background=BACKGROUND)
        assert atlas.coverage_ == 1
        assert atlas.evaluation_.agreement == 1
        assert "± 10%" in atlas.summary()
        assert len(atlas.explainers_) == 1

    def test_constant_answers(self):
        box = {"black_box": lambda table: np.full(len(table), 2.5), **DRAWS}
        atlas = AggregateExplainer(tolerance=0.1, **box).fit(X, background=BACKGROUND)
        assert (atlas.coverage_, set(atlas.predict(NEW))) == (1.0, {2.5})
        assert AggregateExplainer(tolerance="auto", **box).fit(X, background=BACKGROUND).coverage_ == 1.0

    def test_numbers_without_a_tolerance(self):
        with pytest.raises(BlackBoxError, match=r"which looks like a probability or a regression.*give tolerance= to"):
            AggregateExplainer(steps, **DRAWS).fit(X)

    @pytest.mark.parametrize("has_background", [False, True])
    def test_every_row_of_a_source_is_counted(self, tmp_path, has_background):
        many = make_rows(4_000, 3)
        many.to_parquet(tmp_path / "rows.parquet")
        source = open_source(tmp_path / "rows.parquet", epsilon=0.1, block_size=700)
        around = BACKGROUND if has_background else None
        box = Recording(steps)
        atlas = AggregateExplainer(box, **OPTIONS, checkpoint=tmp_path / "kept").fit(source, background=around)
        near = np.abs(atlas.predict(many) - steps(many)) <= 0.03
        assert atlas.exact_.n_rows == 4_000
        assert atlas.exact_.coverage == pytest.approx(near.count() / 4_000)
        assert atlas.exact_.agreement == pytest.approx(float(near.mean()))
        classes = atlas.exact_.classes
        assert classes["rows"].sum() == 4_000
        assert (classes["rows"] * classes["answered_correctly"]).sum() == pytest.approx(near.sum())
        assert classes["label"].iloc[0].startswith("up to ")
        assert box.n_rows == atlas.n_queries_
        assert "On all 4,000 rows" in atlas.summary()

    def test_truth_that_is_no_number_or_too_near(self):
        with pytest.raises(ValueError, match="y holds values that are not numbers"):
            AggregateExplainer(steps, tolerance=0.03, **DRAWS).fit(X, ["a"] * len(X), background=BACKGROUND)
        with pytest.warns(UserWarning, match=r"is correct on 100\.0% of the rows"):
            AggregateExplainer(steps, tolerance=0.03, **DRAWS).fit(X, steps(X) + 0.01, background=BACKGROUND)


class TestOutputs:
    READ = ["age", "sbp"]  # noqa: RUF012
    MODEL = LogisticRegression().fit(BACKGROUND[["age", "sbp"]], steps(BACKGROUND) > 0.2)

    def fit(self, **options):
        explainer = AggregateExplainer(self.MODEL, **options, **DRAWS)
        return explainer.fit(X[self.READ], background=BACKGROUND[self.READ])

    def test_the_probability_of_a_class(self, tmp_path):
        atlas = self.fit(output=Output("proba", True), tolerance=0.1)
        found = atlas.evaluate(NEW[self.READ])
        truth = self.MODEL.predict_proba(NEW[self.READ])[:, 1]
        answers = atlas.predict(NEW[self.READ])
        assert found.agreement == pytest.approx(float((np.abs(answers - truth) <= 0.1).mean()))
        assert found.agreement > 0.85
        atlas.save(tmp_path / "a.oleander")
        loaded = AggregateExplainer.load(tmp_path / "a.oleander", self.MODEL)
        assert loaded.output == Output("proba", True)
        assert loaded.evaluate(NEW[self.READ]).agreement == found.agreement

    def test_a_threshold_makes_labels(self):
        atlas = self.fit(output=Output("proba", threshold=0.25))
        said = atlas.predict(NEW[self.READ])
        truth = np.where(self.MODEL.predict_proba(NEW[self.READ])[:, 1] > 0.25, "over 0.25", "up to 0.25")
        assert (said == truth).mean() > 0.9

    def test_true_labels_beside_a_probability_are_refused(self):
        with pytest.raises(ValueError, match="y holds true labels, which cannot be compared with a probability"):
            AggregateExplainer(self.MODEL, output=Output("proba"), tolerance=0.1).fit(X, steps(X) > 0.2)


@pytest.mark.slow
def test_certificates_hold_on_random_laws():
    """``make bench SUBJECT=number-laws`` does it for hundreds of fits."""
    found = [judge_law(kind, seed, 800, True) for kind in ("steps", "planes", "waves") for seed in range(8)]
    certified = [line["is true"] for line in found if line["status"] == "certified"]
    assert len(certified) >= 12
    assert certified.count(False) <= 0.05 * len(certified)


@pytest.fixture(scope="module", params=[FilteredTree(), UnfilteredTree()], ids=str)
def chosen(request):
    options = {"radius": 1.5, "n_draws": 500, "scale": "schema", "max_candidates": 40, "random_state": 0}
    options |= {"local": request.param, "tolerance": 0.03, "min_fidelity": 0.8, "holdout": 0.4}
    return AggregateExplainer.paper(steps, **options).fit(X)


class TestBalls:
    """The paper's system for numbers."""

    def test_the_program_counts_answers_within_the_tolerance(self, chosen):
        pool = chosen.pool_
        for index in np.flatnonzero(pool.is_trained)[:5].tolist():
            points = pool.points_of(index)
            near = np.abs(pool.explainers[index].predict(pool.rows.values[points]) - pool.rows.labels[points]) <= 0.03
            weights = pool.rows.weights[points]
            assert pool.fidelity[index] == pytest.approx((near @ weights) / weights.sum())
        assert chosen.result_.gap == 0
        assert chosen.coverage_ > 0.3

    def test_what_is_certified_is_counted_within_the_tolerance(self, chosen):
        assert chosen.certificate_ is not None
        truth, said = steps(NEW), chosen.predict(NEW)
        result = chosen.evaluate(NEW)
        assert result.agreement == pytest.approx(float((np.abs(said - truth) <= 0.03).mean()))
        assert "± 0.03" in chosen.summary()
        assert chosen.explain(NEW.iloc[0]).tolerance.value == 0.03

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"candidates": Balls(local=LimeLinear())}, "local=LimeLinear.* explains labels: use FilteredTree"),
            ({"candidates": Balls(), "tolerance": "auto"}, "balls make theirs one by one: give a number"),
            ({"candidates": [Balls(), OwnTrees()]}, "which are learned from draws: use candidates=Boxes"),
        ],
    )
    def test_what_cannot_explain_numbers_is_refused(self, options, words):
        with pytest.raises(ValueError, match=words):
            AggregateExplainer(steps, **{"tolerance": 0.03, **options}).fit(X)
