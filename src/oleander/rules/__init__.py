"""Rules: regions in which explainers are valid, and the small models that answer there."""

from oleander.rules.base import Explainer, LocalExplainer, Rule
from oleander.rules.constant import Constant
from oleander.rules.filtering import FilteredTree, UnfilteredTree
from oleander.rules.line import Line
from oleander.rules.region import Ball, Box, Region, ball_distances, membership
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
    "Tree",
    "UnfilteredTree",
    "ball_distances",
    "membership",
]
