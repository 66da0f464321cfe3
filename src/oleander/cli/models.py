"""The black box of a command: trained by the command, read from a file, or imported by name."""

import importlib
import sys
from pathlib import Path
from typing import Any, Self

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

from oleander.cli.errors import CommandError, ExitCode, note
from oleander.data.schema import FeatureSchema
from oleander.running.extras import import_extra
from oleander.running.wording import one_line

N_TREES = 50


class BaggedTrees:
    """The paper's black box, 50 bagged trees, on columns of any kind.

    Parameters
    ----------
    schema : FeatureSchema
    random_state : int
    n_jobs : int or None
    """

    def __init__(self, schema: FeatureSchema, random_state: int, n_jobs: int | None = None) -> None:
        self.schema = schema
        self.trees = BaggingClassifier(DecisionTreeClassifier(), N_TREES, random_state=random_state, n_jobs=n_jobs)

    def fit(self, X: pd.DataFrame, y: Any) -> Self:
        """Train the trees."""
        self.trees.fit(self._represent(X), np.asarray(y))
        return self

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Return the majority label of the trees."""
        labels: NDArray[Any] = self.trees.predict(self._represent(X))
        return labels

    def _represent(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return numbers unchanged, and an indicator column for each level."""
        rows = self.schema.encode(X)
        columns = [rows[:, self.schema.numbers]]
        for j in self.schema.named:
            columns.append((rows[:, j, None] == np.arange(len(self.schema[j].levels))).astype(float))
        return np.hstack(columns)


class OnnxModel:
    """A model in an ONNX file, with one input for all columns or one per column; labels are its first output."""

    def __init__(self, path: Path) -> None:
        runtime = import_extra("onnxruntime", extra="onnx", purpose="Reading an .onnx file")
        try:
            self._session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        except Exception as error:
            raise CommandError(f"{path} cannot be read as an ONNX model: {one_line(error)}.", ExitCode.MODEL) from error
        self._inputs = self._session.get_inputs()
        if any(node.type == "tensor(float)" for node in self._inputs):
            note(f"{path.name} takes 32-bit numbers: rows that differ only in later digits are equal to it.")

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Return the first output; where it is a table of scores, the index of the largest score of each row."""
        if len(self._inputs) == 1:
            feed = {self._inputs[0].name: self._cast(X, self._inputs[0].type)}
        else:
            feed = {node.name: self._cast(X[[node.name]], node.type) for node in self._inputs}
        answer = np.asarray(self._session.run(None, feed)[0])
        if answer.ndim == 2 and answer.shape[1] > 1:
            return np.asarray(answer.argmax(axis=1))
        return answer.ravel()

    @staticmethod
    def _cast(X: pd.DataFrame, kind: str) -> NDArray[Any]:
        if kind == "tensor(string)":
            X = X.astype(str)
        dtypes = {"tensor(string)": object, "tensor(int64)": np.int64, "tensor(float)": np.float32}
        return np.asarray(X.to_numpy(dtype=dtypes.get(kind, np.float64)))


def load_model(name: str, *, trust_model: bool) -> Any:
    """Return the black box that ``--model`` names.

    Parameters
    ----------
    name : str
        A ``.joblib`` or ``.onnx`` file, or ``package.module:callable``.
    trust_model : bool
        Whether a ``.joblib`` file may be opened. Such a file can run any code when it is opened.
    """
    if name.endswith(".onnx"):
        return OnnxModel(_existing(name))
    if name.endswith((".joblib", ".pkl", ".pickle")):
        path = _existing(name)
        if not trust_model:
            raise CommandError(
                f"{name} can run any code when it is opened, so it is not opened by default: "
                "add --trust-model if you trust where it comes from.",
                ExitCode.MODEL,
            )
        note(f"{name} is opened, and can run any code.")
        try:
            model = joblib.load(path)
        except Exception as error:
            why = f"{type(error).__name__}: {one_line(error)}"
            raise CommandError(f"{name} cannot be opened as a saved model ({why}).", ExitCode.MODEL) from error
        if not (callable(model) or hasattr(model, "predict")):
            raise CommandError(f"{name} holds a {type(model).__name__}, which has no predict.", ExitCode.MODEL)
        return model
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise CommandError(
            f"--model {name} is not known: give a .joblib or .onnx file, or package.module:callable.", ExitCode.USAGE
        )
    return _import(module, attribute)


def _existing(name: str) -> Path:
    if not Path(name).is_file():
        raise CommandError(f"--model {name} is not a file.", ExitCode.MODEL)
    return Path(name)


def _import(module: str, attribute: str) -> Any:
    # As with ``python -m``, modules in the working directory can be named.
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = importlib.import_module(module)
    except Exception as error:
        raise CommandError(
            f"--model names the module {module}, which cannot be imported: {error}", ExitCode.MODEL
        ) from error
    finally:
        sys.path.pop(0)
    if not hasattr(found, attribute):
        raise CommandError(f"--model names {attribute}, which {module} does not have.", ExitCode.MODEL)
    return getattr(found, attribute)
