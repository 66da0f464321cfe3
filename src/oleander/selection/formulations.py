"""From the user's matrices to the one model that solvers see: the definition (strict) and the program (selective)."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from oleander.selection.model import CoverageModel


def plain_model(covers: ArrayLike, budget: int, weights: ArrayLike | None = None) -> CoverageModel:
    """Return maximum coverage with at most `budget` sets.

    Examples
    --------
    >>> plain_model(np.eye(3), budget=2).value(np.array([0, 1]))
    2.0
    """
    sure = sparse.csr_array(covers, dtype=np.float64)
    n_candidates, n_points = sure.shape
    return CoverageModel(
        sure=sure,
        weights=np.ones(n_points) if weights is None else np.asarray(weights, dtype=np.float64),
        cost=np.ones(n_candidates),
        budget=float(budget),
        origin=np.arange(n_candidates),
        forced=np.empty(0, dtype=np.intp),
    )
