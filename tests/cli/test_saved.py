"""The commands on a saved explainer: predict, explain-row, evaluate, watch, export, report and tradeoff."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Draws
from tests.cli.conftest import make_patients


def test_predict(explained, run, patients, patients_csv):
    done = run("predict", explained.atlas, patients_csv, "--json")
    assert done.code == 0, done.err
    assert "note: columns that the explainer does not use are ignored: 'patient', 'risk'." in done.err
    assert done.json["n_rows"] == len(done.json["predictions"]) == 400
    assert run("predict", explained.atlas, patients_csv, "--out", "p.csv").code == 0
    assert pd.read_csv("p.csv")["answered"].sum() == done.json["n_answered"]
    # Rows are named by their ids.
    numbers = [f"p{number}" for number in range(len(patients))]
    patients.assign(number=numbers).to_csv("new.csv", index=False)
    answers = pd.read_csv(io.StringIO(run("predict", explained.atlas, "new.csv").out))
    assert answers["number"].tolist() == numbers


class TestEdit:
    @pytest.fixture
    def files(self, explained, patients, tmp_path):
        atlas = AggregateExplainer.load(explained.atlas)
        for name, table in (("said", patients), ("new", make_patients(300, seed=5))):
            table.assign(said=atlas.predict(table, abstain="nothing")).to_csv(tmp_path / f"{name}.csv", index=False)
        edits = {"explainer": atlas.record_.fingerprint, "edits": [{"do": "without", "rule": 1}]}
        (tmp_path / "edits.json").write_text(json.dumps(edits))
        options = ("--apply", "edits.json", "--data", "said.csv", "--labels", "said", "--out", "edited.oleander")
        return atlas, ("edit", explained.atlas, *options)

    def test_edits_are_applied(self, files, run):
        atlas, command = files
        done = run(*command)
        assert done.code == 0, done.err
        assert "Edited: 1 edit, not certified." in done.out
        edited = AggregateExplainer.load("edited.oleander")
        assert len(edited.explainers_) == len(atlas.explainers_) - 1
        assert run(*command, "--json").json == {"n_edits": 1, "passed": None}

    def test_a_reserve_certifies_or_does_not(self, files, run):
        _, command = files
        done = run(*command, "--reserve", "new.csv", "--log", "reserve.sqlite")
        assert (done.code, "certified on 300 new rows" in done.out) == (0, True), done.err
        done = run(*command, "--reserve", "said.csv", "--log", "other.sqlite")
        assert (done.code, "or of those that edits are counted on: only new rows" in done.err) == (3, True)
        table = pd.read_csv("new.csv")
        table["said"] = table["said"].to_numpy()[::-1]
        table.iloc[:, :1] = table.iloc[::-1, :1].to_numpy()
        table.to_csv("wrong.csv", index=False)
        done = run(*command, "--reserve", "wrong.csv", "--log", "wrong.sqlite")
        assert (done.code, "Not passed: a floor of" in done.out) == (6, True), done.err
        assert AggregateExplainer.load("edited.oleander").record_.reserved is None
        done = run(*command, "--reserve", "wrong.csv", "--log", "reserve.sqlite")
        assert (done.code, "is of a reserve of other rows" in done.err) == (3, True)

    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            ("[", "edits.json is no file of edits"),
            ("[]", "edits.json is no file of edits"),
            ('{"explainer": "other", "edits": []}', "holds edits of another explainer"),
            ('{"edits": [{"do": "without", "rule": 99}]}', "there is no rule 99"),
        ],
    )
    def test_bad_files_leave_nothing(self, files, run, content, sentence):
        Path("edits.json").write_text(content)
        done = run(*files[1])
        assert (done.code, sentence in done.err) == (3, True), done.err
        assert not Path("edited.oleander").exists()
        done = run(*files[1], "--reserve", "new.csv")
        assert (done.code, "--reserve and --log go together" in done.err) == (2, True)


def test_a_row_of_a_file_is_explained(explained, run, patients, patients_csv):
    done = run("explain-row", explained.atlas, "--data", patients_csv, "--row", 17)
    assert done.code == 0, done.err
    atlas = AggregateExplainer.load(explained.atlas)
    assert done.out == f"{atlas.explain(patients.loc[[17], list(atlas.schema_.names)])}\n"
    facts = run("explain-row", explained.atlas, "--data", patients_csv, "--row", 17, "--json").json
    assert facts["sentences"] == done.out.splitlines()
    assert facts["answer"] == atlas.predict(patients.loc[[17]]).tolist()[0]
    for row in (400, -1):
        done = run("explain-row", explained.atlas, "--data", patients_csv, "--row", row)
        assert f"--row {row} is not in {patients_csv}, whose rows are 0 to 399." in done.sentence


def test_rows_that_cannot_be_read_are_counted_and_a_file_of_them_is_refused(explained, run, patients):
    odd = patients.astype({"age": float})
    odd.loc[:2, "age"] = np.inf
    # No rule uses the ward, so that a new one silences no row.
    odd.assign(ward="attic").to_csv("some.csv", index=False)
    done = run("predict", explained.atlas, "some.csv", "--json")
    assert done.code == 0
    answered = [line["answered"] for line in done.json["predictions"]]
    assert any(answered)
    assert not any(answered[:3])
    assert "note: 3 of 400 rows hold values that the explainer does not know: it is silent there." in done.err
    odd.assign(age=np.inf).to_csv("all.csv", index=False)
    done = run("predict", explained.atlas, "all.csv")
    assert (done.code, "column 'age' holds inf in row 0" in done.sentence) == (3, True)


def test_columns_that_no_rule_uses_may_be_missing(explained, run, patients, patients_csv):
    atlas = AggregateExplainer.load(explained.atlas)
    used = [atlas.schema_.columns[j] for j in sorted(atlas.record_.explainers.columns)]
    assert len(used) < len(atlas.schema_)
    patients[used].assign(said=atlas.predict(patients, abstain="nothing")).to_csv("few.csv", index=False)
    few, whole = (run("predict", explained.atlas, name, "--json").json for name in ("few.csv", patients_csv))
    answers = [[line["answer"] for line in one["predictions"]] for one in (few, whole)]
    assert answers[0] == answers[1]
    assert few["n_answered"] > 0
    rows = [run("explain-row", explained.atlas, "--data", name, "--row", 3).out for name in ("few.csv", patients_csv)]
    assert rows[0] == rows[1]
    assert run("evaluate", explained.atlas, "few.csv", "--labels", "said").code == 0
    refused = run("report", explained.atlas, "--data", "few.csv", "--out", "page.html")
    assert "the data lack columns 'sex', 'ward'; they have 'age'" in refused.sentence


def test_an_explainer_of_an_array_takes_a_file_with_as_many_columns(run):
    X = np.random.default_rng(0).uniform(size=(300, 2))
    atlas = AggregateExplainer(lambda X: X[:, 0] > 0.5, draws=Draws(500), random_state=0).fit(X)
    atlas.save("array.oleander")
    table = pd.DataFrame(X, columns=["a", "b"]).assign(said=X[:, 0] > 0.5)
    table.to_csv("rows.csv", index=False)
    assert run("evaluate", "array.oleander", "rows.csv", "--labels", "said", "--json").json["agreement"] > 0.9
    done = run("predict", "array.oleander", "rows.csv")
    assert "the data have 3 columns, and the explainer needs 2." in done.sentence


def test_tradeoff(explained, run):
    cells = run("tradeoff", explained.atlas, "--json").json["cells"]
    written = pd.read_csv(explained.folder / "tradeoff.csv")
    assert [cell["coverage"] for cell in cells] == pytest.approx(written["coverage"].tolist())
    assert "≥ 0.9" in run("tradeoff", explained.atlas).out


def test_report(explained, run, patients_csv):
    assert run("report", explained.atlas, "--out", "page.html", "--json").json["bytes"] > 0
    assert run("report", explained.atlas, "--data", patients_csv, "--out", "map.html").code == 0
    refused = run("report", explained.atlas, "--read", "missing=n/k")
    assert (refused.code, "--model and --read are about the rows of --data" in refused.sentence) == (2, True)


def test_files_that_are_no_saved_explainers(run, patients_csv):
    done = run("predict", patients_csv, patients_csv)
    assert (done.code, "cannot be read as a saved explainer" in done.sentence) == (3, True)
    assert "No such file" in run("tradeoff", "gone.oleander").sentence


def test_export(explained, run):
    atlas = AggregateExplainer.load(explained.atlas)
    whole = json.dumps(atlas.to_dict(), indent=1) + "\n"
    for form, written in (("sql", atlas.to_sql()), ("python", atlas.to_python()), ("dict", whole)):
        assert run("export", explained.atlas, "--format", form).out == written
        assert run("export", explained.atlas, "--format", form, "--json").json["text"] == written
        done = run("export", explained.atlas, "--format", form, "--out", "x.txt")
        assert f"x.txt is written ({len(written.encode()):,} bytes)" in done.out
        assert Path("x.txt").read_bytes().decode() == written
    command = ("export", explained.atlas, "--ask-model", "--format")
    named = run(*command, "sql", "--dialect", "sqlite", "--table", "my rows").out
    assert named == atlas.to_sql("sqlite", table="my rows", flags=True)
    assert run(*command, "python").out.endswith("    return predict(row) is None\n")
    done = run("export", explained.atlas, "--format", "dossier", "--out", "evidence", "--title", "The clinic")
    assert done.code == 0, done.err
    assert Path("evidence/README.md").read_text().startswith("# The clinic\n")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("", "required: --format"),
        ("--format xml", "--format: invalid choice: 'xml'"),
        ("--format dossier", "give --out, its name"),
        ("--format sql --dialect oracle", "--dialect 'oracle' is not known; use 'duckdb' or 'sqlite'"),
        ("--format dict --dialect sqlite", "--dialect is for --format sql: leave out one."),
        ("--format python --table x", "--table is for --format sql: leave out one."),
        ("--format sql --title x", "--title is for --format dossier: leave out one."),
        ("--format dict --ask-model", "--ask-model is for --format sql or python: leave out one."),
    ],
)
def test_options_of_export_that_do_nothing_or_are_unknown(explained, run, options, sentence):
    done = run("export", explained.atlas, *options.split())
    assert (done.code, sentence in done.sentence) == (2, True), done.err


@pytest.fixture
def rows(explained, run):
    """New patients in new.csv, with the explainer's answers as the model's; one class where it is silent."""
    table = make_patients(600, seed=5).drop(columns="risk")
    answers = AggregateExplainer.load(explained.atlas).predict(table, abstain="low")
    table = table.assign(said=answers)
    table.to_csv("new.csv", index=False)
    return table


def test_a_floor_that_holds_ends_with_0(explained, run, rows):
    command = ("evaluate", explained.atlas, "new.csv", "--labels", "said")
    done = run(*command)
    assert (done.code, "The floor of 90% holds." in done.out) == (0, True), done.err
    facts = run(*command, "--json").json
    expected = {"state": "holds", "agreement": 1.0, "alarm": False, "n_queries": 0, "upper": 1.0}
    assert {name: facts[name] for name in expected} == expected
    assert facts["lower"] < 1


def test_a_broken_floor_ends_with_6(explained, run, rows):
    wrong = np.random.default_rng(0).random(len(rows)) < 0.4
    flipped = np.where(rows["said"] == "low", "high", "low")
    rows.assign(said=np.where(wrong, flipped, rows["said"])).to_csv("new.csv", index=False)
    command = ("evaluate", explained.atlas, "new.csv", "--labels", "said")
    done = run(*command)
    assert (done.code, "The floor of 90% is broken" in done.out) == (6, True)
    done = run(*command, "--json")
    assert (done.code, done.json["state"], done.json["alarm"]) == (6, "broken", True)
    evaluated = AggregateExplainer.load(explained.atlas).evaluate(pd.read_csv("new.csv"), "said")
    assert done.json["agreement"] == pytest.approx(evaluated.agreement)
    assert done.json["coverage"] == pytest.approx(evaluated.coverage)


def test_a_model_is_asked_and_its_rows_are_counted(explained, run, rows):
    rule = "np.where((X['age'] > 60) & (X['dose'].fillna(0) < 3), 'high', 'low')"
    Path("mymodel.py").write_text(f"import numpy as np\ndef decide(X):\n    return {rule}\n")
    done = run("evaluate", explained.atlas, "new.csv", "--model", "mymodel:decide", "--json")
    assert done.code == 0, done.err
    assert done.json["n_queries"] in (len(rows.drop(columns=["patient", "said"]).drop_duplicates()), len(rows))
    assert done.json["agreement"] > 0.9


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        ("", 2, "give --model, which is asked about the rows, or --labels"),
        ("--labels said --model a:b", 2, "and not both"),
        ("--labels said --trust-model", 2, "--trust-model is for a model given with --model"),
        ("--labels sid", 2, "--labels names the column 'sid'"),
        ("--labels age", 3, "and the explainer's labels are 'high', 'low'"),
        ("--labels said --confidence 2", 2, "--confidence 2.0 is not allowed"),
    ],
)
def test_what_cannot_be_judged(explained, run, rows, options, code, sentence):
    done = run("evaluate", explained.atlas, "new.csv", *options.split())
    assert (done.code, sentence in done.sentence) == (code, True), done.err


def test_rows_without_a_label_are_left_out(explained, run, rows):
    command = ("evaluate", explained.atlas, "new.csv", "--labels", "said")
    rows.assign(said=rows["said"].where(rows.index >= 5, None)).to_csv("new.csv", index=False)
    done = run(*command, "--json")
    assert "rows without a value of 'said' are left out: 5." in done.err
    assert done.json["n_rows"] == len(rows) - 5
    rows.assign(said=None).to_csv("new.csv", index=False)
    done = run(*command)
    assert (done.code, "column 'said' has no value" in done.sentence) == (3, True)


def test_a_watch_alarms_with_a_code_and_counts_a_batch_once(explained, run, rows):
    command = ("watch", explained.atlas, "new.csv", "--labels", "said", "--log", "watch.sqlite", "--name")
    done = run(*command, "Monday")
    assert (done.code, done.out) == (0, f"All is well (1 batch, {len(rows)} rows).\n"), done.err
    done = run(*command, "Monday")
    assert (done.code, "has a batch 'Monday' already" in done.sentence) == (3, True)
    rows.assign(said=np.roll(rows["said"], 1)).to_csv("new.csv", index=False)
    done = run(*command, "Tuesday", "--json")
    assert (done.code, done.json["state"], done.json["n_batches"]) == (6, "alarm", 2)
    for _ in range(2):
        done = run("watch", explained.atlas, "--log", "watch.sqlite", "--report", "watch.html")
        assert (done.code, "Alarm: a promise of these rules no longer holds (2 batches" in done.out) == (6, True)
    assert Path("watch.html").exists()
    for options in (["--log", "none.sqlite"], ["--log", "watch.sqlite", "--name", "Friday"]):
        done = run("watch", explained.atlas, *options)
        assert (done.code, "give DATA; to look at a watch, give no option about rows" in done.err) == (2, True)
    assert not Path("none.sqlite").exists()
    done = run(*command, "Wednesday", "--level", "0.01")
    assert (done.code, "watches with level=0.05, not 0.01" in done.sentence) == (3, True)
