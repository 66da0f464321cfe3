"""Candidates: a region with an explainer, or a recipe that trains one; who proposes them; the default's `Boxes`."""

import copy
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from oleander.arrays import Floats, Labels
from oleander.black_box.asking import CountingBlackBox
from oleander.data.checks import check_choice, check_count
from oleander.data.rows import Rows
from oleander.data.tolerance import Tolerance
from oleander.draws.in_ball import Bounds, draw_in_ball
from oleander.rules import Ball, Explainer, LocalExplainer, Region


@dataclass(frozen=True, eq=False)
class Recipe:
    """Draw in a ball, then fit a copy of the local explainer to the black box's answers (Algorithm 1).

    The two steps are apart so that the draws of many candidates go to the black box in one call.
    """

    ball: Ball
    n_draws: int
    local: LocalExplainer
    seed: int
    bounds: Bounds = "clipped"

    def draw(self) -> Floats:
        """Return the draws: the same ones every time, since the seed is the candidate's own."""
        return draw_in_ball(self.ball, self.n_draws, np.random.default_rng(self.seed), bounds=self.bounds)

    def fit(self, draws: Floats, labels: Labels, tolerance: Tolerance | None = None) -> Explainer:
        """Return a new explainer for the ball."""
        # An explainer of labels need not know of numbers.
        within = {} if tolerance is None else {"tolerance": tolerance}
        local = copy.deepcopy(self.local)
        return local.fit(draws, labels, schema=self.ball.schema, center=self.ball.center, **within)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A region with an explainer or with a recipe for one, never with both."""

    region: Region
    # None where a recipe will train it.
    explainer: Explainer | None = None
    recipe: Recipe | None = None
    # The name of the generator that proposed it.
    origin: str = "given"

    def __post_init__(self) -> None:
        if (self.explainer is None) == (self.recipe is None):
            raise ValueError("a candidate has either an explainer or a recipe for one, not both and not neither.")
        if not isinstance(self.region, Region):
            raise TypeError(
                f"a {type(self.region).__name__} is no region: derive its class from oleander.rules.Region."
            )
        if self.explainer is not None:
            check_explainer(self.explainer)


def check_explainer(explainer: Any) -> None:
    """Raise ``TypeError`` for an object that is no explainer, as one that a local explainer returns may be."""
    if not isinstance(explainer, Explainer):
        raise TypeError(
            f"a {type(explainer).__name__} is no explainer: derive its class from oleander.rules.Explainer."
        )


@runtime_checkable
class Generator(Protocol):
    """An object that proposes candidates for the rows to be explained."""

    def propose(self, rows: Rows, random_state: int, black_box: CountingBlackBox) -> list[Candidate]:
        """Return candidates; the same ones for the same rows and random_state.

        Only generators whose regions depend on answers of the black box ask it; it counts the rows.
        """


@dataclass(frozen=True)
class Boxes:
    """Boxes that hold draws of one answer; the black box labels the draws, and other rows judge.

    Parameters
    ----------
    max_conditions : int or None
        The largest number of conditions of a rule; a range of one column is one condition. None sets no limit.
    forbid : iterable of str
        Columns that no rule uses. The black box still gets them.
    monotone : mapping of str to {"+", "-"}
        Columns of numbers or dates along which the answer must not fall ("+") or rise ("-"): with "+" a rule for the
        highest answer bounds the column from below only (``age > 60``), and one for the lowest answer from above only
        (``age ≤ 60``). So, all else equal, more never turns the highest answer into the lowest. Rules for answers
        between them may have both bounds.
    order : iterable, or None
        With ``monotone``: the labels from the lowest to the highest. None is for labels that are numbers.
    """

    max_conditions: int | None = None
    forbid: Iterable[str] = ()
    monotone: Mapping[str, str] = field(default_factory=dict)
    order: Iterable[Any] | None = None

    def check(self) -> None:
        """Raise an error for an option that is not allowed."""
        check_count("max_conditions", self.max_conditions, or_none=True)
        # They are read for every fold, and what is read once only would be empty then.
        for name, given in (("forbid", self.forbid), ("order", () if self.order is None else self.order)):
            if isinstance(given, str) or not isinstance(given, Collection):
                raise TypeError(f"{name}={given!r} is not allowed: give a list, such as [{given!r}].")
        if not isinstance(self.monotone, Mapping):
            raise TypeError(f'monotone={self.monotone!r} is not allowed: give a mapping, such as {{"age": "+"}}.')
        for column, sign in self.monotone.items():
            check_choice(f"monotone[{column!r}]", sign, ("+", "-"))
        if self.order is not None and not self.monotone:
            raise ValueError("order is for monotone, which is not given: leave it out, or give both.")
