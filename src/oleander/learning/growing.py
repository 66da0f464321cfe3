"""Grow trees on the black box's answers for draws: by classes, or by bins and by the variance of numbers."""

from collections.abc import Iterator

import numpy as np

from oleander.arrays import Ints
from oleander.draws.labelled import LabelledDraws
from oleander.rules.growth import Column, grow_on_columns, to_amounts
from oleander.rules.tree import Tree


def grow_on_answers(
    draws: LabelledDraws, some: Ints, columns: list[Column], max_leaves: int, min_leaf: int, shift: float = 0.0
) -> Iterator[Tree]:
    """Yield one tree for labels, and two for numbers: on bins as wide as one constant can serve, and by variance.

    Parameters
    ----------
    draws : LabelledDraws
    some : int array
        The draws that grow.
    columns : list of Column
        Columns of these draws.
    max_leaves, min_leaf : int
    shift : float
        Where the first bin of numbers begins, so that no border between bins is the same in many trees.
    """
    labels, n_labels = draws.bin_answers(shift)
    yield grow_on_columns(
        columns, labels[some], np.arange(n_labels), draws.schema, max_leaves, min_leaf=min_leaf, simplify=False
    )
    if draws.truth is not None:
        yield grow_on_columns(
            columns,
            np.zeros(len(some), dtype=np.intp),
            np.arange(1),
            draws.schema,
            max_leaves,
            min_leaf=min_leaf,
            simplify=False,
            amounts=to_amounts(draws.truth)[some],
        )
