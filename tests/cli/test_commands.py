import json
import os
import subprocess
import sys

import pandas as pd
import pytest

import oleander
from oleander import AggregateExplainer

FILES = ("atlas.oleander", "explainers.csv", "predictions.csv", "tradeoff.csv", "report.html")


@pytest.fixture
def explained(run, patients_csv, tmp_path):
    done = run("explain", patients_csv, "--target", "risk", "--groups", "patient", "--out", "out", "--json")
    assert done.code == 0, done.err
    return done.json, tmp_path / "out"


def test_explain_writes_everything(explained, patients):
    facts, out = explained
    assert sorted(path.name for path in out.iterdir()) == sorted(FILES)
    atlas = AggregateExplainer.load(out / "atlas.oleander")
    assert facts["coverage"] == atlas.coverage_
    assert "patient" not in atlas.schema_.names
    predictions = pd.read_csv(out / "predictions.csv")
    own = patients.iloc[predictions["row"]][list(atlas.schema_.names)]
    answers = atlas.predict(own)
    assert (predictions["abstains"].to_numpy() == answers.mask).all()
    assert predictions["answer"].dropna().tolist() == answers.compressed().tolist()
    assert predictions.loc[predictions["abstains"], "explainer"].isna().all()
    rules = pd.read_csv(out / "explainers.csv")
    assert len(rules) == sum(len(member.explainer.rules()) for member in atlas.explainers_)


def test_no_group_is_trained_on_and_explained(explained, patients):
    _, out = explained
    rows = pd.read_csv(out / "predictions.csv")["row"]
    new = set(patients.iloc[rows]["patient"])
    old = set(patients.drop(index=rows)["patient"])
    assert not new & old


def test_saved_explainers_predict_report_and_show_the_trade_off(explained, run, patients_csv):
    _, out = explained
    done = run("predict", out / "atlas.oleander", patients_csv, "--json")
    assert done.code == 0, done.err
    assert done.json["n_rows"] == len(done.json["predictions"]) == 400
    assert run("predict", out / "atlas.oleander", patients_csv, "--out", "p.csv").code == 0
    assert pd.read_csv("p.csv")["abstains"].sum() == done.json["n_abstains"]
    cells = run("tradeoff", out / "atlas.oleander", "--json").json["cells"]
    written = pd.read_csv(out / "tradeoff.csv")
    assert [cell["coverage"] for cell in cells] == pytest.approx(written["coverage"].tolist())
    assert "≥ 0.9" in run("tradeoff", out / "atlas.oleander").out
    assert run("report", out / "atlas.oleander", "--out", "page.html", "--json").json["bytes"] > 0


def test_the_same_seed_writes_the_same_answers(explained, run, patients_csv):
    _, out = explained
    run("explain", patients_csv, "--target", "risk", "--groups", "patient", "--out", "again")
    for name in ("explainers.csv", "predictions.csv", "tradeoff.csv"):
        assert (out / name).read_text() == (out.parent / "again" / name).read_text()


def test_compare(run, patients_csv):
    words = ("compare", patients_csv, "--target", "risk", "--methods", "Oleander,naive tree", "--out", "c.csv")
    done = run(*words, "--json")
    assert done.code == 0, done.err
    assert {line["method"] for line in done.json["methods"]} == {"Oleander", "naive tree"}
    assert len(pd.read_csv("c.csv")) == 4
    assert "naive tree" in run(*words).out
    assert (
        "--methods absent is not known"
        in run("compare", patients_csv, "--target", "risk", "--methods", "absent").sentence
    )


def test_demo(run, tmp_path):
    done = run("demo", "--out", "demo")
    assert done.code == 0, done.err
    assert "what one tree would do" in done.out
    assert (tmp_path / "demo" / "report.html").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--min-fidelity", "0.9999"), 5, "Lower min_fidelity"),
        (("--drop", "absent"), 2, "--drop names the column 'absent'"),
        (("--groups", "absent"), 2, "--groups names the column 'absent'"),
        (("--kinds", "age=old"), 2, "write column=kind"),
        (("--kinds", "absent=binary"), 2, "--kinds names the column 'absent'"),
        (("--kinds", "age=binary"), 3, "column 'age' cannot be binary"),
        (("--radius", "wide"), 2, "--radius wide is not understood"),
    ],
)
def test_wrong_options(run, patients_csv, tmp_path, words, code, sentence):
    done = run("explain", patients_csv, "--target", "risk", "--out", "out", *words)
    assert done.code == code
    assert sentence in done.sentence
    assert not (tmp_path / "out").exists()


def test_without_target_or_model(run, patients_csv):
    assert "without --model one is trained" in run("explain", patients_csv).sentence


def test_not_a_saved_explainer(run, patients_csv):
    done = run("predict", patients_csv, patients_csv)
    assert done.code == 3
    assert "cannot be read as a saved explainer" in done.sentence
    assert "No such file" in run("tradeoff", "gone.oleander").sentence


def test_a_column_that_the_explainer_needs(explained, run, patients, tmp_path):
    patients.drop(columns="age").to_csv(tmp_path / "less.csv", index=False)
    done = run("predict", explained[1] / "atlas.oleander", "less.csv")
    assert "the data lack the column 'age'" in done.sentence


def test_what_stood_there_stays_when_a_run_fails(explained, run, patients_csv):
    _, out = explained
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert run("explain", patients_csv, "--target", "risk", "--out", "out", "--min-fidelity", "0.9999").code == 5
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_where_nothing_can_be_written(explained, run, patients_csv, tmp_path, monkeypatch):
    _, out = explained
    taken = tmp_path / "taken"
    taken.write_text("mine")
    for place in ("taken", "taken/below"):
        refused = run("explain", patients_csv, "--target", "risk", "--out", place)
        assert refused.code == 3
        assert f"--out {place} cannot be a folder, because taken is a file." in refused.sentence
    saved = out / "atlas.oleander"
    assert "taken is a file, where a folder is needed" in run("tradeoff", saved, "--out", "taken/f.csv").sentence
    assert run("report", saved, "--out", out).sentence == f"oleander: {out}: Is a directory."
    assert taken.read_text() == "mine"
    before = sorted(tmp_path.rglob("*"))
    # The user who runs the tests may be allowed to write everywhere.
    monkeypatch.setattr("oleander.cli.outputs.os.access", lambda _, mode: mode == os.R_OK)
    refused = run("explain", patients_csv, "--target", "risk", "--out", "new")
    assert "--out new cannot be written: no permission" in refused.sentence
    assert sorted(tmp_path.rglob("*")) == before


def test_a_model_trained_here_is_not_suspected(run, patients_csv):
    done = run("explain", patients_csv, "--target", "risk", "--out", "out", "--drop", "patient")
    assert "trained on" not in done.err


def test_debug_shows_where(run):
    done = run("tradeoff", "gone.oleander", "--debug")
    assert "Traceback" in done.err
    assert done.code == 3


def test_module_and_version():
    done = subprocess.run([sys.executable, "-m", "oleander", "--version", "--json"], check=True, capture_output=True)
    assert json.loads(done.stdout) == {"version": oleander.__version__}


def test_a_reader_who_has_seen_enough(explained, patients_csv):
    command = f"{sys.executable} -m oleander predict {explained[1] / 'atlas.oleander'} {patients_csv} | head -n 1"
    done = subprocess.run(command, shell=True, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("row,answer")
    assert "pipe" not in done.stderr.lower()


def test_no_row_is_written_unasked(run, tmp_path):
    table = pd.DataFrame({"a": range(8), "b": [0, 1] * 4, "risk": list("xxyyxxyy")})
    pd.concat([table] * 60).to_csv(tmp_path / "p.csv", index=False)
    words = ("explain", "p.csv", "--target", "risk", "--candidates", "balls", "--max-explainers", 2, "--out", "out")
    refused = run(*words)
    assert refused.code == 3
    assert refused.sentence.endswith("Allow it with --include-rows.")
    assert not (tmp_path / "out").exists()
    assert run(*words, "--include-rows").code == 0
