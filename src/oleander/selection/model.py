"""The one model that every solver sees: coverage with sure rows, rows that may count, a budget, group minima.

Both formulations and every side constraint are turned into a `CoverageModel` before a solver starts, so that
reducing, searching, bounding and branching are written once.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from oleander.arrays import Bools, Floats, Ints
from oleander.selection.matching import matched
from oleander.selection.sparse_rows import Matrix, covered_by, is_packed, listed, transposed

# Sums of costs are compared with this slack, relative to the budget.
TOLERANCE = 1e-9
# Sums of weights, and proofs about them, are good to this share of the total weight.
ROUNDING = 1e-10
# Values move in steps of a common divisor only where a step is well over the rounding error.
MAX_STEPS = 1e9


@dataclass(frozen=True, eq=False)
class CoverageModel:
    """Choose candidates within a budget so that the weight of the points that count is largest.

    Attributes
    ----------
    sure : matrix of shape (n_candidates, n_points)
        Ones where a point counts whenever the candidate is chosen.
    weights : array of shape (n_points,)
    cost : array of shape (n_candidates,)
        Ones when explainers are counted.
    budget : float
        The largest total cost; the largest number of candidates when every cost is one.
    origin : array of shape (n_candidates,)
        Each candidate's index in the problem that the user stated.
    forced : array of int
        Candidates that must be chosen.
    maybe : csr_array of shape (n_candidates, n_points), optional
        Ones where a candidate may count a point, together not more weight than its `allowance`.
    allowance : array of shape (n_candidates,), optional
    groups : csr_array of shape (n_groups, n_points), optional
        Ones where a point is in a group; each group must reach its entry of `needs`.
    needs : array of shape (n_groups,), optional
    wrong : matrix of shape (n_candidates, n_points), optional
        Ones where a candidate is wrong at a point that it counts, if there is a floor over the union.
    union_fidelity : float
        A point is wrong if any chosen candidate is wrong there; of the weight that is covered the others must
        have this share.
    offset : float
        Weight that is covered whatever is chosen.
    taken : tuple of int
        Candidates, by their index in the stated problem, that are chosen already and no longer in the model.
    """

    sure: Matrix
    weights: Floats
    cost: Floats
    budget: float
    origin: Ints
    forced: Ints
    maybe: sparse.csr_array | None = None
    allowance: Floats | None = None
    groups: sparse.csr_array | None = None
    needs: Floats | None = None
    wrong: Matrix | None = None
    union_fidelity: float = 0.0
    offset: float = 0.0
    taken: tuple[int, ...] = ()

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        return int(self.sure.shape[0])

    @property
    def n_points(self) -> int:
        """Number of points, merged ones counted once."""
        return int(self.sure.shape[1])

    @cached_property
    def counts_explainers(self) -> bool:
        """Whether the budget is a number of candidates."""
        return bool((self.cost == 1.0).all())

    @property
    def is_plain(self) -> bool:
        """Whether this is maximum coverage with at most K sets and nothing else."""
        has_more = self.maybe is not None or self.groups is not None or self.wrong is not None
        return self.counts_explainers and not has_more and not len(self.forced)

    @cached_property
    def limit(self) -> int:
        """The largest number of candidates that the budget can pay for."""
        return int(self.within_budget(np.cumsum(np.sort(self.cost))).sum())

    def within_budget(self, costs: Floats) -> Bools:
        """Return which of these total costs the budget can pay for."""
        return np.asarray(costs <= self.budget * (1.0 + TOLERANCE), dtype=np.bool_)

    @cached_property
    def grain(self) -> float:
        """The step between values that can occur; 0 when weights or allowances are not whole numbers."""
        # A point may be counted in part as far as an allowance goes, so allowances have their part in the step.
        allowance = np.empty(0) if self.allowance is None else self.allowance
        return grain_of(np.concatenate([self.weights, allowance, [self.offset]]))

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
        """Return the indices in the stated problem of a choice, with those that are chosen already."""
        return np.sort(np.concatenate([self.origin[chosen], np.asarray(self.taken, dtype=np.intp)]))

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
        return float(self.counts(chosen).sum()) + self.offset

    def satisfies(self, chosen: Ints) -> bool:
        """Return whether a choice keeps the budget, the forced candidates, the group minima and the union's floor."""
        if not self.within_budget(self.cost[chosen].sum()) or not np.isin(self.forced, chosen).all():
            return False
        if self.excess(chosen) > self.slack:
            return False
        if self.groups is None or self.needs is None:
            return True
        return bool((self.groups @ self.counts(chosen) >= self.needs - self.slack).all())

    def excess(self, chosen: Ints) -> float:
        """Return by how much weight a choice is wrong beyond what the floor over the union allows."""
        if self.wrong is None:
            return 0.0
        covered = float(self.weights[covered_by(self.sure, chosen)].sum())
        wrong = float(self.weights[covered_by(self.wrong, chosen)].sum())
        return wrong - (1.0 - self.union_fidelity) * covered

    @cached_property
    def slack(self) -> float:
        """The rounding error that a sum of weights may carry: values that differ by less count as equal."""
        return ROUNDING * (float(self.weights.sum()) + self.offset)

    def unpacked(self) -> "CoverageModel":
        """Return the same model as lists of entries, for a stage that goes through them one by one."""
        if not is_packed(self.sure):
            return self
        return replace(self, sure=listed(self.sure), wrong=None if self.wrong is None else listed(self.wrong))

    def keep(self, candidates: Ints) -> "CoverageModel":
        """Return the model with only these candidates, in the order given."""
        return replace(
            self,
            sure=self.sure[candidates],
            cost=self.cost[candidates],
            origin=self.origin[candidates],
            forced=np.flatnonzero(np.isin(candidates, self.forced)),
            maybe=None if self.maybe is None else self.maybe[candidates],
            allowance=None if self.allowance is None else self.allowance[candidates],
            wrong=None if self.wrong is None else self.wrong[candidates],
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
