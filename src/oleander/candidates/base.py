"""A candidate: a region, and an explainer for it or how to train one."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Floats, Labels
from oleander.black_box.counting import CountingBlackBox, SpentError
from oleander.data.rows import Rows
from oleander.explainers.base import Explainer
from oleander.regions import Region
from oleander.running.warning import warn_user


@runtime_checkable
class Recipe(Protocol):
    """How to train an explainer that needs the black box: draws first, then a fit to its answers.

    The two halves are apart so that the draws of many candidates can go to the black box in one call.
    """

    @property
    def n_draws(self) -> int:
        """How many rows ``draw`` returns."""

    def draw(self) -> Floats:
        """Return encoded rows to ask the black box about; the same ones every time."""

    def fit(self, draws: Floats, labels: Labels) -> Explainer:
        """Return a new explainer, learned from the draws and the black box's labels."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A region with its explainer, or with the recipe for one: exactly one of the two.

    Parameters
    ----------
    region : Region
    explainer : Explainer or None
        Where it was learned already.
    recipe : Recipe or None
    origin : str
        Which generator proposed it.
    learned_from : bool array of shape (n_points,), optional
        The points that its region or its explainer was learned from: it is not judged on them. None for none.
    """

    region: Region
    explainer: Explainer | None = None
    recipe: Recipe | None = None
    origin: str = "given"
    learned_from: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        if (self.explainer is None) == (self.recipe is None):
            raise ValueError("a candidate has either an explainer or a recipe for one, not both and not neither.")


@runtime_checkable
class Generator(Protocol):
    """Something that proposes candidates for the rows to be explained."""

    def propose(self, rows: Rows, random_state: int, black_box: CountingBlackBox) -> list[Candidate]:
        """Return candidates; the same ones for the same rows and random_state.

        The black box is there for those who need its answers to know where to speak; it counts what it is asked.
        """


def propose_all(
    generators: Generator | Iterable[Generator], rows: Rows, random_state: int, black_box: CountingBlackBox
) -> list[Candidate]:
    """Return the candidates of all generators.

    A generator that would exceed the black box's ``max_queries`` proposes nothing, and a warning says so.
    """
    several = [generators] if isinstance(generators, Generator) else generators
    candidates: list[Candidate] = []
    for generator in several:
        try:
            candidates += generator.propose(rows, random_state, black_box)
        except SpentError as error:
            warn_user(f"{type(generator).__name__} proposes nothing: {error}")
    return candidates
