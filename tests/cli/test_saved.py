"""The commands on a saved explainer: predict, export, report and tradeoff."""

import json
import sqlite3
from pathlib import Path

import pandas as pd
import pytest

from oleander import AggregateExplainer


def test_predict(explained, run, patients_csv):
    done = run("predict", explained.atlas, patients_csv, "--json")
    assert done.code == 0, done.err
    assert done.json["n_rows"] == len(done.json["predictions"]) == 400
    assert run("predict", explained.atlas, patients_csv, "--out", "p.csv").code == 0
    assert pd.read_csv("p.csv")["abstains"].sum() == done.json["n_abstains"]


def test_rows_that_cannot_be_read_are_counted_and_a_file_of_them_is_refused(explained, run, patients, tmp_path):
    odd = patients.astype({"sex": object})
    odd.loc[:2, "sex"] = "unknown"
    odd.to_csv(tmp_path / "some.csv", index=False)
    done = run("predict", explained.atlas, tmp_path / "some.csv", "--json")
    assert done.code == 0
    assert "note: 3 of 400 rows hold values that the explainer does not know: it abstains there." in done.err
    odd.assign(sex="unknown").to_csv(tmp_path / "all.csv", index=False)
    done = run("predict", explained.atlas, tmp_path / "all.csv")
    assert done.code == 3
    assert "column 'sex' holds 'unknown' in row 0, which is not one of its levels" in done.sentence


def test_columns_that_are_not_used_are_named(explained, run, patients_csv):
    done = run("predict", explained.atlas, patients_csv)
    assert "note: columns that the explainer does not use are ignored: 'patient', 'risk'." in done.err
    assert done.out.startswith("row,answer")


def test_tradeoff(explained, run):
    cells = run("tradeoff", explained.atlas, "--json").json["cells"]
    written = pd.read_csv(explained.folder / "tradeoff.csv")
    assert [cell["coverage"] for cell in cells] == pytest.approx(written["coverage"].tolist())
    assert "≥ 0.9" in run("tradeoff", explained.atlas).out


def test_report(explained, run, patients_csv):
    assert run("report", explained.atlas, "--out", "page.html", "--json").json["bytes"] > 0
    assert run("report", explained.atlas, "--data", patients_csv, "--out", "map.html").code == 0


def test_files_that_are_no_saved_explainers(run, patients_csv):
    done = run("predict", patients_csv, patients_csv)
    assert done.code == 3
    assert "cannot be read as a saved explainer" in done.sentence
    assert "No such file" in run("tradeoff", "gone.oleander").sentence


def test_a_missing_column(explained, run, patients, tmp_path):
    patients.drop(columns="age").to_csv(tmp_path / "less.csv", index=False)
    done = run("predict", explained.atlas, "less.csv")
    assert "the data lack columns that the explainer needs: 'age'" in done.sentence


def test_a_row_that_cannot_be_read_gets_no_answer(explained, run, patients, tmp_path):
    patients.head(3).assign(ward=["north", "attic", "west"]).to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", explained.atlas, "new.csv", "--json")
    assert done.code == 0, done.err
    assert done.json["predictions"][1]["abstains"]


@pytest.mark.parametrize("form", ["sql", "python", "dict", "card"])
def test_export(explained, run, form):
    atlas = AggregateExplainer.load(explained.atlas)
    written = {
        "sql": atlas.to_sql,
        "python": atlas.to_python,
        "dict": lambda: json.dumps(atlas.to_dict(), indent=1) + "\n",
        "card": atlas.to_card,
    }[form]()
    assert run("export", explained.atlas, "--format", form).out == written
    assert run("export", explained.atlas, "--format", form, "--json").json["text"] == written
    done = run("export", explained.atlas, "--format", form, "--out", "x.txt")
    assert f"x.txt is written ({len(written.encode()):,} bytes)" in done.out
    assert Path("x.txt").read_bytes().decode() == written


def test_exported_sql_answers_as_predict_does(explained, run, patients, patients_csv):
    sql = run("export", explained.atlas, "--format", "sql", "--dialect", "sqlite", "--table", "my rows").out
    connection = sqlite3.connect(":memory:")
    patients.to_sql("my rows", connection, index=False)
    answers = [row[-1] for row in connection.execute(sql)]
    connection.close()
    predictions = run("predict", explained.atlas, patients_csv, "--json").json["predictions"]
    assert answers == [line["answer"] for line in predictions]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--format", "xml"], "--format xml is not known; use one of sql, python, dict, card."),
        (["--format", "sql", "--dialect", "oracle"], "--dialect 'oracle' is not known; use 'duckdb' or 'sqlite'"),
        (["--format", "card", "--dialect", "sqlite"], "--dialect is for --format sql: leave out one."),
        (["--format", "python", "--table", "x"], "--table is for --format sql: leave out one."),
        (["--format", "sql", "--title", "x"], "--title is for --format card: leave out one."),
        ([], "--format is missing."),
    ],
)
def test_options_of_export_that_do_nothing_or_are_unknown(explained, run, options, sentence):
    done = run("export", explained.atlas, *options)
    assert done.code == 2
    assert sentence in done.sentence
