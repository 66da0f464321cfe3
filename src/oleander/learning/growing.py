"""Grow trees on the black box's answers for draws: by classes, or by bins and by the variance of numbers."""

from collections.abc import Iterator

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.draws.labelled import LabelledDraws
from oleander.explainers.columns import Column
from oleander.explainers.growth import grow_on_columns
from oleander.explainers.tree import Tree

# Numbers are whole in a tree that grows by variance, so that nothing is rounded.
N_STEPS = 1_000
# The share of numbers at each end beyond which they count as the nearest inside: a few must not hide all others.
SHARE_CUT = 0.001


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


def to_amounts(answers: Floats) -> Ints:
    """Return numbers as whole amounts from 2 on, in the same order.

    Examples
    --------
    >>> to_amounts(np.array([0.0, 0.5, 1.0])).tolist()
    [2, 502, 1002]
    """
    low, high = np.quantile(answers, [SHARE_CUT, 1 - SHARE_CUT])
    if low == high:
        return np.full(len(answers), 2)
    steps = np.round(N_STEPS * (np.clip(answers, low, high) - low) / (high - low))
    return np.asarray(2 + steps, dtype=np.intp)
