"""The black box of a command: trained by the command, read from a file, or imported by name."""

import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from oleander.cli.errors import CommandError, ExitCode, note
from oleander.cli.model_files import CatBoostModel, OnnxModel, TorchScriptModel, load_lightgbm, load_xgboost
from oleander.data.schema import FeatureSchema
from oleander.running.wording import one_line

N_TREES = 50
# Files of models that number their classes, and that run no code.
NUMBERED: dict[str, Callable[[Path, Sequence[str]], Any]] = {
    ".onnx": OnnxModel,
    ".json": load_xgboost,
    ".ubj": load_xgboost,
    ".txt": load_lightgbm,
}
TORCHSCRIPT = (".pt", ".pth", ".torchscript")


class BaggedTrees:
    """The paper's black box, 50 bagged trees, on columns of any kind.

    Parameters
    ----------
    schema : FeatureSchema
    random_state : int
    n_jobs : int or None
    is_regression : bool
        Whether the trees answer with numbers, of which the mean is the answer.
    """

    def __init__(
        self, schema: FeatureSchema, random_state: int, n_jobs: int | None = None, *, is_regression: bool = False
    ) -> None:
        self.schema = schema
        bagging, tree = (
            (BaggingRegressor, DecisionTreeRegressor) if is_regression else (BaggingClassifier, DecisionTreeClassifier)
        )
        self.trees = bagging(tree(), N_TREES, random_state=random_state, n_jobs=n_jobs)

    def fit(self, X: pd.DataFrame, y: Any) -> Self:
        """Train the trees."""
        self.trees.fit(self._represent(X), np.asarray(y))
        return self

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Return the majority label, or the mean, of the trees."""
        labels: NDArray[Any] = self.trees.predict(self._represent(X))
        return labels

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in the order of ``predict_proba``."""
        classes: NDArray[Any] = self.trees.classes_
        return classes

    def predict_proba(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the share of the trees, or the mean of their probabilities, for each class."""
        scores: NDArray[np.float64] = self.trees.predict_proba(self._represent(X))
        return scores

    def _represent(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return numbers unchanged, and an indicator column for each level."""
        rows = self.schema.encode(X)
        columns = [rows[:, self.schema.numbers]]
        for j in self.schema.named:
            columns.append((rows[:, j, None] == np.arange(len(self.schema[j].levels))).astype(float))
        return np.hstack(columns)


def load_model(name: str, *, trust_model: bool, classes: Sequence[str] = ()) -> Any:
    """Return the black box that ``--model`` names.

    Parameters
    ----------
    name : str
        A file, or ``package.module:callable``.
    trust_model : bool
        Whether a ``.joblib`` or TorchScript file may be opened. Such a file can run any code when it is opened.
    classes : sequence of str
        The names of the classes of a model whose file only numbers them.
    """
    ending = Path(name).suffix.lower()
    if ending in NUMBERED:
        return NUMBERED[ending](_existing(name), classes)
    if ending in TORCHSCRIPT:
        path = _existing(name)
        _check_trust(name, trust_model)
        return TorchScriptModel(path, classes)
    if classes:
        known = ", ".join((*NUMBERED, *TORCHSCRIPT))
        raise CommandError(
            f"--classes is for models that only number their classes ({known}), and {name} names them itself.",
            ExitCode.USAGE,
        )
    if ending == ".cbm":
        return CatBoostModel(_existing(name))
    if name.endswith((".joblib", ".pkl", ".pickle")):
        path = _existing(name)
        _check_trust(name, trust_model)
        try:
            model = joblib.load(path)
        except Exception as error:
            why = f"{type(error).__name__}: {one_line(error)}"
            raise CommandError(f"{name} cannot be opened as a saved model ({why}).", ExitCode.MODEL) from error
        if not (callable(model) or hasattr(model, "predict") or hasattr(model, "predict_proba")):
            raise CommandError(f"{name} holds a {type(model).__name__}, which has no predict.", ExitCode.MODEL)
        return model
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise CommandError(
            f"--model {name} is not known: give a .joblib, .cbm, "
            f"{', '.join((*NUMBERED, *TORCHSCRIPT))} file, or package.module:callable.",
            ExitCode.USAGE,
        )
    return _import(module, attribute)


def _check_trust(name: str, trust_model: bool) -> None:
    if not trust_model:
        raise CommandError(
            f"{name} can run any code when it is opened, so it is not opened by default: "
            "add --trust-model if you trust where it comes from.",
            ExitCode.MODEL,
        )
    note(f"{name} is opened, and can run any code.")


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
