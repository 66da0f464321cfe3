"""Local explainers: small models that mimic the black box in one region and state their rules in words."""

from oleander.explainers.abstaining import AbstainingExplainer, AbstainingTree, Spoken
from oleander.explainers.base import Explainer, LocalExplainer, Rule
from oleander.explainers.constant import Constant
from oleander.explainers.line import Line
from oleander.explainers.linear import LimeLinear
from oleander.explainers.sparse_line import SparseLine
from oleander.explainers.tree_explainers import FilteredTree, UnfilteredTree

__all__ = [
    "AbstainingExplainer",
    "AbstainingTree",
    "Constant",
    "Explainer",
    "FilteredTree",
    "LimeLinear",
    "Line",
    "LocalExplainer",
    "Rule",
    "SparseLine",
    "Spoken",
    "UnfilteredTree",
]
