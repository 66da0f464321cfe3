"""Generators of candidates: one file each, behind one protocol."""

from oleander.candidates.anchors import Anchors
from oleander.candidates.balls import Balls
from oleander.candidates.base import Candidate, Generator, Recipe, propose_all
from oleander.candidates.boxes import Boxes
from oleander.candidates.inside import Inside
from oleander.candidates.nodes import Nodes
from oleander.candidates.radii import Holding, PerRow
from oleander.candidates.trees import Trees

__all__ = [
    "Anchors",
    "Balls",
    "Boxes",
    "Candidate",
    "Generator",
    "Holding",
    "Inside",
    "Nodes",
    "PerRow",
    "Recipe",
    "Trees",
    "propose_all",
]
