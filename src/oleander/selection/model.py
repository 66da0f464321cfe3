"""The one model that every solver sees: coverage with sure rows, rows that may count, and a largest number.

Both formulations are turned into a `CoverageModel` before a solver starts, so that reducing, searching, bounding and
branching are written once.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from oleander.arrays import Floats, Ints
from oleander.selection.matching import matched
from oleander.selection.sparse_rows import Matrix, covered_by, is_packed, listed, transposed

# Sums of weights, and proofs about them, are good to this share of the total weight.
ROUNDING = 1e-10
# Values move in steps of a common divisor only where a step is well over the rounding error.
MAX_STEPS = 1e9


@dataclass(frozen=True, eq=False)
class CoverageModel:
    """Choose at most `budget` candidates so that the weight of the points that count is as large as possible.

    Attributes
    ----------
    sure : matrix of shape (n_candidates, n_points)
        Ones where a point counts whenever the candidate is chosen.
    weights : array of shape (n_points,)
    budget : int
        The largest number of candidates.
    origin : array of shape (n_candidates,)
        Each candidate's index in the problem that the user stated.
    maybe : csr_array of shape (n_candidates, n_points), optional
        Ones where a candidate may count a point, together not more weight than its `allowance`.
    allowance : array of shape (n_candidates,), optional
    """

    sure: Matrix
    weights: Floats
    budget: int
    origin: Ints
    maybe: sparse.csr_array | None = None
    allowance: Floats | None = None

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        return int(self.sure.shape[0])

    @property
    def n_points(self) -> int:
        """Number of points, merged ones counted once."""
        return int(self.sure.shape[1])

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
    def by_point(self) -> Matrix:
        """The transpose of `sure`, stored by point."""
        return transposed(self.sure)

    @cached_property
    def maybe_by_point(self) -> sparse.csr_array:
        """The transpose of `maybe`, stored by point."""
        assert self.maybe is not None
        return sparse.csr_array(self.maybe.T.tocsr())

    def names(self, chosen: Ints) -> Ints:
        """Return the indices in the stated problem of a choice."""
        return np.sort(self.origin[chosen])

    def positions(self, names: Ints) -> Ints:
        """Return the candidates of this model among those named by their index in the stated problem."""
        return np.flatnonzero(np.isin(self.origin, names))

    def counts(self, chosen: Ints) -> Floats:
        """Return the weight that counts at each point when these candidates are chosen."""
        counted = np.where(covered_by(self.sure, chosen), self.weights, 0.0)
        if self.maybe is not None and self.allowance is not None:
            room = self.weights - counted
            counted = counted + matched(self.maybe, self.allowance, room, chosen)
        return counted

    def value(self, chosen: Ints) -> float:
        """Return the weight that counts when these candidates are chosen."""
        return float(self.counts(chosen).sum())

    @cached_property
    def slack(self) -> float:
        """The rounding error that a sum of weights may carry: values that differ by less count as equal."""
        return ROUNDING * float(self.weights.sum())

    def unpacked(self) -> "CoverageModel":
        """Return the same model as lists of entries, for a stage that goes through them one by one."""
        return replace(self, sure=listed(self.sure)) if is_packed(self.sure) else self

    def keep(self, candidates: Ints) -> "CoverageModel":
        """Return the model with only these candidates, in the order given."""
        return replace(
            self,
            sure=self.sure[candidates],
            origin=self.origin[candidates],
            maybe=None if self.maybe is None else self.maybe[candidates],
            allowance=None if self.allowance is None else self.allowance[candidates],
        )


def grain_of(weights: Floats) -> float:
    """Return the greatest common divisor of whole weights, or 0 when one is not whole or they are too large.

    Examples
    --------
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
    """Return whether every weight is a whole number.

    Examples
    --------
    >>> are_whole(np.array([0.0, 2.0])), are_whole(np.array([0.5]))
    (True, False)
    """
    return bool((weights == np.floor(weights)).all())


def plain_model(covers: ArrayLike, budget: int, weights: ArrayLike | None = None) -> CoverageModel:
    """Return maximum coverage with at most `budget` sets.

    Examples
    --------
    >>> plain_model(np.eye(3), budget=2).value(np.array([0, 1]))
    2.0
    """
    # Rows that are stored as a model wants them are not copied.
    sure = sparse.csr_array(covers, dtype=np.float64)
    weighed = np.ones(sure.shape[1]) if weights is None else np.asarray(weights, dtype=np.float64)
    return CoverageModel(sure=sure, weights=weighed, budget=budget, origin=np.arange(sure.shape[0]))
