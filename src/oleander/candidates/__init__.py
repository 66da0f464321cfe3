"""Generators of candidates: one file each, behind one protocol."""

from oleander.candidates.balls import Balls, Holding, PerRow
from oleander.candidates.base import Candidate, Generator, Recipe, propose_all

__all__ = [
    "Balls",
    "Candidate",
    "Generator",
    "Holding",
    "PerRow",
    "Recipe",
    "propose_all",
]
