"""What every region is and says, and the matrix of regions and the rows that they contain."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Floats
from oleander.rules.base import Savable

if TYPE_CHECKING:
    from oleander.rules.ball import Ball
    from oleander.rules.box import Box


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


def membership(regions: Sequence[Region], rows: Floats) -> "kernels.PackedRows":
    """Return a boolean matrix of shape (n_regions, n_rows), packed into bits: the rows that each region contains.

    Regions are looked at one by one, so that no array is larger than the rows or the answer. Balls of several radii
    around one center, next to each other in the sequence, share their distances.

    Examples
    --------
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
