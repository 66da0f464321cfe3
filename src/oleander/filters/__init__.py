"""The information filter, which selects the few features that matter in a region (FFFS in the paper)."""

from oleander.filters.binning import bin_codes
from oleander.filters.forward import FilterResult, StopReason, select_features
from oleander.filters.information import Information

__all__ = ["FilterResult", "Information", "StopReason", "bin_codes", "select_features"]
