"""The model that solvers see: the largest weight of points that a limited number of candidates cover.

Only candidates that may be chosen are in it. Reducing merges points and drops contained candidates.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from oleander import kernels
from oleander.arrays import Floats, Ints

if TYPE_CHECKING:
    from oleander.kernels import PackedRows

# Weights are whole, and so are values. Bounds are sums of fractions, good to this share of the total weight.
ROUNDING = 1e-10
# Shares of counts are compared with this slack, so that 9 of 10 reaches 0.9 whatever its binary digits are.
SHARE_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class CoverageModel:
    """Choose at most `budget` candidates so that the weight of the points that count is as large as possible."""

    # By candidate and point, ones where the point counts whenever the candidate is chosen.
    sure: "PackedRows"
    # Whole numbers.
    weights: Floats
    # The largest number of candidates.
    budget: int
    # Each candidate's index in the problem that the user stated.
    origin: Ints

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
        """Number of pairs of a candidate and a point that it counts."""
        return self.sure.nnz

    @property
    def limit(self) -> int:
        """The largest number of candidates that can be chosen."""
        return min(self.budget, self.n_candidates)

    @cached_property
    def by_point(self) -> "PackedRows":
        """The transpose of `sure`, stored by point."""
        return self.sure.transposed()

    def names(self, chosen: Ints) -> Ints:
        """Return the indices in the stated problem of a choice."""
        return np.sort(self.origin[chosen])

    def positions(self, names: Ints) -> Ints:
        """Return the candidates of this model among those named by their index in the stated problem."""
        return np.flatnonzero(np.isin(self.origin, names))

    def share_out(self, chosen: Ints) -> sparse.csr_array:
        """Return the weight that each of the chosen candidates counts at each point."""
        return sparse.csr_array(self.sure[chosen].to_sparse() * self.weights[None, :])

    def counts(self, chosen: Ints) -> Floats:
        """Return the weight that counts at each point when these candidates are chosen."""
        return np.where(self.sure.covered_by(chosen), self.weights, 0.0)

    def value(self, chosen: Ints) -> float:
        """Return the weight that counts when these candidates are chosen."""
        return float(self.counts(chosen).sum())

    def gains(self, left: Floats) -> Floats:
        """Return the weight that each candidate adds where this weight does not count yet."""
        return self.sure @ left

    def gain(self, candidate: int, left: Floats) -> float:
        """Return what one candidate adds."""
        return float(left[self.sure.row(candidate)].sum())

    def relax(self) -> "CoverageModel":
        """Return plain coverage in which no choice is worth less."""
        return self

    def keep(self, candidates: Ints) -> Self:
        """Return the model with only these candidates."""
        return replace(self, sure=self.sure[candidates], origin=self.origin[candidates])


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


def merge_points(model: CoverageModel) -> tuple[CoverageModel, Ints]:
    """Return the model with equal points merged and uncovered ones removed, and where each point went.

    A point that was removed went to −1.

    >>> from oleander.selection.model import plain_model
    >>> merged, went_to = merge_points(plain_model(np.array([[1, 1, 0, 0], [0, 0, 1, 0]]), budget=1))
    >>> merged.weights.tolist(), went_to.tolist()
    ([2.0, 1.0], [0, 0, 1, -1])
    """
    words = model.by_point.words
    points = np.flatnonzero(words.any(axis=1) & (model.weights > 0))
    places: dict[bytes, int] = {}
    position = np.array([places.setdefault(line.tobytes(), len(places)) for line in words[points]], dtype=np.intp)
    went_to = np.full(model.n_points, -1, dtype=np.intp)
    went_to[points] = position
    first = points[np.unique(position, return_index=True)[1]]
    weights = np.bincount(position, model.weights[points], minlength=len(first)).astype(np.float64)
    return replace(model, sure=model.by_point[first].transposed(), weights=weights), went_to


def undominated(
    model: CoverageModel, *, should_stop: Callable[[], bool] = lambda: False, n_words: int = 1 << 20
) -> Ints:
    """Return the candidates whose points no other candidate covers, too; of equal candidates the first.

    A candidate that contains another covers its rarest point, so only these pairs are compared, as rows of bits, some
    `n_words` words at a time.

    >>> from oleander.selection.model import plain_model
    >>> undominated(plain_model(np.array([[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1]]), budget=1)).tolist()
    [1, 3]
    """
    sure, sizes = model.sure, np.diff(model.sure.indptr)
    small = np.flatnonzero(sizes > 0)
    rarity = np.diff(model.by_point.indptr).astype(np.intp) * model.n_points + np.arange(model.n_points)
    rarest = np.empty(len(small), dtype=np.intp)
    for part in sure.parts(small):
        columns, lengths = sure.entries_of(small[part])
        rarest[part] = np.minimum.reduceat(rarity[columns], np.cumsum(lengths) - lengths)
    others, lengths = model.by_point.entries_of(rarest % model.n_points)
    small, big = np.repeat(small, lengths), others.astype(np.intp)
    possible = np.flatnonzero((sizes[big] > sizes[small]) | ((sizes[big] == sizes[small]) & (big < small)))
    keep = sizes > 0
    n_pairs = max(1, n_words // max(1, sure.words.shape[1]))
    for start in range(0, len(possible), n_pairs):
        if should_stop():
            break
        pairs = possible[start : start + n_pairs]
        pairs = pairs[keep[small[pairs]]]
        outside = (sure.words[small[pairs]] & ~sure.words[big[pairs]]).any(axis=1)
        keep[small[pairs[~outside]]] = False
    return np.flatnonzero(keep)
