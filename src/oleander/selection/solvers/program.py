"""The model as a mixed-integer program: one binary per candidate, one continuous variable per point.

In the reduced form of both formulations only the choice of candidates needs to be integer: what a point
counts, and what of an allowance goes where, is a flow once the candidates are chosen.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from oleander.arrays import Floats, Ints
from oleander.selection.model import CoverageModel
from oleander.selection.sparse_rows import listed, transposed

# A solver's tolerances are absolute. Whole weights keep their scale up to a total of this many steps; others are
# scaled to a total of about 2^20.
MAX_STEPS, SCALED = 500_000.0, 20


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """Maximise cost·v + offset with lower ≤ v ≤ upper and row_lower ≤ rows·v ≤ row_upper.

    Weights are multiplied by `unit`, so the objective is `unit` times the value of a choice. If they are then not
    whole and small, a solver needs finer tolerances than usual.
    """

    cost: Floats
    lower: Floats
    upper: Floats
    is_integer: NDArray[np.bool_]
    rows: sparse.csr_array
    row_lower: Floats
    row_upper: Floats
    offset: float
    unit: float
    is_whole: bool


@dataclass(frozen=True, eq=False)
class Cuts:
    """Rows that every choice keeps and the relaxation may not: pairs of points, one covered and one wrong.

    If a point is covered, then by a candidate that is wrong at the other point, which is wrong then, or by one that
    is not. So covered ≤ wrong + the chosen candidates that cover the first and are not wrong at the second.
    """

    covered: Ints
    wrong: Ints

    def rows(self, model: CoverageModel) -> list[sparse.csr_array]:
        """Return the cuts as rows "at most 0" over candidates, points, and points with mistakes."""
        assert model.wrong is not None
        points = points_with_mistakes(model)
        n_cuts = len(self.covered)
        cut, ones = np.arange(n_cuts), np.ones(n_cuts)
        cover = listed(model.by_point)[self.covered]
        others = sparse.csr_array(cover - cover.multiply(listed(transposed(model.wrong))[self.wrong]))
        others.eliminate_zeros()
        counts = sparse.csr_array((ones, (cut, self.covered)), shape=(n_cuts, model.n_points))
        blame = sparse.csr_array((ones, (cut, np.searchsorted(points, self.wrong))), shape=(n_cuts, len(points)))
        return [-others, counts, -blame]


def points_with_mistakes(model: CoverageModel) -> Ints:
    """Return the points on which some candidate is wrong, ascending."""
    assert model.wrong is not None
    return np.flatnonzero(np.bincount(listed(model.wrong).indices, minlength=model.n_points))


def unit_of(model: CoverageModel) -> tuple[float, bool]:
    """Return the factor that brings the weights to a scale fit for a solver, and whether they are small whole numbers.

    Examples
    --------
    >>> from oleander.selection.formulations import plain_model
    >>> unit_of(plain_model(np.eye(2), 1, [2.0, 4.0])), unit_of(plain_model(np.eye(2), 1, [0.5, 0.5]))
    ((0.5, True), (1048576.0, False))
    """
    total = float(model.weights.sum()) + model.offset
    if model.grain and total <= MAX_STEPS * model.grain:
        return 1.0 / model.grain, True
    # A power of two changes no digit of a weight.
    return float(np.exp2(SCALED - np.floor(np.log2(total)))), False


def linear_program(model: CoverageModel, *, cutoff: float = -np.inf, cuts: Cuts | None = None) -> LinearProgram:
    """Return the model as a mixed-integer program; a cutoff adds the row "value ≥ cutoff".

    Variables are the candidates, the share of each point that counts, and then either the weight that each
    candidate counts of each point that it may count, or with a floor over the union the share of each point
    that is wrong.

    Examples
    --------
    >>> from oleander.selection.formulations import plain_model
    >>> linear_program(plain_model(np.eye(3), budget=2)).rows.shape
    (4, 6)
    """
    model = model.unpacked()
    n_candidates, n_points = model.sure.shape
    unit, is_whole = unit_of(model)
    model = replace(
        model,
        weights=unit * model.weights,
        allowance=None if model.allowance is None else unit * model.allowance,
        needs=None if model.needs is None else unit * model.needs,
        offset=unit * model.offset,
    )
    lower, upper = np.zeros(n_candidates + n_points), np.ones(n_candidates + n_points)
    lower[model.forced] = 1.0
    cost = np.concatenate([np.zeros(n_candidates), model.weights])
    # A point counts only as far as it is covered.
    blocks: list[list[Any]] = [[-listed(model.by_point), sparse.eye_array(n_points)]]
    row_lower, row_upper = [np.full(n_points, -np.inf)], [np.zeros(n_points)]
    blocks.append([model.cost[None, :], None])
    row_lower.append(np.array([-np.inf]))
    row_upper.append(np.array([model.budget]))
    if model.groups is not None and model.needs is not None:
        blocks.append([None, model.groups * model.weights[None, :]])
        row_lower.append(model.needs - model.slack)
        row_upper.append(np.full(len(model.needs), np.inf))
    if cutoff > -np.inf:
        blocks.append([None, model.weights[None, :]])
        row_lower.append(np.array([unit * cutoff - model.offset]))
        row_upper.append(np.array([np.inf]))
    if model.maybe is not None and model.allowance is not None:
        n_parts = model.maybe.nnz
        owner = np.repeat(np.arange(n_candidates), np.diff(model.maybe.indptr))
        part, point = np.arange(n_parts), model.maybe.indices
        counted = sparse.csr_array((-1.0 / model.weights[point], (point, part)), shape=(n_points, n_parts))
        taken = sparse.csr_array((np.ones(n_parts), (owner, part)), shape=(n_candidates, n_parts))
        blocks = [[*row, None] for row in blocks]
        blocks[0][2] = counted
        blocks.append([-sparse.diags_array(model.allowance), None, taken])
        row_lower.append(np.full(n_candidates, -np.inf))
        row_upper.append(np.zeros(n_candidates))
        cost = np.concatenate([cost, np.zeros(n_parts)])
        lower = np.concatenate([lower, np.zeros(n_parts)])
        upper = np.concatenate([upper, model.weights[point]])
    if model.wrong is not None:
        floor = _union_floor(model, model.wrong, cuts)
        blocks = [[*row, None] for row in blocks]
        blocks[0] = floor.counted
        blocks += floor.blocks
        row_lower.append(np.full(len(floor.row_upper), -np.inf))
        row_upper.append(floor.row_upper)
        cost = np.concatenate([cost, np.zeros(floor.n_variables)])
        lower = np.concatenate([lower, np.zeros(floor.n_variables)])
        upper = np.concatenate([upper, np.ones(floor.n_variables)])
    return LinearProgram(
        cost=cost,
        lower=lower,
        upper=upper,
        is_integer=np.arange(len(cost)) < n_candidates,
        rows=sparse.csr_array(sparse.block_array(blocks, format="csr")),
        row_lower=np.concatenate(row_lower),
        row_upper=np.concatenate(row_upper),
        offset=model.offset,
        unit=unit,
        is_whole=is_whole,
    )


@dataclass(frozen=True, eq=False)
class _UnionFloor:
    """Rows over candidates, points and wrong points, all of them "at most": points that count, and the floor."""

    counted: list[Any]
    blocks: list[list[Any]]
    row_upper: Floats
    n_variables: int


def _union_floor(model: CoverageModel, wrong: sparse.csr_array, cuts: Cuts | None) -> _UnionFloor:
    """Return the floor over the union, with a variable for each point on which some candidate is wrong.

    Such a point is wrong as far as any candidate that is wrong there is chosen, one row for each; it is not more
    wrong than they are chosen together; and it counts without being wrong only as far as candidates that
    are right there are chosen. The last is what keeps a relaxation from calling a point covered by many
    small parts of candidates that are all wrong there, and wrong by a small part only.
    """
    n_candidates, n_points = model.sure.shape
    by_point = sparse.csr_array(wrong.T.tocsr())
    points = points_with_mistakes(model)
    n_wrong, n_pairs = len(points), wrong.nnz
    column = np.zeros(n_points, dtype=np.intp)
    column[points] = np.arange(n_wrong)
    spread = sparse.csr_array((np.ones(n_wrong), (points, np.arange(n_wrong))), shape=(n_points, n_wrong))
    right = sparse.csr_array((model.sure - wrong).T.tocsr())
    pair, owner = np.arange(n_pairs), np.repeat(np.arange(n_candidates), np.diff(wrong.indptr))
    chosen = sparse.csr_array((np.ones(n_pairs), (pair, owner)), shape=(n_pairs, n_candidates))
    is_wrong = sparse.csr_array((np.ones(n_pairs), (pair, column[wrong.indices])), shape=(n_pairs, n_wrong))
    share = (1.0 - model.union_fidelity) * model.weights
    blocks: list[list[Any]] = [
        [chosen, None, -is_wrong],
        [-by_point[points], None, sparse.eye_array(n_wrong)],
        [None, -share[None, :], model.weights[points][None, :]],
    ]
    n_cuts = 0
    if cuts is not None:
        # A point on which no remaining candidate is wrong needs no cut.
        stays = np.isin(cuts.wrong, points)
        cuts = Cuts(cuts.covered[stays], cuts.wrong[stays])
        n_cuts = len(cuts.covered)
        blocks.append(cuts.rows(model))
    return _UnionFloor(
        counted=[-right, sparse.eye_array(n_points), -spread],
        blocks=blocks,
        row_upper=np.concatenate([np.zeros(n_pairs + n_wrong), [model.slack], np.zeros(n_cuts)]),
        n_variables=n_wrong,
    )
