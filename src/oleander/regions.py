"""Where an explainer speaks: balls and boxes, and which rows lie in which of many.

A region is a seam: whoever comes after asks only which rows it contains, and how it reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from oleander.conditions import Condition, conjoin, read_condition
from oleander.schema import FeatureSchema, format_number

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@runtime_checkable
class Region(Protocol):
    """A part of the space of rows."""

    def contains(self, rows: Floats) -> Bools:
        """Return which of the encoded rows lie inside, ends included."""

    def describe(self) -> str:
        """Return the region in the user's words."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""


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


@dataclass(frozen=True)
class Box:
    """The rows that fulfil a few conditions, whatever their other columns say.

    Examples
    --------
    >>> import pandas as pd
    >>> from oleander.conditions import Range
    >>> X = pd.DataFrame({"age": [61, 58, 70], "weight": [70.5, 81.0, 66.2]})
    >>> schema = FeatureSchema.infer(X)
    >>> box = Box((Range(0, schema[0], lower=60),))
    >>> box.describe(), box.contains(schema.encode(X)).tolist()
    ('age > 60', [True, False, True])
    """

    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", conjoin(self.conditions))

    def contains(self, rows: Floats) -> Bools:
        """Return which of the encoded rows fulfil every condition."""
        inside = np.ones(len(rows), dtype=bool)
        for condition in self.conditions:
            inside &= condition.contains(rows)
        return inside

    def describe(self) -> str:
        """Return the conditions in words."""
        return " and ".join(str(condition) for condition in self.conditions) or "everywhere"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"region": "box", "conditions": [condition.to_dict() for condition in self.conditions]}


def read_region(data: dict[str, Any], schema: FeatureSchema) -> Ball | Box:
    """Read what a region's ``to_dict`` wrote."""
    if data["region"] == "box":
        return Box(tuple(read_condition(condition, schema) for condition in data["conditions"]))
    if data["region"] == "ball":
        center = np.array([np.nan if value is None else float(value) for value in data["center"]])
        schema.check_codes(center)
        norm = np.inf if data["norm"] is None else float(data["norm"])
        flips = None if data["max_flips"] is None else int(data["max_flips"])
        return Ball(schema, center, float(data["radius"]), flips, norm)
    raise ValueError(f"region {data['region']!r} is not known; the regions are ball and box.")


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


def membership(regions: Sequence[Region], rows: Floats) -> csr_array:
    """Return which regions contain which rows, as a sparse boolean matrix of shape (n_regions, n_rows).

    One region at a time, so nothing larger than the rows and the answer is ever held. Balls of several radii around
    one center, next to each other in the sequence, share their distances.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.5], [1.2], [3.7]])
    >>> schema = FeatureSchema.infer(X, scale="none")
    >>> rows = schema.encode(X)
    >>> membership([Ball(schema, rows[0], 1.0), Ball(schema, rows[0], 9.0)], rows).toarray()
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    # Columns are read one after the other: keep each of them together in memory.
    by_column = np.asfortranarray(rows)
    indices = []
    measured: tuple[Ball, tuple[Floats, NDArray[np.intp]]] | None = None
    for region in regions:
        if isinstance(region, Ball):
            if measured is None or not _share_distances(measured[0], region):
                measured = region, region.distances(by_column)
            inside = region.reaches(*measured[1])
        else:
            inside = region.contains(by_column)
        indices.append(np.flatnonzero(inside).astype(np.int32))
    starts = np.cumsum([0, *(len(index) for index in indices)])
    columns = np.concatenate(indices) if indices else np.zeros(0, dtype=np.int32)
    return csr_array((np.ones(len(columns), dtype=bool), columns, starts), shape=(len(indices), len(rows)))


def _share_distances(one: Ball, other: Ball) -> bool:
    return one.center is other.center and one.norm == other.norm and one.schema is other.schema


def merge_rows(rows: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Merge equal rows.

    Returns
    -------
    first : array of shape (n_points,)
        The first row of each point, in the order in which they occur.
    weights : array of shape (n_points,)
        How many rows each point stands for.
    point_of_row : array of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> merge_rows(np.array([[2.0, 1.0], [0.0, 1.0], [2.0, 1.0]]))
    (array([0, 1]), array([2, 1]), array([0, 1, 0]))
    """
    _, first, inverse, counts = np.unique(row_keys(rows), return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], counts[order], rank[inverse]


def row_keys(rows: Floats) -> NDArray[np.void]:
    """Return one key per row: equal where the rows are equal, missing values included."""
    # -0.0 and 0.0 are equal numbers with different bytes, and so are the many NaNs.
    canonical = np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows) + 0.0)
    return canonical.view(np.dtype((np.void, canonical.dtype.itemsize * canonical.shape[1]))).ravel()
