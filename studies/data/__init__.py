"""Public clinical data sets, read from files, and a synthetic cohort in place of the one that may not be shared."""

from studies.data.base import Cohort, Collection, DataSet
from studies.data.clinical import (
    load_clinical,
    load_dermatology,
    load_heart_disease,
    load_own,
    load_telemonitoring,
    load_thyroid,
)
from studies.data.geriatric import load_geriatric
from studies.data.ppmi import load_ppmi
from studies.data.ppmi_like import make_ppmi_like

__all__ = [
    "Cohort",
    "Collection",
    "DataSet",
    "load_clinical",
    "load_dermatology",
    "load_geriatric",
    "load_heart_disease",
    "load_own",
    "load_ppmi",
    "load_telemonitoring",
    "load_thyroid",
    "make_ppmi_like",
]
