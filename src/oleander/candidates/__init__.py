"""Generators of candidates: one file each, behind one protocol."""

from oleander.candidates.balls import Balls
from oleander.candidates.base import Candidate, Generator, Recipe, propose_all
from oleander.candidates.radii import Holding, PerRow

__all__ = [
    "Balls",
    "Candidate",
    "Generator",
    "Holding",
    "PerRow",
    "Recipe",
    "propose_all",
]
