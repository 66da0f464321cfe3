"""Four public clinical data sets from the UCI repository, read from UCI's files."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from studies.data.base import Collection, DataSet, find_file

HEART_COLUMNS = (
    *("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg"),
    *("thalach", "exang", "oldpeak", "slope", "ca", "thal", "num"),
)
HEART_PLACES = ("cleveland", "hungarian", "switzerland", "va")
# Columns of codes without an order: each code becomes a column of 0 and 1.
HEART_CODES = ("cp", "restecg", "slope", "thal")
HEART_BITS = ("sex", "fbs", "exang")
# No living patient has a blood pressure or a cholesterol of 0: two hospitals wrote 0 for a missing value.
HEART_NEVER_ZERO = ("trestbps", "chol")
DERMATOLOGY_BITS = ("family_history",)
# Of a table of one's own: three folds tune the black boxes.
MIN_CLASS_ROWS = 3
DIAGNOSES = ("psoriasis", "seborrheic dermatitis", "lichen planus", "pityriasis rosea", "chronic dermatitis", "PRP")


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


def load_clinical(path: str | Path) -> Collection:
    """Read heart disease (5 classes) and dermatology (6 classes) as numbers and bits, like the paper's cohort.

    Parameters
    ----------
    path : path
        The folder with the folders ``heart_disease`` and ``dermatology``.

    Returns
    -------
    Collection
        Labels are words. No value is missing: a missing number is the column's median, a missing code is 0 in each of
        its columns, and so is a missing bit, as in the paper's printed table.
    """
    folder = Path(path)
    heart, skin = load_heart_disease(folder / "heart_disease"), load_dermatology(folder / "dermatology")
    X = heart.X.copy()
    for column in HEART_NEVER_ZERO:
        X[column] = X[column].where(X[column] > 0)
    stages = heart.y.map(lambda stage: "healthy" if stage == 0 else f"stage {stage}")
    diagnoses = skin.y.map(lambda number: DIAGNOSES[number - 1])
    return Collection(
        "clinical",
        (
            DataSet(heart.name, numbers_and_bits(X, HEART_BITS, HEART_CODES), stages, about=heart.about),
            DataSet(skin.name, numbers_and_bits(skin.X, DERMATOLOGY_BITS), diagnoses),
        ),
    )


def numbers_and_bits(X: pd.DataFrame, bits: Sequence[str], codes: Sequence[str] = ()) -> pd.DataFrame:
    """Return a table without missing values: numbers, and columns of 0 and 1.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [40.0, None, 60.0], "sex": [1.0, None, 0.0], "pain": [1.0, 2.0, None]})
    >>> numbers_and_bits(X, ["sex"], ["pain"])
        age  sex  pain 1  pain 2
    0  40.0    1       1       0
    1  50.0    0       0       1
    2  60.0    0       0       0
    """
    columns: dict[str, pd.Series] = {}
    for name in X.columns:
        if name in codes:
            for code in sorted(X[name].dropna().unique()):
                columns[f"{name} {code:g}"] = (X[name] == code).astype(int)
        elif name in bits:
            columns[name] = X[name].fillna(0).astype(int)
        else:
            columns[name] = X[name].fillna(X[name].median())
    return pd.DataFrame(columns)


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


def load_own(path: str | Path, target: str) -> Collection:
    """Read a table of your own for the paper's protocol; each level of a column of words becomes a column of 0 and 1.

    Parameters
    ----------
    path : path
        A CSV file.
    target : str
        The column with the label.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no file {path}; give a CSV file with a header.")
    table = pd.read_csv(path)
    if target not in table:
        raise ValueError(f"{path} has no column {target!r}; its columns are {', '.join(map(str, table.columns))}.")
    gaps = table.isna().sum()
    if gaps.any():
        columns = ", ".join(f"{name!r} ({n_gaps})" for name, n_gaps in gaps[gaps > 0].items())
        raise ValueError(
            f"{path} has {len(table)} rows and lacks values in {columns}. The paper's protocol has no missing values: "
            "fill them in, or leave out the columns or the rows."
        )
    labels = table[target].astype(str)
    counts = labels.value_counts()
    if len(counts) < 2 or counts.min() < MIN_CLASS_ROWS:
        raise ValueError(
            f"column {target!r} of {path} has {len(counts)} classes, and the smallest, {counts.index[-1]!r}, has "
            f"{counts.iloc[-1]} of {len(labels)} rows. At least two classes of {MIN_CLASS_ROWS} rows each are needed: "
            "merge small classes, and cut numbers into ranges."
        )
    X = pd.get_dummies(table.drop(columns=target), dtype=float).astype(float)
    return Collection("own", (DataSet(Path(path).stem, X, labels),))
