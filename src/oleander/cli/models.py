"""The black box of a command: trained by the command, read from a file, or imported by name."""

import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from oleander.black_box.answers import BlackBoxError
from oleander.cli.options import CommandError, ExitCode, Opening, note, wrong_option
from oleander.data.schema import FeatureSchema
from oleander.messages import import_extra, list_some, one_line

N_TREES = 50


def train_trees(
    X: pd.DataFrame, y: NDArray[Any], schema: FeatureSchema, seed: int, n_jobs: int | None, *, is_regression: bool
) -> Any:
    """Return the paper's black box, 50 bagged trees, on columns of any kind; numbers are averaged."""

    def represent(X: pd.DataFrame) -> NDArray[np.float64]:
        # Numbers as they are, and an indicator for each level.
        rows = schema.encode(X)
        indicators = [rows[:, j, None] == np.arange(len(schema[j].levels)) for j in schema.named]
        return np.hstack([rows[:, schema.numbers], *indicators])

    bagging = BaggingRegressor if is_regression else BaggingClassifier
    trees = bagging(n_estimators=N_TREES, random_state=seed, n_jobs=n_jobs)
    return make_pipeline(FunctionTransformer(represent), trees).fit(X, y)


@dataclass(frozen=True, eq=False)
class FileModel:
    """A model from a file of its own format."""

    # From rows to an answer for each: a label, the number of a class, or a score for each class.
    answer: Callable[[pd.DataFrame], Any]
    feature_names_in_: tuple[str, ...] | None = None
    # The number of classes that the file numbers from 0; None where it does not say so.
    n_classes: int | None = None
    # The names that ``--classes`` gives to them.
    classes: tuple[str, ...] = ()

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Return the labels or numbers of the model; of scores, the class with the largest."""
        answer = np.asarray(self.answer(X))
        labels = answer.argmax(axis=1) if answer.ndim == 2 and answer.shape[1] > 1 else answer.ravel()
        if self.n_classes is not None:
            labels = labels.astype(np.intp)
        if not self.classes:
            return np.asarray(labels)
        if labels.dtype.kind not in "biu" or not np.isin(labels, np.arange(len(self.classes))).all():
            raise BlackBoxError(
                f"--classes names {len(self.classes)} classes, and the model answers "
                f"{list_some(np.unique(labels).tolist())}: name each number from 0 on, or leave it out."
            )
        return np.asarray(np.array(self.classes, dtype=object)[labels.astype(np.intp)])


def _open_xgboost(xgboost: Any, path: Path) -> FileModel:
    booster = xgboost.Booster(model_file=path)
    about = json.loads(booster.save_config())["learner"]
    objective, names = about["objective"]["name"], booster.feature_names
    kind = objective.partition(":")[0]
    _check_objective(objective, kind in ("binary", "multi", "reg", "count"))

    def score(X: pd.DataFrame) -> NDArray[Any]:
        rows = _text_as_category(X) if names else X.to_numpy(dtype=float)
        scores: NDArray[Any] = booster.predict(xgboost.DMatrix(rows, enable_categorical=True))
        return scores > (0.0 if objective == "binary:logitraw" else 0.5) if kind == "binary" else scores

    n_classes = max(int(about["learner_model_param"]["num_class"]), 2) if kind in ("binary", "multi") else None
    return FileModel(score, tuple(names) if names else None, n_classes)


def _open_lightgbm(lightgbm: Any, path: Path) -> FileModel:
    if path.read_bytes()[:5] != b"tree\n":
        # LightGBM itself ends the process.
        raise ValueError("it does not start with 'tree'")
    booster = lightgbm.Booster(model_file=str(path))
    objective = str(booster.dump_model(num_iteration=1).get("objective", "none")).partition(" ")[0]
    _check_objective(objective, objective not in ("lambdarank", "rank_xendcg", "none"))

    def score(X: pd.DataFrame) -> NDArray[Any]:
        scores: NDArray[Any] = np.asarray(booster.predict(_text_as_category(X)))
        return scores > 0.5 if objective == "binary" else scores

    is_class = objective in ("binary", "multiclass", "multiclassova")
    n_classes = max(booster.num_model_per_iteration(), 2) if is_class else None
    return FileModel(score, tuple(booster.feature_name()), n_classes)


def _open_catboost(catboost: Any, path: Path) -> FileModel:
    model = catboost.CatBoostClassifier().load_model(str(path))
    if not len(model.classes_):
        model = catboost.CatBoostRegressor().load_model(str(path))
    names = tuple(model.feature_names_)
    # The columns of an array are named by their numbers.
    if all(name.isdigit() for name in names):
        return FileModel(lambda X: model.predict(X.to_numpy()))
    return FileModel(model.predict, names)


def _open_onnx(runtime: Any, path: Path) -> FileModel:
    """Open a model with one input for all columns or one per column; its first output is asked for."""
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    dtypes = {"tensor(string)": object, "tensor(int64)": np.int64, "tensor(float)": np.float32}
    if any(node.type == "tensor(float)" for node in inputs):
        note(f"{path.name} takes 32-bit numbers: rows that differ only in later digits are equal to it.")

    def answer(X: pd.DataFrame) -> Any:
        feed = {}
        for node in inputs:
            rows = X if len(inputs) == 1 else X[[node.name]]
            rows = rows.astype(str) if node.type == "tensor(string)" else rows
            feed[node.name] = rows.to_numpy(dtype=dtypes.get(node.type, np.float64))
        return session.run(None, feed)[0]

    return FileModel(answer, None if len(inputs) == 1 else tuple(node.name for node in inputs))


def _check_objective(objective: str, is_known: bool) -> None:
    if not is_known:
        raise ValueError(f"its objective is {objective!r}, and only classifiers and regressions can be explained")


def _text_as_category(X: pd.DataFrame) -> pd.DataFrame:
    """Return text as categories, which both libraries look up by their names."""
    texts = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name].dtype)]
    return X.astype(dict.fromkeys(texts, "category")) if texts else X


# What kinds of files are called, the packages that open them, the extras that install these, and how.
Format = tuple[str, str, str, Callable[[Any, Path], Any]]
XGBOOST: Format = ("an XGBoost model", "xgboost", "xgboost", _open_xgboost)
PICKLE: Format = ("a saved model", "joblib", "", lambda joblib, path: joblib.load(path))
SKOPS: Format = (
    *("a skops model", "skops.io", "skops"),
    lambda skops, path: skops.load(path, trusted=skops.get_untrusted_types(file=path)),
)
FORMATS: dict[str, Format] = {
    ".json": XGBOOST,
    ".ubj": XGBOOST,
    ".txt": ("a LightGBM model", "lightgbm", "lightgbm", _open_lightgbm),
    ".cbm": ("a CatBoost model", "catboost", "catboost", _open_catboost),
    ".onnx": ("an ONNX model", "onnxruntime", "onnx", _open_onnx),
    ".skops": SKOPS,
    ".joblib": PICKLE,
    ".pkl": PICKLE,
}


def load_model(given: Opening) -> Any:
    """Return the black box that a file holds, or that ``package.module:callable`` names; None if none is given."""
    name, classes = given.model, tuple(given.classes)
    if name is None:
        for option, value in (("--trust-model", given.trust_model), ("--classes", classes)):
            if value:
                raise wrong_option(f"{option} is for a model given with --model.")
        return None
    path = Path(name)
    model = _open(path, given.trust_model) if path.suffix.lower() in FORMATS else _import(name)
    if isinstance(model, FileModel):
        if classes and model.n_classes not in (None, len(classes)):
            raise wrong_option(f"--classes names {len(classes)} classes, and the model has {model.n_classes}.")
        if not classes and model.n_classes is not None:
            note(f"the model numbers its classes from 0 to {model.n_classes - 1}: --classes names them.")
        return replace(model, classes=classes)
    if classes:
        raise wrong_option(f"--classes is for models that only number their classes, and {name} names them itself.")
    if not (callable(model) or hasattr(model, "predict")):
        raise _unusable(f"{name} holds a {type(model).__name__}, which has no predict.")
    return model


def _open(path: Path, is_trusted: bool) -> Any:
    if not path.is_file():
        raise _unusable(f"the model {path} is not a file.")
    kind, needed, extra, read = FORMATS[path.suffix.lower()]
    package = import_extra(needed, extra=extra, purpose=f"Reading {kind}")
    try:
        danger = "can run any code when it is opened" if needed == "joblib" else ""
        if needed == "skops.io" and (strange := package.get_untrusted_types(file=path)):
            danger = f"holds types that skops does not know to be safe ({list_some(strange)})"
        if danger and not is_trusted:
            raise _unusable(f"{path} {danger}: add --trust-model if you trust where it comes from.")
        return read(package, path)
    except CommandError:
        raise
    except Exception as error:
        # XGBoost adds a trace of C++ in further lines.
        why = one_line(ValueError((str(error) or type(error).__name__).splitlines()[0]))
        raise _unusable(f"{path} cannot be read as {kind}: {why}.") from error


def _import(name: str) -> Any:
    module, _, attribute = name.partition(":")
    if not (module and attribute):
        raise wrong_option(
            f"the model {name} is not known: give a {', '.join(FORMATS)} file, or package.module:callable."
        )
    # As with ``python -m``, modules in the working directory can be named.
    sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:
        raise _unusable(f"{name} cannot be imported: {one_line(error)}.") from error
    finally:
        sys.path.pop(0)


def _unusable(sentence: str) -> CommandError:
    return CommandError(sentence, ExitCode.MODEL)
