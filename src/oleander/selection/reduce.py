"""Make a model smaller with the same answer: merge points, drop contained candidates."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from oleander.arrays import Bools, Ints
from oleander.selection.model import CoverageModel
from oleander.selection.sparse_rows import Matrix, entries_of, is_packed, packed, row_of

# Rows of bits may take this many words, 1 GB; a larger model is solved without dropping contained candidates.
MAX_WORDS = 1 << 27


def merge_points(model: CoverageModel) -> tuple[CoverageModel, Ints]:
    """Return the model with equal points merged and uncovered ones removed, and where each point went.

    A point that was removed went to −1.

    Examples
    --------
    >>> from oleander.selection.model import plain_model
    >>> merged, went_to = merge_points(plain_model(np.array([[1, 1, 0, 0], [0, 0, 1, 0]]), budget=1))
    >>> merged.weights.tolist(), went_to.tolist()
    ([2.0, 1.0], [0, 0, 1, -1])
    """
    parts = [(model.sure, model.by_point)]
    if model.maybe is not None:
        parts.append((model.maybe, model.maybe_by_point))
    is_marked = np.logical_or.reduce([np.diff(by_point.indptr) > 0 for _, by_point in parts])
    points = np.flatnonzero(is_marked & (model.weights > 0))
    hashes = np.zeros(model.n_points, dtype=np.uint64)
    for seed, (matrix, by_point) in enumerate(parts):
        hashes += _hash_points(matrix, by_point, seed)
    _, first, position = np.unique(hashes[points], return_index=True, return_inverse=True)
    leader = first[position.ravel()]
    # A hash only suggests: a point that differs from its leader after all stays by itself.
    led = np.flatnonzero(leader != np.arange(len(points)))
    for _, by_point in parts:
        led = led[leader[led] != led]
        differs = led[_rows_differ(by_point, points[led], points[leader[led]])]
        leader[differs] = differs
    leaders, position = np.unique(leader, return_inverse=True)
    columns = points[leaders]
    went_to = np.full(model.n_points, -1, dtype=np.intp)
    went_to[points] = position.ravel()
    merged = replace(
        model,
        sure=model.sure[:, columns],
        weights=np.bincount(position.ravel(), model.weights[points], minlength=len(leaders)).astype(np.float64),
        maybe=None if model.maybe is None else model.maybe[:, columns],
    )
    return merged, went_to


def _hash_points(matrix: Matrix, by_point: Matrix, seed: int) -> NDArray[np.uint64]:
    """Return for each point the sum of random numbers over its candidates, which wraps around."""
    numbers = np.random.default_rng(seed).integers(1, 2**63, size=matrix.shape[0], dtype=np.uint64)
    if is_packed(matrix):
        return matrix.sum_by_column(numbers)
    totals = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(numbers[by_point.indices], dtype=np.uint64)])
    return np.asarray(totals[by_point.indptr[1:]] - totals[by_point.indptr[:-1]])


def _rows_differ(matrix: Matrix, rows: Ints, others: Ints) -> Bools:
    """Return which of some rows have other entries than the rows that they are compared with."""
    if is_packed(matrix):
        return np.asarray((matrix.words[rows] != matrix.words[others]).any(axis=1))
    (own, n_own), (other, n_other) = entries_of(matrix, rows), entries_of(matrix, others)
    differs = np.asarray(n_own != n_other)
    is_compared, is_compared_with = np.repeat(~differs, n_own), np.repeat(~differs, n_other)
    row = np.repeat(np.flatnonzero(~differs), n_own[~differs])
    differs[row[own[is_compared] != other[is_compared_with]]] = True
    return differs


def undominated(
    model: CoverageModel, *, should_stop: Callable[[], bool] = lambda: False, n_words: int = 1 << 20
) -> Ints:
    """Return the candidates that no other candidate can replace without loss.

    Candidate i is dominated by j if j surely counts all that i counts or may count. (That j *may* count it is not
    enough: both can be chosen, and then i's allowance is worth something.) Of equal candidates the first stays. A
    candidate that dominates i covers i's rarest point, so only these pairs are compared, as rows of bits, some
    `n_words` words at a time.

    Examples
    --------
    >>> from oleander.selection.model import plain_model
    >>> undominated(plain_model(np.array([[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1]]), budget=1)).tolist()
    [1, 3]
    """
    reach = model.sure if model.maybe is None else _add(model.sure, model.maybe)
    n_reach, n_sure = np.diff(reach.indptr), np.diff(model.sure.indptr)
    small = np.flatnonzero(n_reach > 0)
    rarity = np.diff(model.by_point.indptr).astype(np.intp) * reach.shape[1] + np.arange(reach.shape[1])
    if is_packed(reach):
        rarest = np.array([rarity[row_of(reach, row)].min() for row in small.tolist()], dtype=np.intp)
    else:
        # Empty rows have no entries, so the entries of the others follow one another.
        rarest = np.minimum.reduceat(rarity[reach.indices], reach.indptr[small]) if len(small) else small
    rarest = rarest % reach.shape[1]
    others, lengths = entries_of(model.by_point, rarest)
    small, big = np.repeat(small, lengths), others.astype(np.intp)
    # Two candidates dominate each other only when they are equal in everything; then the first stays.
    first = (big < small) | (n_reach[big] > n_sure[big])
    larger = (n_sure[big] > n_reach[small]) | ((n_sure[big] == n_reach[small]) & first)
    possible = np.flatnonzero(larger & (big != small))
    keep = n_reach > 0
    if reach.shape[0] * reach.shape[1] > 64 * MAX_WORDS:
        return np.flatnonzero(keep)
    sure_bits = packed(model.sure).words
    reach_bits = sure_bits if model.maybe is None else packed(reach).words
    n_pairs = max(1, n_words // max(1, sure_bits.shape[1]))
    for start in range(0, len(possible), n_pairs):
        if should_stop():
            break
        pairs = possible[start : start + n_pairs]
        pairs = pairs[keep[small[pairs]]]
        outside = (reach_bits[small[pairs]] & ~sure_bits[big[pairs]]).any(axis=1)
        keep[small[pairs[~outside]]] = False
    return np.flatnonzero(keep)


def _add(sure: Matrix, maybe: sparse.csr_array) -> Matrix:
    """Return the points that each candidate counts or may count."""
    return sure | packed(maybe) if is_packed(sure) else sparse.csr_array(sure + maybe)
