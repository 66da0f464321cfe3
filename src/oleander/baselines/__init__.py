"""The rivals: what a user would reach for instead, each in a file of its own behind one protocol."""

from oleander.baselines.base import Rival
from oleander.baselines.compare import compare, make_rivals
from oleander.baselines.naive_tree import NaiveTree
from oleander.baselines.proxies import Proxies
from oleander.baselines.submodular_pick import SubmodularPick
from oleander.baselines.tree_with_abstention import TreeWithAbstention

__all__ = ["NaiveTree", "Proxies", "Rival", "SubmodularPick", "TreeWithAbstention", "compare", "make_rivals"]
