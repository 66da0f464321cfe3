"""The rivals: what a user would reach for instead, each in a file of its own behind one protocol."""

from oleander.baselines.active_tree import ActiveTree
from oleander.baselines.base import Rival
from oleander.baselines.decision_set import DecisionSet
from oleander.baselines.naive_tree import NaiveTree

__all__ = ["ActiveTree", "DecisionSet", "NaiveTree", "Rival"]
