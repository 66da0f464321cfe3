"""The matrix of regions and the rows that they contain."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints, is_smaller_packed
from oleander.regions.balls import Ball
from oleander.regions.base import Region


def membership(regions: Sequence[Region], rows: Floats) -> "csr_array | kernels.PackedRows":
    """Return a boolean matrix of shape (n_regions, n_rows): the rows that each region contains.

    It is sparse, or packed bits where it is large and these are smaller.

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
    lines: list[NDArray[Any]] = []
    lengths: list[int] = []
    measured: tuple[Ball, tuple[Floats, Ints]] | None = None
    for region in regions:
        if isinstance(region, Ball):
            if measured is None or not _share_distances(measured[0], region):
                measured = region, region.distances(by_column)
            inside = region.reaches(*measured[1])
        else:
            inside = region.contains(by_column)
        lengths.append(int(np.count_nonzero(inside)))
        is_dense = 32 * lengths[-1] > len(rows)
        lines.append(np.packbits(inside) if is_dense else np.flatnonzero(inside).astype(np.int32))
    shape = len(lines), len(rows)
    if is_smaller_packed(sum(lengths), shape):
        return kernels.PackedRows.pack((_to_mask(line, len(rows)) for line in lines), shape)
    columns = np.empty(sum(lengths), dtype=np.int32)
    starts = np.cumsum([0, *lengths])
    for line, (start, end) in zip(lines, pairwise(starts), strict=True):
        columns[start:end] = np.flatnonzero(_to_mask(line, len(rows))) if line.dtype == np.uint8 else line
    return csr_array((np.ones(len(columns), dtype=bool), columns, starts), shape=shape)


def _to_mask(line: NDArray[Any], n_rows: int) -> Bools:
    """Return packed bits, or the numbers of some rows, as a mask of all rows."""
    if line.dtype == np.uint8:
        return np.unpackbits(line, count=n_rows).view(bool)
    return kernels.mark(line, n_rows)


def _share_distances(one: Ball, other: Ball) -> bool:
    """Return whether both balls measure the same distances from the same center."""
    return (
        one.center is other.center
        and one.norm == other.norm
        and one.schema is other.schema
        and one.scales is other.scales
    )
