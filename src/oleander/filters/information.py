"""Conditional mutual information of features and the label, from counts, given the selected features."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from oleander import kernels
from oleander.arrays import Floats, Ints

Codes = NDArray[np.integer[Any]]

# A leaf is tested only if it has this many draws per cell on average: the usual rule for chi-squared.
DRAWS_PER_CELL = 5


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

        Σ p(φ, y, l) log p(φ, y | l) / (p(φ | l) p(y | l)), the paper's estimator with its two slips mended: the second
        factor below is p(y | l), and the conditioning is on the selected features.

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
