"""The information filter: which few features matter among the draws (FFFS in the paper)."""

from oleander.filters.binning import bin_codes
from oleander.filters.forward import FilterResult, StopReason, select_features
from oleander.filters.information import Information, score_information

__all__ = ["FilterResult", "Information", "StopReason", "bin_codes", "score_information", "select_features"]
