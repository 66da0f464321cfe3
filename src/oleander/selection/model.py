"""The one model that every solver sees: coverage with sure points, points that may count, and a maximum number.

Both formulations, the paper's definition and its program, become a `CoverageModel` before a solver starts, so that
reducing, searching, bounding and branching are written once.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from oleander import kernels
from oleander.arrays import Floats, Ints
from oleander.selection.matching import match

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
    """Choose at most `budget` candidates so that the weight of the points that count is as large as possible.

    Attributes
    ----------
    sure : PackedRows of shape (n_candidates, n_points)
        Ones where a point counts whenever the candidate is chosen.
    weights : array of shape (n_points,)
    budget : int
        The largest number of candidates.
    origin : array of shape (n_candidates,)
        Each candidate's index in the problem that the user stated.
    maybe : PackedRows of shape (n_candidates, n_points), optional
        Ones where a candidate may count a point, together not more weight than its `allowance`.
    allowance : array of shape (n_candidates,), optional
    """

    sure: "PackedRows"
    weights: Floats
    budget: int
    origin: Ints
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
