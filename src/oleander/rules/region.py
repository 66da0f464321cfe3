"""Regions: boxes, which rules have, and balls around a center, which the paper has; and the rows that each contains."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints
from oleander.data.schema import FeatureSchema
from oleander.rules.base import Savable, read_numbers, write_numbers
from oleander.rules.conditions import Condition, clauses, conjoin, read_condition


class Region(Savable):
    """The part of the space of rows in which an explainer is valid.

    A kind of your own derives from this class and defines ``contains`` and ``describe``. With ``saved_as="..."`` in its
    head it is saved under this name, and also defines ``to_dict`` and ``from_dict``.
    """

    kinds: ClassVar[dict[str, type[Any]]] = {}
    called = "region"

    @abstractmethod
    def contains(self, rows: Floats) -> Bools:
        """Return a mask of the encoded rows that lie inside, the border included."""

    @abstractmethod
    def describe(self) -> str:
        """Return the region in words, with the names and units of the data."""

    @property
    def columns(self) -> frozenset[int] | None:
        """The columns that ``contains`` reads; None for all."""
        return None

    @property
    def box(self) -> "Box | None":
        """The box, where the region is one."""
        return None

    @property
    def ball(self) -> "Ball | None":
        """The ball, where the region is one."""
        return None

    def form(self) -> dict[str, Any]:
        """Return plain data by which the page decides whether a row lies inside; of the kind "other" it cannot."""
        return {"kind": "other"}


@dataclass(frozen=True)
class Box(Region, saved_as="box"):
    """The rows that fulfil a few conditions; the other columns may have any value.

    >>> import pandas as pd
    >>> from oleander.rules.conditions import Range
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
        if not self.conditions:
            return np.ones(len(rows), dtype=bool)
        inside = self.conditions[0].contains(rows)
        for condition in self.conditions[1:]:
            inside &= condition.contains(rows)
        return inside

    def describe(self) -> str:
        return " and ".join(clauses(self.conditions)) or "everywhere"

    @property
    def columns(self) -> frozenset[int]:
        return frozenset(condition.column for condition in self.conditions)

    @property
    def box(self) -> Self:
        return self

    def form(self) -> dict[str, Any]:
        return {"kind": "box", "conditions": [condition.form() for condition in self.conditions]}

    def to_dict(self) -> dict[str, Any]:
        return {"conditions": [condition.to_dict() for condition in self.conditions]}

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        return cls(tuple(read_condition(condition, schema) for condition in data["conditions"]))


def membership(regions: Sequence[Region], rows: Floats) -> "kernels.PackedRows":
    """Return a boolean matrix of shape (n_regions, n_rows), packed into bits: the rows that each region contains.

    Regions are looked at one by one, so that no array is larger than the rows or the answer.
    """
    # Columns are read one after the other: each should be contiguous in memory.
    by_column = np.asfortranarray(rows)
    before: Ball | None = None
    distances: Any = None

    def contain(region: Region) -> Bools:
        nonlocal before, distances
        ball = region.ball
        if ball is not region:
            return region.contains(by_column)
        # Neighbours around one center share distances. Equal arrays that are not the same object only cost time.
        if before is None or ball.center is not before.center or ball.is_raw != before.is_raw:
            distances = ball.distances(by_column)
        before = ball
        return ball.reaches(*distances)

    return kernels.PackedRows.pack(map(contain, regions), (len(regions), len(rows)))


@dataclass(frozen=True, eq=False)
class Ball(Region, saved_as="ball"):
    """The rows near a center: a ball along numbers times a Hamming ball along levels.

    >>> X = np.array([[0.5, 0], [1.2, 1], [3.7, 0]])
    >>> schema = FeatureSchema.infer(X, scale="none")
    >>> ball = Ball(schema, schema.encode(X)[0], radius=1.0)
    >>> ball.contains(schema.encode(X))
    array([ True,  True, False])
    """

    schema: FeatureSchema
    # An encoded row.
    center: Floats
    # The maximum distance along the numbers, in units of the schema's scales.
    radius: float
    # The maximum number of columns whose level may differ from the center's. A number that is missing on one side only
    # counts as one of them. None means the whole part of the radius, which is the paper's metric.
    max_flips: int | None = None
    # Whether the radius is in the units of the numbers themselves.
    is_raw: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.radius) and self.radius >= 0):
            raise ValueError(f"radius={self.radius} is not allowed: a radius is a number, 0 or more.")
        if self.max_flips is not None and self.max_flips < 0:
            raise ValueError(f"max_flips={self.max_flips} is not allowed: it counts columns, 0 or more.")
        if self.center.shape != (len(self.schema),):
            raise ValueError(f"the center has shape {self.center.shape}, and the schema {len(self.schema)} columns.")

    @cached_property
    def units(self) -> Floats:
        """The length of one unit of radius along each column; 1 for levels."""
        return np.array([1.0 if self.is_raw or not one.is_number else one.scale for one in self.schema])

    @property
    def n_flips_allowed(self) -> int:
        """The maximum number of columns that may differ in level."""
        return int(self.radius) if self.max_flips is None else self.max_flips

    def distances(self, rows: Floats) -> tuple[Floats, Ints]:
        """Return each row's distance along the numbers and its number of differing levels."""
        return ball_distances(rows, self.center, self.schema, self.is_raw)

    def reaches(self, distances: Floats, flips: Ints) -> Bools:
        """Return a mask of the rows inside, given what ``distances`` returned for them."""
        # Rounding must not exclude a row that lies exactly on the border.
        inside: Bools = (distances <= self.radius * (1 + 1e-12)) & (flips <= self.n_flips_allowed)
        return inside

    def contains(self, rows: Floats) -> Bools:
        return self.reaches(*self.distances(rows))

    def describe(self) -> str:
        """Return the region in words, without the center, which is a row of the data."""
        n_numbers, n_levels = len(self.schema.numbers), sum(feature.n_alternatives > 0 for feature in self.schema)
        numbers = f"{n_numbers} number{'s'[: n_numbers > 1]}{' in their own units' * self.is_raw}"
        parts = [f"within {self.radius:.4g} of its center along {numbers}"] if n_numbers else []
        if n_levels:
            levels = "levels" if n_levels == len(self.schema.named) else "levels or missing values"
            some = f"at most {self.n_flips_allowed} of {n_levels} {levels} differing"
            parts.append("at any level" if self.n_flips_allowed >= n_levels else some)
        return ", ".join(parts)

    @property
    def ball(self) -> Self:
        return self

    def form(self) -> dict[str, Any]:
        return {
            "kind": "ball",
            "center": write_numbers(self.center),
            "units": self.units.tolist(),
            "radius": self.radius,
            "flips": self.n_flips_allowed,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. It holds the center, which is a row of the data."""
        return {
            "center": write_numbers(self.center),
            "radius": self.radius,
            "max_flips": self.max_flips,
            "is_raw": self.is_raw,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        center = read_numbers(data["center"])
        schema.check_codes(center)
        flips = None if data["max_flips"] is None else int(data["max_flips"])
        return cls(schema, center, float(data["radius"]), flips, bool(data["is_raw"]))


def ball_distances(rows: Floats, center: Floats, schema: FeatureSchema, is_raw: bool = False) -> tuple[Floats, Ints]:
    """Return each row's largest distance to the center along a number, in units of its scale or raw, and its flips.

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
            # Where either side is missing, both are set to 0 and add no distance.
            values = np.where(absent | np.isnan(middle), 0.0, values)
            middle = np.where(absent | np.isnan(middle), 0.0, middle)
        if not feature.is_number:
            flips += values != middle
            continue
        step = np.abs(values - middle)
        if not is_raw:
            step /= feature.scale
        np.maximum(distances, step, out=distances)
    return distances, flips
