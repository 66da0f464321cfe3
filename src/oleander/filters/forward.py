"""FFFS, the paper's Algorithms 2-5: forward selection by conditional mutual information on the leaves of a tree."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Floats, Ints
from oleander.filters.information import DRAWS_PER_CELL, Codes, Information, LeafTable

# Information below this is what cancelling logarithms leave behind.
ROUNDING = 1e-12


class StopReason(StrEnum):
    """Why the filter added no further feature."""

    NOT_SIGNIFICANT = "no other feature has significant information"
    ALL_PURE = "the selected features decide the label"
    TOO_FEW_DRAWS = "what is left undecided has too few draws to tell more"
    MAX_FEATURES = "max_features is reached"
    NONE_LEFT = "every feature is selected"


@dataclass(frozen=True)
class FilterResult:
    """The selected features in order, the information that each added, and the reason for stopping.

    Parameters
    ----------
    features : tuple of int
    information : tuple of float
        I(φ; y | features before) in nats.
    stopped : StopReason
    """

    features: tuple[int, ...]
    information: tuple[float, ...]
    stopped: StopReason


class Leaves:
    """The paper's set 𝓛: groups of draws that share a bin in every selected feature, without finished leaves.

    Parameters
    ----------
    labels : integer array of shape (n_draws,)
    drop_small : bool
        Drop leaves that are too small for any feature to be significant, besides the pure ones.
    """

    def __init__(self, labels: Codes, *, drop_small: bool) -> None:
        self.drop_small = drop_small
        self.has_dropped_small = False
        self.n_draws = len(labels)
        self.n_labels = int(labels.max()) + 1
        self.draws = np.arange(len(labels))
        self.labels = labels
        self.leaf = np.zeros(len(labels), dtype=np.intp)
        self.n_leaves = 1
        self._drop()

    def split(self, codes: Codes, n_codes: int) -> None:
        """Split every leaf by a feature's bins (Algorithm 5)."""
        self.leaf = self.leaf * n_codes + codes[self.draws]
        self.n_leaves *= n_codes
        self._drop()

    def table(self) -> LeafTable:
        """Return the counts of labels by leaf."""
        return LeafTable(self.leaf, self.labels, self.n_leaves, self.n_labels, self.n_draws)

    def _drop(self) -> None:
        """Drop leaves with one label, which carry no information, and small ones; number the others from 0."""
        counts = np.bincount(self.leaf * self.n_labels + self.labels, minlength=self.n_leaves * self.n_labels)
        counts = counts.reshape(self.n_leaves, self.n_labels)
        n_labels_seen = (counts > 0).sum(axis=1)
        kept = n_labels_seen > 1
        if self.drop_small:
            # Two bins are the least that a feature can have.
            small = kept & (counts.sum(axis=1) < DRAWS_PER_CELL * 2 * n_labels_seen)
            self.has_dropped_small |= bool(small.any())
            kept &= ~small
        number = np.cumsum(kept) - 1
        stay = np.flatnonzero(kept[self.leaf])
        if len(stay) < len(self.leaf):
            self.draws, self.labels, self.leaf = self.draws[stay], self.labels[stay], self.leaf[stay]
        self.leaf = number[self.leaf]
        self.n_leaves = int(kept.sum())


def select_features(
    codes: Codes,
    n_codes: Codes,
    labels: Codes,
    *,
    alpha: float | None = 1e-3,
    max_features: int | None = None,
    pairs: bool = False,
) -> FilterResult:
    """Select the few features that carry information about the label, most informative first.

    Costs O(n_draws · n_features · selected), not O(n_draws · n_features) as in print: every round counts again.

    Parameters
    ----------
    codes : integer array of shape (n_features, n_draws)
        Bin codes; see ``bin_codes``.
    n_codes : integer array of shape (n_features,)
    labels : integer array of shape (n_draws,)
        Codes of the black box's labels.
    alpha : float or None
        Stop when no feature's information is significant at this level in a G-test, divided by the number of features
        tested; only leaves with enough draws count. None is the letter of the paper: every leaf counts, and the search
        stops when no information is positive, which is rare, since noise has positive information too.
    max_features : int or None
    pairs : bool
        Forward selection misses information that two features have only together, as in the XOR of two bits. With
        ``pairs=True`` all pairs are scored before the search stops, at quadratic cost.

    Examples
    --------
    >>> bits = np.random.default_rng(0).integers(0, 2, size=(4, 2000))
    >>> found = select_features(bits, np.full(4, 2), bits[2])
    >>> found.features, str(found.stopped)
    ((2,), 'the selected features decide the label')
    >>> select_features(bits, np.full(4, 2), bits[0] ^ bits[3]).features
    ()
    >>> select_features(bits, np.full(4, 2), bits[0] ^ bits[3], pairs=True).features
    (0, 3)
    """
    most = len(codes) if max_features is None else max_features
    # A feature with one bin has no information and is not tested, so alpha is not divided for it.
    unselected = np.flatnonzero(codes.min(axis=1) != codes.max(axis=1))
    narrow, sizes = np.ascontiguousarray(codes, dtype=np.int32), np.asarray(n_codes, dtype=np.intp)
    leaves = Leaves(labels, drop_small=alpha is not None)
    selected: list[int] = []
    information: list[float] = []

    def result(reason: StopReason) -> FilterResult:
        return FilterResult(tuple(selected), tuple(information), reason)

    while leaves.n_leaves:
        if not len(unselected):
            return result(StopReason.NONE_LEFT)
        if len(selected) >= most:
            return result(StopReason.MAX_FEATURES)
        scores = leaves.table().score(narrow, sizes, unselected, leaves.draws)
        best = _best(scores.values, scores.p_values, alpha)
        chosen: tuple[int, ...] = () if best is None else (int(unselected[best]),)
        if not chosen and pairs and len(selected) + 2 <= most:
            chosen = _best_pair(leaves, narrow, sizes, unselected, alpha)
        if not chosen:
            return result(StopReason.NOT_SIGNIFICANT)
        for j in chosen:
            # The information of the second of a pair is conditional on the first.
            if j != chosen[0]:
                scores = leaves.table().score(narrow, sizes, unselected, leaves.draws)
            information.append(float(scores.values[unselected == j][0]))
            selected.append(j)
            leaves.split(codes[j], int(n_codes[j]))
            unselected = unselected[unselected != j]
    return result(StopReason.TOO_FEW_DRAWS if leaves.has_dropped_small else StopReason.ALL_PURE)


def _best(values: Floats, p_values: Floats, alpha: float | None) -> int | None:
    """Return the most informative feature that passes the stopping rule, the first of equals (Algorithm 4)."""
    passes = values > ROUNDING
    if alpha is not None:
        passes &= p_values * len(p_values) < alpha
    if not passes.any():
        return None
    return int(np.where(passes, values, -1.0).argmax())


def _best_pair(
    leaves: Leaves, codes: NDArray[np.int32], n_codes: Ints, unselected: Ints, alpha: float | None
) -> tuple[int, ...]:
    """Return the two features with most information together; empty where no pair passes the stopping rule."""
    table, codes = leaves.table(), codes[:, leaves.draws]
    pairs, scores = [], []
    for position, i in enumerate(unselected[:-1]):
        others = unselected[position + 1 :]
        together = (codes[i] * n_codes[others, None] + codes[others]).astype(np.int32)
        every = np.arange(len(others))
        scores.append(table.score(together, n_codes[i] * n_codes[others], every, np.arange(codes.shape[1])))
        pairs += [(int(i), int(j)) for j in others]
    if not pairs:
        return ()
    found = Information.join(scores)
    best = _best(found.values, found.p_values, alpha)
    return () if best is None else pairs[best]
