"""Models in files of their own formats: XGBoost, LightGBM, CatBoost, ONNX and TorchScript.

All but TorchScript are data, and run no code of their own when they are opened.
"""

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.black_box.asking import BlackBoxError
from oleander.cli.errors import CommandError, ExitCode, note
from oleander.running.extras import import_extra
from oleander.running.wording import list_some, one_line

# What a score of one column is compared with, by the objective of the model.
XGBOOST_OBJECTIVES = {
    "binary:logistic": 0.5,
    "binary:hinge": 0.5,
    "binary:logitraw": 0.0,
    "multi:softprob": 0.5,
    "multi:softmax": None,
}
LIGHTGBM_OBJECTIVES = ("binary", "multiclass", "multiclassova")
# Objectives of models that answer with numbers.
XGBOOST_NUMBERS = (
    *("reg:squarederror", "reg:squaredlogerror", "reg:pseudohubererror", "reg:absoluteerror", "reg:quantileerror"),
    *("reg:gamma", "reg:tweedie", "count:poisson"),
)
LIGHTGBM_NUMBERS = (
    *("regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie"),
)


@dataclass(frozen=True, eq=False)
class ScoringModel:
    """A model that scores classes by their numbers.

    Parameters
    ----------
    score : callable
        From rows to a score per row, or to one per row and class.
    threshold : float or None
        A single score over this is class 1. None for scores that are the numbers of classes.
    n_classes : int
    classes : tuple of str
        The names of the classes; without them, labels are numbers.
    feature_names_in_ : tuple of str or None
        The columns that the model reads.
    """

    score: Callable[[pd.DataFrame], Any]
    threshold: float | None
    n_classes: int
    classes: tuple[str, ...] = ()
    feature_names_in_: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.classes and len(self.classes) != self.n_classes:
            raise CommandError(
                f"--classes names {len(self.classes)} classes, and the model has {self.n_classes}.", ExitCode.USAGE
            )

        if not self.classes:
            note(f"the model numbers its classes from 0 to {self.n_classes - 1}: --classes names them.")

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Return the class with the largest score of each row."""
        scores = np.asarray(self.score(X))
        if scores.ndim == 2 and scores.shape[1] > 1:
            codes = scores.argmax(axis=1)
        else:
            flat = scores.ravel()
            codes = flat.astype(np.intp) if self.threshold is None else (flat > self.threshold).astype(np.intp)
        return np.asarray(np.array(self.classes, dtype=object)[codes] if self.classes else codes)


@dataclass(frozen=True, eq=False)
class NumberModel:
    """A model that answers with a number.

    Parameters
    ----------
    path : Path
    score : callable
        From rows to a number for each.
    classes : tuple of str
        Refused: numbers have no classes.
    feature_names_in_ : tuple of str or None
        The columns that the model reads.
    """

    path: Path
    score: Callable[[pd.DataFrame], Any]
    classes: tuple[str, ...] = ()
    feature_names_in_: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.classes:
            raise CommandError(
                f"--classes is for classes, and {self.path} answers with numbers: leave it out.", ExitCode.USAGE
            )

    def predict(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the numbers."""
        return np.asarray(self.score(X), dtype=np.float64).ravel()


def load_xgboost(path: Path, classes: Sequence[str] = ()) -> ScoringModel | NumberModel:
    """Return the classifier or the regression in an XGBoost file, JSON or UBJSON."""
    xgboost = import_extra("xgboost", extra="xgboost", purpose="Reading an XGBoost model")
    booster = xgboost.Booster()
    try:
        booster.load_model(path)
        about = json.loads(booster.save_config())["learner"]
    except Exception as error:
        # The second line is a trace of C++.
        first = str(error).splitlines()[0]
        raise CommandError(f"{path} cannot be read as an XGBoost model: {first}.", ExitCode.MODEL) from error
    objective = about["objective"]["name"]
    _check_objective(path, objective, (*XGBOOST_OBJECTIVES, *XGBOOST_NUMBERS))
    names = booster.feature_names
    if "c" in (booster.feature_types or ()) and not hasattr(booster, "get_categories"):
        raise CommandError(f"{path} has columns of categories, for which XGBoost 3.1 is needed.", ExitCode.MODEL)

    def score(X: pd.DataFrame) -> Any:
        rows = _text_as_category(X) if names else X.to_numpy(dtype=float)
        return booster.predict(xgboost.DMatrix(rows, enable_categorical=True))

    columns = tuple(names) if names else None
    if objective in XGBOOST_NUMBERS:
        return NumberModel(path, score, tuple(classes), columns)
    n_classes = max(int(about["learner_model_param"]["num_class"]), 2)
    return ScoringModel(score, XGBOOST_OBJECTIVES[objective], n_classes, tuple(classes), columns)


def load_lightgbm(path: Path, classes: Sequence[str] = ()) -> ScoringModel | NumberModel:
    """Return the classifier or the regression in a LightGBM text file."""
    lightgbm = import_extra("lightgbm", extra="lightgbm", purpose="Reading a LightGBM model")
    if path.read_bytes()[:5] != b"tree\n":
        raise CommandError(f"{path} cannot be read as a LightGBM model: it does not start with 'tree'.", ExitCode.MODEL)
    try:
        booster = lightgbm.Booster(model_file=str(path))
        objective = str(booster.dump_model(num_iteration=1).get("objective", "none")).partition(" ")[0]
    except Exception as error:
        raise CommandError(f"{path} cannot be read as a LightGBM model: {one_line(error)}.", ExitCode.MODEL) from error
    _check_objective(path, objective, (*LIGHTGBM_OBJECTIVES, *LIGHTGBM_NUMBERS))

    def score(X: pd.DataFrame) -> Any:
        return booster.predict(_text_as_category(X))

    columns = tuple(booster.feature_name())
    if objective in LIGHTGBM_NUMBERS:
        return NumberModel(path, score, tuple(classes), columns)
    return ScoringModel(score, 0.5, max(booster.num_model_per_iteration(), 2), tuple(classes), columns)


class CatBoostModel:
    """A classifier in a CatBoost file, which names its classes, or a regression."""

    def __init__(self, path: Path) -> None:
        catboost = import_extra("catboost", extra="catboost", purpose="Reading a CatBoost model")
        self._model = catboost.CatBoostClassifier()
        try:
            self._model.load_model(str(path))
            if not len(self._model.classes_):
                self._model = catboost.CatBoostRegressor()
                self._model.load_model(str(path))
        except Exception as error:
            why = one_line(error)
            raise CommandError(f"{path} cannot be read as a CatBoost model: {why}.", ExitCode.MODEL) from error
        names = tuple(self._model.feature_names_)
        # The columns of an array are named by their numbers.
        self.feature_names_in_ = None if all(name.isdigit() for name in names) else names

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Return the labels, or the numbers of a regression."""
        return np.asarray(self._model.predict(X if self.feature_names_in_ else X.to_numpy())).ravel()


class TorchScriptModel:
    """A TorchScript module that takes 32-bit numbers, all columns in one tensor, and scores each class.

    Parameters
    ----------
    path : Path
    classes : sequence of str
        The names of the classes; without them, labels are numbers.
    """

    def __init__(self, path: Path, classes: Sequence[str] = ()) -> None:
        self._torch = import_extra("torch", extra="torch", purpose="Reading a TorchScript file")
        try:
            with warnings.catch_warnings():
                # torch.jit is deprecated, and there is no other way to open such a file.
                warnings.simplefilter("ignore", FutureWarning)
                self._module = self._torch.jit.load(str(path), map_location="cpu").eval()
        except Exception as error:
            why = one_line(error)
            raise CommandError(f"{path} cannot be read as TorchScript: {why}.", ExitCode.MODEL) from error
        self._classes = np.array(classes, dtype=object)
        note(f"{path.name} takes 32-bit numbers: rows that differ only in later digits are equal to it.")

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Return the class with the largest score of each row, or the class numbers that the module answers with."""
        with self._torch.no_grad():
            answer = self._module(self._torch.from_numpy(X.to_numpy(dtype=np.float32, copy=True))).numpy()
        if answer.ndim == 2 and answer.shape[1] > 1:
            return _name_classes(answer.argmax(axis=1), self._classes)
        if answer.dtype.kind == "f":
            raise BlackBoxError(
                "the TorchScript module answers with one score per row, which may be a probability or a logit: let it "
                "answer with one score per class, or with class numbers."
            )
        return _name_classes(answer.ravel(), self._classes)


class OnnxModel:
    """A model in an ONNX file, with one input for all columns or one per column; labels are its first output.

    Parameters
    ----------
    path : Path
    classes : sequence of str
        The names of the classes, where the output numbers them.
    """

    def __init__(self, path: Path, classes: Sequence[str] = ()) -> None:
        runtime = import_extra("onnxruntime", extra="onnx", purpose="Reading an .onnx file")
        try:
            self._session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        except Exception as error:
            raise CommandError(f"{path} cannot be read as an ONNX model: {one_line(error)}.", ExitCode.MODEL) from error
        self._inputs = self._session.get_inputs()
        self._classes = np.array(classes, dtype=object)
        self.feature_names_in_ = None if len(self._inputs) == 1 else tuple(node.name for node in self._inputs)
        if any(node.type == "tensor(float)" for node in self._inputs):
            note(f"{path.name} takes 32-bit numbers: rows that differ only in later digits are equal to it.")

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Return the first output; where it is a table of scores, the index of the largest score of each row."""
        if len(self._inputs) == 1:
            feed = {self._inputs[0].name: self._cast(X, self._inputs[0].type)}
        else:
            feed = {node.name: self._cast(X[[node.name]], node.type) for node in self._inputs}
        answer = np.asarray(self._session.run(None, feed)[0])
        labels = answer.argmax(axis=1) if answer.ndim == 2 and answer.shape[1] > 1 else answer.ravel()
        return _name_classes(labels, self._classes)

    @staticmethod
    def _cast(X: pd.DataFrame, kind: str) -> NDArray[Any]:
        if kind == "tensor(string)":
            X = X.astype(str)
        dtypes = {"tensor(string)": object, "tensor(int64)": np.int64, "tensor(float)": np.float32}
        return np.asarray(X.to_numpy(dtype=dtypes.get(kind, np.float64)))


def _name_classes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the names of classes that are given by their numbers; without names, the numbers."""
    if not len(classes):
        return np.asarray(labels)
    if labels.dtype.kind not in "biu" or not np.isin(labels, np.arange(len(classes))).all():
        raise BlackBoxError(
            f"--classes names {len(classes)} classes, and the model answers {list_some(np.unique(labels).tolist())}: "
            "name each number from 0 on, or leave it out."
        )
    return np.asarray(classes[labels.astype(np.intp)])


def _check_objective(path: Path, objective: str, known: Any) -> None:
    if objective not in known:
        raise CommandError(
            f"{path} has the objective {objective!r}, which is not known: {list_some(tuple(known))}.",
            ExitCode.MODEL,
        )


def _text_as_category(X: pd.DataFrame) -> pd.DataFrame:
    """Return text as categories, which both libraries look up by their names."""
    texts = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name].dtype)]
    return X.astype(dict.fromkeys(texts, "category")) if texts else X
