"""The paper's candidates: balls around rows, each with an explainer trained on draws inside.

Centers are spread over the data and rounded; radii are given, or chosen so that balls hold a share of the rows.
"""

import copy
import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from oleander.arrays import Floats, Ints, Labels
from oleander.black_box.asking import CountingBlackBox
from oleander.candidates.base import Candidate, Generator
from oleander.data.checks import check_choice, check_count
from oleander.data.rows import Rows, hash_rows, row_keys
from oleander.data.schema import Feature, FeatureSchema, format_number
from oleander.data.schema.inference import SCALES, measure_scale
from oleander.data.schema.rounding import round_to_step
from oleander.data.tolerance import Tolerance
from oleander.draws.in_ball import Bounds, draw_in_ball, seed_for
from oleander.messages import show_share, warn_user
from oleander.rules import Ball, FilteredTree, LocalExplainer, ball_distances
from oleander.rules.base import Explainer

if TYPE_CHECKING:
    from oleander.candidates.pool import CandidatePool

LADDER_SHARES = (0.05, 0.1, 0.2, 0.35, 0.6)
# Distances from this many centers tell what a typical ball holds.
MOST_MEASURED = 200
# Attempts to move a center off the rows.
N_ATTEMPTS = 10
# More radii than this are those of rows, and are not listed one by one.
MOST_RADII = 10
# A typical ball that holds at least this share of the rows is no local one.
NEARLY_ALL = 0.95
USUAL_SHARES = (0.05, 0.6)


@dataclass(frozen=True)
class PerRow:
    """One radius for each row of X: the paper's r_i. A plain sequence is a ladder instead.

    A radius follows its row where rows are merged, held out or sampled. A center that stands for equal rows with
    different radii gets a ball for each.

    Parameters
    ----------
    values : sequence of float, one for each row of X, in their order

    Examples
    --------
    >>> PerRow(np.array([1.0, 2.5])).values
    (1.0, 2.5)
    """

    # A tuple, so that a checkpoint compares every value.
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=float)
        if values.ndim != 1 or not len(values):
            raise ValueError(f"PerRow takes one radius for each row, and an array of shape {values.shape} was given.")
        bad = ~(np.isfinite(values) & (values >= 0))
        if bad.any():
            row = int(bad.argmax())
            raise ValueError(f"PerRow has the radius {values[row]:g} for row {row}: a radius is a number, 0 or more.")
        object.__setattr__(self, "values", tuple(values.tolist()))

    def of_points(self, rows: Rows) -> list[dict[float, int]]:
        """Return the radii of each point, the smallest first, each with the first row of X that has it."""
        numbers = np.arange(len(rows.point_of_row)) if rows.row_numbers is None else rows.row_numbers
        found: list[dict[float, int]] = [{} for _ in range(rows.n_points)]
        for number, point in zip(numbers.tolist(), rows.point_of_row.tolist(), strict=True):
            found[point].setdefault(self.values[number], number)
        return [dict(sorted(radii.items())) for radii in found]


@dataclass(frozen=True)
class Holding:
    """The radius at which a ball around a typical row holds a share of the rows.

    Parameters
    ----------
    share : float
        Over 0, at most 1.

    Examples
    --------
    >>> Holding(0.2).share
    0.2
    """

    share: float

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"Holding takes a share of the rows, over 0 and at most 1, and not {self.share}.")


Radius = float | Sequence[float] | PerRow | Holding | str


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


def round_numbers(centers: Floats, schema: FeatureSchema, scales: Floats | None = None) -> Floats:
    """Return centers whose numbers are rounded to a readable step of at most a fifth of the column's scale.

    Without ``scales``, one per number, the schema's are taken. Whole numbers stay whole. Rounding is not anonymity:
    levels stay, and rare numbers stay rare. It keeps a record from standing in a file to the digit.
    """
    rounded = centers.copy()
    for j, scale in zip(schema.numbers, schema.scales if scales is None else scales, strict=True):
        rounded[:, j] = round_to_step(centers[:, j], float(scale) / 5, whole=schema[j].is_whole)
    return rounded


def move_off_rows(values: Floats, rows: Floats, schema: FeatureSchema, rng: np.random.Generator) -> Floats:
    """Move centers that equal a row along one known number each, in place."""
    movable = np.array([j for j in schema.numbers.tolist() if schema[j].upper > schema[j].lower], dtype=np.intp)
    seen = hash_rows(rows)
    equal = np.flatnonzero(np.isin(hash_rows(values), seen))
    for _ in range(N_ATTEMPTS):
        if not len(equal) or not len(movable):
            break
        for i in equal.tolist():
            known = movable[~np.isnan(values[i, movable])]
            if len(known):
                j = int(rng.choice(known))
                values[i, j] = _nudge(float(values[i, j]), schema[j], rng)
        equal = equal[np.isin(hash_rows(values[equal]), seen)]
    return values


def _nudge(value: float, feature: Feature, rng: np.random.Generator) -> float:
    """Return another value near this one that the column may hold."""
    if feature.is_whole:
        step = 1.0 if rng.random() < 0.5 else -1.0
        moved = value + step if feature.lower <= value + step <= feature.upper else value - step
    else:
        moved = value + 0.05 * feature.scale * float(rng.standard_normal())
    return float(np.clip(moved, feature.lower, feature.upper))


@dataclass(frozen=True, eq=False)
class BallRecipe:
    """Draw in a ball, then fit a copy of the local explainer (Algorithm 1)."""

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


@dataclass(frozen=True, kw_only=True)
class Balls:
    """Balls around rows: one candidate per center and radius.

    Parameters
    ----------
    radius : float, sequence of float, PerRow, Holding or "auto"
        One radius for all centers; a ladder, from which the program chooses for each center; ``PerRow(values)``, one
        for each row of X; or ``Holding(share)``, at which a ball around a typical row holds that share of the rows. In
        units of ``scale``. "auto" takes a ladder from the data; see ``choose_ladder``. A
        sequence with as many values as X has rows is refused, because it may be meant in two ways.
    scale : {"schema", "std", "iqr", "range", "none"}
        The unit of the radius along each number: the schema's scale, one computed from the rows, or raw units.
    max_flips : int or None
        The most levels that may differ; None means the whole part of the radius.
    max_candidates : int or None
        The most centers, spread over the data; None makes every row a center.
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

    radius: Radius = field(default="auto", kw_only=False)
    scale: Literal["schema", "std", "iqr", "range", "none"] = "schema"
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
            radii = self.find_radii(rows)
            ladders = [dict.fromkeys(radii, row) for row in rows.first_rows.tolist()]
        candidates = []
        for center, point in zip(centers, points, strict=True):
            for radius, row in ladders[point].items():
                ball = Ball(rows.schema, center, radius, self.max_flips, scales)
                seed = seed_for(random_state, center, radius)
                recipe = BallRecipe(ball, self.n_draws, self.local, seed, self.bounds)
                candidates.append(Candidate(ball, recipe=recipe, origin="balls", row=row))
        return candidates

    def find_radii(self, rows: Rows) -> list[float]:
        """Return the radii that every center has, each once, the smallest first."""
        if isinstance(self.radius, str):
            return self.choose_ladder(rows)
        if not isinstance(self.radius, Holding):
            return sorted({float(one) for one in np.atleast_1d(np.asarray(self.radius, dtype=float))})
        shares = (self.radius.share,)
        if np.isinf(self.typical_radii(rows, shares)).any():
            raise ValueError(
                f"radius=Holding({self.radius.share:g}) is not possible with max_flips={self.max_flips}: a ball around "
                "a typical row never holds that share of the rows. Raise max_flips, or lower the share."
            )
        return self.choose_ladder(rows, shares)

    def choose_ladder(self, rows: Rows, shares: Sequence[float] = LADDER_SHARES) -> list[float]:
        """Return radii at which a ball around a typical row holds 5, 10, 20, 35 and 60% of the rows, or other shares.

        One size of ball is too wide where the black box is intricate and too narrow where it is simple; the program
        chooses the radius for each center. Radii are rounded to two digits.
        """
        typical = self.typical_radii(rows, shares)
        return sorted({float(f"{radius:.2g}") for radius in typical if 0 < radius < np.inf}) or [1.0]

    def typical_radii(self, rows: Rows, shares: Sequence[float]) -> Floats:
        """Return the radii at which a ball around a typical row holds these shares of the rows; infinite if none does.

        Typical is the median over at most ``MOST_MEASURED`` centers.
        """
        places = [int(share * (rows.n_rows - 1)) for share in shares]
        scales, distances = self.measured_scales(rows), []
        for point in choose_centers(rows, min(rows.n_points, MOST_MEASURED)):
            along, flips = ball_distances(rows.values, rows.values[point], rows.schema, scales)
            # Without a limit of their own, flips are limited by the whole part of the radius.
            if self.max_flips is None:
                reach = np.maximum(along, flips)
            else:
                reach = np.where(flips <= self.max_flips, along, np.inf)
            distances.append(np.sort(np.repeat(reach, rows.weights))[places])
        return np.asarray(np.median(np.array(distances), axis=0))

    def measured_scales(self, rows: Rows) -> Floats | None:
        """Return the unit of the radius along each number; None where it is the schema's scale."""
        return None if self.scale == "schema" else measure_scales(rows, self.scale)

    def check_rows(self, n_rows: int) -> None:
        """Raise ``ValueError`` for radii that do not fit the number of rows of X, or may be meant in two ways."""
        radius: Any = self.radius
        if isinstance(radius, PerRow):
            if len(radius.values) != n_rows:
                raise ValueError(
                    f"radius=PerRow(...) has {len(radius.values):,} values, and X has {n_rows:,} rows: give one for "
                    "each."
                )
        elif not isinstance(radius, str | Holding) and 1 < np.size(radius) == n_rows:
            raise ValueError(
                f"radius has {n_rows:,} values, as many as X has rows, and a sequence is a ladder for every center: "
                "write radius=PerRow(values) for one radius per row, or give a ladder of another length."
            )

    def check_numbers(self) -> None:
        """Raise ``ValueError`` if the local explainer explains labels only."""
        if "tolerance" not in inspect.signature(self.local.fit).parameters:
            raise ValueError(
                f"tolerance= explains numbers, and local={self.local!r} explains labels: use FilteredTree, "
                "UnfilteredTree or SparseLine."
            )

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        if isinstance(self.radius, str) and self.radius != "auto":
            raise ValueError(f"radius={self.radius!r} is not known; give a number, several, PerRow(values) or 'auto'.")
        if not isinstance(self.radius, str | PerRow | Holding) and not np.size(self.radius):
            raise ValueError("radius is an empty sequence; give at least one radius.")
        check_count("n_draws", self.n_draws)
        check_count("max_candidates", self.max_candidates, or_none=True)
        check_count("max_flips", self.max_flips, 0, or_none=True)
        check_choice("scale", self.scale, ("schema", *SCALES))
        check_choice("centers", self.centers, ("rounded", "rows"))
        check_choice("bounds", self.bounds, ("uncut", "clipped", "cut"))
        if isinstance(self.local, type) or not hasattr(self.local, "fit"):
            name = self.local.__name__ if isinstance(self.local, type) else repr(self.local)
            raise TypeError(f"local={name} is not allowed: give an explainer, such as FilteredTree().")


def measure_scales(rows: Rows, scale: str) -> Floats:
    """Return one unit per number, measured on the rows."""
    columns = rows.repeated()[0][:, rows.schema.numbers].T
    return np.array([measure_scale(column[~np.isnan(column)], scale) for column in columns])


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


class BallSize(NamedTuple):
    """The number of rows in the balls of one radius, or of all radii where every row has its own."""

    radii: str
    # The median over the balls.
    n_held: float
    # All rows.
    n_rows: int
    # Whether most balls hold one distinct row, their center, or none.
    is_narrow: bool

    @property
    def share(self) -> float:
        """The share of the rows that a typical ball holds."""
        return self.n_held / self.n_rows


def measure_sizes(pool: "CandidatePool") -> tuple[BallSize, ...]:
    """Return the size of the pool's balls, the narrowest first; empty without balls."""
    regions = [candidate.region for candidate in pool.candidates]
    balls = np.array([index for index, region in enumerate(regions) if region.ball is not None], dtype=np.intp)
    if not len(balls):
        return ()
    radii = np.array([region.ball.radius for region in regions if region.ball is not None])
    n_points = np.diff(pool.covers.indptr)
    several = np.unique(radii)
    groups = {f"radius {format_number(float(radius))}": balls[radii == radius] for radius in several[:MOST_RADII]}
    if len(several) > MOST_RADII:
        groups = {f"radii from {format_number(float(several[0]))} to {format_number(float(several[-1]))}": balls}
    sizes = []
    for name, members in groups.items():
        n_held = float(np.median(pool.support[members]))
        sizes.append(BallSize(name, n_held, pool.rows.n_rows, bool((n_points[members] <= 1).mean() > 0.5)))
    return tuple(sizes)


def warn_of_sizes(balls: Balls, rows: Rows, sizes: Sequence[BallSize]) -> None:
    """Warn if most balls hold their center alone, or nearly all rows, and name radii that would hold a usual share."""
    narrow = all(size.is_narrow for size in sizes)
    if not sizes or not (narrow or all(size.share >= NEARLY_ALL for size in sizes)):
        return
    worst = sizes[-1] if narrow else sizes[0]
    what = "their center alone" if narrow else f"nearly all rows ({worst.n_held:,.0f} of {worst.n_rows:,})"
    found = balls.typical_radii(rows, USUAL_SHARES)
    cures = [
        f"{show_share(share)} of the rows at radius {format_number(float(f'{radius:.2g}'))}"
        for share, radius in zip(USUAL_SHARES, found, strict=True)
        if 0 < radius < np.inf
    ]
    cure = f" A typical ball would hold {' and '.join(cures)}." if cures else ""
    warn_user(f"most balls of {worst.radii} hold {what}.{cure}")
