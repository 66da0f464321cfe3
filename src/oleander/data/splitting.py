"""Splits of rows that keep groups whole: hold-outs, folds, halves and random parts."""

import math
from typing import Literal

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit

from oleander.arrays import Bools, Ints, Labels

# What counts as one piece of evidence.
Unit = Literal["rows", "groups"]


def split_off(n_rows: int, share: float | None, groups: Labels | None, seed: int) -> tuple[Ints, Ints]:
    """Return the indices of the rows to learn from and of the rows that are held out, groups kept whole.

    >>> learned, held = split_off(8, 0.25, np.array([0, 0, 1, 1, 2, 2, 3, 3]), seed=0)
    >>> held.tolist()
    [4, 5]
    """
    every_row = np.arange(n_rows)
    if not share or n_rows < 2:
        return every_row, every_row[:0]
    n_units = count_units(n_rows, groups)
    if n_units < 2:
        raise ValueError("groups names one group only, so none can be held out: use holdout=None.")
    if math.ceil(share * n_units) >= n_units:
        what = "rows" if groups is None else "groups"
        raise ValueError(f"holdout={share:g} of {n_units:,} {what} leaves none to learn from: lower it.")
    splitter = ShuffleSplit if groups is None else GroupShuffleSplit
    learned, held = next(splitter(1, test_size=share, random_state=seed % 2**32).split(every_row, groups=groups))
    return np.sort(learned), np.sort(held)


def draw_part(n_rows: int, n_most: int, groups: Labels | None, seed: int) -> Bools:
    """Return a mask of at most ``n_most`` random rows, groups kept whole."""
    units = _units(n_rows, groups)
    size = np.bincount(units)
    order = np.random.default_rng(seed).permutation(len(size))
    taken: Bools = np.isin(units, order[np.cumsum(size[order]) <= n_most])
    return taken


def assign_folds(n_rows: int, n_folds: int, groups: Labels | None, seed: int) -> Ints:
    """Return the number of each row's fold; folds hold about equally many groups, and groups are kept whole.

    >>> assign_folds(6, 2, np.array([0, 0, 1, 1, 2, 2]), seed=0).tolist()
    [0, 0, 1, 1, 0, 0]
    """
    units = _units(n_rows, groups)
    n_units = int(units.max()) + 1
    order = np.random.default_rng([seed, n_units]).permutation(n_units)
    folds = np.empty(n_units, dtype=np.intp)
    folds[order] = np.arange(n_units) % n_folds
    return folds[units]


def count_units(n_rows: int, groups: Labels | None) -> int:
    """Return the number of groups, or of rows where there are no groups."""
    return n_rows if groups is None else len(pd.unique(groups))


def _units(n_rows: int, groups: Labels | None) -> Ints:
    """Return the number of each row's group; a row without groups is one of its own."""
    return np.arange(n_rows) if groups is None else np.asarray(pd.factorize(groups)[0], dtype=np.intp)
