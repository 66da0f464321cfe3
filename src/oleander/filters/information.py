"""Conditional mutual information of features and the label, from counts, given the selected features."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from oleander.arrays import Floats

Codes = NDArray[np.integer[Any]]

# A leaf is tested only if it has this many draws per cell on average: the usual rule for chi-squared.
DRAWS_PER_CELL = 5
# Features share one code while it has no more values than this.
MOST_PACKED_CODES = 32
# Packs are counted together while they have no more codes in all than this, so that one pass stays in the cache.
MOST_COUNTED_AT_ONCE = 2**18


@dataclass(frozen=True)
class Information:
    """The information of several features about the label, given the leaves.

    Parameters
    ----------
    values : array of shape (n_features,)
        The plug-in estimates of I(φ; y | S) in nats, over all draws.
    p_values : array of shape (n_features,)
        The probability of at least this information if the feature had none (the G-test).
    """

    values: Floats
    p_values: Floats

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Return several blocks of features as one."""
        return cls(np.concatenate([part.values for part in parts]), np.concatenate([part.p_values for part in parts]))


@dataclass(frozen=True, eq=False)
class PackedCodes:
    """Bin codes of all features, several features with few bins sharing one code.

    The cost of counting is the passes over the draws. Four bits share a code of 16 values, so one pass counts all four;
    the counts of each are sums of the few counts of the shared code.

    Parameters
    ----------
    blocks : tuple of (integer array of shape (n_packs, n_draws), 0/1 array of shape (n_values, n_bins))
        Packs of like features, counted in one pass: the codes, those of a pack following those of the pack before, and
        a matrix of the bins of its features that each of a pack's codes stands for.
    order : integer array of shape (n_features,)
        The features, pack after pack.
    n_codes : integer array of shape (n_features,)
        The number of bins of each, in that order.
    """

    blocks: tuple[tuple[Codes, Floats], ...]
    order: Codes
    n_codes: Codes

    @classmethod
    def pack(cls, codes: Codes, n_codes: Codes, *, most: int = MOST_PACKED_CODES) -> Self:
        """Pack bin codes of shape (n_features, n_draws)."""
        order = np.argsort(n_codes, kind="stable")
        packed: list[Codes] = []
        sizes: list[list[int]] = []
        for feature in order.tolist():
            size = int(n_codes[feature])
            if packed and math.prod(sizes[-1]) * size <= most:
                packed[-1] = packed[-1] * size + codes[feature]
                sizes[-1].append(size)
            else:
                packed.append(codes[feature])
                sizes.append([size])
        at_once = max(1, MOST_COUNTED_AT_ONCE // codes.shape[1])
        blocks = []
        for like, group in groupby(zip(sizes, packed, strict=True), key=lambda pack: pack[0]):
            split, packs = _split_matrix(tuple(like)), [pack[1] for pack in group]
            for start in range(0, len(packs), at_once):
                together = np.stack(packs[start : start + at_once])
                together += np.arange(len(together), dtype=together.dtype)[:, None] * len(split)
                blocks.append((together, split))
        return cls(tuple(blocks), order, n_codes[order])

    def take(self, draws: NDArray[np.intp]) -> Self:
        """Return the codes of some draws."""
        return replace(self, blocks=tuple((codes.take(draws, axis=1), split) for codes, split in self.blocks))


@lru_cache(maxsize=256)
def _split_matrix(sizes: tuple[int, ...]) -> Floats:
    """Return a 0/1 matrix of the codes of a pack (rows) and the bins of its features (columns, feature by feature)."""
    digits = np.unravel_index(np.arange(math.prod(sizes)), sizes)
    is_bin = [digit[:, None] == np.arange(size) for digit, size in zip(digits, sizes, strict=True)]
    return np.hstack(is_bin).astype(float)


class LeafTable:
    """The counts of labels by leaf, shared by all features that are scored in one round.

    Parameters
    ----------
    leaves, labels : integer arrays of shape (n_draws_left,)
        The draws in leaves with more than one label.
    n_leaves, n_labels : int
    n_draws : int
        The number of all draws, those in other leaves included: the paper's N.
    """

    def __init__(self, leaves: Codes, labels: Codes, n_leaves: int, n_labels: int, n_draws: int) -> None:
        self.n_leaves, self.n_labels, self.n_draws = n_leaves, n_labels, n_draws
        self._leaf_labels = leaves * n_labels + labels
        counts = np.bincount(self._leaf_labels, minlength=n_leaves * n_labels).reshape(n_leaves, n_labels)
        self._x_log_x = x_log_x(n_draws)
        self._n_by_leaf = counts.sum(axis=1)
        self._n_labels_seen = (counts > 0).sum(axis=1)
        # The part of every feature's information that does not depend on the feature.
        self._shared = self._x_log_x[self._n_by_leaf] - self._x_log_x[counts].sum(axis=1)

    def score(self, features: PackedCodes) -> Information:
        """Return the information of each feature, given the bin codes of the draws in the leaves.

        Σ p(φ, y, l) log p(φ, y | l) / (p(φ | l) p(y | l)), the paper's estimator with its two slips mended: the second
        factor below is p(y | l), and the conditioning is on the selected features.
        """
        starts = np.cumsum(features.n_codes) - features.n_codes
        counts = self._count(features)
        by_bin = counts.sum(axis=1)
        terms = self._x_log_x[counts].sum(axis=1) - self._x_log_x[by_bin]
        by_leaf = np.add.reduceat(terms, starts, axis=1) + self._shared[:, None]
        n_bins_seen = np.add.reduceat((by_bin > 0).astype(np.intp), starts, axis=1)
        n_labels_seen = self._n_labels_seen[:, None]
        tested = self._n_by_leaf[:, None] >= DRAWS_PER_CELL * n_bins_seen * n_labels_seen
        freedom = ((n_bins_seen - 1) * (n_labels_seen - 1) * tested).sum(axis=0)
        statistic = 2.0 * (by_leaf * tested).sum(axis=0).clip(0.0)
        p_values = np.where(freedom > 0, chdtrc(np.maximum(freedom, 1), statistic), 1.0)
        # Logarithms that cancel leave rounding errors behind; information is never negative.
        values = by_leaf.sum(axis=0).clip(0.0) / self.n_draws
        back = np.argsort(features.order)
        return Information(values[back], p_values[back])

    def _count(self, features: PackedCodes) -> Codes:
        """Return the draws by leaf, label and bin, the bins of all features side by side."""
        n_cells = self.n_leaves * self.n_labels
        found = []
        for codes, split in features.blocks:
            n_values = len(codes) * len(split)
            cells = codes + self._leaf_labels * n_values
            counts = np.bincount(cells.ravel(), minlength=n_cells * n_values).astype(float)
            found.append((counts.reshape(-1, len(split)) @ split).reshape(n_cells, -1))
        together = found[0] if len(found) == 1 else np.hstack(found)
        return together.astype(np.intp).reshape(self.n_leaves, self.n_labels, -1)


@lru_cache(maxsize=8)
def x_log_x(largest: int) -> Floats:
    """Return x·log x for x = 0, 1, ..., largest: counts are whole numbers, so a look-up replaces the logarithm."""
    counts = np.arange(largest + 1, dtype=float)
    table: Floats = counts * np.log(np.maximum(counts, 1.0))
    table.setflags(write=False)
    return table
