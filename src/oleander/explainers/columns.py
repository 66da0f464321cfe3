"""Features of draws as bin codes, cut at readable numbers."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from oleander import kernels
from oleander.arrays import Floats, Ints
from oleander.data.schema import Feature, FeatureSchema
from oleander.data.schema.dates import round_up_days
from oleander.data.schema.rounding import round_to_step

# The number of quantiles at which a number may be split.
N_EDGES = 64


@dataclass(frozen=True)
class Column:
    """A feature of the draws as bin codes.

    Parameters
    ----------
    position : int
        The feature's column in the encoded rows.
    edges : array
        Empty for levels. A number over ``edges[k - 1]`` and up to ``edges[k]`` has code k.
    n_codes : int
        The number of bins or levels, without missing.
    codes : array of shape (n_draws,)
        Missing has the code ``n_codes``.
    """

    position: int
    is_number: bool
    edges: Floats
    n_codes: int
    codes: NDArray[np.int32]

    def take(self, draws: Ints) -> "Column":
        """Return the feature of some draws, in the same bins."""
        return replace(self, codes=self.codes[draws])


def make_columns(draws: Floats, schema: FeatureSchema, positions: tuple[int, ...]) -> list[Column]:
    """Return the features at these positions as bin codes."""
    columns = []
    for position in positions:
        feature, values = schema[position], draws[:, position]
        if feature.is_number:
            absent = np.isnan(values)
            edges = readable_edges(values[~absent] if absent.any() else values, feature)
            n_codes = len(edges) + 1
            codes = kernels.bin_numbers(values, edges)
        else:
            edges, n_codes = np.empty(0), len(feature.levels)
            codes = np.where(np.isnan(values), n_codes, values).astype(np.int32)
        columns.append(Column(position, feature.is_number, edges, n_codes, codes))
    return columns


def readable_edges(values: Floats, feature: Feature) -> Floats:
    """Return the numbers at which a feature may be split: quantiles of the draws, rounded up to a step.

    The step is 1, 2 or 5 times a power of ten, about a hundredth of the draws' spread, and whole for whole numbers.
    Dates are rounded up to the first of a month where their spread is large.

    Examples
    --------
    >>> from oleander.data.schema import Kind
    >>> dose = Feature("dose", Kind.CONTINUOUS, "float64", lower=0, upper=10)
    >>> readable_edges(np.linspace(0.0, 10.0, 5000), dose)[:4].tolist()
    [0.0, 0.2, 0.35, 0.5]
    """
    if not len(values):
        return np.empty(0)
    quantiles = kernels.rank_values(values, _quantile_positions(len(values)))
    spread = (quantiles[-N_EDGES // 10] - quantiles[N_EDGES // 10]) or np.ptp(quantiles)
    if spread == 0:
        return np.empty(0)
    if feature.is_date:
        edges = round_up_days(quantiles, spread / 100, whole=feature.is_whole)
    else:
        edges = round_to_step(quantiles, spread / 100, whole=feature.is_whole, rounding=np.ceil)
    # Rounding keeps the order of the quantiles, so equal edges are neighbours.
    is_new = np.append(True, edges[1:] != edges[:-1])
    # No draw lies over an edge at or beyond the largest draw.
    inside: Floats = edges[is_new & (edges < quantiles[-1])]
    return inside


@lru_cache(maxsize=8)
def _quantile_positions(n_draws: int) -> Ints:
    """Return the positions of the quantiles among ordered draws."""
    positions = np.linspace(0, n_draws - 1, N_EDGES + 1).astype(np.intp)
    positions.setflags(write=False)
    return positions
