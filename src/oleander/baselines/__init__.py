"""Rivals: what a user would pick instead of Oleander, each in a file of its own behind one protocol."""

from oleander.baselines.anchors import AnchorPick
from oleander.baselines.base import Rival
from oleander.baselines.compare import compare, make_rivals
from oleander.baselines.naive_tree import NaiveTree
from oleander.baselines.submodular_pick import SubmodularPick
from oleander.baselines.tree_with_abstention import TreeWithAbstention

__all__ = [
    "AnchorPick",
    "NaiveTree",
    "Rival",
    "SubmodularPick",
    "TreeWithAbstention",
    "compare",
    "make_rivals",
]
