"""Data sets for the benchmarks: scikit-learn's own, and public clinical ones where they lie beside the project."""

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@dataclass(frozen=True)
class DataSet:
    """Rows, labels, and which rows belong together (a patient, a trial), if that is known."""

    name: str
    X: pd.DataFrame
    y: pd.Series
    groups: pd.Series | None = None


def from_sklearn(name: str) -> DataSet:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True)
    return DataSet(name, X, y)


def heart_disease() -> DataSet:
    names = ["age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca"]
    tables = []
    with zipfile.ZipFile(SHARED / "heart_disease" / "heart+disease.zip") as archive:
        for place in ("cleveland", "hungarian", "switzerland", "va"):
            text = archive.read(f"processed.{place}.data").decode()
            tables.append(pd.read_csv(io.StringIO(text), names=[*names, "thal", "num"], na_values="?"))
    table = pd.concat(tables, ignore_index=True).astype(float)
    return DataSet("heart_disease", table.drop(columns="num"), table["num"].astype(int))


def dermatology() -> DataSet:
    table = pd.read_csv(SHARED / "dermatology" / "dermatology.data", na_values="?")
    return DataSet("dermatology", table.iloc[:, :-1].astype(float), table.iloc[:, -1].astype(int))


def thyroid() -> DataSet:
    parts = [pd.read_csv(SHARED / "thyroid" / f"ann-{part}.data", header=None) for part in ("train", "test")]
    table = pd.concat(parts, ignore_index=True).dropna(axis=1, how="all")
    X = table.iloc[:, :-1].astype(float).add_prefix("t")
    return DataSet("thyroid", X, table.iloc[:, -1].astype(int))


def geriatric(rows_per_trial: int = 60) -> DataSet:
    """Sensor readings by trial; a third repeat the reading before, so they are thinned evenly."""
    names = ["time", "frontal", "vertical", "lateral", "antenna", "rssi", "phase", "frequency", "activity"]
    tables = []
    with zipfile.ZipFile(SHARED / "geriatric" / "uci_archive.zip") as archive:
        for member in sorted(info.filename for info in archive.infolist() if info.file_size):
            stem = member.rsplit("/", 1)[-1]
            if not stem.startswith("d") or "README" in stem:
                continue
            table = pd.read_csv(io.BytesIO(archive.read(member)), names=names).drop(columns="time").drop_duplicates()
            kept = np.linspace(0, len(table) - 1, min(rows_per_trial, len(table))).astype(int)
            tables.append(table.iloc[kept].assign(trial=stem, male=float(stem.endswith("M"))))
    table = pd.concat(tables, ignore_index=True)
    return DataSet("geriatric", table.drop(columns=["activity", "trial"]), table["activity"], table["trial"])


def telemonitoring() -> DataSet:
    """Parkinson's voice recordings by patient; the label is the third of the motor score."""
    table = pd.read_csv(SHARED / "parkinsons_telemonitoring" / "parkinsons_updrs.data").iloc[::3].reset_index(drop=True)
    label = pd.qcut(table["motor_UPDRS"], 3, labels=False)
    X = table.drop(columns=["subject#", "test_time", "motor_UPDRS", "total_UPDRS"])
    return DataSet("telemonitoring", X, label, table["subject#"])


def available() -> list[DataSet]:
    """Return every data set that can be read here."""
    found = [from_sklearn(name) for name in ("breast_cancer", "wine", "digits")]
    if SHARED.is_dir():
        found += [load() for load in (heart_disease, dermatology, thyroid, geriatric, telemonitoring)]
    return found


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
