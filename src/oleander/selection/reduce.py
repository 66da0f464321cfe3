"""Make a model smaller with the same answer: merge points, drop contained candidates."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from oleander.arrays import Ints
from oleander.selection.model import CoverageModel


def merge_points(model: CoverageModel) -> tuple[CoverageModel, Ints]:
    """Return the model with equal points merged and uncovered ones removed, and where each point went.

    A point that was removed went to −1.

    >>> from oleander.selection.model import plain_model
    >>> merged, went_to = merge_points(plain_model(np.array([[1, 1, 0, 0], [0, 0, 1, 0]]), budget=1))
    >>> merged.weights.tolist(), went_to.tolist()
    ([2.0, 1.0], [0, 0, 1, -1])
    """
    maybe_by_point = None if model.maybe is None else model.maybe.transposed()
    words = model.by_point.words
    if maybe_by_point is not None:
        words = np.hstack([words, maybe_by_point.words])
    points = np.flatnonzero(words.any(axis=1) & (model.weights > 0))
    places: dict[bytes, int] = {}
    position = np.array([places.setdefault(line.tobytes(), len(places)) for line in words[points]], dtype=np.intp)
    went_to = np.full(model.n_points, -1, dtype=np.intp)
    went_to[points] = position
    first = points[np.unique(position, return_index=True)[1]]
    merged = replace(
        model,
        sure=model.by_point[first].transposed(),
        weights=np.bincount(position, model.weights[points], minlength=len(first)).astype(np.float64),
        maybe=None if maybe_by_point is None else maybe_by_point[first].transposed(),
    )
    return merged, went_to


def undominated(
    model: CoverageModel, *, should_stop: Callable[[], bool] = lambda: False, n_words: int = 1 << 20
) -> Ints:
    """Return the candidates that no other candidate can replace without loss.

    Candidate i is dominated by j if j surely counts all that i counts or may count. (That j *may* count it is not
    enough: both can be chosen, and then i's allowance is worth something.) Of equal candidates the first stays. A
    candidate that dominates i covers i's rarest point, so only these pairs are compared, as rows of bits, some
    `n_words` words at a time.

    >>> from oleander.selection.model import plain_model
    >>> undominated(plain_model(np.array([[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1]]), budget=1)).tolist()
    [1, 3]
    """
    reach = model.sure if model.maybe is None else model.sure | model.maybe
    n_reach, n_sure = np.diff(reach.indptr), np.diff(model.sure.indptr)
    small = np.flatnonzero(n_reach > 0)
    rarity = np.diff(model.by_point.indptr).astype(np.intp) * reach.shape[1] + np.arange(reach.shape[1])
    rarest = np.empty(len(small), dtype=np.intp)
    for part in reach.parts(small):
        columns, lengths = reach.entries_of(small[part])
        rarest[part] = np.minimum.reduceat(rarity[columns], np.cumsum(lengths) - lengths)
    others, lengths = model.by_point.entries_of(rarest % reach.shape[1])
    small, big = np.repeat(small, lengths), others.astype(np.intp)
    # Two candidates dominate each other only when they are equal in everything; then the first stays.
    first = (big < small) | (n_reach[big] > n_sure[big])
    larger = (n_sure[big] > n_reach[small]) | ((n_sure[big] == n_reach[small]) & first)
    possible = np.flatnonzero(larger & (big != small))
    keep = n_reach > 0
    n_pairs = max(1, n_words // max(1, reach.words.shape[1]))
    for start in range(0, len(possible), n_pairs):
        if should_stop():
            break
        pairs = possible[start : start + n_pairs]
        pairs = pairs[keep[small[pairs]]]
        outside = (reach.words[small[pairs]] & ~model.sure.words[big[pairs]]).any(axis=1)
        keep[small[pairs[~outside]]] = False
    return np.flatnonzero(keep)
