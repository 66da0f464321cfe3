"""The paper's candidates: balls around rows, each with an explainer trained on draws inside."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from oleander.generators.base import Candidate
from oleander.local import FilteredTree, LocalExplainer
from oleander.local.base import Labels
from oleander.regions import Ball, row_keys
from oleander.rows import Rows
from oleander.sampling import FlipLaw, draw_in_ball, seed_for

Floats = NDArray[np.float64]


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

    def fit(self, draws: Floats, labels: Labels) -> LocalExplainer:
        """Return a new explainer for the ball."""
        return copy.deepcopy(self.local).fit(draws, labels, schema=self.ball.schema, center=self.ball.center)


@dataclass(frozen=True)
class Balls:
    """Balls around rows: one candidate per center and radius.

    Parameters
    ----------
    radius : float or sequence of float
        One radius, or a ladder of them from which the program chooses, in units of the schema's scales.
    max_flips : int or None
        Most levels that may differ; None means the whole part of the radius.
    max_candidates : int or None
        At most so many centers, spread over the data; None makes every row a center.
    n_draws : int
        Draws per ball.
    local : LocalExplainer
        What is trained in each ball; it is copied, never fitted itself.
    flips : {"paper", "uniform"}
    norm : float
        p of the ℓp norm along numbers.

    Examples
    --------
    >>> from oleander.black_box import BlackBox
    >>> from oleander.schema import FeatureSchema
    >>> X = np.array([[0.5], [1.5], [2.5]])
    >>> rows = Rows.ask(X, BlackBox(lambda X: X[:, 0] > 1, FeatureSchema.infer(X)))
    >>> [candidate.region.radius for candidate in Balls(radius=[2.0, 1.0]).propose(rows, random_state=0)]
    [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]
    """

    radius: float | Sequence[float]
    max_flips: int | None = None
    max_candidates: int | None = 2000
    n_draws: int = 2000
    local: LocalExplainer = field(default_factory=FilteredTree)
    flips: FlipLaw = "paper"
    norm: float = np.inf

    def propose(self, rows: Rows, random_state: int) -> list[Candidate]:
        """Return one candidate per center and radius, those of one center next to each other, narrowest first."""
        if self.n_draws < 1:
            raise ValueError(f"n_draws={self.n_draws} is not allowed: at least 1 is needed to learn anything.")
        ladder = sorted({float(radius) for radius in np.atleast_1d(np.asarray(self.radius, dtype=float))})
        if not ladder:
            raise ValueError("radius is an empty sequence; give at least one radius.")
        candidates = []
        for point in choose_centers(rows, self.max_candidates):
            center = rows.values[point]
            for radius in ladder:
                ball = Ball(rows.schema, center, radius, self.max_flips, self.norm)
                seed = seed_for(random_state, center, radius)
                recipe = BallRecipe(ball, self.n_draws, self.local, seed, self.flips)
                candidates.append(Candidate(ball, recipe=recipe, origin="balls"))
        return candidates


def choose_centers(rows: Rows, most: int | None) -> NDArray[np.intp]:
    """Return at most so many points, spread over the data: one from each of equally full cells.

    Cells come from halving the data along the widest column again and again, so dense places get more centers and no
    place is left out. The choice depends on the rows, not on their order.
    """
    if most is not None and most < 1:
        raise ValueError(f"max_candidates={most} is not allowed: at least one center is needed.")
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
            # The point nearest to the cell's middle speaks for it.
            chosen.append(int(points[np.abs(inside - np.median(inside, axis=0)).sum(axis=1).argmin()]))
            continue
        widest = int(np.ptp(inside, axis=0).argmax())
        ordered = points[np.argsort(inside[:, widest], kind="stable")]
        lower = share // 2
        cut = len(points) * lower // share
        cells += [(ordered[:cut], lower), (ordered[cut:], share - lower)]
    return np.sort(np.array(chosen, dtype=np.intp))
