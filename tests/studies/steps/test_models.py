import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from studies.steps import models


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] > 0.5, "high", np.where(X["b"] > 0, "middle", "low"))
    return X, y


def test_the_best_choice_keeps_what_the_paper_fixed():
    model = models.make_models(0)["forest"]
    tried = pd.DataFrame({"accuracy": np.linspace(0, 1, 10)})
    assert models.best_choice(model, tried, as_in_paper=False) == {"min_samples_leaf": 5, "n_estimators": 200}
    assert models.best_choice(model, tried, as_in_paper=True) == {"min_samples_leaf": 1, "n_estimators": 50}


def test_the_lead_of_the_papers_choice():
    model = models.make_models(0)["network"]
    # Two penalties, and for each layers of 25, 100 and 100 + 100 units; the paper's are in the middle.
    tried = pd.DataFrame({"behind": [0.02, 0.03, 0.04, 0.05, 0.0, 0.01], "error": [0.1, 0.1, 0.1, 0.1, 0.0, 0.004]})
    assert models.papers_lead(model, tried) == pytest.approx({"ahead": 0.01, "margin": 4.303 * 0.004}, rel=1e-3)
    other = pd.DataFrame({"behind": [0.0, 0.03, 0.04, 0.05, 0.02, 0.01], "error": [0.0, 0.1, 0.1, 0.1, 0.007, 0.1]})
    assert models.papers_lead(model, other) == pytest.approx({"ahead": -0.02, "margin": 4.303 * 0.007}, rel=1e-3)
    assert models.papers_lead(models.make_models(0)["logistic"], tried) is None


def test_confusion_by_hand(data):
    class Stub:
        def predict(self, X):
            return np.array(["high"] * len(X))

    counts = models.confusion(Stub(), data[0], data[1], ["high", "low", "middle"])
    wide = counts.pivot(index="predicted", columns="true", values="n")
    assert wide.loc["high"].to_dict() == {name: int((data[1] == name).sum()) for name in ("high", "low", "middle")}
    assert wide.loc["low"].sum() == 0


def test_roc_areas_are_scikit_learns(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    curves = models.roc(model, X, y)
    for number, name in enumerate(model.classes_):
        part = curves[curves["class"] == name]
        assert part["auc"].iloc[0] == pytest.approx(roc_auc_score(y == name, model.predict_proba(X)[:, number]))
        assert part[["false_rate", "true_rate"]].iloc[[0, -1]].to_numpy().tolist() == [[0, 0], [1, 1]]
