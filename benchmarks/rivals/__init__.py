"""Rivals: what a user could take instead of Oleander, each in a module of its own behind one protocol."""

from benchmarks.rivals.active_tree import ActiveTree
from benchmarks.rivals.anchors import AnchorPick
from benchmarks.rivals.base import Rival
from benchmarks.rivals.decision_set import DecisionSet
from benchmarks.rivals.naive_tree import NaiveTree
from benchmarks.rivals.proxies import Proxies
from benchmarks.rivals.submodular_pick import SubmodularPick
from benchmarks.rivals.tree_with_abstention import TreeWithAbstention

__all__ = [
    "ActiveTree",
    "AnchorPick",
    "DecisionSet",
    "NaiveTree",
    "Proxies",
    "Rival",
    "SubmodularPick",
    "TreeWithAbstention",
]
