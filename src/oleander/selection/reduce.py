"""Make a model smaller with the same answer: merge points, drop contained candidates."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from oleander.arrays import Ints
from oleander.selection.model import CoverageModel


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
    matrices = [model.sure] if model.maybe is None else [model.sure, model.maybe]
    everyone = np.arange(model.n_candidates)
    is_marked = np.logical_or.reduce([matrix.covered_by(everyone) for matrix in matrices])
    points = np.flatnonzero(is_marked & (model.weights > 0))
    # The sum of random numbers over a point's candidates, which wraps around.
    hashes = np.zeros(model.n_points, dtype=np.uint64)
    for seed, matrix in enumerate(matrices):
        numbers = np.random.default_rng(seed).integers(1, 2**63, size=model.n_candidates, dtype=np.uint64)
        hashes += matrix.sum_by_column(numbers)
    _, first, position = np.unique(hashes[points], return_index=True, return_inverse=True)
    leader = first[position.ravel()]
    # A hash only suggests: a point that differs from its leader after all stays by itself.
    led = np.flatnonzero(leader != np.arange(len(points)))
    for matrix in matrices:
        words = (model.by_point if matrix is model.sure else matrix.transposed()).words
        led = led[leader[led] != led]
        differs = led[(words[points[led]] != words[points[leader[led]]]).any(axis=1)]
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
