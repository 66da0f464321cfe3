"""Anchors (Ribeiro, Singh and Guestrin 2018): short rules that hold the black box to one label."""

from benchmarks.rivals.anchors.pick import AnchorPick, Anchors, pick_greedily

__all__ = ["AnchorPick", "Anchors", "pick_greedily"]
