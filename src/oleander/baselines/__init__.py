"""The rivals: what a user would reach for instead, each in a file of its own behind one protocol."""

from oleander.baselines.anchors import AnchorPick
from oleander.baselines.base import Rival
from oleander.baselines.naive_tree import NaiveTree

__all__ = ["AnchorPick", "NaiveTree", "Rival"]
