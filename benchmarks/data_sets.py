"""Data sets for the benchmarks: scikit-learn's own, and public clinical ones where they lie beside the project."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

from studies.data import (
    DataSet,
    load_dermatology,
    load_geriatric,
    load_heart_disease,
    load_telemonitoring,
    load_thyroid,
)

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def from_sklearn(name: str) -> DataSet:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True)
    return DataSet(name, X, y)


def geriatric() -> DataSet:
    """Sensor readings by trial; a third repeat the reading before, so they are thinned evenly."""
    return load_geriatric(SHARED / "geriatric", drop_repeats=True, rows_per_trial=60)


def telemonitoring() -> DataSet:
    """Every third voice recording, by patient; the label is the third of the motor score."""
    data = load_telemonitoring(SHARED / "parkinsons_telemonitoring")
    X, y, groups = (part.iloc[::3].reset_index(drop=True) for part in (data.X, data.y, data.groups))
    return replace(data, X=X, y=pd.qcut(y, 3, labels=False), groups=groups, about=None)


def available() -> list[DataSet]:
    """Return every data set that can be read here."""
    found = [from_sklearn(name) for name in ("breast_cancer", "wine", "digits")]
    if SHARED.is_dir():
        found += [
            load_heart_disease(SHARED / "heart_disease"),
            load_dermatology(SHARED / "dermatology"),
            load_thyroid(SHARED / "thyroid"),
            geriatric(),
            telemonitoring(),
        ]
    return found


def five_classes(n_rows: int) -> DataSet:
    """Return a made set with five informative columns of thirty, five more that repeat them, and clear classes."""
    X, y = datasets.make_classification(
        n_rows, 30, n_informative=5, n_redundant=5, n_classes=5, n_clusters_per_class=1, class_sep=1.5, random_state=0
    )
    return DataSet("five_classes", pd.DataFrame(X).add_prefix("x"), pd.Series(y))


def synthetic(law: str, n_rows: int, seed: int) -> tuple[pd.DataFrame, Callable[[pd.DataFrame], np.ndarray]]:
    """Return rows and a black box that is a known law: curved borders between five classes, or noisy steps."""
    rng = np.random.default_rng([seed, n_rows])
    X = pd.DataFrame(rng.normal(size=(n_rows, 10))).add_prefix("x")

    def rings(table: pd.DataFrame) -> np.ndarray:
        return np.digitize(np.hypot(table["x0"], table["x1"]) + 0.3 * np.sin(3 * table["x2"]), [0.6, 1.1, 1.6, 2.1])

    def steps(table: pd.DataFrame) -> np.ndarray:
        scores = np.column_stack([table["x0"] * table["x1"], table["x2"] + 0.5 * table["x3"], table["x4"] - 0.3])
        return scores.argmax(axis=1)

    return X, {"rings": rings, "steps": steps}[law]
