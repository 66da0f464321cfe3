"""Candidates by name: who proposes them, and with which options, when they are asked for in a word."""

from collections.abc import Iterable, Sequence
from typing import Literal

from oleander.candidates import Anchors, Balls, Boxes, Generator, Nodes, Trees
from oleander.data.checks import check_choice
from oleander.explainers import FilteredTree, LimeLinear, LocalExplainer, UnfilteredTree

# What can be asked for by name besides balls, whose options are the user's own.
GENERATORS: dict[str, Generator] = {
    "trees": Trees(max_leaves=(4, 8, 16)),
    "nodes": Nodes(),
    "boxes": Boxes(),
    "anchors": Anchors(),
}
MIX = ("trees", "nodes")
LOCALS = ("filtered_tree", "unfiltered_tree", "lime")


def make_generators(
    candidates: str | Generator | Iterable[str | Generator],
    *,
    radius: float | Sequence[float] | Literal["auto"],
    max_flips: int | None,
    max_candidates: int | None,
    n_draws: int,
    local: str | LocalExplainer,
    max_leaves: int | None,
) -> list[Generator]:
    """Return who proposes candidates, with "auto" and the other names looked up.

    Parameters
    ----------
    candidates : str, Generator or several
        "auto" stands for balls where a radius is given, and for small trees and nodes of trees elsewhere.
    radius, max_flips, max_candidates, n_draws
        Of balls.
    local, max_leaves
        What is trained in a ball, as in ``make_local``.

    Examples
    --------
    >>> options = dict(max_flips=None, max_candidates=None, n_draws=100, local="lime", max_leaves=None)
    >>> [type(each).__name__ for each in make_generators(["auto", "boxes"], radius="auto", **options)]
    ['Trees', 'Nodes', 'Boxes']
    """
    given = [candidates] if isinstance(candidates, (str, Generator)) else candidates
    generators: list[Generator] = []
    for one in given:
        if not isinstance(one, str):
            generators.append(one)
            continue
        check_choice("candidates", one, ("auto", "balls", *GENERATORS))
        if one == "balls" or (one == "auto" and not isinstance(radius, str)):
            learner = make_local(local, max_leaves)
            balls = Balls(radius, max_flips=max_flips, max_candidates=max_candidates, n_draws=n_draws, local=learner)
            generators.append(balls)
        else:
            generators += [GENERATORS[name] for name in (MIX if one == "auto" else [one])]
    return generators


def make_local(local: str | LocalExplainer, max_leaves: int | None) -> LocalExplainer:
    """Return a local explainer that may be given by name; ``max_leaves`` holds for trees that are."""
    if not isinstance(local, str):
        return local
    check_choice("local", local, LOCALS)
    if local == "lime":
        return LimeLinear()
    return (FilteredTree if local == "filtered_tree" else UnfilteredTree)(max_leaves=max_leaves)
