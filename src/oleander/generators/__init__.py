"""Who proposes candidates: each generator in a file of its own, behind one protocol."""

from oleander.generators.anchors import Anchors
from oleander.generators.balls import Balls
from oleander.generators.base import Candidate, Generator, Recipe, propose_all
from oleander.generators.boxes import Boxes
from oleander.generators.inside import Inside
from oleander.generators.nodes import Nodes
from oleander.generators.refine import Refine
from oleander.generators.trees import Trees

__all__ = [
    "Anchors",
    "Balls",
    "Boxes",
    "Candidate",
    "Generator",
    "Inside",
    "Nodes",
    "Recipe",
    "Refine",
    "Trees",
    "propose_all",
]
