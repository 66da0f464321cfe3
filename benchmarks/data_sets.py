"""Data sets of the benchmarks: scikit-learn's own, made ones, and clinical ones where they lie beside the project."""

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
    """Return one of scikit-learn's own sets."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True)
    return DataSet(name, X, y)


def geriatric() -> DataSet:
    """Return sensor readings by trial; a third repeat the reading before, so repeats are dropped and trials thinned."""
    return load_geriatric(SHARED / "geriatric", drop_repeats=True, rows_per_trial=60)


def telemonitoring() -> DataSet:
    """Return every third voice recording, by patient; the label is the tercile of the motor score."""
    data = load_telemonitoring(SHARED / "parkinsons_telemonitoring")
    X, y, groups = (part.iloc[::3].reset_index(drop=True) for part in (data.X, data.y, data.groups))
    return replace(data, X=X, y=pd.qcut(y, 3, labels=False), groups=groups, about=None)


# Each set by name, as a function that reads it: sets that lie beside the project may be absent.
PUBLIC: dict[str, Callable[[], DataSet]] = {
    "breast_cancer": lambda: from_sklearn("breast_cancer"),
    "wine": lambda: from_sklearn("wine"),
    "digits": lambda: from_sklearn("digits"),
}
CLINICAL: dict[str, Callable[[], DataSet]] = {
    "heart_disease": lambda: load_heart_disease(SHARED / "heart_disease"),
    "dermatology": lambda: load_dermatology(SHARED / "dermatology"),
    "thyroid": lambda: load_thyroid(SHARED / "thyroid"),
    "geriatric": geriatric,
    "telemonitoring": telemonitoring,
}


def available() -> list[DataSet]:
    """Return every real data set that can be read here."""
    return [read() for read in (PUBLIC | (CLINICAL if SHARED.is_dir() else {})).values()]


def five_classes(n_rows: int) -> DataSet:
    """Return a made set of five clear classes: of its thirty columns five are informative and five repeat them."""
    X, y = datasets.make_classification(
        n_rows, 30, n_informative=5, n_redundant=5, n_classes=5, n_clusters_per_class=1, class_sep=1.5, random_state=0
    )
    return DataSet("five_classes", pd.DataFrame(X).add_prefix("x"), pd.Series(y))


class Rings:
    """A black box with curved borders between five classes."""

    def predict(self, table: pd.DataFrame) -> np.ndarray:
        """Return labels."""
        return np.digitize(np.hypot(table["x0"], table["x1"]) + 0.3 * np.sin(3 * table["x2"]), [0.6, 1.1, 1.6, 2.1])


class Steps:
    """A black box with oblique borders between three classes."""

    def predict(self, table: pd.DataFrame) -> np.ndarray:
        """Return labels."""
        scores = np.column_stack([table["x0"] * table["x1"], table["x2"] + 0.5 * table["x3"], table["x4"] - 0.3])
        return scores.argmax(axis=1)


LAWS: dict[str, Rings | Steps] = {"rings": Rings(), "steps": Steps()}


def normal_rows(n_rows: int, seed: int) -> pd.DataFrame:
    """Return rows of ten independent normal columns, on which the laws are defined."""
    rng = np.random.default_rng([seed, n_rows])
    return pd.DataFrame(rng.normal(size=(n_rows, 10))).add_prefix("x")
