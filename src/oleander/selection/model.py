"""The one model that every solver sees: coverage with sure points, points that may count, and a maximum number.

Both formulations, the paper's definition and its program, become a `CoverageModel` before a solver starts, so that
reducing, searching, bounding and branching are written once. Reducing merges points and drops contained candidates.
Matching is the flow that counts wrong points: from the allowances of the chosen candidates to the room at points, where
points in the same chosen regions are one node, so that the network stays small.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from oleander.kernels import PackedRows

# Sums of weights, and proofs about them, are good to this share of the total weight.
ROUNDING = 1e-10
# Shares of counts are compared with this slack, so that 9 of 10 reaches 0.9 whatever its binary digits are.
SHARE_TOLERANCE = 1e-9
# Values move in steps of a common divisor only where a step is well over the rounding error.
MAX_STEPS = 1e9


@dataclass(frozen=True, eq=False)
class CoverageModel:
    """Choose at most `budget` candidates so that the weight of the points that count is as large as possible."""

    # By candidate and point, ones where the point counts whenever the candidate is chosen.
    sure: "PackedRows"
    weights: Floats
    # The largest number of candidates.
    budget: int
    # Each candidate's index in the problem that the user stated.
    origin: Ints
    # By candidate and point, ones where it may count the point, together not more weight than its `allowance`.
    maybe: "PackedRows | None" = None
    allowance: Floats | None = None

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        return self.sure.shape[0]

    @property
    def n_points(self) -> int:
        """Number of points, merged ones counted once."""
        return self.sure.shape[1]

    @property
    def n_entries(self) -> int:
        """Number of pairs of a candidate and a point that it counts or may count."""
        return self.sure.nnz + (0 if self.maybe is None else self.maybe.nnz)

    @property
    def is_plain(self) -> bool:
        """Whether this is maximum coverage with at most K sets, and no point may count in part."""
        return self.maybe is None

    @property
    def limit(self) -> int:
        """The largest number of candidates that can be chosen."""
        return min(self.budget, self.n_candidates)

    @cached_property
    def grain(self) -> float:
        """The step between values that can occur; 0 when weights or allowances are not whole numbers."""
        # A point may be counted in part as far as an allowance goes, so allowances have their part in the step.
        allowance = np.empty(0) if self.allowance is None else self.allowance
        return grain_of(np.concatenate([self.weights, allowance]))

    @cached_property
    def by_point(self) -> "PackedRows":
        """The transpose of `sure`, stored by point."""
        return self.sure.transposed()

    @cached_property
    def maybe_by_point(self) -> sparse.csr_array:
        """The transpose of `maybe`, stored by point."""
        assert self.maybe is not None
        return self.maybe.transposed().to_sparse()

    def names(self, chosen: Ints) -> Ints:
        """Return the indices in the stated problem of a choice."""
        return np.sort(self.origin[chosen])

    def positions(self, names: Ints) -> Ints:
        """Return the candidates of this model among those named by their index in the stated problem."""
        return np.flatnonzero(np.isin(self.origin, names))

    def counts(self, chosen: Ints) -> Floats:
        """Return the weight that counts at each point when these candidates are chosen."""
        counted = np.where(self.sure.covered_by(chosen), self.weights, 0.0)
        if self.maybe is not None and self.allowance is not None:
            counted = counted + match(self.maybe, self.allowance, self.weights - counted, chosen).sum(axis=0)
        return counted

    def value(self, chosen: Ints) -> float:
        """Return the weight that counts when these candidates are chosen."""
        return float(self.counts(chosen).sum())

    @cached_property
    def slack(self) -> float:
        """The rounding error that a sum of weights may carry: values that differ by less count as equal."""
        return ROUNDING * float(self.weights.sum())

    def keep(self, candidates: Ints, points: Ints | None = None) -> "CoverageModel":
        """Return the model with only these candidates, and points, in the order given."""

        def part(matrix: "PackedRows") -> "PackedRows":
            rows = matrix[candidates]
            return rows if points is None else rows[:, points]

        return replace(
            self,
            sure=part(self.sure),
            weights=self.weights if points is None else self.weights[points],
            origin=self.origin[candidates],
            maybe=None if self.maybe is None else part(self.maybe),
            allowance=None if self.allowance is None else self.allowance[candidates],
        )


def grain_of(weights: Floats) -> float:
    """Return the greatest common divisor of whole weights, or 0 when one is not whole or they are too large.

    >>> grain_of(np.array([2.0, 4.0, 0.0])), grain_of(np.array([0.5, 1.0])), grain_of(np.array([1.0, 1e12]))
    (2.0, 0.0, 0.0)
    """
    positive = weights[weights > 0]
    if not len(positive):
        return 1.0
    if positive.max() > 2**52 or not are_whole(positive):
        return 0.0
    grain = float(np.gcd.reduce(positive.astype(np.int64)))
    return grain if positive.sum() <= MAX_STEPS * grain else 0.0


def are_whole(weights: Floats) -> bool:
    """Return whether every weight is a whole number."""
    return bool((weights == np.floor(weights)).all())


def plain_model(covers: object, budget: int, weights: ArrayLike | None = None) -> CoverageModel:
    """Return maximum coverage with at most `budget` sets.

    >>> plain_model(np.eye(3), budget=2).value(np.array([0, 1]))
    2.0
    """
    sure = pack_matrix(covers)
    weighed = np.ones(sure.shape[1]) if weights is None else np.asarray(weights, dtype=np.float64)
    return CoverageModel(sure=sure, weights=weighed, budget=budget, origin=np.arange(sure.shape[0]))


def pack_matrix(given: object) -> "PackedRows":
    """Return a boolean matrix, which may be dense, sparse or packed already, as packed bits."""
    if isinstance(given, kernels.PackedRows):
        return given
    matrix = sparse.csr_array(given)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return kernels.PackedRows.from_sparse(matrix)


@dataclass(frozen=True, eq=False)
class Statement:
    """One solve at a floor: the program over all candidates and points, and over those that a solver gets to see.

    `fidelity` is that of each candidate under `"strict"`. Under `"selective"` it is not a constant of a candidate, and
    None.
    """

    everything: CoverageModel
    model: CoverageModel
    fidelity: Floats | None
    min_fidelity: float


def selective_model(
    covers: "PackedRows", agrees: "PackedRows", weights: Floats, budget: int, min_fidelity: float
) -> CoverageModel:
    """Return the paper's program, its Proposition 3: a candidate need not count all that it gets wrong.

    A candidate with `a` correct points may count at most floor(a(1 − φ)/φ) of its wrong ones. At or above the floor φ
    that is all of them. Points that stand for several equal rows may be counted in part. The number is rounded down
    only when weights are whole numbers: others have no smallest part.

    >>> covers, agrees = pack_matrix(np.ones((1, 10))), pack_matrix(np.arange(10)[None, :] < 6)
    >>> low, high = (selective_model(covers, agrees, np.ones(10), 1, floor) for floor in (0.5, 0.75))
    >>> low.sure.nnz, high.sure.nnz, high.allowance.tolist()
    (10, 6, [2.0])
    """
    right = agrees @ weights
    wrong = covers @ weights - right
    allowance = right * (1.0 - min_fidelity) / min_fidelity
    allowance += SHARE_TOLERANCE * right
    if are_whole(weights):
        allowance = np.floor(allowance)
    everything = (allowance >= wrong - SHARE_TOLERANCE * (right + wrong)) & (right > 0)
    some = (allowance > 0) & (right > 0) & ~everything
    wrongs = covers - agrees
    maybe = wrongs.keep_rows(some)
    model = CoverageModel(
        sure=agrees | wrongs.keep_rows(everything), weights=weights, budget=budget, origin=np.arange(len(right))
    )
    return replace(model, maybe=maybe, allowance=np.where(some, allowance, 0.0)) if maybe.nnz else model


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


def match(maybe: "PackedRows", allowance: Floats, room: Floats, chosen: Ints) -> sparse.csr_array:
    """Return the weight of each point that every chosen candidate counts, the largest total possible.

    A candidate may count its points of `maybe`, together at most its `allowance`; at a point all candidates together
    may count at most its `room`.

    >>> from oleander.kernels import PackedRows
    >>> maybe = PackedRows.pack(np.array([[True, True], [True, False]]), (2, 2))
    >>> match(maybe, np.array([1.0, 1.0]), np.array([1.0, 1.0]), np.array([0, 1])).toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    points, node_of, linked = _network(maybe, room, chosen)
    space = np.bincount(node_of, room[points], minlength=linked.shape[1]).astype(np.float64)
    flow = maximum_flow(linked, allowance[chosen], space)
    rows, columns, amounts = [], [], []
    for node in np.flatnonzero(flow.any(axis=0)):
        # The node's flow goes to its points in order of index.
        inside = points[node_of == node]
        edges = np.concatenate([[0.0], np.cumsum(room[inside])])
        starts = np.concatenate([[0.0], np.cumsum(flow[:, node])])
        for row in np.flatnonzero(flow[:, node]):
            counted = np.minimum(edges[1:], starts[row + 1]) - np.maximum(edges[:-1], starts[row])
            some = np.flatnonzero(counted > 0.0)
            rows.append(np.full(len(some), row))
            columns.append(inside[some])
            amounts.append(counted[some])
    entries = (np.concatenate([*amounts, []]), (np.concatenate([*rows, []]), np.concatenate([*columns, []])))
    return sparse.csr_array(entries, shape=(len(chosen), maybe.shape[1]))


def _network(maybe: "PackedRows", room: Floats, chosen: Ints) -> tuple[Ints, Ints, Bools]:
    """Return the points with room that the chosen may count, the node of each, and the nodes of each candidate."""
    rows = maybe[chosen]
    marks = rows.transposed().words
    points = np.flatnonzero(marks.any(axis=1) & (room > 0.0))
    _, first, node_of = np.unique(marks[points], axis=0, return_index=True, return_inverse=True)
    return points, node_of.ravel(), rows.toarray()[:, points[first]]


def maximum_flow(linked: Bools, supply: Floats, room: Floats) -> Floats:
    """Return a largest flow from rows (at most `supply`) to linked columns (at most `room`).

    A first flow fills columns in order; augmenting along shortest paths makes it a maximum.

    >>> maximum_flow(np.array([[True, True], [True, False]]), np.array([1.0, 1.0]), np.array([1.0, 1.0])).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    n_rows, n_columns = linked.shape
    flow = np.zeros(linked.shape)
    left = supply.astype(float)
    space = room.astype(float)
    tiny = 1e-13 * float(room.sum())
    # Columns with few rows first, and rows with few columns: the others have more ways to go.
    by_choice = np.argsort(linked.sum(axis=0), kind="stable")
    for row in np.argsort(linked.sum(axis=1), kind="stable"):
        columns = by_choice[linked[row, by_choice]]
        open_space = space[columns]
        taken = np.clip(left[row] - (np.cumsum(open_space) - open_space), 0.0, open_space)
        flow[row, columns] = taken
        space[columns] -= taken
        left[row] -= taken.sum()
    while True:
        row_from = np.full(n_rows, -2)
        column_from = np.full(n_columns, -1)
        row_from[left > tiny] = -1
        queue = deque(np.flatnonzero(left > tiny).tolist())
        end = -1
        while queue and end < 0:
            row = queue.popleft()
            columns = np.flatnonzero(linked[row] & (column_from < 0))
            column_from[columns] = row
            open_columns = columns[space[columns] > tiny]
            if len(open_columns):
                end = int(open_columns[0])
                break
            others = np.flatnonzero((flow[:, columns] > tiny).any(axis=1) & (row_from == -2))
            for other in others.tolist():
                row_from[other] = columns[int((flow[other, columns] > tiny).argmax())]
                queue.append(other)
        if end < 0:
            return flow
        path = [(int(column_from[end]), end)]
        while row_from[path[-1][0]] >= 0:
            column = int(row_from[path[-1][0]])
            path.append((int(column_from[column]), column))
        # Along the path each row gives to its column and takes back from the column it was reached by.
        backs = [(row, later) for (row, _), (_, later) in pairwise(path)]
        amount = min([space[end], left[path[-1][0]], *(flow[row, column] for row, column in backs)])
        for row, column in path:
            flow[row, column] += amount
        for row, column in backs:
            flow[row, column] -= amount
        space[end] -= amount
        left[path[-1][0]] -= amount
