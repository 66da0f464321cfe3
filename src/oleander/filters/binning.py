"""Bin codes of draws: a few bins of equal width per number, levels as bins, missing as a bin of its own.

Codes replace the paper's tensor M[bin, feature, draw] at 1/B of its memory. Trees use other bins, cut at readable
quantiles (``oleander.explainers.columns``).
"""

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Floats, Ints
from oleander.data.schema import FeatureSchema

# Codes are small and many: narrow integers halve the time spent on moving them.
Codes = NDArray[np.int32]


def bin_codes(draws: Floats, schema: FeatureSchema, *, n_bins: int = 3) -> tuple[Codes, Ints]:
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


def _bin_equally(values: Floats, present: Floats, n_bins: int, codes: Codes) -> None:
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
