"""Generators by name."""

from collections.abc import Iterable

from oleander.candidates.anchors import Anchors
from oleander.candidates.balls import Balls
from oleander.candidates.base import Generator
from oleander.candidates.boxes import Boxes
from oleander.candidates.inside import Inside
from oleander.candidates.nodes import Nodes
from oleander.candidates.trees import Trees
from oleander.data.checks import check_choice

GENERATORS: dict[str, tuple[Generator, ...]] = {
    "balls": (Balls(),),
    "trees": (Trees(max_leaves=(4, 8, 16)),),
    "nodes": (Nodes(inside=Inside(("constant", "tree"))),),
    "boxes": (Boxes(inside=Inside(("constant", "tree"))),),
    "anchors": (Anchors(),),
}
# Small trees and nodes of trees ask the black box nothing beyond the rows.
GENERATORS["auto"] = GENERATORS["trees"] + GENERATORS["nodes"]


def find_generators(candidates: str | Generator | Iterable[str | Generator]) -> list[Generator]:
    """Return the generators that are given or named.

    Examples
    --------
    >>> [type(generator).__name__ for generator in find_generators(["auto", "boxes"])]
    ['Trees', 'Nodes', 'Boxes']
    """
    several = list(candidates) if isinstance(candidates, Iterable) and not isinstance(candidates, str) else [candidates]
    if not several:
        raise ValueError("candidates is empty: give names or generators, such as Balls().")
    generators: list[Generator] = []
    for one in several:
        if isinstance(one, str):
            check_choice("candidates", one, tuple(sorted(GENERATORS)))
            generators += GENERATORS[one]
        elif isinstance(one, Generator):
            generators.append(one)
        else:
            raise TypeError(f"candidates holds a {type(one).__name__}; give names or generators, such as Balls().")
    return generators
