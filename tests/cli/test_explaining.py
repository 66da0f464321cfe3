"""The commands that fit: explain, paper and demo."""

import importlib
import re
import shutil
import sys
import webbrowser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Boxes, Draws, Output
from oleander.black_box.asking import N_ASKED_TWICE
from oleander.cli import explaining
from oleander.cli.explaining import prepare, read_limits, read_number, read_output
from oleander.cli.options import CommandError, Explain
from oleander.data import reading
from oleander.data.sources import Source

FILES = ("atlas.oleander", "explainers.csv", "predictions.csv", "tradeoff.csv", "report.html")


def test_explain_writes_all_files(explained, patients):
    assert sorted(path.name for path in explained.folder.iterdir()) == sorted(FILES)
    atlas = AggregateExplainer.load(explained.atlas)
    assert explained.facts["coverage"] == atlas.coverage_
    assert "patient" not in atlas.schema_.names
    predictions = pd.read_csv(explained.folder / "predictions.csv")
    rows = patients.iloc[predictions["row"]]
    answers, given = atlas.predict(rows), predictions["answered"].to_numpy()
    assert [*predictions.columns] == ["row", "patient", "model", "answer", "answered", "explainer", "covered_by"]
    assert predictions["patient"].tolist() == rows["patient"].tolist()
    agrees = predictions["model"] == predictions["answer"]
    assert agrees[given].mean() == pytest.approx(atlas.evaluation_.agreement)
    assert (given == ~answers.mask).all()
    assert predictions["answer"].dropna().tolist() == answers.compressed().tolist()
    # Explainers are numbered from 1, as in the summary and in the table of rules.
    assert predictions["explainer"].fillna(0).tolist() == (atlas.responsible(rows) + 1).tolist()
    assert set(predictions["explainer"].dropna()) <= set(pd.read_csv(explained.folder / "explainers.csv")["explainer"])
    for covered_by, covers in zip(predictions["covered_by"].fillna(""), atlas.covers(rows).T, strict=True):
        assert [int(number) - 1 for number in str(covered_by).split()] == np.flatnonzero(covers).tolist()


def test_a_floor_in_every_subgroup_of_a_column_that_the_model_does_not_read(run, patients):
    table = patients.assign(ward=np.where(np.arange(len(patients)) % 20 == 0, "small", "large"))
    table.to_csv("wards.csv", index=False)
    asked = ("explain", "wards.csv", "--target", "risk", "--drop", "ward", "--draws", 500, "--min-fidelity", 0.8)
    assert run(*asked, "--limit", "floor_by=ward").code == 0
    atlas = AggregateExplainer.load("oleander-out/atlas.oleander")
    assert "ward" not in atlas.schema_.names
    by = atlas.record_.floor_by
    assert by.columns == ("ward",)
    assert by.speaking == {"ward=large"}
    done = run("predict", "oleander-out/atlas.oleander", "wards.csv", "--out", "answers.csv")
    assert done.code == 0, done.err
    answered = pd.read_csv("answers.csv")["answered"]
    assert not answered[table["ward"] == "small"].any()
    assert answered[table["ward"] == "large"].any()
    patients.drop(columns="ward").to_csv("patients.csv", index=False)
    lacking = run("predict", "oleander-out/atlas.oleander", "patients.csv", "--out", "answers.csv")
    assert (lacking.code, "floor_by names the column 'ward'" in lacking.err) == (3, True)


def test_a_data_dictionary_is_used_in_every_file(run, patients_csv):
    words = {
        "name": ["age", "dose", "risk"],
        "description": ["age at entry", "daily dose", ""],
        "unit": ["y", "mg", ""],
    }
    pd.DataFrame(words).to_csv("words.csv", index=False)
    done = run("explain", patients_csv, "--target", "risk", "--draws", 1_000, "--columns", "words.csv")
    assert done.code == 0, done.err
    assert "age at entry > " in done.out
    where = pd.read_csv("oleander-out/explainers.csv")["conditions"].str.cat(sep="; ")
    assert "age at entry > " in where
    assert " mg" in where
    assert "age at entry" in Path("oleander-out/report.html").read_text(encoding="utf-8")


WRONG = [
    ("--columns absent.csv", 3, "absent.csv"),
    ("--columns patients.csv", 3, "give a mapping of names to descriptions, or a table with the columns name"),
    ("--min-fidelity 0.9999 --draws 600", 5, "ower --min-fidelity"),
    ("--drop absent", 2, "--drop names the column 'absent'"),
    ("--groups absent", 2, "--groups names the column 'absent'"),
    ("--kinds age=old", 3, "column 'age' is declared as 'old'; the kinds are"),
    ("--kinds absent=binary", 2, "--kinds names the column 'absent'"),
    ("--kinds age=binary", 3, "column 'age' cannot be binary"),
    ("--trust-model", 2, "--trust-model is for a model given with --model"),
    ("--classes a,b", 2, "--classes is for a model given with --model"),
    ("--proba high", 2, "--proba explains a number: give --tolerance"),
    ("--background patients.csv", 2, "--background is for a model given with --model"),
    ("--read key=visit", 2, "--read key=visit is not allowed"),
    ("--read separator=abc", 2, "--read separator=abc is not allowed: give one character"),
    ("--read decimal=", 2, "--read decimal= is not allowed: write separator= or decimal= or encoding="),
    ("--min-fidelity 0", 2, "--min-fidelity 0.0 is not allowed"),
    ("--max-explainers 0", 2, "--max-explainers 0 is not allowed: give a whole number, 1 or more"),
    ("--seed -1", 2, "--seed -1 is not allowed: give a whole number, 0 or more"),
    ("--draws -1", 2, "--draws -1 is not allowed: give a whole number, 0 or more"),
    ("--limit conditions=0", 2, "--limit conditions 0 is not allowed: give a whole number, 1 or more"),
    ("--limit floor_by=wrad", 2, "--limit floor_by names the column 'wrad'"),
    ("--limit floor_by=risk", 2, "--limit floor_by=risk names the target, which new rows do not have"),
]
WRONG_OF_THE_PAPER = [
    ("", 2, "required: --radius"),
    ("--radius wide", 2, "--radius 'wide' is not known; give a number, several"),
    ("--radius 5,auto", 2, "--radius [5.0, 'auto'] is not known; give a number, several"),
    ("--radius -1 --n-draws 50", 2, "--radius -1.0 is not allowed"),
    ("--radius 12 --limit conditions=2", 2, "there is no option --limit"),
    ("--radius 12 --formulation loose", 2, "--formulation: invalid choice: 'loose'"),
    ("--radius 12 --n-draws 0", 2, "--n-draws 0 is not allowed: give a whole number, 1 or more"),
    ("--radius 12 --letter", 2, "allow it with --include-rows"),
]


@pytest.mark.parametrize(
    ("command", "options", "code", "sentence"),
    [*(("explain", *one) for one in WRONG), *(("paper", *one) for one in WRONG_OF_THE_PAPER)],
)
def test_wrong_options(run, patients_csv, command, options, code, sentence):
    done = run(command, patients_csv, "--target", "risk", "--out", "out", *options.split())
    assert (done.code, sentence in done.sentence) == (code, True), done.err
    assert not Path("out").exists()


@pytest.fixture
def warehouse(patients):
    """The name of a table in a DuckDB file, with the model's answers in the column of risks."""
    duckdb = pytest.importorskip("duckdb")
    rows = pd.concat([patients] * 5).assign(visit=range(5 * len(patients)))
    with duckdb.connect("warehouse.duckdb") as connection:
        connection.register("given", rows)
        connection.execute("CREATE TABLE visits AS SELECT * FROM given")
    return "warehouse.duckdb::visits"


def test_a_table_in_a_database_is_explained_by_its_logged_answers(run, warehouse):
    how = ("--read", "key=visit", "--read", "labels=risk", "--groups", "patient")
    done = run("explain", warehouse, *how, "--drop", "ward", "--out", "out", "--json")
    assert done.code == 0, done.err
    assert done.json["n_queries"] == 0
    atlas = AggregateExplainer.load("out/atlas.oleander")
    assert set(atlas.schema_.names) == {"age", "dose", "sex"}
    assert atlas.exact_.n_rows == 2_000
    assert not Path("out/predictions.csv").exists()


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        ("labels=risk", 2, "name a column with a different whole number in each row, --read key=COL"),
        ("key=visit", 2, "give --model, or --read labels=COL for a column with its answers"),
        ("key=visit labels=said", 3, "the table lacks column 'said'; it has 'age'"),
        ("key=patient labels=risk", 3, "column 'patient' is no key: 2,000 rows have"),
        ("key=visit labels=risk --kinds age=integer", 2, "--kinds is for files that are read whole"),
        ("key=visit labels=risk --draws 9", 3, "there is no model to label draws"),
        ("key=visit labels=risk --drop wrad", 2, "--drop names the column 'wrad'"),
        ("separator=;", 2, "write key= or labels= and a value"),
    ],
)
def test_wrong_options_of_a_table(run, warehouse, options, code, sentence):
    words = re.sub(r"\b(?=key|labels|separator)", "--read ", options).split()
    done = run("explain", warehouse, "--out", "out", *words)
    assert (done.code, sentence in done.sentence) == (code, True), done.err
    assert not Path("out").exists()


def test_files_of_an_earlier_run_stay_when_a_run_fails(explained, run, tmp_path):
    shutil.copytree(explained.folder, tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert run(*explained.arguments, "--out", "out", "--min-fidelity", "0.9999").code == 5
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_no_row_is_written_by_default(run, tmp_path):
    # Levels are not rounded, so a ball around a row holds the row.
    table = pd.DataFrame({"a": [0, 1] * 4, "b": [0, 0, 1, 1] * 2, "risk": list("xyxyxyxy")})
    pd.concat([table] * 60).to_csv(tmp_path / "p.csv", index=False)
    arguments = ("paper", "p.csv", "--target", "risk", "--radius", 1, "--n-draws", 50, "--max-explainers", 2)
    arguments += ("--out", "out")
    refused = run(*arguments)
    assert refused.code == 3
    assert refused.sentence.endswith("Allow it with --include-rows.")
    assert not (tmp_path / "out").exists()
    assert run(*arguments, "--include-rows").code == 0


class Model:
    classes_ = np.array([0, 1])


def test_what_is_explained_of_a_model():
    assert [read_number(text) for text in (None, "30", "10%", "auto")] == [None, 30.0, "10%", "auto"]
    assert read_output(None, 0.2, Model()) == Output(threshold=0.2)
    assert read_output("1", None, Model()) == Output("proba", 1)
    assert read_output("0", 0.5, Model()) == Output("proba", 0, 0.5)
    with pytest.raises(CommandError, match="--proba 7 is not a class of the model, which has 0, 1"):
        read_output("7", None, Model())


@pytest.fixture
def prices(run):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.uniform(20, 200, 500).round(1), "place": rng.choice(["town", "land"], 500)})
    table["price"] = (
        np.where(table["place"] == "town", 900.0, 300.0) + (table["size"] > 90) * 200 + table["size"] / 10
    ).round(1)
    table.to_csv("prices.csv", index=False)
    return table


def test_a_regression_is_trained_and_explained(run, prices):
    done = run("explain", "prices.csv", "--target", "price", "--tolerance", 50, "--draws", 1000, "--out", "found")
    assert "± 50" in done.out
    assert "The model itself is correct within ± 50 on" in done.out
    assert "it was probably trained on them" not in done.err
    atlas = AggregateExplainer.load("found/atlas.oleander")
    assert atlas.tolerance == 50
    assert atlas.coverage_ > 0.9
    answers = pd.read_csv("found/predictions.csv")
    assert (np.abs(answers["answer"] - prices["price"].iloc[answers["row"]].to_numpy()) <= 60).mean() > 0.9
    judged = run("evaluate", "found/atlas.oleander", "prices.csv", "--labels", "price", "--json")
    assert judged.json["agreement"] > 0.9


def test_a_threshold_and_a_probability(run, prices):
    done = run("explain", "prices.csv", "--target", "price", "--threshold", 800, "--draws", 1000, "--out", "over")
    assert "→ over 800" in done.out
    options = ("--proba", "town", "--tolerance", 0.1, "--draws", 1000)
    done = run("explain", "prices.csv", "--target", "place", *options, "--out", "proba")
    assert "± 0.1" in done.out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("price", "--tolerance explains numbers"),
        ("place --tolerance 1", "which is not a number"),
        ("price --tolerance 1 --threshold 2", "--tolerance 1.0 is for numbers, and"),
        ("price --tolerance wide", "--tolerance 'wide' is not allowed"),
        ("place --proba sea --tolerance 1", "--proba sea is not a class of the model"),
    ],
)
def test_targets_that_do_not_fit(run, prices, options, sentence):
    done = run("explain", "prices.csv", "--target", *options.split(), "--out", "found")
    assert done.code != 0
    assert sentence in done.sentence


@pytest.fixture
def made(monkeypatch):
    """The explainers that commands make, none of which is fitted."""
    found = []
    monkeypatch.setattr(explaining, "fit_and_write", lambda atlas, *_, **__: found.append(atlas))
    return found


def test_options_of_explain_reach_the_explainer(run, patients_csv, made):
    budgets = ("--max-explainers", 3, "--min-fidelity", 0.8, "--draws", 500, "--seed", 7)
    limits = ("--limit", "conditions=1", "--limit", "forbid=ward")
    assert run("explain", patients_csv, "--target", "risk", *budgets, *limits).code == 0
    given = made[0].get_params(deep=False)
    expected = {"max_explainers": 3, "min_fidelity": 0.8, "draws": Draws(500), "random_state": 7}
    expected |= {"candidates": Boxes(1, forbid=("ward",)), "tolerance": None, "output": Output()}
    assert {name: given[name] for name in expected} == expected


@pytest.mark.parametrize("more", [(), ("--include-rows",), ("--include-rows", "--letter")])
def test_options_of_the_paper_reach_the_explainer(run, patients_csv, made, more):
    same = {"radius": [5.0, 9.0], "n_draws": 50, "max_explainers": 2, "formulation": "selective"}
    options = ("--radius", "5,9", "--n-draws", 50, "--max-explainers", 2, "--formulation", "selective")
    done = run("paper", patients_csv, "--target", "risk", *options, *more)
    assert done.code == 0, done.err
    assert ("balls stand on rounded rows" in done.err) is not bool(more)
    expected = AggregateExplainer.paper(
        made[0].black_box,
        **same,
        letter="--letter" in more,
        centers="rows" if more else "rounded",
        schema=made[0].schema,
        random_state=0,
        n_jobs=1,
    )
    assert made[0].get_params(deep=False) == expected.get_params(deep=False)


def test_explain_by_the_paper(run, patients_csv, tmp_path):
    """The files, the trade-off and the page of a file with words, whole numbers and missing values."""
    arguments = ("paper", patients_csv, "--target", "risk", "--drop", "patient", "--radius", 12, "--max-explainers", 2)
    done = run(*arguments, "--n-draws", 300, "--out", "out")
    assert done.code == 0, done.err
    assert "balls stand on rounded rows" in done.err
    assert len(done.out.splitlines()) < 50
    assert {*pd.read_csv("out/panels.csv")["min_fidelity"]} == {0.5, 0.7, 0.9}
    assert (tmp_path / "out" / "panels.png").stat().st_size > 1_000
    table = pd.read_csv("out/tradeoff.csv")
    assert {"coverage", "fidelity", "max_explainers", "min_fidelity"} <= {*table.columns}
    shown = run("tradeoff", "out/atlas.oleander", "--json")
    assert shown.code == 0, shown.err
    assert len(shown.json["cells"]) == len(table)
    assert (tmp_path / "out" / "report.html").stat().st_size > 1_000


@pytest.mark.slow
def test_the_demo(run, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    done = run("demo", "--out", "demo", "--open")
    assert done.code == 0, done.err
    assert "certified with 95% confidence" in done.out
    assert done.out.splitlines()[-1] == f"Open {Path('demo/report.html')} in a browser."
    assert opened == [(tmp_path / "demo" / "report.html").as_uri()]
    assert "no browser was found here" in done.err
    assert {path.name for path in (tmp_path / "demo").iterdir()} == set(FILES)


def test_a_target_or_a_model_is_needed(run, patients_csv):
    done = run("explain", patients_csv)
    assert (done.code, "without --model a model is trained, and that needs --target" in done.sentence) == (2, True)


@pytest.fixture
def prepared(tmp_path, capsys):
    """A function that writes a table, prepares a fit, and returns it with the notes."""

    def prepare_table(table, background=None, **options):
        table.to_csv(tmp_path / "p.csv", index=False)
        is_regression = pd.api.types.is_numeric_dtype(table["risk"])
        request = Explain(**{"data": tmp_path / "p.csv", "target": "risk"} | options)
        return prepare(request, background, is_regression=is_regression), capsys.readouterr().err

    return prepare_table


def test_rows_without_a_target_are_left_out_and_rare_classes_are_named(patients, prepared):
    patients.loc[:11, "risk"] = [None] * 10 + ["hihg", "Low"]
    found, said = prepared(patients)
    assert "note: rows without a value of 'risk' are left out: 10." in said
    assert "note: the target 'risk' has classes with fewer than 5 rows, perhaps typos: 'hihg', 'Low'." in said
    assert len(found.rows["X"]) + len(found.rows["background"]) == 390
    assert found.rows["X"].index.min() >= 10


def test_a_model_trained_here_is_explained_on_new_rows_of_other_groups(patients, prepared):
    found, _ = prepared(patients, groups="patient")
    explained, trained = (set(patients["patient"][found.rows[name].index]) for name in ("X", "background"))
    assert len(explained) > 50
    assert not explained & trained
    assert list(found.rows["X"]) == ["age", "dose", "sex", "ward"]
    # Labels that are all right must raise no suspicion that the model has seen the rows.
    assert found.is_new
    assert len(found.rows["y"]) == len(found.rows["X"])


def test_ids_and_groups_that_are_left_out_name_the_rows(patients, prepared):
    ids = {"number": np.arange(400), "code": [f"p{number}" for number in range(400)]}
    found, _ = prepared(patients.assign(**ids, room=7), groups="patient", drop=["code", "room"])
    assert [*found.ids.columns] == ["patient", "number", "code"]
    assert (found.ids["number"].to_numpy() == found.rows["X"].index).all()


def test_columns_that_alone_tell_the_target_are_named(patients, prepared):
    stay = (patients["risk"] == "high") * 5 + patients["dose"].fillna(2) / 2
    # Neighbouring levels tell different classes.
    code = np.array(list("abcdef"))[patients["age"] % 3 * 2 + (patients["risk"] == "high")]
    patients.loc[:2, "risk"] = "rare"
    _, said = prepared(patients.assign(**{"stay after": stay, "code": code}))
    for name in ("stay after", "code"):
        assert f"column {name!r} alone tells the target 'risk', a possible leak" in said
    assert "--drop 'stay after'" in said
    assert said.count("alone tells") == 2
    # A column that is right on most rows, those of one class, tells nothing.
    _, said = prepared(patients.assign(risk=np.where(patients.index < 8, "yes", "no")))
    assert "alone tells" not in said
    # The same number in other units.
    _, said = prepared(patients.assign(pounds=patients["age"] * 2.2, risk=patients["age"]), drop=["age"])
    assert "column 'pounds' alone tells the target 'risk', a possible leak" in said
    assert said.count("alone tells") == 1


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model in a module that counts the rows that it is asked about."""
    rule = 'return np.where((X["age"] > 60) & (X["dose"] < 3), "high", "low")'
    text = f"import numpy as np\nasked = []\ndef predict(X):\n    asked.extend(X.index)\n    {rule}\n"
    (tmp_path / "recorder.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("recorder")
    del sys.modules["recorder"]


def test_a_background_lends_its_levels_to_the_schema(run, patients, patients_csv, prepared, model):
    patients.assign(ward="attic").to_csv("b.csv", index=False)
    found, _ = prepared(patients, Path("b.csv"), model="recorder:predict")
    assert "attic" in found.schema[list(found.schema.names).index("ward")].levels
    assert list(found.rows["background"]) == list(found.rows["X"])
    patients.drop(columns="age").to_csv("b.csv", index=False)
    done = run("explain", patients_csv, "--model", "recorder:predict", "--background", "b.csv", "--drop", "risk")
    assert (done.code, "--background b.csv lacks columns of the data: 'age'" in done.sentence) == (3, True)


def test_a_model_that_does_not_name_its_columns_is_noted(patients, prepared, model):
    _, said = prepared(patients, model="recorder:predict", target=None)
    assert "the model does not name its columns, so it gets all of them" in said


@pytest.fixture
def large(patients, tmp_path, monkeypatch):
    """A Parquet file of 400 different rows that counts as large, with a sample of 150."""
    monkeypatch.setattr(explaining, "sample_size", lambda *_: 150)
    monkeypatch.setattr(reading, "sample_size", lambda *_: 150)
    patients["dose"] = np.random.default_rng(1).permutation(400) / 80
    patients["risk"] = np.where((patients["age"] > 60) & (patients["dose"] < 3), "high", "low")
    patients.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    return tmp_path / "rows.parquet"


@pytest.mark.parametrize("draws", [0, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_large_parquet_file_is_read_block_by_block(run, large, model, draws):
    options = ("--model", "recorder:predict", "--drop", "risk,sex", "--groups", "patient", "--draws", draws)
    done = run("explain", large, *options, "--out", "out", "--json")
    assert done.code == 0, done.err
    assert (
        "has 400 rows and is read block by block: a sample is explained, and predictions.csv is not written."
        in done.err
    )
    assert done.json["explained"] == "recorder:predict on 400 rows"
    assert sorted(path.name for path in Path("out").iterdir()) == sorted({*FILES} - {"predictions.csv"})
    atlas = AggregateExplainer.load("out/atlas.oleander")
    assert atlas.schema_.names == ("age", "dose", "ward")
    assert (atlas.accuracy_.n_sample, atlas.exact_.n_rows) == (150, 400)
    # Every row is asked about once, besides those that are asked again to see whether the model changes its answers.
    assert len(model.asked) == done.json["n_queries"] <= 400 + draws + N_ASKED_TWICE


def test_the_target_of_a_large_file_is_no_feature_and_shows_training_rows(run, large, model, tmp_path):
    done = run("explain", large, "--model", "recorder:predict", "--target", "risk", "--draws", 0, "--out", "out")
    assert done.code == 0, done.err
    assert "note: the black box is correct on 100.0% of the rows" in done.err
    atlas = AggregateExplainer.load(tmp_path / "out" / "atlas.oleander")
    assert atlas.schema_.names == ("age", "dose", "sex", "ward", "patient")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--kinds age=integer", "--kinds is for files that are read whole"),
        ("--target rsk", "--target names the column 'rsk', and the data have"),
        ("--groups patent", "--groups names the column 'patent', and the data have"),
        ("--drop sexe", "Did you mean 'sex'?"),
        ("--read separator=;", "--read separator=; is not allowed"),
    ],
)
def test_wrong_options_of_a_large_file(run, large, model, options, sentence):
    done = run("explain", large, "--model", "recorder:predict", "--out", "out", *options.split())
    assert (done.code, sentence in done.sentence) == (2, True), done.err
    assert not model.asked
    assert not Path("out").exists()


def test_files_that_are_not_streamed(large, model, monkeypatch, tmp_path):
    request = Explain(data=large, target="risk", model="recorder:predict", groups="patient", drop=["sex"])
    streamed = prepare(request)
    assert isinstance(streamed.rows["X"], Source)
    assert (streamed.rows["y"], streamed.rows["groups"]) == ("risk", "patient")
    assert "sex" not in streamed.rows["X"].columns
    # A model that is trained here, a CSV file, and a file no larger than its sample are read whole.
    pd.read_parquet(large).to_csv(tmp_path / "rows.csv", index=False)
    trained = prepare(Explain(data=large, target="risk"))
    text = prepare(Explain(data=tmp_path / "rows.csv", target=None, model="recorder:predict"))
    monkeypatch.setattr(explaining, "sample_size", lambda *_: 400)
    small = prepare(request)
    assert all(isinstance(prepared.rows["X"], pd.DataFrame) for prepared in (trained, text, small))


def test_limits_of_rules_are_read():
    found = read_limits(["conditions=2", "forbid=zip code,id", "monotone=age+", "order=low,high", "floor_by=sex,ward"])
    assert found == (Boxes(2, ("zip code", "id"), {"age": "+"}, ("low", "high")), ("sex", "ward"))
    assert read_limits(None) == (Boxes(), ())


@pytest.mark.parametrize("limit", ["conditions=few", "forbid=", "monotone=", "width=3", "forbid"])
def test_other_limits_are_refused(limit):
    with pytest.raises(CommandError, match=f"--limit {re.escape(limit)} is not allowed: write conditions=3"):
        read_limits([limit])
