"""Models in files answer as the model that was saved, and modules and files that cannot be used are refused."""

from pathlib import Path

import joblib
import lightgbm
import numpy as np
import onnx
import pandas as pd
import pytest
import xgboost
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from oleander.black_box.answers import BlackBoxError
from oleander.black_box.asking import columns_read_by
from oleander.cli.explaining import prepare
from oleander.cli.models import load_model
from oleander.cli.options import CommandError, Explain, Opening


def open_model(path, classes=(), *, trust_model=False):
    return load_model(Opening(model=str(path), trust_model=trust_model, classes=list(classes)))


def write_onnx(path, kind, n_columns=1):
    """Write a model that answers whether the first column is over 60; without columns, it has an input for each."""
    X = f"{kind}[N, 1] age, {kind}[N, 1] weight" if n_columns == 0 else f"{kind}[N, {n_columns}] X"
    column = "Identity(age)" if n_columns == 0 else "Gather<axis=1>(X, first)"
    model = onnx.parser.parse_model(f"""
        <ir_version: 9, opset_import: ["" : 17]> over ({X}) => (int64[N, 1] label)
        <int64[1] first = {{0}}, {kind} limit = {{60.0}}>
        {{ column = {column} more = Greater(column, limit) label = Cast<to=7>(more) }}
    """)
    path.write_bytes(model.SerializeToString())


@pytest.mark.parametrize(("kind", "n_columns"), [("double", 1), ("double", 2), ("double", 0), ("float", 1)])
def test_onnx(tmp_path, capsys, kind, n_columns):
    write_onnx(tmp_path / "m.onnx", kind, n_columns)
    rows = pd.DataFrame({"age": [59.0, 61.0], "weight": 0.5}).iloc[:, : n_columns or 2]
    assert open_model(tmp_path / "m.onnx").predict(rows).tolist() == [0, 1]
    assert ("32-bit" in capsys.readouterr().err) == (kind == "float")
    assert open_model(tmp_path / "m.onnx", ["young", "old"]).predict(rows).tolist() == ["young", "old"]
    with pytest.raises(BlackBoxError, match="--classes names 1 classes, and the model answers 0, 1"):
        open_model(tmp_path / "m.onnx", ["young"]).predict(rows)


def make_rows(n_rows=300):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "mean age": rng.integers(20, 90, n_rows),
            "dose": rng.uniform(0, 5, n_rows),
            "ward": rng.choice(["north", "south", "west"], n_rows),
        }
    )


X = make_rows()
CODES = {
    2: ((X["mean age"] > 60) & (X["ward"] != "west")).to_numpy().astype(int),
    3: np.where(X["mean age"] > 60, 2, np.where(X["ward"] == "west", 1, 0)),
}
NAMES = ("low", "mid", "high")


def with_categories(table):
    return table.assign(ward=table["ward"].astype("category"))


def save(model, path):
    getattr(model, "booster_", model).save_model(path)


class TestBoostedTrees:
    @pytest.mark.parametrize("name", ["m.json", "m.ubj", "m.txt"])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_labels_are_those_of_the_model(self, tmp_path, name, n_classes):
        xgb = xgboost.XGBClassifier(n_estimators=10, enable_categorical=True)
        model = lightgbm.LGBMClassifier(n_estimators=10, verbose=-1) if name == "m.txt" else xgb
        save(model.fit(with_categories(X), CODES[n_classes]), tmp_path / name)
        loaded, named = open_model(tmp_path / name), open_model(tmp_path / name, NAMES[:n_classes])
        expected = model.predict(with_categories(X))
        # Text of the file becomes categories, also where some are missing from it.
        for rows in (X.index, X.index[X["ward"] != "north"]):
            np.testing.assert_array_equal(loaded.predict(X.loc[rows]), expected[rows])
        assert named.predict(X).tolist() == [NAMES[code] for code in expected]
        # LightGBM writes an underscore for a space.
        assert columns_read_by(loaded) == ("mean_age" if name == "m.txt" else "mean age", "dose", "ward")
        with pytest.raises(CommandError, match=f"--classes names 1 classes, and the model has {n_classes}"):
            open_model(tmp_path / name, ["one"])

    @pytest.mark.parametrize("objective", ["binary:logitraw", "binary:hinge", "multi:softmax"])
    def test_objectives(self, tmp_path, objective):
        options = {"objective": objective} | ({"num_class": 2} if objective.startswith("multi") else {})
        rows = X[["mean age", "dose"]]
        trained = xgboost.train(options, xgboost.DMatrix(rows, CODES[2]), 10)
        trained.save_model(tmp_path / "m.ubj")
        scores = trained.predict(xgboost.DMatrix(rows))
        expected = scores > 0 if objective == "binary:logitraw" else scores
        np.testing.assert_array_equal(open_model(tmp_path / "m.ubj").predict(rows), expected.astype(int))

    def test_a_model_of_an_array(self, tmp_path):
        rows = X[["mean age", "dose"]]
        model = xgboost.XGBClassifier(n_estimators=5).fit(rows.to_numpy(), CODES[2])
        save(model, tmp_path / "m.json")
        loaded = open_model(tmp_path / "m.json")
        assert columns_read_by(loaded) is None
        np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows.to_numpy()))

    @pytest.mark.parametrize(
        ("name", "model"),
        [
            ("m.json", xgboost.XGBRegressor(n_estimators=4, objective="reg:squarederror")),
            ("m.json", xgboost.XGBRegressor(n_estimators=4, objective="count:poisson")),
            ("m.txt", lightgbm.LGBMRegressor(n_estimators=4, verbose=-1, objective="regression_l1")),
        ],
    )
    def test_a_regression(self, tmp_path, name, model):
        save(model.fit(X[["dose"]], X["dose"]), tmp_path / name)
        loaded = open_model(tmp_path / name)
        assert columns_read_by(loaded) == ("dose",)
        np.testing.assert_allclose(loaded.predict(X[["dose"]]), model.predict(X[["dose"]]))
        with pytest.raises(BlackBoxError, match="--classes names 2 classes, and the model answers"):
            open_model(tmp_path / name, ("a", "b")).predict(X[["dose"]])

    @pytest.mark.parametrize(
        ("name", "model", "groups", "objective"),
        [
            ("m.json", xgboost.XGBRanker(n_estimators=2), {"qid": np.zeros(len(X))}, "rank:ndcg"),
            ("m.txt", lightgbm.LGBMRanker(n_estimators=2, verbose=-1), {"group": [len(X)]}, "lambdarank"),
        ],
    )
    def test_ranks_cannot_be_explained(self, tmp_path, name, model, groups, objective):
        save(model.fit(X[["dose"]], CODES[2], **groups), tmp_path / name)
        with pytest.raises(CommandError, match=f"its objective is '{objective}', and only classifiers and regressions"):
            open_model(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("n.json", "{}", "an XGBoost model"),
        ("n.txt", "age,dose\n1,2\n", "a LightGBM model"),
        ("n.cbm", "no", "a CatBoost model"),
        ("n.onnx", "no", "an ONNX model"),
    ],
)
def test_files_that_are_no_models(tmp_path, name, content, kind):
    if name == "n.cbm":
        pytest.importorskip("catboost")
    (tmp_path / name).write_text(content)
    with pytest.raises(CommandError, match=f"cannot be read as {kind}") as caught:
        open_model(tmp_path / name)
    assert "Stack trace" not in str(caught.value)


def test_the_columns_that_a_model_reads_are_found_and_others_left_out(tmp_path, run, capsys):
    rows = X[["mean age", "dose"]]
    save(lightgbm.LGBMClassifier(n_estimators=10, verbose=-1).fit(rows, CODES[2]), tmp_path / "m.txt")
    rows[["dose", "mean age"]].assign(risk=CODES[2]).to_csv("p.csv", index=False)
    with pytest.warns(UserWarning, match="the black box was not fitted on are left out: 'risk'"):
        # LightGBM writes an underscore for the space.
        assert list(prepare(Explain(data=Path("p.csv"), model="m.txt")).rows["X"]) == ["mean age", "dose"]
    assert "note: the model numbers its classes from 0 to 1: --classes names them." in capsys.readouterr().err
    rows[["mean age"]].to_csv("q.csv", index=False)
    lacking = run("explain", "q.csv", "--model", "m.txt")
    assert "fitted on 2 columns, of which the data lack 'dose'" in lacking.sentence


def test_catboost(tmp_path):
    catboost = pytest.importorskip("catboost")
    options = {"iterations": 10, "verbose": 0, "allow_writing_files": False}
    labels = np.array(NAMES)[CODES[3]]
    model = catboost.CatBoostClassifier(**options, cat_features=["ward"]).fit(X, labels)
    model.save_model(str(tmp_path / "m.cbm"))
    loaded = open_model(tmp_path / "m.cbm")
    assert columns_read_by(loaded) == ("mean age", "dose", "ward")
    assert loaded.predict(X).tolist() == model.predict(X).ravel().tolist()
    numbers = X[["mean age", "dose"]]
    catboost.CatBoostClassifier(**options).fit(numbers.to_numpy(), CODES[2]).save_model(str(tmp_path / "a.cbm"))
    assert columns_read_by(open_model(tmp_path / "a.cbm")) is None
    assert set(open_model(tmp_path / "a.cbm").predict(numbers).tolist()) == {0, 1}
    regression = catboost.CatBoostRegressor(**options).fit(numbers, X["dose"])
    regression.save_model(str(tmp_path / "r.cbm"))
    np.testing.assert_allclose(open_model(tmp_path / "r.cbm").predict(numbers), regression.predict(numbers))


def test_skops(tmp_path):
    skops = pytest.importorskip("skops.io")
    rows = X[["mean age", "dose"]]
    model = LogisticRegression().fit(rows, CODES[2])
    skops.dump(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(open_model(tmp_path / "m.skops").predict(rows), model.predict(rows))
    # skops itself does not trust the nodes of a tree.
    tree = DecisionTreeClassifier(max_depth=2).fit(rows, CODES[2])
    skops.dump(tree, tmp_path / "t.skops")
    with pytest.raises(CommandError, match=r"holds types .* \('sklearn.tree._tree.Tree'\): add --trust-model"):
        open_model(tmp_path / "t.skops")
    trusted = open_model(tmp_path / "t.skops", trust_model=True)
    np.testing.assert_array_equal(trusted.predict(rows), tree.predict(rows))


def test_joblib_is_opened_only_with_trust(tmp_path):
    rows = X[["mean age", "dose"]]
    tree = DecisionTreeClassifier(random_state=0).fit(rows, CODES[2])
    joblib.dump(tree, tmp_path / "m.joblib")
    with pytest.raises(CommandError, match="add --trust-model if you trust where it comes from") as caught:
        open_model(tmp_path / "m.joblib")
    assert caught.value.code == 4
    opened = open_model(tmp_path / "m.joblib", trust_model=True)
    assert opened.predict(rows).tolist() == tree.predict(rows).tolist()
    (tmp_path / "m.joblib").write_bytes(b"no")
    with pytest.raises(CommandError, match="cannot be read as a saved model"):
        open_model(tmp_path / "m.joblib", trust_model=True)
    joblib.dump({"weights": 1}, tmp_path / "m.joblib")
    with pytest.raises(CommandError, match=r"m\.joblib holds a dict, which has no predict"):
        open_model(tmp_path / "m.joblib", trust_model=True)


@pytest.mark.parametrize(
    ("model", "code", "sentence"),
    [
        ("nowhere:predict", 4, "cannot be imported"),
        ("own_models:absent", 4, "own_models:absent cannot be imported: module 'own_models' has no attribute"),
        ("own_models", 2, "give a .json, .ubj, .txt, .cbm, .onnx, .skops, .joblib, .pkl file, or package.module:"),
        ("gone.onnx", 4, "is not a file"),
        ("own_models:broken", 4, "the black box raised RuntimeError"),
        ("own_models:scores", 4, "looks like a probability"),
        ("own_models:old --classes a,b", 2, "names them itself"),
    ],
)
def test_bad_models(run, patients_csv, tmp_path, model, code, sentence):
    (tmp_path / "own_models.py").write_text(
        "def broken(X): raise RuntimeError('no')\ndef scores(X): return X['age'].to_numpy() / 7.1\n"
        "def old(X): return ['a'] * len(X)\n"
    )
    done = run("explain", patients_csv, "--drop", "risk", "--model", *model.split())
    assert done.code == code
    assert sentence in done.sentence
