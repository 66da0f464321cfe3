"""What users hand to an estimator besides rows: checked at the door, and brought into one form."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit

from oleander.arrays import Ints, Labels


def seed_of(random_state: int | None) -> int:
    """Return a seed: the one given, or a new one."""
    return int(np.random.SeedSequence().generate_state(1)[0]) if random_state is None else int(random_state)


def take_rows(X: Any, rows: Ints) -> Any:
    """Return some rows of a DataFrame or an array."""
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else np.asarray(X)[rows]


def as_one_row(x: Any) -> Any:
    """Return a Series, a mapping or a one-dimensional array as a table of one row."""
    if isinstance(x, pd.Series):
        return x.to_frame().T.infer_objects()
    if isinstance(x, dict):
        return pd.DataFrame([x])
    return x if isinstance(x, pd.DataFrame) else np.atleast_2d(np.asarray(x))


def one_per_row(values: Any, n_rows: int, name: str) -> Labels:
    """Return values as an array, or say that there is not one for each row."""
    array = np.asarray(values)
    if array.shape != (n_rows,):
        raise ValueError(f"{name} has shape {array.shape}; one entry for each of {n_rows} rows is expected.")
    return array


def names_of_columns(**given: Any) -> list[str]:
    """Return the names of columns that were given, or say that something else was.

    Examples
    --------
    >>> names_of_columns(y="diagnosis", groups=None)
    ['diagnosis']
    >>> names_of_columns(y=[0, 1])
    Traceback (most recent call last):
    ...
    ValueError: y is a list; where rows are read block by block it must be the name of one of their columns.
    """
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise ValueError(
                f"{name} is a {type(value).__name__}; where rows are read block by block it must be the name of one "
                "of their columns."
            )
    return [value for value in given.values() if value is not None]


def check_choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    """Say which words are known, if this is none of them.

    Examples
    --------
    >>> check_choice("training", "late", ("lazy", "eager"))
    Traceback (most recent call last):
    ...
    ValueError: training='late' is not known; use 'lazy' or 'eager'.
    """
    if value not in known:
        raise ValueError(f"{name}={value!r} is not known; use {' or '.join(repr(word) for word in known)}.")


def split_rows(n_rows: int, share: float | None, groups: Labels | None, seed: int) -> tuple[Ints, Ints]:
    """Return which rows are learned from and which are held out, no group torn apart.

    Examples
    --------
    >>> learn, held = split_rows(8, 0.25, np.array([0, 0, 1, 1, 2, 2, 3, 3]), seed=0)
    >>> held.tolist()
    [4, 5]
    """
    everything = np.arange(n_rows)
    if not share or n_rows < 2:
        return everything, everything[:0]
    if groups is not None and len(np.unique(groups)) < 2:
        raise ValueError("groups names one group only, so none can be held out: use holdout=None.")
    splitter = ShuffleSplit if groups is None else GroupShuffleSplit
    learn, held = next(splitter(1, test_size=share, random_state=seed % 2**32).split(everything, groups=groups))
    return np.sort(learn), np.sort(held)


def draw_rows(groups: Labels | None, n_rows: int, most: int, seed: int) -> NDArray[np.bool_]:
    """Return which rows are taken if at most so many may be: at random, group after group as long as there is room.

    Examples
    --------
    >>> draw_rows(np.array([0, 0, 0, 1, 1]), 5, most=4, seed=0).tolist()
    [True, True, True, False, False]
    """
    units = np.arange(n_rows) if groups is None else pd.factorize(groups)[0]
    size = np.bincount(units)
    order = np.random.default_rng(seed).permutation(len(size))
    taken: NDArray[np.bool_] = np.isin(units, order[np.cumsum(size[order]) <= most])
    return taken
