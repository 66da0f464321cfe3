"""Explainers in MLflow, to copy: the saved file and the page are logged together and loaded as a model. No pickle.

    pip install mlflow-skinny

``log_explainer`` logs the code of this file too, so that MLflow can load the model where the file is absent.
"""

import tempfile
from pathlib import Path
from typing import Any

import mlflow.pyfunc
import pandas as pd
from mlflow.artifacts import download_artifacts

from oleander import AggregateExplainer

ATLAS, PAGE = "atlas.oleander", "report.html"


class PyfuncExplainer:
    """A loaded explainer as MLflow calls it: rows in, one answer each out, None where the rules abstain."""

    def __init__(self, atlas: AggregateExplainer) -> None:
        self.atlas = atlas

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> pd.Series:
        """Return the answers for rows; there are no ``params``."""
        if params:
            raise ValueError(f"an explainer has no parameters, and {sorted(params)} were given.")
        return pd.Series(self.atlas.predict(model_input, abstain=None), name="answer", dtype=object)


def log_explainer(atlas: AggregateExplainer, name: str = "explainer", **options: Any) -> Any:
    """Log a fitted explainer with its page to the active run, with the options of ``mlflow.pyfunc.log_model``."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        atlas.save(data / ATLAS)
        atlas.report(data / PAGE)
        here = Path(__file__)
        return mlflow.pyfunc.log_model(
            name=name, loader_module=here.stem, code_paths=[str(here)], data_path=str(data), **options
        )


def load_explainer(uri: str, black_box: Any = None) -> AggregateExplainer:
    """Return the explainer that ``log_explainer`` logged under a URI such as ``runs:/.../explainer``."""
    (path,) = Path(download_artifacts(uri)).rglob(ATLAS)
    return AggregateExplainer.load(path, black_box)


def _load_pyfunc(path: str) -> PyfuncExplainer:
    """Return the model that MLflow loads by this name."""
    return PyfuncExplainer(AggregateExplainer.load(Path(path) / ATLAS))
