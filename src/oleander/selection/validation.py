"""Validation of input, once: an error names the value given, the values allowed, and the cure."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from oleander.arrays import Floats


def boolean_matrix(given: object, name: str) -> sparse.csr_array:
    """Return a boolean matrix, sparse or dense, as ones in a float matrix stored by row.

    Examples
    --------
    >>> boolean_matrix([[True, False]], "covers").toarray().tolist()
    [[1.0, 0.0]]
    """
    matrix = sparse.csr_array(given)
    if matrix.ndim != 2:
        raise ValueError(f"{name} has {matrix.ndim} dimensions; it needs two, candidates × points.")
    if matrix.dtype != np.bool_ and not np.isin(matrix.data, (0, 1)).all():
        raise ValueError(f"{name} has entries other than 0 and 1; it needs to be boolean, candidates × points.")
    matrix = matrix.astype(np.float64)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.data[:] = 1.0
    matrix.sort_indices()
    return matrix


def matching_matrices(covers: object, agrees: object) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return both matrices, checked against each other."""
    cover, agree = boolean_matrix(covers, "covers"), boolean_matrix(agrees, "agrees")
    if cover.shape != agree.shape:
        raise ValueError(
            f"covers has shape {cover.shape} and agrees has shape {agree.shape}; both need to be candidates × points."
        )
    if 0 in cover.shape:
        raise ValueError(f"covers has shape {cover.shape}; a problem needs at least one candidate and one point.")
    _refuse_outside(cover, agree)
    return cover, agree


def _refuse_outside(cover: sparse.csr_array, agree: sparse.csr_array) -> None:
    """Raise ``ValueError`` for an entry of ``agree`` that ``cover`` does not have."""
    # Row by row, because the matrices may be most of what is in memory.
    is_covered = np.zeros(cover.shape[1], dtype=bool)
    n_outside, first = 0, ""
    for row in range(cover.shape[0]):
        covered = cover.indices[cover.indptr[row] : cover.indptr[row + 1]]
        agreed = agree.indices[agree.indptr[row] : agree.indptr[row + 1]]
        is_covered[covered] = True
        outside = agreed[~is_covered[agreed]]
        is_covered[covered] = False
        if len(outside):
            first = first or f"candidate {row}, point {outside[0]}"
            n_outside += len(outside)
    if n_outside:
        raise ValueError(
            f"agrees has {n_outside} entries outside covers, the first at {first}. "
            "A candidate agrees only where it covers: pass agrees & covers."
        )


def point_weights(weights: ArrayLike | None, n_points: int) -> Floats:
    """Return one weight per point, ones by default."""
    if weights is None:
        return np.ones(n_points)
    array = _nonnegative(weights, n_points, "weights", "points", allow_zero=True)
    if not array.any():
        raise ValueError("every weight is 0, so that no choice is wider than another; one needs to be positive.")
    return array


def candidate_costs(cost: ArrayLike | None, n_candidates: int) -> Floats | None:
    """Return one cost per candidate, or None."""
    if cost is None:
        return None
    return _nonnegative(cost, n_candidates, "cost", "candidates", allow_zero=False)


def _nonnegative(given: ArrayLike, n: int, name: str, of: str, *, allow_zero: bool) -> Floats:
    array = np.asarray(given, dtype=np.float64)
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}; it needs one entry for each of {n} {of}.")
    bad = np.flatnonzero(~np.isfinite(array) | (array < 0 if allow_zero else array <= 0))
    if len(bad):
        wanted = "finite and not negative" if allow_zero else "finite and positive"
        raise ValueError(f"{name}[{bad[0]}] is {array[bad[0]]}; every entry needs to be {wanted}.")
    return array


def candidate_fidelity(fidelity: ArrayLike | None, n_candidates: int) -> Floats | None:
    """Return one fidelity per candidate, or None."""
    if fidelity is None:
        return None
    array = np.asarray(fidelity, dtype=np.float64)
    if array.shape != (n_candidates,):
        raise ValueError(f"fidelity has shape {array.shape}; it needs one entry for each of {n_candidates} candidates.")
    bad = np.flatnonzero(~((array >= 0) & (array <= 1)))
    if len(bad):
        raise ValueError(f"fidelity[{bad[0]}] is {array[bad[0]]}; every entry needs to be a share from 0 to 1.")
    return array


def check_share(value: float, name: str) -> float:
    """Return a share in (0, 1].

    Examples
    --------
    >>> check_share(1.5, "min_fidelity")
    Traceback (most recent call last):
    ...
    ValueError: min_fidelity=1.5 is not a share: it needs to be over 0 and at most 1.
    """
    if not 0.0 < value <= 1.0:
        raise ValueError(f"{name}={value} is not a share: it needs to be over 0 and at most 1.")
    return float(value)


def check_count(value: int, name: str) -> int:
    """Return a whole number of at least one.

    Examples
    --------
    >>> check_count(0, "max_explainers")
    Traceback (most recent call last):
    ...
    ValueError: max_explainers=0 is not allowed: it needs to be a whole number, at least 1.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name}={value} is not allowed: it needs to be a whole number, at least 1.")
    return int(value)
