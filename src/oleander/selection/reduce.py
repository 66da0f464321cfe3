"""Make a model smaller with the same answer: merge points, strip forced candidates, drop contained ones."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from oleander.arrays import Bools, Ints
from oleander.selection.model import CoverageModel
from oleander.selection.sparse_rows import Matrix, covered_by, entries_of, is_packed, listed, packed, row_of, transposed

# The first equal point of each of some points, given their groups.
FindLeaders = Callable[[Ints, Ints], Ints]


def strip_forced(model: CoverageModel) -> CoverageModel:
    """Return the model without its forced candidates, their points counted in the offset.

    Only where nothing may be counted in part: with allowances a forced candidate's choice of rows stays open.
    Nor with a floor over the union, where others may still be wrong on a forced candidate's points.

    Examples
    --------
    >>> from oleander.selection.formulations import plain_model
    >>> model = replace(plain_model(np.array([[1, 1, 0], [0, 1, 1]]), budget=2), forced=np.array([0]))
    >>> smaller = strip_forced(model)
    >>> smaller.offset, smaller.budget, smaller.value(np.array([0]))
    (2.0, 1.0, 3.0)
    """
    if model.maybe is not None or model.wrong is not None or not len(model.forced):
        return model
    covered = covered_by(model.sure, model.forced)
    rest = model.keep(np.setdiff1d(np.arange(model.n_candidates), model.forced))
    needs = model.needs
    if model.groups is not None and needs is not None:
        needs = needs - model.groups @ np.where(covered, model.weights, 0.0)
    return replace(
        _keep_points(replace(rest, needs=needs), ~covered),
        budget=max(0.0, model.budget - float(model.cost[model.forced].sum())),
        offset=model.offset + float(model.weights[covered].sum()),
        taken=(*model.taken, *(int(name) for name in model.origin[model.forced])),
    )


def merge_points(model: CoverageModel) -> tuple[CoverageModel, Ints]:
    """Return the model with equal points merged and uncovered ones removed, and where each point went.

    A point that was removed went to −1.

    Examples
    --------
    >>> from oleander.selection.formulations import plain_model
    >>> merged, went_to = merge_points(plain_model(np.array([[1, 1, 0, 0], [0, 0, 1, 0]]), budget=1))
    >>> merged.weights.tolist(), went_to.tolist()
    ([2.0, 1.0], [0, 0, 1, -1])
    """
    is_marked, find_leaders = _packed_marks(model) if is_packed(model.sure) else _listed_marks(model)
    points = np.flatnonzero(is_marked & (model.weights > 0))
    group = np.zeros(len(points), dtype=np.intp)
    if model.groups is not None:
        membership = model.groups[:, points].toarray().T
        group = np.unique(membership, axis=0, return_inverse=True)[1].ravel().astype(np.intp)
    leader = find_leaders(points, group)
    leaders, position = np.unique(leader, return_inverse=True)
    keep = np.zeros(model.n_points, dtype=np.bool_)
    keep[points[leaders]] = True
    went_to = np.full(model.n_points, -1, dtype=np.intp)
    went_to[points] = position.ravel()
    weights = np.bincount(position.ravel(), model.weights[points], minlength=len(leaders)).astype(np.float64)
    return replace(_keep_points(model, keep), weights=weights), went_to


def _keep_points(model: CoverageModel, keep: Bools) -> CoverageModel:
    columns = np.flatnonzero(keep)
    return replace(
        model,
        sure=model.sure[:, columns],
        weights=model.weights[columns],
        maybe=None if model.maybe is None else model.maybe[:, columns],
        groups=None if model.groups is None else model.groups[:, columns],
        wrong=None if model.wrong is None else model.wrong[:, columns],
    )


def _listed_marks(model: CoverageModel) -> tuple[Bools, FindLeaders]:
    """Return which points a candidate marks, and a function that finds equal points.

    A candidate marks the points that it counts with 1, and those that it may count or is wrong at with 2.
    """
    marks = listed(model.by_point)
    if model.maybe is not None:
        marks = sparse.csr_array(marks + 2.0 * listed(transposed(model.maybe)))
    elif model.wrong is not None:
        marks = sparse.csr_array(marks + listed(transposed(model.wrong)))
    marks.sort_indices()
    return np.diff(marks.indptr) > 0, lambda points, group: _first_equal_row(marks[points], group)


def _first_equal_row(matrix: sparse.csr_array, group: Ints) -> Ints:
    """Return for each row the first row equal to it; rows of different groups are never equal."""
    # An entry's column and value, which is 1 or 2, in one whole number.
    codes = 2 * matrix.indices.astype(np.intp) + (matrix.data == 2.0)
    random = _random_numbers(matrix.shape[1])
    # Unsigned sums wrap around, which is what a hash wants.
    totals = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(random[codes], dtype=np.uint64)])
    leader = _first_equal_hash(totals[matrix.indptr[1:]] - totals[matrix.indptr[:-1]], group)
    # A hash only suggests: a row that differs from its leader after all stays by itself.
    lengths = np.diff(matrix.indptr)
    differs = (lengths != lengths[leader]) | (group != group[leader])
    same = np.flatnonzero(~differs)
    coded = sparse.csr_array((matrix.data, codes, matrix.indptr), shape=(len(leader), 2 * matrix.shape[1]))
    own, leading = entries_of(coded, same)[0], entries_of(coded, leader[same])[0]
    differs[np.repeat(same, lengths[same])[own != leading]] = True
    return np.where(differs, np.arange(len(leader)), leader)


def _packed_marks(model: CoverageModel) -> tuple[Bools, FindLeaders]:
    """Return the same for a packed model, without a list of its entries."""
    random = _random_numbers(model.n_candidates)
    matrices = [(packed(model.sure), random[0::2])]
    if model.maybe is not None:
        matrices.append((packed(model.maybe), random[1::2]))
    elif model.wrong is not None:
        # Where a candidate is wrong it counts too, and 2 takes the place of 1.
        matrices.append((packed(model.wrong), random[1::2] - random[0::2]))
    every = np.arange(model.n_candidates)
    is_marked = np.logical_or.reduce([matrix.covered_by(every) for matrix, _ in matrices])

    def find_leaders(points: Ints, group: Ints) -> Ints:
        hashes = np.zeros(model.n_points, dtype=np.uint64)
        for matrix, numbers in matrices:
            hashes += matrix.sum_by_column(numbers)
        leader = _first_equal_hash(hashes[points], group)
        led = np.flatnonzero(leader != np.arange(len(leader)))
        differs = group[led] != group[leader[led]]
        for matrix, _ in matrices:
            for row in range(model.n_candidates):
                mask = matrix.mask_of(row)
                differs |= mask[points[led]] != mask[points[leader[led]]]
        leader[led[differs]] = led[differs]
        return leader

    return is_marked, find_leaders


def _random_numbers(n_candidates: int) -> NDArray[np.uint64]:
    """Return a random number for each candidate and each of two values of an entry."""
    return np.random.default_rng(0).integers(1, 2**63, size=2 * n_candidates, dtype=np.uint64)


def _first_equal_hash(hashes: NDArray[np.uint64], group: Ints) -> Ints:
    """Return for each point the first point with its hash and group, as far as a hash tells."""
    hashes = hashes + group.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    _, first, position = np.unique(hashes, return_index=True, return_inverse=True)
    return np.asarray(first[position.ravel()])


# Rows of bits may take this many words, 1 GB; a larger model is solved without dropping contained candidates.
MAX_WORDS = 1 << 27


def undominated(
    model: CoverageModel, *, should_stop: Callable[[], bool] = lambda: False, n_words: int = 1 << 22
) -> Ints:
    """Return the candidates that no other candidate can replace without loss.

    Candidate i is dominated by j if j costs no more and surely counts all that i counts or may count. (That
    j *may* count it is not enough: both can be chosen, and then i's allowance is worth something.) With a floor
    over the union j must also be wrong nowhere but where i is. Of equal candidates the first stays. A candidate
    that dominates i covers i's rarest point, so only these pairs are compared, as rows of bits, some `n_words`
    words at a time.

    Examples
    --------
    >>> from oleander.selection.formulations import plain_model
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
    first = (big < small) | (n_reach[big] > n_sure[big]) | (model.cost[big] < model.cost[small])
    if model.wrong is not None:
        n_wrong = np.diff(model.wrong.indptr)
        first |= n_wrong[big] < n_wrong[small]
    larger = (n_sure[big] > n_reach[small]) | ((n_sure[big] == n_reach[small]) & first)
    possible = np.flatnonzero(larger & (big != small) & (model.cost[big] <= model.cost[small]))
    keep = n_reach > 0
    if reach.shape[0] * reach.shape[1] > 64 * MAX_WORDS:
        return np.flatnonzero(keep | np.isin(np.arange(len(keep)), model.forced))
    sure_bits = packed(model.sure).words
    reach_bits = sure_bits if model.maybe is None else packed(reach).words
    wrong_bits = None if model.wrong is None else packed(model.wrong).words
    n_pairs = max(1, n_words // max(1, sure_bits.shape[1]))
    for start in range(0, len(possible), n_pairs):
        if should_stop():
            break
        pairs = possible[start : start + n_pairs]
        pairs = pairs[keep[small[pairs]]]
        outside = (reach_bits[small[pairs]] & ~sure_bits[big[pairs]]).any(axis=1)
        if wrong_bits is not None:
            outside |= (wrong_bits[big[pairs]] & ~wrong_bits[small[pairs]]).any(axis=1)
        keep[small[pairs[~outside]]] = False
    keep[model.forced] = True
    return np.flatnonzero(keep)


def _add(sure: Matrix, maybe: sparse.csr_array) -> Matrix:
    """Return the points that each candidate counts or may count."""
    return sure | packed(maybe) if is_packed(sure) else sparse.csr_array(sure + maybe)
