"""Anchors (Ribeiro, Singh and Guestrin 2018): short rules that hold the black box to one label."""

from oleander.candidates.anchors.generator import Anchors
from oleander.candidates.anchors.search import Anchor, Settings, find_anchors

__all__ = ["Anchor", "Anchors", "Settings", "find_anchors"]
