"""Explainers in a local store of MLflow: logged with their page, loaded as a model and as an explainer, no pickle."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Draws

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def decide(X):
    return np.where(X["age"] > 60, "clinic", "home")


def test_an_explainer_is_logged_with_its_page_and_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("DO_NOT_TRACK", "true")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mlflow

        from examples.mlflow_model import PyfuncExplainer, load_explainer, log_explainer

    mlflow.set_tracking_uri((tmp_path / "store").as_uri())
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(20, 90, 300), "gait": rng.uniform(0, 30, 300)})
    atlas = AggregateExplainer(decide, draws=Draws(1_000), random_state=0).fit(X)
    with mlflow.start_run():
        logged = log_explainer(atlas, name="rules")
    model = mlflow.pyfunc.load_model(logged.model_uri)
    answers = atlas.predict(X, abstain=None)
    assert model.predict(X).tolist() == answers.tolist()
    with pytest.raises(ValueError, match="an explainer has no parameters"):
        PyfuncExplainer(atlas).predict(X, {"threshold": 1})
    again = load_explainer(logged.model_uri)
    assert again.summary() == AggregateExplainer.load(find(tmp_path, "atlas.oleander")).summary()
    assert find(tmp_path, "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert not list(tmp_path.rglob("*.pkl"))


def find(folder: Path, name: str) -> Path:
    (path,) = {one.resolve() for one in folder.rglob(name)}
    return path
