"""The command compare-models: where two models differ, in rules."""

import numpy as np
import pandas as pd
import pytest

MODELS = """
import numpy as np

def old(X):
    return np.where(X["age"] > 60, "high", "low")

def new(X):
    return np.where((X["age"] > 60) & (X["ward"] != "west"), "high", "low")

def numbers(X):
    return (X["age"] > 60).astype(int)

def broken(X):
    raise RuntimeError("no such model")
"""


@pytest.fixture
def models(tmp_path, monkeypatch):
    """A module of models whose name no other test uses."""
    name = f"models_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{name}.py").write_text(MODELS)
    return lambda function: f"{name}:{function}"


COMMON = ("--target", "risk", "--drop", "patient", "--draws", 2000)


def test_rules_of_the_difference(run, models, patients, patients_csv):
    done = run("compare-models", models("old"), models("new"), patients_csv, *COMMON, "--json")
    assert done.code == 0, done.err
    differs = (patients["age"] > 60) & (patients["ward"] == "west")
    assert done.json["n_differ"] == differs.sum()
    assert done.json["lower"] < done.json["share"] < done.json["upper"]
    pairs = {line["label"]: line["rows"] for line in done.json["pairs"]}
    assert pairs == {"alike": (~differs).sum(), "A says high, B says low": differs.sum()}
    rules = {rule["answer"]: rule["conditions"] for rule in done.json["rules"]}
    assert "ward is west" in rules["A says high, B says low"]
    assert "age > 60" in rules["A says high, B says low"]
    assert done.json["concentrations"][0]["share"] > 0.9
    assert done.json["n_queries"] > 2000


def test_the_text_and_the_file(run, models, patients_csv):
    done = run("compare-models", models("old"), models("new"), patients_csv, *COMMON, "--out", "rules.csv")
    assert done.code == 0, done.err
    assert "A and B differ on" in done.out
    assert "each with 95% confidence" in done.out
    assert "→ A says high, B says low" in done.out
    assert "A says high, B says low" in set(pd.read_csv("rules.csv")["answer"])


def test_models_that_never_differ(run, models, patients_csv):
    done = run("compare-models", models("old"), models("old"), patients_csv, *COMMON)
    assert done.code == 0, done.err
    assert done.out.startswith("A and B differ on 0 of 400 rows: 0.0%, at least 0.0% and at most 0.8%")
    facts = run("compare-models", models("old"), models("old"), patients_csv, *COMMON, "--json").json
    assert facts["rules"] == facts["concentrations"] == []


def test_models_that_cannot_be_compared(run, models, patients_csv):
    done = run("compare-models", models("old"), models("numbers"), patients_csv, *COMMON)
    assert done.code == 4
    assert "labels of different types" in done.sentence
    done = run("compare-models", models("old"), models("broken"), patients_csv, *COMMON)
    assert done.code == 4
    assert "no such model" in done.sentence
    assert run("compare-models", models("old"), models("gone"), patients_csv, *COMMON).code == 4


def test_a_difference_that_no_rule_describes(run, models, patients, tmp_path, monkeypatch):
    (tmp_path / "noisy_models.py").write_text(
        "import numpy as np\n"
        "def a(X):\n    return np.zeros(len(X), dtype=int)\n"
        "def b(X):\n    return (np.floor(X['dose'].fillna(0) * 1e7) % 97 < 2).to_numpy().astype(int)\n"
    )
    patients.assign(dose=np.random.default_rng(0).uniform(0, 5, len(patients))).to_csv("p.csv", index=False)
    done = run("compare-models", "noisy_models:a", "noisy_models:b", "p.csv", *COMMON)
    assert done.code == 0, done.err
    assert "No rule that reaches the floor says: A says 0, B says 1" in done.out
