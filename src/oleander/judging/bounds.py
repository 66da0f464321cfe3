"""Confidence bounds on a share."""

from typing import Any

import numpy as np
from scipy.special import betaincinv

from oleander.arrays import Floats


def lower_bound(n_right: Any, n_rows: Any, level: float) -> Floats:
    """Return the exact (Clopper-Pearson) lower confidence bound on a share, at one-sided error ``level``.

    Without rows the bound is 0.

    Examples
    --------
    >>> float(lower_bound(29, 29, 0.05).round(4)), float(lower_bound(0, 0, 0.05))
    (0.9019, 0.0)
    """
    right, rows = np.asarray(n_right, dtype=float), np.asarray(n_rows, dtype=float)
    # The quantile of Beta(right, rows - right + 1), which is 0 at no right row.
    bound = betaincinv(np.maximum(right, 1e-300), rows - right + 1, level)
    return np.where(right > 0, bound, 0.0)


def upper_bound(n_right: Any, n_rows: Any, level: float) -> Floats:
    """Return the exact (Clopper-Pearson) upper confidence bound on a share, at one-sided error ``level``.

    Without rows the bound is 1.

    Examples
    --------
    >>> float(upper_bound(0, 29, 0.05).round(4)), float(upper_bound(0, 0, 0.05))
    (0.0981, 1.0)
    """
    right, rows = np.asarray(n_right, dtype=float), np.asarray(n_rows, dtype=float)
    return 1 - lower_bound(rows - right, rows, level)
