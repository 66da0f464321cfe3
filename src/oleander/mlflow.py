"""Explainers in MLflow: the saved file and the page are logged together, and loaded as a pyfunc model. No pickle."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oleander.explainer import AggregateExplainer
from oleander.files.saved import FileError
from oleander.messages import import_extra, visible

ATLAS, PAGE = "atlas.oleander", "report.html"


class PyfuncExplainer:
    """A loaded explainer as MLflow's pyfunc calls it: rows in, one answer each out, None where the rules abstain."""

    def __init__(self, atlas: AggregateExplainer) -> None:
        self.atlas = atlas

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> pd.Series:
        """Return the answers for rows; ``params`` are refused, because there are none."""
        if params:
            raise ValueError(f"an explainer has no parameters, and {sorted(params)} were given.")
        answers = self.atlas.predict(model_input)
        given = np.where(np.ma.getmaskarray(answers), None, answers.data.astype(object))
        return pd.Series(given, name="answer", dtype=object)


def log_explainer(atlas: AggregateExplainer, name: str = "explainer", **options: Any) -> Any:
    """Log a fitted explainer with its page to the active run of MLflow, and return what ``log_model`` returns.

    ``options`` are those of ``mlflow.pyfunc.log_model``. ``mlflow.pyfunc.load_model`` returns a model that answers
    rows, and ``load_explainer`` the explainer itself. No row of the data is logged.
    """
    pyfunc = import_extra("mlflow.pyfunc", extra="mlflow", purpose="Logging to MLflow")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        atlas.save(data / ATLAS)
        atlas.report(data / PAGE)
        return pyfunc.log_model(name=name, loader_module="oleander.mlflow", data_path=str(data), **options)


def load_explainer(uri: str, black_box: Any = None) -> AggregateExplainer:
    """Return the explainer that ``log_explainer`` logged under a URI such as ``runs:/.../explainer``."""
    artifacts = import_extra("mlflow.artifacts", extra="mlflow", purpose="Loading from MLflow")
    found = list(Path(artifacts.download_artifacts(uri)).rglob(ATLAS))
    if not found:
        raise FileError(f"{visible(uri)} holds no {ATLAS}: log_explainer did not log it.")
    return AggregateExplainer.load(found[0], black_box)


def _load_pyfunc(path: str) -> PyfuncExplainer:
    """Return the model that MLflow loads by this name."""
    return PyfuncExplainer(AggregateExplainer.load(Path(path) / ATLAS))
