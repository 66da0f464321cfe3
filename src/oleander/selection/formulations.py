"""From the user's matrices to the one model that solvers see: the paper's definition, and its program."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from oleander.arrays import Bools, Floats
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
    """

    admissible: Bools
    sure: Matrix
    maybe: sparse.csr_array | None = None
    allowance: Floats | None = None


@dataclass(frozen=True, eq=False)
class Statement:
    """The statement of one solve: counting rules at a floor, and the model of them."""

    rules: CountingRules
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
    wrongs = _find_wrong(covers, agrees)
    sure = _join(agrees, keep_rows(wrongs, everything))
    # Matching goes through these points one by one.
    maybe = listed(keep_rows(wrongs, some))
    # Every candidate may be chosen: the worst one simply counts nothing.
    admissible = np.ones(len(right), dtype=np.bool_)
    if not maybe.nnz:
        return CountingRules(admissible=admissible, sure=sure)
    return CountingRules(admissible=admissible, sure=sure, maybe=maybe, allowance=np.where(some, allowance, 0.0))


def _find_wrong(covers: Matrix, agrees: Matrix) -> Matrix:
    """Return where each candidate covers a point and is wrong there."""
    if is_packed(covers):
        return covers - packed(agrees)
    wrongs = sparse.csr_array(covers - agrees)
    wrongs.eliminate_zeros()
    return wrongs


def _join(one: Matrix, other: Matrix) -> Matrix:
    """Return the entries of two matrices that have none in common."""
    return one | packed(other) if is_packed(one) else sparse.csr_array(one + other)


def build_model(rules: CountingRules, weights: Floats, budget: int) -> CoverageModel:
    """Return the model of the candidates that may be chosen, on the points that weigh something."""
    candidates = np.flatnonzero(rules.admissible)
    points = np.flatnonzero(weights > 0)

    def part(matrix: Matrix) -> Matrix:
        rows = matrix if len(candidates) == len(rules.admissible) else matrix[candidates]
        return rows if len(points) == len(weights) else rows[:, points]

    return CoverageModel(
        sure=part(rules.sure),
        weights=weights[points],
        budget=budget,
        origin=candidates,
        maybe=None if rules.maybe is None else part(rules.maybe),
        allowance=None if rules.allowance is None else rules.allowance[candidates],
    )
