"""Radii of balls: one for all, a ladder, one per row, or one that holds a share of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oleander.arrays import Floats
from oleander.candidates.centers import choose_centers
from oleander.data.rows import Rows
from oleander.rules import ball_distances

LADDER_SHARES = (0.05, 0.1, 0.2, 0.35, 0.6)
# Distances from this many centers tell what a typical ball holds.
MOST_MEASURED = 200


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


def check_radius(radius: Any, n_rows: int) -> None:
    """Raise ``ValueError`` for radii that do not fit the number of rows of X, or may be meant in two ways."""
    if isinstance(radius, PerRow):
        if len(radius.values) != n_rows:
            raise ValueError(
                f"radius=PerRow(...) has {len(radius.values):,} values, and X has {n_rows:,} rows: give one for each."
            )
    elif not isinstance(radius, str | Holding) and 1 < np.size(radius) == n_rows:
        raise ValueError(
            f"radius has {n_rows:,} values, as many as X has rows, and a sequence is a ladder for every center: write "
            "radius=PerRow(values) for one radius per row, or give a ladder of another length."
        )


def read_radii(radius: Radius, rows: Rows, norm: float, scales: Floats | None, max_flips: int | None) -> list[float]:
    """Return the radii that every center has, each once, the smallest first."""
    if isinstance(radius, str):
        if radius != "auto":
            raise ValueError(f"radius={radius!r} is not known; give a number, several, PerRow(values) or 'auto'.")
        return choose_ladder(rows, norm, scales, max_flips)
    if isinstance(radius, Holding):
        if np.isinf(typical_radii(rows, norm, scales, max_flips, (radius.share,))).any():
            raise ValueError(
                f"radius=Holding({radius.share:g}) is not possible with max_flips={max_flips}: a ball around a typical "
                "row never holds that share of the rows. Raise max_flips, or lower the share."
            )
        return choose_ladder(rows, norm, scales, max_flips, shares=(radius.share,))
    ladder = sorted({float(one) for one in np.atleast_1d(np.asarray(radius, dtype=float))})
    if not ladder:
        raise ValueError("radius is an empty sequence; give at least one radius.")
    return ladder


def choose_ladder(
    rows: Rows,
    norm: float = np.inf,
    scales: Floats | None = None,
    max_flips: int | None = None,
    *,
    shares: Sequence[float] = LADDER_SHARES,
) -> list[float]:
    """Return radii at which a ball around a typical row holds 5, 10, 20, 35 and 60% of the rows.

    One size of ball is too wide where the black box is intricate and too narrow where it is simple; the program chooses
    the radius for each center. Radii are rounded to two digits.
    """
    typical = typical_radii(rows, norm, scales, max_flips, shares)
    return sorted({float(f"{radius:.2g}") for radius in typical if 0 < radius < np.inf}) or [1.0]


def typical_radii(
    rows: Rows, norm: float, scales: Floats | None, max_flips: int | None, shares: Sequence[float]
) -> Floats:
    """Return the radii at which a ball around a typical row holds these shares of the rows; infinite where none does.

    Typical is the median over at most ``MOST_MEASURED`` centers.
    """
    places = [int(share * (rows.n_rows - 1)) for share in shares]
    distances = []
    for point in choose_centers(rows, min(rows.n_points, MOST_MEASURED)):
        along, flips = ball_distances(rows.values, rows.values[point], rows.schema, norm, scales)
        # Without a limit of their own, flips are limited by the whole part of the radius.
        reach = np.maximum(along, flips) if max_flips is None else np.where(flips <= max_flips, along, np.inf)
        distances.append(np.sort(np.repeat(reach, rows.weights))[places])
    found: Floats = np.median(np.array(distances), axis=0)
    return found
