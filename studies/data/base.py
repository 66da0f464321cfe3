"""The records that loaders return: rows with labels, or a cohort of patients with trajectories."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

# The four scores of a trajectory and the 31 screening features, in the paper's order and under its names.
SCORES = ("UPDRS II", "UPDRS III", "MoCA", "MSES")
BINARY_FEATURES = (
    "Eyes",
    "Psychiatric",
    "Head-Neck-Lymphatic",
    "Musculoskeletal",
    "Left Handed",
    "Right Handed",
    "Gender Male",
    "Female Childbearing",
    "Race White",
    "Race Hispanic",
    "Race American Indian",
    "Race Asian",
    "Race Black",
    "Race PI",
    "Anosmia",
    "Hyposmia",
    "Normosmia",
    "MRI Normal",
    "MRI Abnormal Insignificant",
    "MRI Abnormal Significant",
)
CONTINUOUS_FEATURES = (
    "PTT",
    "Lymphocytes",
    "Hematocrit",
    "Sleep Score",
    "Education Years",
    "Geriatric Depression Score",
    "BL/SC UPDRSII",
    "BL/SC UPDRSIII",
    "BL/SC MOCA",
    "BL/SC MSES",
    "BL/SC Age",
)


@dataclass(frozen=True, eq=False)
class DataSet:
    """Rows, labels, and groups of rows."""

    name: str
    X: pd.DataFrame
    y: pd.Series
    # The patient or trial of each row, if it is known: a split should keep groups whole.
    groups: pd.Series | None = None
    # Further columns that are no features.
    about: pd.DataFrame | None = None


@dataclass(frozen=True, eq=False)
class Collection:
    """Several data sets of one study, each a classification of its own."""

    name: str
    sets: tuple[DataSet, ...]


@dataclass(frozen=True, eq=False)
class Cohort:
    """Patients and healthy people: measurements at screening, and trajectories of four scores."""

    name: str
    # The paper's screening features, 20 of them 0 or 1, of shape (n_people, 31).
    X: pd.DataFrame
    # Four scores at seven visits, the four of a visit side by side; missing for healthy people, of shape (n_people,
    # 28).
    trajectories: pd.DataFrame
    # The months of the seven visits.
    months: Sequence[int]
    is_patient: pd.Series
    # The group that a synthetic person was drawn from.
    group: pd.Series | None = None
    # Whether the people are synthetic; every figure then says so.
    is_synthetic: bool = False


def trajectory_columns(months: Sequence[int]) -> list[str]:
    """Return the names of a trajectory's entries, visit by visit.

    >>> trajectory_columns([0, 3])[3:5]
    ['MSES, month 0', 'UPDRS II, month 3']
    """
    return [f"{score}, month {month}" for month in months for score in SCORES]


def find_file(path: str | Path, name: str) -> Path:
    """Return the file at a path, or the file of this name in the folder at the path; raise if there is none."""
    found = Path(path)
    if found.is_dir():
        found /= name
    if not found.is_file():
        raise FileNotFoundError(f"there is no file {found}; give the folder that has {name}, or the file itself.")
    return found
