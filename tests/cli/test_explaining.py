"""The commands that fit: explain and compare."""

import shutil

import pandas as pd
import pytest

from oleander import AggregateExplainer

FILES = ("atlas.oleander", "explainers.csv", "predictions.csv", "tradeoff.csv", "report.html")


def test_explain_writes_all_files(explained, patients):
    assert sorted(path.name for path in explained.folder.iterdir()) == sorted(FILES)
    atlas = AggregateExplainer.load(explained.atlas)
    assert explained.facts["coverage"] == atlas.coverage_
    assert "patient" not in atlas.schema_.names
    predictions = pd.read_csv(explained.folder / "predictions.csv")
    rows = patients.iloc[predictions["row"]][list(atlas.schema_.names)]
    answers = atlas.predict(rows)
    assert (predictions["abstains"].to_numpy() == answers.mask).all()
    assert predictions["answer"].dropna().tolist() == answers.compressed().tolist()
    assert predictions.loc[predictions["abstains"], "explainer"].isna().all()
    rules = pd.read_csv(explained.folder / "explainers.csv")
    assert len(rules) == sum(len(member.explainer.rules()) for member in atlas.explainers_)


def test_no_group_is_trained_on_and_explained(explained, patients):
    rows = pd.read_csv(explained.folder / "predictions.csv")["row"]
    new = set(patients.iloc[rows]["patient"])
    trained = set(patients.drop(index=rows)["patient"])
    assert not new & trained


@pytest.mark.slow
def test_the_same_seed_writes_the_same_answers(explained, run):
    run(*explained.arguments, "--out", "again")
    for name in ("explainers.csv", "predictions.csv", "tradeoff.csv"):
        with open(f"again/{name}") as again:
            assert (explained.folder / name).read_text() == again.read()


@pytest.mark.slow
@pytest.mark.parametrize("options", [("--draws", 0), ("--candidates", "balls"), ("--radius", 1.5)], ids=str)
def test_ways_to_candidates(run, patients_csv, options):
    done = run("explain", patients_csv, "--target", "risk", "--max-explainers", 2, "--json", *options)
    assert done.code == 0, done.err
    assert done.json["gap"] == 0
    assert done.json["certificate"] is None


@pytest.mark.slow
def test_budgets_and_refits(run, patients_csv):
    asked = ("explain", patients_csv, "--target", "risk", "--draws", 2_000)
    done = run(*asked, "--max-rules", 3, "--max-conditions", 1, "--stability", 2)
    assert done.code == 0, done.err
    assert "in 2 refits on parts of the draws" in done.out
    rules = pd.read_csv("oleander-out/explainers.csv")
    assert len(rules) <= 3
    assert (rules["refits"] == 2).all()
    assert not rules["where"].str.contains(" and ").any()


@pytest.mark.parametrize("options", [("--draws", 0), ("--candidates", "balls")], ids=str)
def test_refits_without_draws_are_refused(run, patients_csv, options):
    done = run("explain", patients_csv, "--target", "risk", "--stability", 2, *options)
    assert done.code == 2
    assert "--stability is for explainers learned from draws" in done.err


@pytest.mark.slow
def test_compare(run, patients_csv):
    arguments = ("compare", patients_csv, "--target", "risk", "--methods", "Oleander,naive tree", "--out", "c.csv")
    done = run(*arguments, "--json")
    assert done.code == 0, done.err
    assert {line["method"] for line in done.json["methods"]} == {"Oleander", "naive tree"}
    assert len(pd.read_csv("c.csv")) == 4
    assert "naive tree" in run(*arguments).out
    refused = run("compare", patients_csv, "--target", "risk", "--methods", "absent")
    assert "--methods absent is not known" in refused.sentence
    refused = run("compare", patients_csv, "--target", "risk", "--methods", "naive tree", "--radius", 7)
    assert "--radius is for the method paper" in refused.sentence


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (("--min-fidelity", "0.9999", "--draws", "600"), 5, "ower min_fidelity"),
        (("--drop", "absent"), 2, "--drop names the column 'absent'"),
        (("--groups", "absent"), 2, "--groups names the column 'absent'"),
        (("--kinds", "age=old"), 2, "write column=kind"),
        (("--kinds", "absent=binary"), 2, "--kinds names the column 'absent'"),
        (("--kinds", "age=binary"), 3, "column 'age' cannot be binary"),
        (("--radius", "wide"), 2, "--radius wide is not allowed: give auto, a number"),
        (("--radius", "1", "--candidates", "trees"), 2, "--radius is for balls, and --candidates is trees"),
        (("--draws", "500", "--candidates", "trees"), 2, "--draws is for --candidates auto"),
        (("--time-limit", "5"), 2, "--time-limit 5.0 does nothing where explainers are learned by asking"),
        (("--background", "patients.csv"), 2, "--background is for a model given with --model"),
        (("--background", "patients.csv", "--draws", "0"), 2, "--background is for draws, and these options make none"),
    ],
)
def test_wrong_options(run, patients_csv, tmp_path, options, code, sentence):
    done = run("explain", patients_csv, "--target", "risk", "--out", "out", *options)
    assert done.code == code
    assert sentence in done.sentence
    assert not (tmp_path / "out").exists()


def test_files_of_an_earlier_run_stay_when_a_run_fails(explained, run, tmp_path):
    shutil.copytree(explained.folder, tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert run(*explained.arguments, "--out", "out", "--min-fidelity", "0.9999").code == 5
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_no_row_is_written_by_default(run, tmp_path):
    # Levels are not rounded, so a ball around a row holds the row.
    table = pd.DataFrame({"a": [0, 1] * 4, "b": [0, 0, 1, 1] * 2, "risk": list("xyxyxyxy")})
    pd.concat([table] * 60).to_csv(tmp_path / "p.csv", index=False)
    arguments = ("explain", "p.csv", "--target", "risk", "--candidates", "balls", "--max-explainers", 2, "--out", "out")
    refused = run(*arguments)
    assert refused.code == 3
    assert refused.sentence.endswith("Allow it with --include-rows.")
    assert not (tmp_path / "out").exists()
    assert run(*arguments, "--include-rows").code == 0
