"""What every region is and says; boxes, the regions of rules; and which rows each of several regions contains."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Floats
from oleander.data.schema import FeatureSchema
from oleander.rules.base import Savable
from oleander.rules.conditions import Condition, clauses, conjoin, read_condition

if TYPE_CHECKING:
    from oleander.rules.ball import Ball


class Region(Savable):
    """A part of the space of rows, in which an explainer is valid.

    A kind of your own derives from this class and defines ``contains`` and ``describe``. With ``saved_as="..."`` in the
    head of the class it is saved under this name, and also defines ``to_dict`` and ``from_dict``.
    """

    kinds: ClassVar[dict[str, type[Any]]] = {}
    called, core, tied = "region", "contains", ("columns", "box", "ball", "form")

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
        """Return plain data by which the page finds whether a row lies inside; of the kind "other" it cannot."""
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
        """Return a mask of the encoded rows that fulfil every condition."""
        if not self.conditions:
            return np.ones(len(rows), dtype=bool)
        inside = self.conditions[0].contains(rows)
        for condition in self.conditions[1:]:
            inside &= condition.contains(rows)
        return inside

    def describe(self) -> str:
        """Return the conditions in words."""
        return " and ".join(clauses(self.conditions)) or "everywhere"

    @property
    def columns(self) -> frozenset[int]:
        """The columns of the conditions."""
        return frozenset(condition.column for condition in self.conditions)

    @property
    def box(self) -> Self:
        """The box itself."""
        return self

    def form(self) -> dict[str, Any]:
        """Return the conditions as plain data for the page."""
        return {"kind": "box", "conditions": [condition.form() for condition in self.conditions]}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"conditions": [condition.to_dict() for condition in self.conditions]}

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Return the box that ``to_dict`` wrote."""
        return cls(tuple(read_condition(condition, schema) for condition in data["conditions"]))


def membership(regions: Sequence[Region], rows: Floats) -> "kernels.PackedRows":
    """Return a boolean matrix of shape (n_regions, n_rows), packed into bits: the rows that each region contains.

    Regions are looked at one by one, so that no array is larger than the rows or the answer. Balls of several radii
    around one center, next to each other in the sequence, share their distances.

    >>> from oleander.data.schema import FeatureSchema
    >>> from oleander.rules import Ball
    >>> X = np.array([[0.5], [1.2], [3.7]])
    >>> schema = FeatureSchema.infer(X, scale="none")
    >>> rows = schema.encode(X)
    >>> membership([Ball(schema, rows[0], 1.0), Ball(schema, rows[0], 9.0)], rows).toarray()
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    # Columns are read one after the other: each should be contiguous in memory.
    by_column = np.asfortranarray(rows)
    return kernels.PackedRows.pack(_contain(regions, by_column), (len(regions), len(rows)))


def _contain(regions: Sequence[Region], rows: Floats) -> Iterator[Bools]:
    """Yield what each region contains; a ball takes over the distances of the ball before where they are the same."""
    before, distances = None, None
    for region in regions:
        ball = region.ball
        if ball is not region:
            yield region.contains(rows)
            continue
        if before is None or distances is None or not ball.measures_like(before):
            distances = ball.distances(rows)
        before = ball
        yield ball.reaches(*distances)
