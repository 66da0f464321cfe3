"""Rows that coincide far more often than chance explains: copies, repeated measurements, rows of X in the background.

Every row judges, whatever is found here: rows that coincide by chance are evidence like others. Where chance does not
explain it, the user is asked, and bounds on these rows are judged, not certified.
"""

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.schema import FeatureSchema

# Copies differ by at most this share of a column's spread.
JITTER = 1e-6
# About the number of pairs of rows that are so near by chance, and the share of values in one column.
CHANCE, CHANCE_IN_COLUMN = 1e-3, 0.1
# Among pairs of rows with the same value of a measurement, more than this share are copies.
MOST = 0.5
# Fewer repeated records than this, or than this share of all records, are defaults and other values that occur often.
FEWEST, MANY = 5, 0.02
# Rows coincide far more often than chance explains if they do so more than this many times as often.
FAR = 3.0


def find_copies(values: Floats, schema: FeatureSchema, groups: Labels | None, background: Floats | None) -> Ints | None:
    """Return the number of each row's cluster of copies, where copies are many and nothing explains them; else None.

    A background explains them if it holds about as many of these records as a sample of the same population would.
    With groups only records that occur in several groups count: rows of one group may be equal.
    """
    cluster, is_copied = _find_copied(values, schema, groups)
    if is_copied.sum() < max(FEWEST, MANY * len(is_copied)):
        return None
    if background is not None:
        # A record that is frequent in the population is in the background too. Of one that X holds c times, about
        # c − 1 of as many other rows are expected: some are in X twice by luck.
        size, first = np.bincount(cluster)[is_copied], np.unique(cluster, return_index=True)[1][is_copied]
        n_expected = (1 - np.exp(-(size - 1) * len(background) / len(values))).sum()
        joint, _ = _link_rows(np.concatenate([background, values[first]]), schema)
        n_found = np.isin(joint[len(background) :], joint[: len(background)]).sum()
        if n_expected <= FAR * n_found:
            return None
    return cluster


def count_known(values: Floats, background: Floats, schema: FeatureSchema) -> int:
    """Return the number of rows that equal a background row, or 0 if chance explains that number.

    Records are counted that occur once in each table. The number of records that occur twice in one table estimates
    how many of them are due to chance (Good and Turing). Each table is used by itself, since duplicates may have been
    removed from the other. Frequent records, such as values under a limit of detection, take no part.
    """
    cluster, _ = _link_rows(np.concatenate([background, values]), schema)
    n_rows, n_others = len(values), len(background)
    n_records = int(cluster.max()) + 1
    there, here = (np.bincount(part, minlength=n_records) for part in (cluster[:n_others], cluster[n_others:]))
    n_between = int(((there == 1) & (here == 1)).sum())
    explained = 2 * max((there == 2).sum() * n_rows / n_others, (here == 2).sum() * n_others / n_rows)
    return n_between if n_between > FAR * explained + max(FEWEST, MANY * n_rows) else 0


def _find_copied(values: Floats, schema: FeatureSchema, groups: Labels | None) -> tuple[Ints, Bools]:
    """Return the number of each row's cluster of nearly equal rows, and a mask of the clusters that hold copies.

    Rows of a few levels are equal by chance, and so are rows of zeros. Nearly equal rows are copies if one of their
    values occurs in no other record, in a column of measurements: most rows that agree there agree everywhere, far more
    often than two rows agree in the other columns.
    """
    cluster, codes = _link_rows(values, schema)
    n_rows, size = len(values), np.bincount(cluster)
    is_copied = np.zeros(len(size), dtype=bool)
    if len(size) == n_rows:
        return cluster, is_copied
    first = np.unique(cluster, return_index=True)[1]
    # Sums of random numbers, one for each value, differ where rows do; one column less is one number less.
    marks = [np.random.default_rng(j).integers(2**63, size=n_rows)[code] for j, code in enumerate(codes)]
    total = np.sum(marks, axis=0)
    for code, mark in zip(codes, marks, strict=True):
        in_one_cluster = np.bincount(code[first]) == 1
        share = in_one_cluster[np.bincount(code) > 1].mean() if len(in_one_cluster) < n_rows else 0.0
        if share > MOST and share > FAR * _measure_coincidence(total - mark):
            is_copied |= in_one_cluster[code[first]]
    if groups is None:
        return cluster, is_copied & (size > 1)
    pairs = np.unique(np.column_stack([cluster, pd.factorize(groups)[0]]), axis=0)
    return cluster, is_copied & (np.bincount(pairs[:, 0]) > 1)


def _measure_coincidence(keys: Ints) -> float:
    """Return the share of all pairs of rows that have the same key."""
    counts = np.unique(keys, return_counts=True)[1].astype(float)
    return float((counts * (counts - 1)).sum() / (len(keys) * (len(keys) - 1)))


def _link_rows(values: Floats, schema: FeatureSchema) -> tuple[Ints, list[Ints]]:
    """Return the number of each row's cluster of nearly equal rows, and codes of nearly equal values in each column.

    Values are linked if no gap between neighbours is larger than the jitter, so the time is that of sorting columns.
    Where no two rows are nearly equal, the later columns are not looked at and have no codes.
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
