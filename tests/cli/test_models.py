import joblib
import pytest
from sklearn.tree import DecisionTreeClassifier


@pytest.mark.slow
def test_joblib_is_opened_only_with_trust(run, patients, patients_csv, tmp_path):
    X = patients[["age", "patient"]]
    joblib.dump(DecisionTreeClassifier(random_state=0).fit(X, patients["risk"]), tmp_path / "m.joblib")
    arguments = ("explain", patients_csv, "--model", "m.joblib", "--drop", "dose,sex,ward,risk", "--draws", 0)
    arguments += ("--min-fidelity", 0.7)
    refused = run(*arguments)
    assert refused.code == 4
    assert "add --trust-model if you trust where it comes from" in refused.sentence
    accepted = run(*arguments, "--trust-model", "--json")
    assert accepted.code == 0, accepted.err
    assert "can run any code" in accepted.err
    (tmp_path / "m.joblib").write_bytes(b"no")
    assert run(*arguments, "--trust-model").code == 4
    joblib.dump({"weights": 1}, tmp_path / "m.joblib")
    refused = run(*arguments, "--trust-model")
    assert refused.code == 4
    assert "m.joblib holds a dict, which has no predict." in refused.sentence


@pytest.mark.parametrize(
    ("model", "code", "sentence"),
    [
        ("nowhere:predict", 4, "cannot be imported"),
        ("own_models:absent", 4, "--model names absent, which own_models does not have"),
        (
            "own_models",
            2,
            "give a .joblib, .cbm, .onnx, .json, .ubj, .txt, .pt, .pth, .torchscript file, or package.module:callable",
        ),
        ("gone.onnx", 4, "is not a file"),
        ("own_models:broken", 4, "the black box raised RuntimeError"),
        ("own_models:scores", 4, "looks like a probability"),
    ],
)
def test_bad_models(run, patients_csv, tmp_path, model, code, sentence):
    (tmp_path / "own_models.py").write_text(
        "def broken(X): raise RuntimeError('no')\ndef scores(X): return X['age'].to_numpy() / 7.1\n"
    )
    done = run("explain", patients_csv, "--model", model, "--drop", "risk")
    assert done.code == code
    assert sentence in done.sentence


@pytest.mark.slow
def test_a_named_callable(run, patients_csv, tmp_path):
    (tmp_path / "own_rules.py").write_text("def old(X): return (X['age'] > 60).to_numpy()\n")
    done = run("explain", patients_csv, "--model", "own_rules:old", "--target", "risk", "--draws", 600, "--json")
    assert done.code == 0, done.err
    assert done.json["fidelity"] > 0.9


@pytest.mark.slow
def test_a_model_with_probabilities_only(run, patients, patients_csv, tmp_path):
    (tmp_path / "own_scores.py").write_text(
        "import numpy as np\n"
        "class Model:\n"
        "    classes_ = ['low', 'high']\n"
        "    feature_names_in_ = ['age']\n"
        "    def predict_proba(self, X):\n"
        "        assert list(X.columns) == ['age']\n"
        "        return np.eye(2)[(X['age'] > 60).to_numpy().astype(int)]\n"
        "model = Model()\n"
    )
    done = run("explain", patients_csv, "--model", "own_scores:model", "--target", "risk", "--draws", 600, "--json")
    assert done.code == 0, done.err
    assert "columns that the model was not fitted on are left out: 'dose', 'sex', 'ward', 'patient'." in done.err
    # Nothing but age is in a rule, and the model's own accuracy is known.
    assert done.json["accuracy"] == pytest.approx(((patients["age"] > 60) == (patients["risk"] == "high")).mean())


def test_the_label_does_not_leak(run, patients, tmp_path):
    patients.to_csv(tmp_path / "p.csv", index=False)
    columns = ["age", "patient"]
    joblib.dump(DecisionTreeClassifier(max_depth=3).fit(patients[columns], patients["risk"]), tmp_path / "m.joblib")
    done = run("explain", "p.csv", "--model", "m.joblib", "--trust-model", "--draws", 600, "--out", "out")
    assert done.code == 0, done.err
    rules = (tmp_path / "out" / "explainers.csv").read_text()
    assert "risk" not in rules
    patients[["age", "dose"]].to_csv(tmp_path / "q.csv", index=False)
    lacking = run("explain", "q.csv", "--model", "m.joblib", "--trust-model")
    assert "fitted on 2 columns, of which the data lack 'patient'" in lacking.sentence


def test_a_model_that_does_not_name_its_columns_is_noted(run, patients_csv, tmp_path):
    (tmp_path / "own_rule.py").write_text("def old(X): return (X['age'] > 60).to_numpy()\n")
    done = run("explain", patients_csv, "--model", "own_rule:old", "--draws", 0, "--out", "out")
    assert "the model does not name its columns, so all enter" in done.err


def test_labels_that_are_written_in_two_ways(run, patients_csv, tmp_path):
    (tmp_path / "own_codes.py").write_text("def old(X): return (X['age'] > 60).to_numpy().astype(int)\n")
    done = run("explain", patients_csv, "--model", "own_codes:old", "--target", "risk", "--draws", 600, "--json")
    assert done.code == 0, done.err
    assert "y holds 'high', 'low', and the black box answers 0, 1: no label is in both" in done.err
    assert done.json["accuracy"] is None


def test_classes_of_models_that_name_them(run, patients_csv, tmp_path):
    (tmp_path / "m.joblib").write_bytes(b"no")
    for model in (("--model", "m.joblib"), ("--model", "own_codes:old")):
        done = run("explain", patients_csv, *model, "--classes", "a,b")
        assert done.code == 2
        assert "names them itself" in done.sentence
    done = run("explain", patients_csv, "--target", "risk", "--classes", "a,b")
    assert "--classes is for a model given with --model" in done.sentence
