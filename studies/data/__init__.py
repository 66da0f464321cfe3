"""Public data sets of the paper's field, read from files that the user has, and a synthetic cohort for everyone."""

from studies.data.base import Cohort, DataSet
from studies.data.clinical import load_dermatology, load_heart_disease, load_telemonitoring, load_thyroid
from studies.data.geriatric import load_geriatric
from studies.data.ppmi import load_ppmi
from studies.data.ppmi_like import make_ppmi_like

__all__ = [
    "Cohort",
    "DataSet",
    "load_dermatology",
    "load_geriatric",
    "load_heart_disease",
    "load_ppmi",
    "load_telemonitoring",
    "load_thyroid",
    "make_ppmi_like",
]
