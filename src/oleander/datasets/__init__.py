"""Public data sets of the paper's field, read from files that the user has, and a synthetic cohort for everyone."""

from oleander.datasets.base import Cohort, DataSet
from oleander.datasets.clinical import load_dermatology, load_heart_disease, load_telemonitoring, load_thyroid
from oleander.datasets.geriatric import load_geriatric
from oleander.datasets.ppmi import load_ppmi
from oleander.datasets.ppmi_like import make_ppmi_like

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
