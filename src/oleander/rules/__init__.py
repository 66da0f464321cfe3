"""Rules: regions in which explainers are valid, and the small models that answer there."""

from oleander.rules.ball import Ball, ball_distances
from oleander.rules.base import Explainer, LocalExplainer, Rule
from oleander.rules.constant import Constant
from oleander.rules.line import Line
from oleander.rules.local import FilteredTree, SparseLine, UnfilteredTree
from oleander.rules.region import Box, Region, membership
from oleander.rules.tree import Tree

__all__ = [
    "Ball",
    "Box",
    "Constant",
    "Explainer",
    "FilteredTree",
    "Line",
    "LocalExplainer",
    "Region",
    "Rule",
    "SparseLine",
    "Tree",
    "UnfilteredTree",
    "ball_distances",
    "membership",
]
