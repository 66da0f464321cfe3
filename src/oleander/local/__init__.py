"""Local explainers: small models that mimic the black box in one region and say how in the user's words."""

from oleander.local.abstaining import AbstainingExplainer, AbstainingTree, Spoken
from oleander.local.base import Explainer, LocalExplainer, Rule
from oleander.local.constant import Constant
from oleander.local.linear import LimeLinear
from oleander.local.logistic import SparseLogistic
from oleander.local.tree import FilteredTree, UnfilteredTree

__all__ = [
    "AbstainingExplainer",
    "AbstainingTree",
    "Constant",
    "Explainer",
    "FilteredTree",
    "LimeLinear",
    "LocalExplainer",
    "Rule",
    "SparseLogistic",
    "Spoken",
    "UnfilteredTree",
]
