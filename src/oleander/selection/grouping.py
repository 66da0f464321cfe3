"""Split candidates into groups that share few points, each around a few of the sets chosen so far."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from oleander.arrays import Floats, Ints
from oleander.selection.model import CoverageModel
from oleander.selection.sparse_rows import listed


def group_candidates(model: CoverageModel, chosen: Ints, *, max_chosen: int) -> Ints:
    """Return a group number for each candidate; a group holds at most `max_chosen` of the chosen.

    A candidate goes to the chosen set that it overlaps most. A candidate that overlaps none goes with the
    candidates that it overlaps most. Then the two groups that share most, relative to their sizes, are joined, and
    so on while neither the number of chosen sets nor the weight of a group grows too large for a tree.

    Examples
    --------
    >>> from oleander.selection.formulations import plain_model
    >>> model = plain_model(np.array([[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]), budget=2)
    >>> group_candidates(model, np.array([0, 2]), max_chosen=1).tolist()
    [0, 0, 1]
    """
    nearest, sure = _nearest_chosen(model, chosen), listed(model.sure)
    touches = np.zeros((len(chosen) + 1, model.n_points), dtype=np.bool_)
    touches[np.repeat(nearest, np.diff(sure.indptr)), sure.indices] = True
    max_weight = 1.25 * float(model.weights.sum()) * max_chosen / max(1, len(chosen))
    joined = _join(touches, model.weights, max_chosen, max_weight)
    return np.unique(joined[nearest], return_inverse=True)[1].ravel()


def _nearest_chosen(model: CoverageModel, chosen: Ints) -> Ints:
    """Return the position of the chosen set nearest to each candidate; one past the last if none is near."""
    sure = listed(model.sure)
    label = np.full(model.n_candidates, -1, dtype=np.intp)
    label[chosen] = np.arange(len(chosen))
    while True:
        known = np.flatnonzero(label >= 0)
        member = sparse.csr_array((np.ones(len(known)), (label[known], known)), shape=(len(chosen), model.n_candidates))
        # How much of each candidate's weight the members of each label cover, counted as often as they do.
        overlap = (sure * model.weights[None, :]) @ (member @ sure).T.tocsr()
        overlap = overlap.toarray()
        new = (label < 0) & (overlap.max(axis=1) > 0)
        if not new.any():
            return np.where(label < 0, len(chosen), label)
        label[new] = overlap[new].argmax(axis=1)


def _join(touches: NDArray[np.bool_], weights: Floats, max_chosen: int, max_weight: float) -> Ints:
    """Return the group of each row of touched points after joining those that share most."""
    n_rows = len(touches)
    label = np.arange(n_rows)
    n_chosen = np.ones(n_rows, dtype=np.intp)
    n_chosen[-1] = 0
    shared = (touches * weights) @ touches.T
    while True:
        size = shared.diagonal()
        score = shared / np.maximum(np.sqrt(size[:, None] * size[None, :]), np.finfo(float).tiny)
        score[n_chosen[:, None] + n_chosen[None, :] > max_chosen] = 0.0
        score[size[:, None] + size[None, :] - shared > max_weight] = 0.0
        np.fill_diagonal(score, 0.0)
        first, second = sorted(divmod(int(score.argmax()), n_rows))
        if score[first, second] <= 0.0:
            return label
        label[label == second] = first
        n_chosen[first] += n_chosen[second]
        touches[first] |= touches[second]
        touches[second] = False
        shared[first] = shared[:, first] = touches @ np.where(touches[first], weights, 0.0)
        shared[second] = shared[:, second] = 0.0
