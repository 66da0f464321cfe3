"""Rows that are copies of one another: equal in every column, but for a jitter that no measurement shows.

Oversampled data hold the same record many times. Copies are no new evidence, so they count as one group.
"""

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Ints
from oleander.data.schema import FeatureSchema
from oleander.data.schema.feature import Kind

# Copies differ by at most this share of a column's spread.
JITTER = 1e-6
# About the number of pairs of rows that are so near by chance, and the share of values in one column.
CHANCE, CHANCE_IN_COLUMN = 1e-3, 0.1
# Whole numbers with at most this many values, and other numbers with at most two, are levels rather than measurements.
FEW_WHOLE_NUMBERS = 31
# The share of values occurring twice that must be of one cluster each, for a column to tell copies from equal rows.
MOST = 0.5
# With fewer copies than this share of the rows, each row counts.
MANY = 0.02
# Repeated rows of levels are odd if they are at least this share of the rows, and their pairs are more than this many
# times the pairs that chance makes.
ODD_SHARE, ODD_RATIO = 0.5, 10.0
# What ``link_rows`` returns.
Linked = tuple[Ints, list[Ints]]


def link_rows(values: Floats, schema: FeatureSchema) -> Linked:
    """Return the number of each row's cluster of nearly equal rows, and codes of nearly equal values in each column.

    Values are linked if no gap between neighbours is larger than the jitter, so the time is that of sorting columns.
    Where no two rows are nearly equal, the later columns are not looked at and have no codes.

    Parameters
    ----------
    values : array of shape (n_rows, n_features)
        Encoded rows.
    schema : FeatureSchema
    """
    n_rows = len(values)
    n_measured = max(1, sum(feature.is_number for feature in schema))
    jitter = min(JITTER, CHANCE_IN_COLUMN / n_rows, (CHANCE / n_rows**2) ** (1 / n_measured))
    cluster, codes = np.zeros(n_rows, dtype=np.intp), []
    for column in values.T:
        codes.append(_link_values(column, jitter))
        cluster, distinct = pd.factorize(cluster * (codes[-1].max(initial=0) + 1) + codes[-1])
        if len(distinct) == n_rows:
            break
    return np.asarray(cluster, dtype=np.intp), codes


def _link_values(column: Floats, jitter: float) -> Ints:
    """Return codes that are equal where values are linked by gaps of at most a share of the spread."""
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    present = ordered[~np.isnan(ordered)]
    tenth = len(present) // 10
    spread = present[-1 - tenth] - present[tenth] if len(present) else 0.0
    # A gap beside a missing value is not a number, and a missing value follows a missing value without a gap.
    gap = np.diff(ordered)
    starts = np.where(np.isnan(gap), np.diff(np.isnan(ordered)), gap > jitter * spread)
    codes = np.empty(len(column), dtype=np.intp)
    codes[order] = np.concatenate([[0], np.cumsum(starts)])[: len(column)]
    return codes


def find_copies(linked: Linked, schema: FeatureSchema) -> Ints | None:
    """Return the number of each row's cluster of copies, a row without copies alone in its own; None without copies.

    Rows of a few levels are equal by chance and are no copies. Nearly equal rows are copies if one of their
    measurements occurs in no other row, in a column where this holds for most values that occur twice.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(4, 2))
    >>> rows = np.concatenate([X, X[:1] + 1e-9])
    >>> schema = FeatureSchema.infer(rows)
    >>> find_copies(link_rows(rows, schema), schema).tolist()
    [0, 1, 2, 3, 0]
    """
    cluster, codes = linked
    size = np.bincount(cluster)
    if (size == 1).all():
        return None
    first = np.unique(cluster, return_index=True)[1]
    is_copied = np.zeros(len(size), dtype=bool)
    for feature, code in zip(schema, codes, strict=True):
        n_values = int(code.max()) + 1
        fewest = 2 if feature.kind is Kind.CONTINUOUS else FEW_WHOLE_NUMBERS
        if not feature.is_number or n_values <= fewest:
            continue
        in_one_cluster = np.bincount(code[first]) == 1
        if in_one_cluster[np.bincount(code) > 1].mean() > MOST:
            is_copied |= in_one_cluster[code[first]]
    is_copied &= size > 1
    if not is_copied.any():
        return None
    # Equal rows that are no copies are alone in their own clusters.
    alone = ~is_copied[cluster]
    cluster = np.where(alone, len(size) + np.arange(len(cluster)), cluster)
    return np.asarray(pd.factorize(cluster)[0], dtype=np.intp)


def count_copies(cluster: Ints) -> int:
    """Return the number of rows beside the first of each cluster."""
    return len(cluster) - len(pd.unique(cluster))


def count_odd_repeats(linked: Linked) -> int:
    """Return the number of rows beside the first of equal rows, where they are many and chance explains few; else 0.

    Rows of a few levels are equal by chance. Chance is measured as if columns were independent; columns that are not
    make more rows equal, so this is a reason to ask and no proof of copies.

    Examples
    --------
    >>> rows = np.random.default_rng(0).integers(3, size=(30, 8)).astype(float)
    >>> twice = np.concatenate([rows, rows])
    >>> [count_odd_repeats(link_rows(given, FeatureSchema.infer(given))) for given in (rows, twice)]
    [0, 30]
    """
    cluster, codes = linked
    n_rows, n_repeats = len(cluster), count_copies(cluster)
    if n_repeats < ODD_SHARE * n_rows:
        return 0
    chance = float(np.prod([((np.bincount(code) / n_rows) ** 2).sum() for code in codes]))
    observed = float(((np.bincount(cluster) / n_rows) ** 2).sum())
    # A row equals itself, which is no chance.
    return n_repeats if observed - 1 / n_rows > ODD_RATIO * chance else 0


def find_known(values: Floats, known: Floats, schema: FeatureSchema) -> Bools:
    """Return a mask of the rows that nearly equal one of the known rows.

    Examples
    --------
    >>> known = np.random.default_rng(0).normal(size=(4, 2))
    >>> find_known(np.array([known[2] + 1e-9, [0.5, 0.5]]), known, FeatureSchema.infer(known)).tolist()
    [True, False]
    """
    cluster, _ = link_rows(np.concatenate([known, values]), schema)
    return np.isin(cluster[len(known) :], cluster[: len(known)])
