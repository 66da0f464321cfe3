"""The rivals: what a user would reach for instead, each in a file of its own behind one protocol."""

from oleander.baselines.active_tree import ActiveTree
from oleander.baselines.anchors import AnchorPick
from oleander.baselines.base import Rival
from oleander.baselines.compare import compare, make_rivals
from oleander.baselines.decision_set import DecisionSet
from oleander.baselines.naive_tree import NaiveTree
from oleander.baselines.proxies import Proxies
from oleander.baselines.submodular_pick import SubmodularPick
from oleander.baselines.tree_with_abstention import TreeWithAbstention

__all__ = [
    "ActiveTree",
    "AnchorPick",
    "DecisionSet",
    "NaiveTree",
    "Proxies",
    "Rival",
    "SubmodularPick",
    "TreeWithAbstention",
    "compare",
    "make_rivals",
]
