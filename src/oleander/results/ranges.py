"""Ranges of numbers, in which the black box's answers are counted as classes are."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from oleander.arrays import Floats, Ints, Labels
from oleander.data.schema.rounding import format_number, round_to_step

# Ranges hold about equal shares of the numbers.
N_RANGES = 5


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges between readable edges, each with its upper edge.

    Parameters
    ----------
    edges : array of shape (n_edges,)
        Ascending, at least one.

    Examples
    --------
    >>> ranges = Ranges.of(np.arange(100.0))
    >>> ranges.names.tolist()
    ['up to 20', '20 to 40', '40 to 60', '60 to 80', 'over 80']
    >>> ranges.find(np.array([20.0, 20.5, 99.0])).tolist()
    [0, 1, 4]
    """

    edges: Floats

    @classmethod
    def of(cls, numbers: Floats) -> Self:
        """Return about five ranges that hold equal shares of some numbers, of which there is at least one."""
        quantiles = np.unique(np.quantile(numbers, np.arange(1, N_RANGES) / N_RANGES))
        width = float(np.ptp(quantiles))
        return cls(quantiles if width == 0 else np.unique(round_to_step(quantiles, width / 10, whole=False)))

    @property
    def names(self) -> Labels:
        """The ranges in words, in ascending order."""
        words = [format_number(edge) for edge in self.edges.tolist()]
        middle = [f"{low} to {high}" for low, high in pairwise(words)]
        return np.array([f"up to {words[0]}", *middle, f"over {words[-1]}"], dtype=object)

    def find(self, numbers: Floats) -> Ints:
        """Return the position of the range of each number."""
        return np.searchsorted(self.edges, numbers)
