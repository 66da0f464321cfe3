"""Who proposes candidates: each generator in a file of its own, behind one protocol."""

from oleander.generators.anchors import Anchors
from oleander.generators.balls import Balls
from oleander.generators.base import Candidate, Generator, Recipe, propose_all

__all__ = ["Anchors", "Balls", "Candidate", "Generator", "Recipe", "propose_all"]
