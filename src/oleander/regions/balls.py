"""Balls around a center: the regions of the paper."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats
from oleander.data.schema import FeatureSchema, format_number


@dataclass(frozen=True, eq=False)
class Ball:
    """The rows near a center: a ball along numbers times a Hamming ball along levels.

    Parameters
    ----------
    schema : FeatureSchema
    center : array of shape (n_features,)
        An encoded row.
    radius : float
        Largest distance along the numbers, in units of the schema's scales.
    max_flips : int or None
        Most columns whose level may differ from the center's. A number that is missing on one side only counts as one
        of them. None means the whole part of the radius, which is the paper's metric.
    norm : float
        p of the ℓp norm along the numbers; infinity (Chebyshev) is the paper's.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.5, 0], [1.2, 1], [3.7, 0]])
    >>> schema = FeatureSchema.infer(X, scale="none")
    >>> ball = Ball(schema, schema.encode(X)[0], radius=1.0)
    >>> ball.contains(schema.encode(X))
    array([ True,  True, False])
    """

    schema: FeatureSchema
    center: Floats
    radius: float
    max_flips: int | None = None
    norm: float = np.inf

    def __post_init__(self) -> None:
        if not (np.isfinite(self.radius) and self.radius >= 0):
            raise ValueError(f"radius={self.radius} is not allowed: a radius is a number, 0 or more.")
        if not self.norm >= 1:
            raise ValueError(f"norm={self.norm} is not allowed: p is 1 or more, or infinity.")
        if self.max_flips is not None and self.max_flips < 0:
            raise ValueError(f"max_flips={self.max_flips} is not allowed: it counts columns, 0 or more.")
        if self.center.shape != (len(self.schema),):
            raise ValueError(f"the center has shape {self.center.shape}, and the schema {len(self.schema)} columns.")

    @property
    def n_flips_allowed(self) -> int:
        """How many columns may differ in level, as a number."""
        return int(self.radius) if self.max_flips is None else self.max_flips

    def distances(self, rows: Floats) -> tuple[Floats, NDArray[np.intp]]:
        """Return each row's distance along the numbers and its number of differing levels."""
        return ball_distances(rows, self.center, self.schema, self.norm)

    def reaches(self, distances: Floats, flips: NDArray[np.intp]) -> Bools:
        """Return which rows are inside, given what ``distances`` said of them."""
        # A row exactly on the border must not fall out by the rounding of its own distance.
        inside: Bools = (distances <= self.radius * (1 + 1e-12)) & (flips <= self.n_flips_allowed)
        return inside

    def contains(self, rows: Floats) -> Bools:
        """Return which of the encoded rows lie inside, the border included."""
        return self.reaches(*self.distances(rows))

    def describe(self) -> str:
        """Return the region in words; the center is a row of the data and is not told."""
        numbers = f"within {format_number(self.radius)} of its center along {len(self.schema.numbers)} numbers"
        if not len(self.schema.named):
            return numbers
        return f"{numbers}, at most {self.n_flips_allowed} of {len(self.schema.named)} levels differing"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. It holds the center, which is a row of the data."""
        return {
            "region": "ball",
            "center": [None if np.isnan(value) else float(value) for value in self.center],
            "radius": self.radius,
            "max_flips": self.max_flips,
            "norm": None if np.isinf(self.norm) else self.norm,
        }


def ball_distances(rows: Floats, center: Floats, schema: FeatureSchema, norm: float) -> tuple[Floats, NDArray[np.intp]]:
    """Return each row's ℓp distance to the center along the numbers, in scaled units, and its number of flips.

    Two missing values are equal; a value that is missing on one side only is a flip and adds no distance.
    """
    flips = np.zeros(len(rows), dtype=np.intp)
    distances = np.zeros(len(rows))
    for j, feature in enumerate(schema):
        values, middle = rows[:, j], center[j]
        if feature.missing:
            absent = np.isnan(values)
            differs = absent != np.isnan(middle)
            flips += differs
            # What is left to compare is zero where either side is missing.
            values = np.where(absent | np.isnan(middle), 0.0, values)
            middle = np.where(absent | np.isnan(middle), 0.0, middle)
        if not feature.is_number:
            flips += values != middle
            continue
        step = np.abs(values - middle)
        step /= feature.scale
        if np.isinf(norm):
            np.maximum(distances, step, out=distances)
        else:
            distances += step**norm
    if not np.isinf(norm):
        distances **= 1 / norm
    return distances, flips
