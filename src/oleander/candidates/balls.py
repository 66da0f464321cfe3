"""The paper's candidates: balls around rows, each with an explainer trained on draws inside.

Centers are rows, or rounded rows; radii are given, or chosen so that balls hold a share of the rows.
"""

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.black_box.asking import CountingBlackBox
from oleander.candidates.base import Candidate, Generator, Recipe
from oleander.data.checks import check_choice, check_count
from oleander.data.rows import Rows, hash_rows
from oleander.data.schema.inference import measure_scale
from oleander.data.schema.rounding import round_to_step
from oleander.draws.in_ball import Bounds, seed_for
from oleander.messages import warn_user
from oleander.rules import Ball, FilteredTree, LocalExplainer, ball_distances

if TYPE_CHECKING:
    from oleander.candidates.pool import CandidatePool

LADDER_SHARES = (0.05, 0.1, 0.2, 0.35, 0.6)
# Distances from this many centers tell what a typical ball holds.
MOST_MEASURED = 200
# Attempts to move a center off the rows.
N_ATTEMPTS = 10
# A ball that holds at least this share of the rows is no local one.
NEARLY_ALL = 0.95


def choose_centers(rows: Rows, most: int | None) -> Ints:
    """Return at most ``most`` points, a sample that depends on the rows and not on their order."""
    return np.sort(np.argsort(hash_rows(rows.values), kind="stable")[:most])


def hide_rows(centers: Floats, rows: Rows, rng: np.random.Generator) -> Floats:
    """Return centers whose numbers are rounded to a readable step of at most a fifth of the rows' spread.

    Rounding is not anonymity: levels stay, and rare numbers stay rare. It keeps a record from standing in a file to the
    digit. So a center that still equals a row, as where all numbers are whole, is moved along one of its numbers.
    """
    schema, hidden, values = rows.schema, centers.copy(), rows.repeated()[0]
    spread = {j: measure_scale(values[~np.isnan(values[:, j]), j]) for j in schema.numbers.tolist()}
    for j, size in spread.items():
        hidden[:, j] = round_to_step(centers[:, j], size / 5, whole=schema[j].is_whole)
    seen = hash_rows(rows.values)
    for _ in range(N_ATTEMPTS):
        for i in np.flatnonzero(np.isin(hash_rows(hidden), seen)).tolist():
            movable = [j for j in spread if schema[j].upper > schema[j].lower and not np.isnan(hidden[i, j])]
            if movable:
                j, step = int(rng.choice(movable)), rng.standard_normal()
                step = np.sign(step) if schema[j].is_whole else step * spread[j] / 20
                hidden[i, j] = np.clip(hidden[i, j] + step, schema[j].lower, schema[j].upper)
    return hidden


@dataclass(frozen=True, kw_only=True)
class Balls:
    """Balls around rows: one candidate per center and radius.

    Parameters
    ----------
    radius : float, sequence of float or "auto"
        One radius for all centers, or a ladder, from which the program chooses for each center, in units of ``scale``.
        "auto" takes a ladder from the data; see ``choose_ladder``.
    scale : {"schema", "none"}
        The unit of the radius along each number: the schema's scale, or raw units.
    max_flips : int or None
        The maximum number of levels that may differ; None means the whole part of the radius.
    max_candidates : int or None
        The maximum number of centers, a sample of the rows; None makes every row a center.
    n_draws : int
        Draws per ball, labelled by the black box.
    local : LocalExplainer
        The explainer that is trained in each ball. It is copied, never fitted itself.
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

    radius: float | Sequence[float] | str = field(default="auto", kw_only=False)
    scale: Literal["schema", "none"] = "schema"
    max_flips: int | None = None
    max_candidates: int | None = 2000
    n_draws: int = 2000
    local: LocalExplainer = field(default_factory=FilteredTree)
    centers: Literal["rounded", "rows"] = "rounded"
    bounds: Bounds = "clipped"

    def propose(self, rows: Rows, random_state: int, black_box: CountingBlackBox | None = None) -> list[Candidate]:
        """Return one candidate per center and radius, those of one center next to each other, narrowest first.

        The region of a ball needs no answer of the black box: it is not asked.
        """
        self.check()
        points, radii = choose_centers(rows, self.max_candidates), self.radius
        centers = rows.values[points]
        if self.centers == "rounded":
            centers = hide_rows(centers, rows, np.random.default_rng(random_state))
        radii = self.choose_ladder(rows) if isinstance(radii, str) else np.unique(np.array(radii, dtype=float)).tolist()
        candidates = []
        for center in centers:
            for radius in radii:
                ball = Ball(rows.schema, center, radius, self.max_flips, self.scale == "none")
                seed = seed_for(random_state, center, radius)
                recipe = Recipe(ball, self.n_draws, self.local, seed, self.bounds)
                candidates.append(Candidate(ball, recipe=recipe, origin="balls"))
        return candidates

    def choose_ladder(self, rows: Rows, shares: Sequence[float] = LADDER_SHARES) -> list[float]:
        """Return radii at which a ball around a typical row holds 5, 10, 20, 35 and 60% of the rows, or other shares.

        One size of ball is too wide where the black box is intricate and too narrow where it is simple; the program
        chooses the radius for each center. Typical is the median; radii are rounded to two digits.
        """
        places = [int(share * (rows.n_rows - 1)) for share in shares]
        distances = []
        for point in choose_centers(rows, MOST_MEASURED):
            along, flips = ball_distances(rows.values, rows.values[point], rows.schema, self.scale == "none")
            # Without a limit of their own, flips are limited by the whole part of the radius.
            if self.max_flips is None:
                reach = np.maximum(along, flips)
            else:
                reach = np.where(flips <= self.max_flips, along, np.inf)
            distances.append(np.sort(np.repeat(reach, rows.weights))[places])
        typical = np.median(np.array(distances), axis=0).tolist()
        return sorted({float(f"{radius:.2g}") for radius in typical if 0 < radius < np.inf}) or [1.0]

    def check_numbers(self) -> None:
        """Raise ``ValueError`` if the local explainer explains labels only."""
        if "tolerance" not in inspect.signature(self.local.fit).parameters:
            raise ValueError(
                f"tolerance= explains numbers, and local={self.local!r} explains labels: use FilteredTree or "
                "UnfilteredTree."
            )

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        is_auto = isinstance(self.radius, str) and self.radius == "auto"
        if not is_auto and np.asarray(self.radius).dtype.kind not in "iuf":
            raise ValueError(f"radius={self.radius!r} is not known; give a number, several, or 'auto'.")
        if not np.size(self.radius):
            raise ValueError("radius is an empty sequence; give at least one radius.")
        check_count("n_draws", self.n_draws)
        check_count("max_candidates", self.max_candidates, or_none=True)
        check_count("max_flips", self.max_flips, 0, or_none=True)
        check_choice("scale", self.scale, ("schema", "none"))
        check_choice("centers", self.centers, ("rounded", "rows"))
        check_choice("bounds", self.bounds, ("uncut", "clipped", "cut"))
        if isinstance(self.local, type) or not hasattr(self.local, "fit"):
            name = self.local.__name__ if isinstance(self.local, type) else repr(self.local)
            raise TypeError(f"local={name} is not allowed: give an explainer, such as FilteredTree().")


def find_generators(candidates: Generator | Iterable[Generator]) -> list[Generator]:
    """Return the generators that are given: one or several."""
    several = list(candidates) if isinstance(candidates, Iterable) else [candidates]
    if not several:
        raise ValueError("candidates is empty: give Boxes(), Balls() or generators of your own.")
    for one in several:
        if not isinstance(one, Generator):
            raise TypeError(
                f"candidates holds a {type(one).__name__}; give Boxes() alone, or Balls() and generators of your own."
            )
    return several


def warn_of_sizes(pool: "CandidatePool") -> None:
    """Warn if most balls hold their center alone, or nearly all rows."""
    balls = [candidate.region.ball for candidate in pool.candidates]
    radii = np.array([np.nan if ball is None else ball.radius for ball in balls])
    if np.isnan(radii).all():
        return
    # Wider balls hold more: the widest of a ladder tell whether all are narrow.
    is_alone = np.diff(pool.covers.indptr)[radii == np.nanmax(radii)] <= 1
    is_wide = pool.support[radii == np.nanmin(radii)] >= NEARLY_ALL * pool.rows.n_rows
    for what, found in (("their center alone", is_alone), ("nearly all rows", is_wide)):
        if found.mean() > 0.5:
            warn_user(f"most balls hold {what}: give other radii, or radius='auto', which takes them from the rows.")
