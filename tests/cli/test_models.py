import joblib
import numpy as np
import onnx
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from oleander.cli.model_files import OnnxModel


def write_onnx(path, n_columns, kind=onnx.TensorProto.DOUBLE):
    """Write a model that answers whether the first column is over 60."""
    helper = onnx.helper
    dtype = np.float64 if kind == onnx.TensorProto.DOUBLE else np.float32
    constants = [
        onnx.numpy_helper.from_array(np.array([0]), "first"),
        onnx.numpy_helper.from_array(np.array(60, dtype=dtype), "limit"),
    ]
    nodes = [
        helper.make_node("Gather", ["X", "first"], ["column"], axis=1),
        helper.make_node("Greater", ["column", "limit"], ["over"]),
        helper.make_node("Cast", ["over"], ["label"], to=onnx.TensorProto.INT64),
    ]
    graph = helper.make_graph(
        nodes,
        "over",
        [helper.make_tensor_value_info("X", kind, [None, n_columns])],
        [helper.make_tensor_value_info("label", onnx.TensorProto.INT64, [None, 1])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path.write_bytes(model.SerializeToString())


@pytest.mark.slow
def test_onnx(run, patients, tmp_path):
    table = patients[["age", "risk"]].assign(weight=patients["age"] / 7)
    table.to_csv(tmp_path / "p.csv", index=False)
    write_onnx(tmp_path / "m.onnx", 2)
    done = run("explain", "p.csv", "--model", "m.onnx", "--drop", "risk", "--draws", 600, "--json")
    assert done.code == 0, done.err
    assert done.json["coverage"] > 0.9
    (tmp_path / "bad.onnx").write_text("no")
    refused = run("explain", "p.csv", "--model", "bad.onnx", "--drop", "risk")
    assert refused.code == 4
    assert "cannot be read as an ONNX model" in refused.sentence


def test_onnx_in_32_bits_is_noted(tmp_path, capsys):
    write_onnx(tmp_path / "m.onnx", 1, onnx.TensorProto.FLOAT)
    answers = OnnxModel(tmp_path / "m.onnx").predict(pd.DataFrame({"age": [59.0, 61.0]}))
    assert answers.tolist() == [0, 1]
    assert "32-bit" in capsys.readouterr().err


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
        ("own_models", 2, "give a .joblib, .cbm, .onnx, .json, .ubj, .txt file, or package.module:callable"),
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
