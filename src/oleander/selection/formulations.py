"""From the user's matrices to the one model that solvers see: the paper's definition, and its program."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from oleander.arrays import Bools, Floats
from oleander.selection.constraints import Constraints
from oleander.selection.model import CoverageModel, are_whole
from oleander.selection.sparse_rows import Matrix, is_packed, keep_rows, listed, packed

# Shares of counts are compared with this slack, so that 9 of 10 reaches 0.9 whatever its binary digits are.
SHARE_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class CountingRules:
    """The points that each candidate counts under a formulation, at one fidelity floor.

    Attributes
    ----------
    admissible : boolean array of shape (n_candidates,)
        The candidates that may be chosen.
    sure : matrix of shape (n_candidates, n_points)
        The points that count whenever the candidate is chosen.
    maybe : matrix of shape (n_candidates, n_points), optional
        The points of which it may count some, together at most `allowance`.
    allowance : array of shape (n_candidates,), optional
    wrong : matrix of shape (n_candidates, n_points), optional
        The points that count although the candidate is wrong there, if there is a floor over the union.
    """

    admissible: Bools
    sure: Matrix
    maybe: sparse.csr_array | None = None
    allowance: Floats | None = None
    wrong: Matrix | None = None


@dataclass(frozen=True, eq=False)
class Statement:
    """The statement of one solve: counting rules at a floor, constraints, and the model of both."""

    rules: CountingRules
    constraints: Constraints
    model: CoverageModel
    weights: Floats
    fidelity: Floats
    min_fidelity: float


def strict_rules(covers: Matrix, fidelity: Floats, min_fidelity: float) -> CountingRules:
    """Return the paper's definition: fidelity is a constant of a candidate, and under the floor it is out.

    Examples
    --------
    >>> covers = sparse.csr_array(np.ones((2, 3)))
    >>> strict_rules(covers, np.array([0.9, 0.6]), 0.9).admissible.tolist()
    [True, False]
    """
    reaches = fidelity >= min_fidelity - SHARE_TOLERANCE
    return CountingRules(admissible=reaches & (np.diff(covers.indptr) > 0), sure=covers)


def selective_rules(covers: Matrix, agrees: Matrix, weights: Floats, min_fidelity: float) -> CountingRules:
    """Return the paper's program, its Proposition 3: a candidate need not count all that it gets wrong.

    Of its wrong points a candidate with `a` right ones may count at most floor(a(1 − φ)/φ). At or above the
    floor that is all of them. Points that stand for several equal rows may be counted in part. The floor is
    rounded down only when weights are whole numbers: others have no smallest part.

    Examples
    --------
    >>> covers = sparse.csr_array(np.ones((1, 10)))
    >>> agrees = sparse.csr_array(np.arange(10)[None, :] < 6, dtype=float)
    >>> low, high = (selective_rules(covers, agrees, np.ones(10), floor) for floor in (0.5, 0.75))
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
    wrongs = wrong_points(covers, agrees)
    sure = _join(agrees, keep_rows(wrongs, everything))
    # Matching goes through these points one by one.
    maybe = listed(keep_rows(wrongs, some))
    # Every candidate may be chosen: the worst one simply counts nothing.
    admissible = np.ones(len(right), dtype=np.bool_)
    if not maybe.nnz:
        return CountingRules(admissible=admissible, sure=sure)
    return CountingRules(admissible=admissible, sure=sure, maybe=maybe, allowance=np.where(some, allowance, 0.0))


def wrong_points(covers: Matrix, agrees: Matrix) -> Matrix:
    """Return where each candidate covers a point and is wrong there."""
    if is_packed(covers):
        return covers - packed(agrees)
    wrongs = sparse.csr_array(covers - agrees)
    wrongs.eliminate_zeros()
    return wrongs


def _join(one: Matrix, other: Matrix) -> Matrix:
    """Return the entries of two matrices that have none in common."""
    return one | packed(other) if is_packed(one) else sparse.csr_array(one + other)


def build_model(rules: CountingRules, weights: Floats, constraints: Constraints) -> CoverageModel:
    """Return the model of the candidates that may be chosen, on the points that weigh something."""
    allowed = rules.admissible.copy()
    allowed[constraints.must_exclude] = False
    candidates = np.flatnonzero(allowed)
    points = np.flatnonzero(weights > 0)

    def part(matrix: Matrix) -> Matrix:
        rows = matrix if len(candidates) == len(allowed) else matrix[candidates]
        return rows if len(points) == len(weights) else rows[:, points]

    minima = constraints.minima
    return CoverageModel(
        sure=part(rules.sure),
        weights=weights[points],
        cost=np.ones(len(candidates)) if constraints.cost is None else constraints.cost[candidates],
        budget=constraints.budget,
        origin=candidates,
        forced=np.flatnonzero(np.isin(candidates, constraints.must_include)),
        maybe=None if rules.maybe is None else part(rules.maybe),
        allowance=None if rules.allowance is None else rules.allowance[candidates],
        groups=None if minima is None else sparse.csr_array(minima.members[:, points]),
        needs=None if minima is None else minima.needs(weights),
        wrong=None if rules.wrong is None else part(rules.wrong),
        union_fidelity=constraints.union_fidelity or 0.0,
    )


def plain_model(covers: ArrayLike, budget: int, weights: ArrayLike | None = None) -> CoverageModel:
    """Return maximum coverage with at most `budget` sets.

    Examples
    --------
    >>> plain_model(np.eye(3), budget=2).value(np.array([0, 1]))
    2.0
    """
    sure = sparse.csr_array(covers, dtype=np.float64)
    return plain_rows(sure, np.ones(sure.shape[1]) if weights is None else np.asarray(weights, float), budget)


def plain_rows(sure: sparse.csr_array, weights: Floats, budget: int) -> CoverageModel:
    """Return the same for rows that are stored as a model wants them, without a copy."""
    n_candidates = sure.shape[0]
    return CoverageModel(
        sure=sure,
        weights=weights,
        cost=np.ones(n_candidates),
        budget=float(budget),
        origin=np.arange(n_candidates),
        forced=np.empty(0, dtype=np.intp),
    )
