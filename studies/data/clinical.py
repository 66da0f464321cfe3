"""Four public clinical data sets from the UCI repository, read from UCI's files."""

import io
import zipfile
from pathlib import Path

import pandas as pd

from studies.data.base import DataSet, find_file

HEART_COLUMNS = (
    *("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg"),
    *("thalach", "exang", "oldpeak", "slope", "ca", "thal", "num"),
)
HEART_PLACES = ("cleveland", "hungarian", "switzerland", "va")


def load_heart_disease(path: str | Path) -> DataSet:
    """Read Heart Disease (UCI 45): 920 patients of four hospitals, 13 columns, many missing values.

    Parameters
    ----------
    path : path
        ``heart+disease.zip`` or its folder.

    Returns
    -------
    DataSet
        The label is the diagnosis, 0 to 4; ``about`` has the hospital.
    """
    tables = []
    with zipfile.ZipFile(find_file(path, "heart+disease.zip")) as archive:
        for place in HEART_PLACES:
            text = archive.read(f"processed.{place}.data").decode()
            table = pd.read_csv(io.StringIO(text), names=list(HEART_COLUMNS), na_values="?").astype(float)
            tables.append(table.assign(place=place))
    table = pd.concat(tables, ignore_index=True)
    X = table.drop(columns=["num", "place"])
    return DataSet("heart_disease", X, table["num"].astype(int), about=table[["place"]])


def load_dermatology(path: str | Path) -> DataSet:
    """Read Dermatology (UCI 33): 366 patients, 34 columns, 6 diagnoses, 8 ages missing.

    Parameters
    ----------
    path : path
        ``dermatology.data`` with a line of column names, or its folder.
    """
    table = pd.read_csv(find_file(path, "dermatology.data"), na_values="?")
    return DataSet("dermatology", table.iloc[:, :-1].astype(float), table.iloc[:, -1].astype(int))


def load_thyroid(path: str | Path) -> DataSet:
    """Read Thyroid Disease (UCI 102): 7,200 patients, 21 unnamed columns, 3 classes.

    Parameters
    ----------
    path : path
        The folder with ``ann-train.data`` and ``ann-test.data``.
    """
    parts = [pd.read_csv(find_file(path, f"ann-{part}.data"), header=None) for part in ("train", "test")]
    # Lines end with a comma in some copies, which makes an empty column.
    table = pd.concat(parts, ignore_index=True).dropna(axis=1, how="all")
    return DataSet("thyroid", table.iloc[:, :-1].astype(float).add_prefix("t"), table.iloc[:, -1].astype(int))


def load_telemonitoring(path: str | Path) -> DataSet:
    """Read Parkinson's Telemonitoring (UCI 189): 5,875 voice recordings of 42 patients over six months.

    The scores were assessed three times and are interpolated linearly between.

    Parameters
    ----------
    path : path
        ``parkinsons_updrs.data`` or its folder.

    Returns
    -------
    DataSet
        The label is the motor score, the groups are the patients; ``about`` has the day and the total score.
    """
    table = pd.read_csv(find_file(path, "parkinsons_updrs.data"))
    about = table[["test_time", "total_UPDRS"]]
    X = table.drop(columns=["subject#", "test_time", "motor_UPDRS", "total_UPDRS"])
    return DataSet("telemonitoring", X, table["motor_UPDRS"], table["subject#"], about)
