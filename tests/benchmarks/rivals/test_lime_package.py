import numpy as np
import pandas as pd
import pytest
from lime.lime_tabular import LimeTabularExplainer

from benchmarks.rivals import SubmodularPick
from benchmarks.rivals.lime_package import explain_with_lime
from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.schema import FeatureSchema


def test_finds_the_feature_that_matters_and_counts_its_queries():
    asked = []

    def black_box(X):
        asked.append(len(X))
        return np.where(X[:, 1] > 0.5, "yes", "no")

    X = np.random.default_rng(0).uniform(size=(200, 3))
    pick = SubmodularPick(
        black_box, source="lime", max_explainers=3, max_candidates=10, n_draws=500, n_features=1, random_state=0
    ).fit(X)
    assert pick.n_queries_ == sum(asked)
    assert {member.explainer.features for member in pick.explainers_} == {(1,)}
    assert pick.evaluate(X).agreement > 0.9


def test_scores_are_those_of_the_package():
    """The scores are the package's own local prediction, class by class."""
    X = np.random.default_rng(0).normal(size=(150, 3)) * [1, 5, 20]
    box = BlackBox(lambda X: np.digitize(X[:, 0] + X[:, 1] / 5, [-0.5, 0.5]), FeatureSchema.infer(X))
    rows = label_rows(box.schema.encode(X), CountingBlackBox(box))
    ours = explain_with_lime(rows, box, [rows.values[3]], n_draws=400, n_features=3, seed=7)[0]
    package = LimeTabularExplainer(
        rows.values,
        discretize_continuous=False,
        feature_selection="highest_weights",
        random_state=np.random.RandomState(7),
    )
    explanation = package.explain_instance(
        rows.values[3],
        lambda X: (box.ask(X)[:, None] == np.arange(3)).astype(float),
        labels=range(3),
        num_features=3,
        num_samples=400,
    )
    scaled = (rows.values[3] - package.scaler.mean_) / package.scaler.scale_
    expected = [explanation.intercept[k] + sum(w * scaled[j] for j, w in explanation.local_exp[k]) for k in range(3)]
    np.testing.assert_allclose(ours.scores(rows.values[3:4])[0], expected)


def test_levels_and_missing_levels():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.uniform(size=200), "colour": rng.choice(["red", "blue", None], 200)})
    pick = SubmodularPick(
        lambda t: (t["colour"] == "red").fillna(False).to_numpy(dtype=bool),
        source="lime",
        max_candidates=10,
        n_draws=300,
    ).fit(table)
    assert pick.evaluate(table).agreement > 0.9


def test_missing_numbers_are_refused():
    table = pd.DataFrame({"size": [0.5, None, 1.5, 2.5] * 10})
    with pytest.raises(ValueError, match="no missing numbers"):
        SubmodularPick(lambda t: t["size"].isna().to_numpy(), source="lime", max_candidates=4).fit(table)
