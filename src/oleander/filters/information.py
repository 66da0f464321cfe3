"""Bin codes of draws, and the conditional mutual information of features and the label, counted on them.

There are a few bins of equal width per number; levels are bins, and missing is a bin of its own. Codes replace the
paper's tensor M[bin, feature, draw] at 1/B of its memory. Trees use other bins, cut at readable quantiles
(``oleander.rules.growth``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from oleander import kernels
from oleander.arrays import Floats, Ints
from oleander.data.schema import FeatureSchema

Codes = NDArray[np.integer[Any]]

# A leaf is tested only if it has this many draws per cell on average: the usual rule for chi-squared.
DRAWS_PER_CELL = 5


def bin_codes(draws: Floats, schema: FeatureSchema, *, n_bins: int = 3) -> tuple[NDArray[np.int32], Ints]:
    """Return each draw's bin in every feature, and the number of bins of each feature.

    Numbers get ``n_bins`` bins of equal width over the draws' own range (low, medium, high); levels are bins.

    Returns
    -------
    codes : array of shape (n_features, n_draws)
    n_codes : array of shape (n_features,)

    Examples
    --------
    >>> X = np.array([[0.5, 0], [1.2, 1], [3.7, 0]])
    >>> schema = FeatureSchema.infer(X)
    >>> codes, n_codes = bin_codes(schema.encode(X), schema)
    >>> codes.tolist(), n_codes.tolist()
    ([[0, 0, 2], [0, 1, 0]], [3, 2])
    """
    # Codes are small and many: narrow integers halve the time spent on moving them.
    codes = np.empty(draws.shape[::-1], dtype=np.int32)
    n_codes = np.empty(draws.shape[1], dtype=np.intp)
    for j, feature in enumerate(schema):
        values = draws[:, j]
        absent = np.isnan(values) if feature.missing else None
        if absent is not None:
            values = np.where(absent, feature.lower if feature.is_number else 0.0, values)
        if feature.is_number:
            present = values if absent is None or absent.all() else values[~absent]
            _bin_equally(values, present, n_bins, codes[j])
            n_codes[j] = n_bins
        else:
            codes[j] = values
            n_codes[j] = len(feature.levels)
        if absent is not None:
            codes[j, absent] = n_codes[j]
            n_codes[j] += 1
    return codes, n_codes


def _bin_equally(values: Floats, present: Floats, n_bins: int, codes: NDArray[np.int32]) -> None:
    """Write into ``codes`` the values' bins of equal width over the range of the present values."""
    low, high = present.min(), present.max()
    if low == high:
        codes[:] = 0
        return
    places = values - low
    places *= n_bins / (high - low)
    codes[:] = places
    # The largest value closes the last bin instead of opening another.
    np.minimum(codes, n_bins - 1, out=codes)


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
        self.n_draws = n_draws
        self._leaf_labels = np.asarray(leaves * n_labels + labels, dtype=np.intp)
        counts = np.bincount(self._leaf_labels, minlength=n_leaves * n_labels)
        self._counts = counts.reshape(n_leaves, n_labels)

    def score(self, codes: NDArray[np.int32], n_codes: Ints, features: Ints, draws: Ints) -> Information:
        """Return the information of some features.

        Σ p(φ, y, l) log p(φ, y | l) / (p(φ | l) p(y | l)), the paper's estimator with its two slips corrected: the
        second factor below is p(y | l), and the conditioning is on the selected features.

        Parameters
        ----------
        codes : int32 array of shape (n_features, n_draws)
            Bin codes of all draws.
        n_codes : int array of shape (n_features,)
        features : int array
            The features to score.
        draws : int array of shape (n_draws_left,)
            The draws in the leaves.
        """
        information, statistic, freedom = kernels.score_features(
            codes, n_codes, features, draws, self._leaf_labels, self._counts, x_log_x(self.n_draws), DRAWS_PER_CELL
        )
        # Logarithms that cancel leave rounding errors behind; information is never negative.
        p_values = np.where(freedom > 0, chdtrc(np.maximum(freedom, 1), 2.0 * statistic.clip(0.0)), 1.0)
        return Information(information.clip(0.0) / self.n_draws, p_values)


@lru_cache(maxsize=8)
def x_log_x(largest: int) -> Floats:
    """Return x·log x for x = 0, 1, ..., largest: counts are whole numbers, so a look-up replaces the logarithm."""
    counts = np.arange(largest + 1, dtype=float)
    table: Floats = counts * np.log(np.maximum(counts, 1.0))
    table.setflags(write=False)
    return table
