"""From files and options to a black box and the rows to explain it on."""

import importlib
import re
import sys

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Boxes
from oleander.black_box.asking import N_ASKED_TWICE
from oleander.cli import preparing
from oleander.cli.options import CommandError, Explain
from oleander.cli.preparing import prepare, read_kinds, read_limits
from oleander.data import reading
from oleander.data.sources import Source

# A model that keeps the rows that it is asked about.
MODEL = """
import numpy as np
asked = []
def predict(X):
    asked.append(X)
    return np.where((X["age"] > 60) & (X["dose"] < 3), "high", "low")
"""


def test_a_target_or_a_model_is_needed(run, patients_csv):
    done = run("explain", patients_csv)
    assert done.code == 2
    assert "without --model a model is trained, and that needs --target" in done.sentence


def test_rows_without_a_target_are_left_out(patients, tmp_path, capsys):
    patients.loc[:9, "risk"] = None
    patients.to_csv(tmp_path / "p.csv", index=False)
    prepared = prepare(Explain(data=tmp_path / "p.csv", target="risk"))
    assert "note: rows without a value of 'risk' are left out: 10." in capsys.readouterr().err
    assert len(prepared.X) + len(prepared.background) == 390
    assert prepared.row.min() >= 10


def test_classes_that_may_be_typos_are_named(patients, tmp_path, capsys):
    patients.loc[:1, "risk"] = ["hihg", " low"]
    patients.to_csv(tmp_path / "p.csv", index=False)
    prepare(Explain(data=tmp_path / "p.csv", target="risk"))
    said = "note: the target 'risk' has classes with fewer than 5 rows, perhaps typos: 'hihg', ' low'."
    assert said in capsys.readouterr().err


def test_a_model_trained_here_is_explained_on_new_rows_of_other_groups(patients, patients_csv):
    prepared = prepare(Explain(data=patients_csv, target="risk", groups="patient"))
    explained, trained = (set(patients["patient"][rows.index]) for rows in (prepared.X, prepared.background))
    assert len(explained) > 50
    assert not explained & trained
    assert list(prepared.X.columns) == ["age", "dose", "sex", "ward"]
    # Labels that are all right must raise no suspicion that the model has seen the rows.
    assert prepared.is_new
    assert len(prepared.y) == len(prepared.X)


def test_ids_and_groups_that_are_left_out_name_the_rows(patients, tmp_path):
    ids = {"number": np.arange(400), "code": [f"p{number}" for number in range(400)]}
    patients.assign(**ids, room=7).to_csv(tmp_path / "p.csv", index=False)
    request = Explain(data=tmp_path / "p.csv", target="risk", groups="patient", drop=["code", "room"])
    prepared = prepare(request)
    assert [*prepared.ids.columns] == ["patient", "number", "code"]
    assert (prepared.ids["number"].to_numpy() == prepared.row).all()


class TestLeaks:
    def test_a_column_that_alone_tells_the_target_is_named(self, patients, tmp_path, capsys):
        told = {"high": 1, "low": 0}
        code = np.where(patients["risk"] == "high", "I50", "none")
        leaky = patients.assign(**{"stay after": patients["risk"].map(told) * 5 + patients["dose"].fillna(2) / 2})
        leaky.assign(code=code).to_csv(tmp_path / "p.csv", index=False)
        prepare(Explain(data=tmp_path / "p.csv", target="risk"))
        said = capsys.readouterr().err
        for name in ("stay after", "code"):
            assert f"column {name!r} alone tells the target 'risk', a possible leak" in said
        assert "--drop 'stay after'" in said
        assert said.count("alone tells") == 2

    def test_a_column_that_is_right_on_most_rows_of_one_class_is_none(self, patients, tmp_path, capsys):
        rare = np.where(patients.index < 8, "yes", "no")
        patients.assign(risk=rare).to_csv(tmp_path / "p.csv", index=False)
        prepare(Explain(data=tmp_path / "p.csv", target="risk"))
        assert "alone tells" not in capsys.readouterr().err

    def test_a_number_in_other_units_is_named(self, patients, tmp_path, capsys):
        patients.assign(pounds=patients["age"] * 2.2, risk=patients["age"]).to_csv(tmp_path / "p.csv", index=False)
        prepare(Explain(data=tmp_path / "p.csv", target="risk", drop=["age"]), is_regression=True)
        said = capsys.readouterr().err
        assert "column 'pounds' alone tells the target 'risk', a possible leak" in said
        assert said.count("alone tells") == 1


def test_a_background_lends_its_levels_to_the_schema(patients, tmp_path, model):
    patients.to_csv(tmp_path / "p.csv", index=False)
    patients.assign(ward="attic").to_csv(tmp_path / "b.csv", index=False)
    request = Explain(data=tmp_path / "p.csv", target="risk", model="recorder:predict")
    prepared = prepare(request, background=tmp_path / "b.csv")
    assert "attic" in prepared.schema[list(prepared.schema.names).index("ward")].levels
    assert list(prepared.background.columns) == list(prepared.X.columns)


def test_a_model_that_does_not_name_its_columns_is_noted(patients_csv, model, capsys):
    prepare(Explain(data=patients_csv, model="recorder:predict"))
    assert "the model does not name its columns, so it gets all of them" in capsys.readouterr().err


def test_a_background_without_a_column(run, patients, patients_csv, tmp_path, model):
    patients.drop(columns="age").to_csv(tmp_path / "b.csv", index=False)
    done = run("explain", patients_csv, "--model", "recorder:predict", "--background", "b.csv", "--drop", "risk")
    assert done.code == 3
    assert "--background b.csv lacks columns of the data: 'age'" in done.sentence


def test_kinds():
    assert read_kinds("") == {}
    assert read_kinds("a=b=integer,sex=binary") == {"a=b": "integer", "sex": "binary"}
    with pytest.raises(CommandError, match="--kinds sex=integer is not allowed: write column=kind, each column once"):
        read_kinds("sex=binary,sex=integer")


@pytest.fixture
def model(tmp_path, monkeypatch):
    (tmp_path / "recorder.py").write_text(MODEL)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("recorder")
    del sys.modules["recorder"]


@pytest.fixture
def large(patients, tmp_path, monkeypatch):
    """A Parquet file of 400 different rows that counts as large, with a sample of 150."""
    monkeypatch.setattr(preparing, "sample_size", lambda *_: 150)
    monkeypatch.setattr(reading, "sample_size", lambda *_: 150)
    patients["dose"] = np.random.default_rng(1).permutation(400) / 80
    patients["risk"] = np.where((patients["age"] > 60) & (patients["dose"] < 3), "high", "low")
    patients.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    return tmp_path / "rows.parquet"


STREAMED = ("--model", "recorder:predict", "--drop", "risk,sex", "--groups", "patient")


@pytest.mark.parametrize("draws", [0, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_large_parquet_file_is_read_block_by_block(run, large, model, tmp_path, draws):
    done = run("explain", large, *STREAMED, "--draws", draws, "--out", "out", "--json")
    assert done.code == 0, done.err
    assert "has 400 rows: it is read block by block, and predictions.csv is not written." in done.err
    assert done.json["explained"] == "recorder:predict on 400 rows"
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == ["atlas.oleander", "explainers.csv", "report.html", "tradeoff.csv"]
    atlas = AggregateExplainer.load(tmp_path / "out" / "atlas.oleander")
    assert atlas.schema_.names == ("age", "dose", "ward")
    assert atlas.accuracy_.n_sample == 150
    assert atlas.exact_.n_rows == 400
    # Draws stand behind the rows that are asked about in the same call. A draw may be equal to a row.
    asked = pd.concat([rows[: len(rows) - draws] if len(rows) > draws else rows for rows in model.asked])
    columns = list(atlas.schema_.names)
    times = asked.value_counts(columns).reindex(pd.MultiIndex.from_frame(pd.read_parquet(large)[columns]))
    assert (times >= 1).all()
    # Besides the rows that are asked again to see whether the model changes its answers.
    assert (times - 1).sum() <= N_ASKED_TWICE
    assert len(asked) + draws == done.json["n_queries"]


def test_the_target_of_a_large_file_is_no_feature_and_shows_training_rows(run, large, model, tmp_path):
    done = run("explain", large, "--model", "recorder:predict", "--target", "risk", "--draws", 0, "--out", "out")
    assert done.code == 0, done.err
    assert "note: the black box is correct on 100.0% of the rows" in done.err
    atlas = AggregateExplainer.load(tmp_path / "out" / "atlas.oleander")
    assert atlas.schema_.names == ("age", "dose", "sex", "ward", "patient")


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (("--kinds", "age=integer"), 2, "--kinds is not for Parquet files that are read block by block"),
        (("--target", "rsk"), 2, "--target names the column 'rsk', and the data have"),
        (("--groups", "patent"), 2, "--groups names the column 'patent', and the data have"),
        (("--drop", "sexe"), 2, "Did you mean 'sex'?"),
        (("--read", "separator=;"), 2, "--read separator is for CSV files, and rows.parquet is a Parquet file"),
    ],
)
def test_wrong_options_of_a_large_file(run, large, model, tmp_path, options, code, sentence):
    done = run("explain", large, "--model", "recorder:predict", "--out", "out", *options)
    assert done.code == code
    assert sentence in done.sentence
    assert not model.asked
    assert not (tmp_path / "out").exists()


def test_files_that_are_not_streamed(large, model, monkeypatch, tmp_path):
    request = Explain(data=large, target="risk", model="recorder:predict", groups="patient", drop=["sex"])
    streamed = prepare(request)
    assert isinstance(streamed.X, Source)
    assert (streamed.y, streamed.groups) == ("risk", "patient")
    assert "sex" not in streamed.X.columns
    # A model that is trained here, a CSV file, and a file no larger than its sample are read whole.
    pd.read_parquet(large).to_csv(tmp_path / "rows.csv", index=False)
    trained = prepare(Explain(data=large, target="risk"))
    text = prepare(Explain(data=tmp_path / "rows.csv", target=None, model="recorder:predict"))
    monkeypatch.setattr(preparing, "sample_size", lambda *_: 400)
    small = prepare(request)
    assert all(isinstance(prepared.X, pd.DataFrame) for prepared in (trained, text, small))


def test_limits_of_rules_are_read():
    found = read_limits(["conditions=2", "forbid=zip code,id", "monotone=age+", "order=low,high", "floor_by=sex,ward"])
    assert found == (Boxes(2, ("zip code", "id"), {"age": "+"}, ("low", "high")), ("sex", "ward"))
    assert read_limits(None) == (Boxes(), ())


def test_a_limit_that_is_given_twice_is_refused():
    with pytest.raises(CommandError, match="--limit forbid is given more than once"):
        read_limits(["forbid=zip", "conditions=2", "forbid=id"])
    with pytest.raises(CommandError, match=r"--limit monotone=age\+,age- names a column twice"):
        read_limits(["monotone=age+,age-"])


@pytest.mark.parametrize("limit", ["conditions=few", "forbid=", "monotone=age", "monotone=+", "width=3", "forbid"])
def test_other_limits_are_refused(limit):
    with pytest.raises(CommandError, match=f"--limit {re.escape(limit)} is not allowed: write conditions=3"):
        read_limits([limit])
