import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from oleander.data.schema import FeatureSchema
from oleander.explainers import AbstainingExplainer, SparseLogistic, Spoken
from oleander.explainers.logistic import fit_sparse
from oleander.explainers.saving import read_explainer, read_region_of, write_explainer
from oleander.regions import Box


def draw(n_rows=1000, seed=0):
    X = np.random.default_rng(seed).normal(size=(n_rows, 6))
    return X, FeatureSchema.infer(X, scale="none")


@pytest.mark.parametrize("n_labels", [2, 3])
def test_weights_are_those_of_a_full_regression(n_labels):
    """With every input taken and the same ridge, scikit-learn finds the same probabilities."""
    X, schema = draw()
    slopes = np.resize([1.0, -1.0, 0.7, -0.7, 0.5], (6, n_labels))
    labels = (X @ slopes + np.random.default_rng(2).gumbel(size=(1000, n_labels))).argmax(axis=1)
    ours = SparseLogistic(n_features=6, ridge=1.0).fit(X, labels, schema=schema)
    assert set(ours.features) == set(range(6))
    # The mirror of two labels counts twice in our ridge, once in theirs.
    theirs = LogisticRegression(C=2.0 if n_labels == 2 else 1.0, tol=1e-8, max_iter=1000).fit(X, labels)
    np.testing.assert_allclose(ours.probabilities(X), theirs.predict_proba(X), atol=0.01)


def test_the_most_telling_inputs_come_first_and_noise_does_not_come():
    X, _ = draw()
    noise = np.random.default_rng(3).logistic(size=1000)
    labels = (4 * X[:, 3] + 2 * X[:, 1] + noise > 0).astype(np.intp)
    chosen, weights, _ = fit_sparse(X, labels, 2, most=6, ridge=1.0)
    assert chosen == [3, 1]
    assert weights[0, 1] > weights[1, 1] > 0
    np.testing.assert_allclose(weights[:, 0], -weights[:, 1], atol=0.05)
    assert fit_sparse(X, labels, 2, most=1, ridge=1.0)[0] == [3]


def test_is_silent_where_it_is_not_sure():
    X, schema = draw()
    labels = np.where(X[:, 0] + 0.5 * np.random.default_rng(1).normal(size=1000) > 0, "up", "down")
    bold = SparseLogistic().fit(X, labels, schema=schema)
    careful = SparseLogistic(min_probability=0.95).fit(X, labels, schema=schema)
    assert isinstance(careful, AbstainingExplainer)
    assert bold.speaks(X).all()
    spoken = careful.speaks(X)
    np.testing.assert_array_equal(spoken, careful.probabilities(X).max(axis=1) >= 0.95)
    assert 0 < spoken.mean() < 1
    assert (careful.predict(X[spoken]) == labels[spoken]).mean() > (bold.predict(X) == labels).mean()
    rule = careful.rules()[0]
    assert rule.n_draws == spoken.sum()
    assert rule.share == pytest.approx((careful.predict(X[spoken]) == labels[spoken]).mean())
    assert careful.describe_silence() == "silent where no label has a probability of 95%"
    assert bold.describe_silence() == "silent nowhere"


def test_levels_and_missing_values_are_inputs_of_their_own():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "dose": np.where(rng.random(900) < 0.3, np.nan, rng.uniform(0, 10, 900)),
            "colour": rng.choice(["blue", "green", "red"], 900),
            "sex": rng.choice(["F", "M"], 900),
        }
    )
    schema = FeatureSchema.infer(X)
    labels = np.where(X["dose"].isna(), "none", np.where(X["colour"] == "red", "red", "other"))
    model = SparseLogistic().fit(schema.encode(X), labels, schema=schema)
    said = " ".join(str(rule) for rule in model.rules())
    assert "if dose is missing" in said
    assert "if colour is red" in said
    assert "sex" not in said
    assert (model.predict(schema.encode(X)) == labels).all()


def saved_model():
    X = pd.DataFrame({"dose": np.r_[np.nan, np.linspace(0, 10, 399)], "sex": ["F", "M"] * 200})
    schema = FeatureSchema.infer(X)
    labels = np.where(X["dose"].fillna(0) > 6, "high", "low")
    return SparseLogistic(min_probability=0.8).fit(schema.encode(X), labels, schema=schema), schema, schema.encode(X)


def test_is_saved_as_data():
    model, schema, rows = saved_model()
    again = read_explainer(json.loads(json.dumps(write_explainer(model))), schema)
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    np.testing.assert_array_equal(again.speaks(rows), model.speaks(rows))
    assert [str(rule) for rule in again.rules()] == [str(rule) for rule in model.rules()]
    region = Spoken(Box(()), model)
    np.testing.assert_array_equal(read_region_of(region.to_dict(), schema, again).contains(rows), region.contains(rows))


def test_a_constant_is_saved_too():
    model = SparseLogistic().fit(np.zeros((5, 2)), np.full(5, "same"), schema=saved_model()[1])
    again = read_explainer(json.loads(json.dumps(write_explainer(model))), saved_model()[1])
    assert again.predict(np.zeros((2, 2))).tolist() == ["same", "same"]
    assert again.complexity == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": [7]}, "inputs do not fit the columns"),
        ({"columns": [1], "references": [5.0]}, "inputs do not fit the columns"),
        ({"columns": [1], "references": [None]}, "inputs do not fit the columns"),
        ({"weights": [[1.0]]}, "do not fit its inputs"),
        ({"weights": [[float("nan"), 1.0]]}, "not finite"),
        ({"intercepts": [0.0]}, "do not fit its inputs"),
        ({"min_probability": 1.5}, "min_probability=1.5 is not allowed"),
        ({"references": []}, "zip"),
    ],
)
def test_what_is_no_model_is_refused(changes, message):
    model, schema, _ = saved_model()
    data = write_explainer(model)
    assert len(data["columns"]) == 1
    with pytest.raises(ValueError, match=message):
        read_explainer({**data, **changes}, schema)


@pytest.mark.parametrize("options", [{"n_features": 0}, {"min_probability": 1.0}, {"min_probability": 0.0}])
def test_bad_options(options):
    X, schema = draw(20)
    with pytest.raises(ValueError, match="is not allowed"):
        SparseLogistic(**options).fit(X, X[:, 0] > 0, schema=schema)
