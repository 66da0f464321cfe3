"""The paper's candidates: balls around rows, each with an explainer trained on draws inside."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from oleander.arrays import Floats, Ints, Labels
from oleander.black_box.counting import CountingBlackBox
from oleander.candidates.base import Candidate
from oleander.data.checks import check_choice, check_count
from oleander.data.merging import row_keys
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema, Kind
from oleander.data.schema.inference import SCALES, measure_scale
from oleander.data.schema.rounding import round_to_step
from oleander.draws.in_ball import FlipLaw, draw_in_ball, seed_for
from oleander.explainers import FilteredTree, LocalExplainer
from oleander.explainers.base import Explainer
from oleander.regions import Ball, ball_distances

LADDER_SHARES = (0.05, 0.1, 0.2, 0.35, 0.6)


@dataclass(frozen=True, eq=False)
class BallRecipe:
    """Draw in a ball, then fit a copy of the local explainer (Algorithm 1)."""

    ball: Ball
    n_draws: int
    local: LocalExplainer
    seed: int
    flips: FlipLaw = "paper"

    def draw(self) -> Floats:
        """Return the draws: the same ones every time, since the seed is the candidate's own."""
        return draw_in_ball(self.ball, self.n_draws, np.random.default_rng(self.seed), flips=self.flips)

    def fit(self, draws: Floats, labels: Labels) -> Explainer:
        """Return a new explainer for the ball."""
        return copy.deepcopy(self.local).fit(draws, labels, schema=self.ball.schema, center=self.ball.center)


@dataclass(frozen=True, kw_only=True)
class Balls:
    """Balls around rows: one candidate per center and radius.

    Parameters
    ----------
    radius : float, sequence of float or "auto"
        One radius, or a ladder of them from which the program chooses, in units of ``scale``. "auto" takes a ladder
        from the data; see ``choose_ladder``.
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

    radius: float | Sequence[float] | Literal["auto"] = field(default="auto", kw_only=False)
    scale: Literal["schema", "std", "iqr", "range", "none"] = "schema"
    norm: float = np.inf
    max_flips: int | None = None
    max_candidates: int | None = 2000
    n_draws: int = 2000
    local: LocalExplainer = field(default_factory=FilteredTree)
    flips: FlipLaw = "paper"
    centers: Literal["rounded", "rows"] = "rounded"

    def propose(self, rows: Rows, random_state: int, black_box: CountingBlackBox | None = None) -> list[Candidate]:
        """Return one candidate per center and radius, those of one center next to each other, narrowest first.

        The region of a ball needs no answer of the black box: it is not asked.
        """
        self.check()
        scales = None if self.scale == "schema" else measure_scales(rows, self.scale)
        centers = rows.values[choose_centers(rows, self.max_candidates)]
        if self.centers == "rounded":
            # The step follows the spread of the rows: a schema's scale may be far larger, and so may a raw unit.
            centers = round_numbers(centers, rows.schema, None if scales is None else measure_scales(rows, "std"))
        ladder = self._ladder(rows, scales)
        candidates = []
        for center in centers:
            for radius in ladder:
                ball = Ball(rows.schema, center, radius, self.max_flips, self.norm, scales)
                seed = seed_for(random_state, center, radius)
                recipe = BallRecipe(ball, self.n_draws, self.local, seed, self.flips)
                candidates.append(Candidate(ball, recipe=recipe, origin="balls"))
        return candidates

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        check_count("n_draws", self.n_draws)
        check_count("max_candidates", self.max_candidates, or_none=True)
        check_choice("scale", self.scale, ("schema", *SCALES))
        check_choice("flips", self.flips, ("paper", "uniform"))
        check_choice("centers", self.centers, ("rounded", "rows"))

    def _ladder(self, rows: Rows, scales: Floats | None) -> list[float]:
        """Return the radii, each once, the smallest first."""
        if isinstance(self.radius, str):
            if self.radius != "auto":
                raise ValueError(f"radius={self.radius!r} is not known; give a number, several, or 'auto'.")
            return choose_ladder(rows, self.norm, scales)
        ladder = sorted({float(radius) for radius in np.atleast_1d(np.asarray(self.radius, dtype=float))})
        if not ladder:
            raise ValueError("radius is an empty sequence; give at least one radius.")
        return ladder


def measure_scales(rows: Rows, scale: str) -> Floats:
    """Return one unit per number, measured on the rows; see ``oleander.data.schema.inference.measure_scale``."""
    columns = rows.repeated()[0][:, rows.schema.numbers].T
    return np.array([measure_scale(column[~np.isnan(column)], scale) for column in columns])


def choose_ladder(rows: Rows, norm: float = np.inf, scales: Floats | None = None) -> list[float]:
    """Return radii at which a ball around a typical row holds 5, 10, 20, 35 and 60% of the rows.

    One size of ball is too wide where the black box is intricate and too narrow where it is simple; the program chooses
    the radius for each center. Radii are rounded to two digits.
    """
    sample = choose_centers(rows, min(rows.n_points, 200))
    distances = [
        np.maximum(*ball_distances(rows.values, rows.values[point], rows.schema, norm, scales)) for point in sample
    ]
    ordered = np.sort(np.array(distances)[:, np.repeat(np.arange(rows.n_points), rows.weights)], axis=1)
    typical = np.median(ordered, axis=0)[[int(share * (ordered.shape[1] - 1)) for share in LADDER_SHARES]]
    return sorted({float(f"{radius:.2g}") for radius in typical if radius > 0}) or [1.0]


def round_numbers(centers: Floats, schema: FeatureSchema, scales: Floats | None = None) -> Floats:
    """Return centers whose numbers are rounded to a readable step of at most a fifth of the column's scale.

    Without ``scales``, one per number, the schema's are taken. Whole numbers stay whole: their step is at least 1.

    Rounding is not anonymity: levels stay, and rare numbers stay rare. It keeps a record from standing in a file to the
    digit.
    """
    rounded = centers.copy()
    for j, scale in zip(schema.numbers, schema.scales if scales is None else scales, strict=True):
        whole = schema[j].kind is Kind.INTEGER
        rounded[:, j] = round_to_step(centers[:, j], float(scale) / 5, whole=whole)
    return rounded


def choose_centers(rows: Rows, most: int | None) -> Ints:
    """Return at most ``most`` points, spread over the data: one from each of equally full cells.

    Cells come from halving the data along the widest column again and again, so dense places get more centers and no
    place is left out. The choice depends on the rows, not on their order.
    """
    if most is None or rows.n_points <= most:
        return np.arange(rows.n_points)
    units = np.ones(len(rows.schema))
    units[rows.schema.numbers] = rows.schema.scales
    places = rows.values / units
    # A missing value stands a little apart from every other.
    places = np.where(np.isnan(places), np.nanmin(places, axis=0) - 1.0, places)
    by_content = np.argsort(row_keys(rows.values))
    chosen: list[int] = []
    cells = [(by_content, most)]
    while cells:
        points, share = cells.pop()
        inside = places[points]
        if share == 1:
            # The point nearest to the cell's middle stands for it.
            chosen.append(int(points[np.abs(inside - np.median(inside, axis=0)).sum(axis=1).argmin()]))
            continue
        widest = int(np.ptp(inside, axis=0).argmax())
        ordered = points[np.argsort(inside[:, widest], kind="stable")]
        lower = share // 2
        cut = len(points) * lower // share
        cells += [(ordered[:cut], lower), (ordered[cut:], share - lower)]
    return np.sort(np.array(chosen, dtype=np.intp))
