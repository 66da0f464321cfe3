"""Local explainers: small models that mimic the black box in one region and say how in the user's words."""

from oleander.local.base import Explainer, LocalExplainer, Rule
from oleander.local.linear import LimeLinear
from oleander.local.tree import FilteredTree, UnfilteredTree

__all__ = ["Explainer", "FilteredTree", "LimeLinear", "LocalExplainer", "Rule", "UnfilteredTree"]
