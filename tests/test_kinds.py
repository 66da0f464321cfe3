"""One small fit of each kind, and one command. Continuous integration runs them on the oldest allowed versions."""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

from oleander import AggregateExplainer, Draws
from oleander.cli import main
from oleander.data.clinic import make_clinic
from tests.golden import clinic

OPTIONS = {"max_explainers": 5, "draws": Draws(2_000), "random_state": 0}


def test_labels(tmp_path):
    model, background, X = clinic()
    atlas = AggregateExplainer(model, **OPTIONS).fit(X, background=background)
    answers = atlas.predict(X)
    assert atlas.certificate_ is not None
    assert np.mean(answers.compressed() == model.predict(X)[~answers.mask]) >= 0.9
    atlas.report(tmp_path / "report.html")


def test_numbers():
    X = np.random.default_rng(0).uniform(size=(600, 3))
    model = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X[::2], 100 * X[::2, 0])
    atlas = AggregateExplainer(model, tolerance=10, **OPTIONS).fit(X[1::2], background=X[::2])
    assert atlas.coverage_ > 0.5


def test_groups():
    model, background, X = clinic()
    patient = np.arange(len(X)) // 2
    atlas = AggregateExplainer(model, **OPTIONS).fit(X, background=background, groups=patient)
    assert atlas.coverage_ > 0.5


def test_parquet(tmp_path):
    X = np.random.default_rng(0).uniform(size=(6_000, 3))
    pd.DataFrame(X, columns=list("abc")).to_parquet(tmp_path / "rows.parquet", row_group_size=1_000)
    atlas = AggregateExplainer(lambda rows: rows["a"] > 0.5, holdout=0.5, **OPTIONS).fit(tmp_path / "rows.parquet")
    assert atlas.coverage_ > 0.9


def test_paper():
    model, _, X = clinic()
    # Without a limit, because a busy machine may be slow.
    paper = AggregateExplainer.paper(model, radius=8.0, n_draws=200, time_limit=None, random_state=0)
    atlas = paper.fit(X[:100])
    assert atlas.proof_.is_proven_optimal


def test_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = make_clinic()
    X.assign(answer=y).to_csv("clinic.csv", index=False)
    assert main(["explain", "clinic.csv", "--target", "answer", "--draws", "2000", "--out", "out"]) == 0
    assert (tmp_path / "out" / "atlas.oleander").exists()
