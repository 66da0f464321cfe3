"""The paper's candidates: balls around rows, each with an explainer trained on draws inside."""

import copy
import inspect
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from oleander.arrays import Floats, Labels
from oleander.black_box.asking import CountingBlackBox
from oleander.candidates.base import Candidate, Generator
from oleander.candidates.centers import choose_centers, move_off_rows, round_numbers
from oleander.candidates.radii import PerRow, Radius, check_radius, read_radii
from oleander.data.checks import check_choice, check_count
from oleander.data.rows import Rows
from oleander.data.schema.inference import SCALES, measure_scale
from oleander.data.tolerance import Tolerance
from oleander.draws.in_ball import Bounds, FlipLaw, draw_in_ball, seed_for
from oleander.rules import Ball, FilteredTree, LocalExplainer
from oleander.rules.ball import check_norm
from oleander.rules.base import Explainer


@dataclass(frozen=True, eq=False)
class BallRecipe:
    """Draw in a ball, then fit a copy of the local explainer (Algorithm 1)."""

    ball: Ball
    n_draws: int
    local: LocalExplainer
    seed: int
    flips: FlipLaw = "paper"
    bounds: Bounds = "clipped"

    def draw(self) -> Floats:
        """Return the draws: the same ones every time, since the seed is the candidate's own."""
        rng = np.random.default_rng(self.seed)
        return draw_in_ball(self.ball, self.n_draws, rng, flips=self.flips, bounds=self.bounds)

    def fit(self, draws: Floats, labels: Labels, tolerance: Tolerance | None = None) -> Explainer:
        """Return a new explainer for the ball."""
        # An explainer of labels need not know of numbers.
        within = {} if tolerance is None else {"tolerance": tolerance}
        local = copy.deepcopy(self.local)
        return local.fit(draws, labels, schema=self.ball.schema, center=self.ball.center, **within)


@dataclass(frozen=True, kw_only=True)
class Balls:
    """Balls around rows: one candidate per center and radius.

    Parameters
    ----------
    radius : float, sequence of float, PerRow, Holding or "auto"
        One radius for all centers; a ladder, from which the program chooses for each center; ``PerRow(values)``, one
        for each row of X; or ``Holding(share)``, at which a ball around a typical row holds that share of the rows. In
        units of ``scale``. "auto" takes a ladder from the data; see ``oleander.candidates.radii.choose_ladder``. A
        sequence with as many values as X has rows is refused, because it may be meant in two ways.
    scale : {"schema", "std", "iqr", "range", "none"}
        The unit of the radius along each number: the schema's scale, one computed from the rows, or raw units.
    norm : float
        p of the ℓp norm along numbers.
    max_flips : int or None
        The most levels that may differ; None means the whole part of the radius.
    max_candidates : int or None
        The most centers, spread over the data; None makes every row a center.
    n_draws : int
        Draws per ball, labelled by the black box.
    local : LocalExplainer
        The explainer that is trained in each ball. It is copied, never fitted itself.
    flips : {"paper", "uniform"}
        The law of the number of flips; see ``oleander.draws.in_ball``.
    centers : {"rounded", "rows"}
        A row with its numbers rounded to readable ones, so that no saved file or page holds a record to the digit; or
        the row itself, as in the paper.
    bounds : {"uncut", "clipped", "cut"}
        What the schema's bounds do to draws. "uncut" draws in the whole ball, as the paper does, also beyond the values
        that the columns hold; "clipped" moves such values to the nearest bound; "cut" draws only within the bounds. See
        docs/decisions/0028-draws-clipped-at-the-bounds.md.

    Examples
    --------
    >>> from oleander.black_box import BlackBox
    >>> from oleander.black_box.labelling import label_rows
    >>> from oleander.data.schema import FeatureSchema
    >>> X = np.array([[0.5], [1.5], [2.5]])
    >>> box = CountingBlackBox(BlackBox(lambda X: X[:, 0] > 1, FeatureSchema.infer(X)))
    >>> candidates = Balls([2.0, 1.0]).propose(label_rows(X, box), 0, box)
    >>> [candidate.region.radius for candidate in candidates]
    [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]
    """

    radius: Radius = field(default="auto", kw_only=False)
    scale: Literal["schema", "std", "iqr", "range", "none"] = "schema"
    norm: float = np.inf
    max_flips: int | None = None
    max_candidates: int | None = 2000
    n_draws: int = 2000
    local: LocalExplainer = field(default_factory=FilteredTree)
    flips: FlipLaw = "paper"
    centers: Literal["rounded", "rows"] = "rounded"
    bounds: Bounds = "clipped"

    def propose(self, rows: Rows, random_state: int, black_box: CountingBlackBox | None = None) -> list[Candidate]:
        """Return one candidate per center and radius, those of one center next to each other, narrowest first.

        The region of a ball needs no answer of the black box: it is not asked.
        """
        self.check()
        if rows.row_numbers is None:
            self.check_rows(rows.n_rows)
        scales = self.measured_scales(rows)
        points = choose_centers(rows, self.max_candidates)
        centers = rows.values[points]
        if self.centers == "rounded":
            # The step follows the spread of the rows: a schema's scale may be far larger, and so may a raw unit.
            centers = round_numbers(centers, rows.schema, None if scales is None else measure_scales(rows, "std"))
            # Whole numbers are round already: such a center takes a step away from the row.
            centers = move_off_rows(centers, rows.values, rows.schema, np.random.default_rng(random_state))
        if isinstance(self.radius, PerRow):
            ladders = self.radius.of_points(rows)
        else:
            ladder = read_radii(self.radius, rows, self.norm, scales, self.max_flips)
            ladders = [dict.fromkeys(ladder, row) for row in rows.first_rows.tolist()]
        candidates = []
        for center, point in zip(centers, points, strict=True):
            for radius, row in ladders[point].items():
                ball = Ball(rows.schema, center, radius, self.max_flips, self.norm, scales)
                seed = seed_for(random_state, center, radius)
                recipe = BallRecipe(ball, self.n_draws, self.local, seed, self.flips, self.bounds)
                candidates.append(Candidate(ball, recipe=recipe, origin="balls", row=row))
        return candidates

    def measured_scales(self, rows: Rows) -> Floats | None:
        """Return the unit of the radius along each number; None where it is the schema's scale."""
        return None if self.scale == "schema" else measure_scales(rows, self.scale)

    def check_rows(self, n_rows: int) -> None:
        """Raise ``ValueError`` for radii that do not fit the number of rows of X, or may be meant in two ways."""
        check_radius(self.radius, n_rows)

    def check_numbers(self) -> None:
        """Raise ``ValueError`` if the local explainer explains labels only."""
        if "tolerance" not in inspect.signature(self.local.fit).parameters:
            raise ValueError(
                f"tolerance= explains numbers, and local={self.local!r} explains labels: use FilteredTree, "
                "UnfilteredTree or SparseLine."
            )

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        check_count("n_draws", self.n_draws)
        check_count("max_candidates", self.max_candidates, or_none=True)
        check_count("max_flips", self.max_flips, 0, or_none=True)
        check_norm(self.norm)
        check_choice("scale", self.scale, ("schema", *SCALES))
        check_choice("flips", self.flips, ("paper", "uniform"))
        check_choice("centers", self.centers, ("rounded", "rows"))
        check_choice("bounds", self.bounds, ("uncut", "clipped", "cut"))
        if isinstance(self.local, type) or not hasattr(self.local, "fit"):
            name = self.local.__name__ if isinstance(self.local, type) else repr(self.local)
            raise TypeError(f"local={name} is not allowed: give an explainer, such as FilteredTree() or LimeLinear().")


def measure_scales(rows: Rows, scale: str) -> Floats:
    """Return one unit per number, measured on the rows; see ``oleander.data.schema.inference.measure_scale``."""
    columns = rows.repeated()[0][:, rows.schema.numbers].T
    return np.array([measure_scale(column[~np.isnan(column)], scale) for column in columns])


def find_generators(candidates: str | Generator | Iterable[str | Generator]) -> list[Generator]:
    """Return the generators that are given, or named: "balls".

    Examples
    --------
    >>> [type(generator).__name__ for generator in find_generators("balls")]
    ['Balls']
    """
    several = list(candidates) if isinstance(candidates, Iterable) and not isinstance(candidates, str) else [candidates]
    if not several:
        raise ValueError("candidates is empty: give 'balls' or generators, such as Balls().")
    generators: list[Generator] = []
    for one in several:
        if isinstance(one, str):
            if one == "auto":
                raise ValueError("candidates='auto' learns rules and stands alone: leave out the others, or 'auto'.")
            check_choice("candidates", one, ("auto", "balls"))
            generators.append(Balls())
        elif isinstance(one, Generator):
            generators.append(one)
        else:
            raise TypeError(f"candidates holds a {type(one).__name__}; give 'balls' or generators, such as Balls().")
    return generators
