"""The information filter, which selects the few features that matter in a region (FFFS in the paper)."""

from oleander.filters.forward import FilterResult, StopReason, select_features
from oleander.filters.information import Information, bin_codes

__all__ = ["FilterResult", "Information", "StopReason", "bin_codes", "select_features"]
