"""Who proposes candidates: each generator in a file of its own, behind one protocol."""

from oleander.generators.balls import Balls
from oleander.generators.base import Candidate, Generator, Recipe

__all__ = ["Balls", "Candidate", "Generator", "Recipe"]
