"""The matrix of regions and the rows that they contain."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from oleander.arrays import Floats, Ints
from oleander.regions.balls import Ball
from oleander.regions.base import Region


def membership(regions: Sequence[Region], rows: Floats) -> csr_array:
    """Return a sparse boolean matrix of shape (n_regions, n_rows): the rows that each region contains.

    Regions are looked at one by one, so that no array is larger than the rows or the answer. Balls of several radii
    around one center, next to each other in the sequence, share their distances.

    Examples
    --------
    >>> from oleander.data.schema import FeatureSchema
    >>> X = np.array([[0.5], [1.2], [3.7]])
    >>> schema = FeatureSchema.infer(X, scale="none")
    >>> rows = schema.encode(X)
    >>> membership([Ball(schema, rows[0], 1.0), Ball(schema, rows[0], 9.0)], rows).toarray()
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    # Columns are read one after the other: each should be contiguous in memory.
    by_column = np.asfortranarray(rows)
    indices = []
    measured: tuple[Ball, tuple[Floats, Ints]] | None = None
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
    """Return whether both balls measure the same distances from the same center."""
    return (
        one.center is other.center
        and one.norm == other.norm
        and one.schema is other.schema
        and one.scales is other.scales
    )
