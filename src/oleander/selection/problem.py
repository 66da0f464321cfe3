"""`SelectionProblem`: the statement of the problem and the checks of its input, free of any solver.

Solvers are looked up by name when `solve` is called; nothing here imports one.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from oleander import kernels
from oleander.arrays import Floats, Ints
from oleander.selection.model import CoverageModel, pack_matrix, selective_model, strict_model
from oleander.selection.result import SelectionResult
from oleander.selection.run import Progress, Run

if TYPE_CHECKING:
    from oleander.kernels import PackedRows
    from oleander.selection.solvers import Solver

Formulation = Literal["strict", "selective"]


@dataclass(frozen=True, eq=False)
class Statement:
    """The statement of one solve at a floor: all candidates and points, and those that a solver gets to see."""

    everything: CoverageModel
    model: CoverageModel
    fidelity: Floats
    min_fidelity: float
    is_strict: bool


class SelectionProblem:
    """Choose the explainers that cover as much as possible, each faithful where it speaks.

    Parameters
    ----------
    covers : sparse or dense boolean matrix of shape (n_candidates, n_points)
        The points in each candidate's region.
    agrees : sparse or dense boolean matrix of shape (n_candidates, n_points)
        The points of its region on which a candidate gives the black box's answer; inside `covers`.
    weights : array of shape (n_points,), optional
        How many equal rows a point stands for, or how much it matters. One each by default.
    fidelity : array of shape (n_candidates,), optional
        The measure that is compared with the floor in the strict formulation, say a lower confidence bound. By
        default the share of a candidate's weight on which it agrees.

    Examples
    --------
    >>> covers = np.array([[1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1]], dtype=bool)
    >>> agrees = np.array([[1, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=bool)
    >>> result = SelectionProblem(covers, agrees).solve(max_explainers=2, min_fidelity=0.9)
    >>> result.chosen.tolist(), result.objective, result.gap, result.status
    ([0, 2], 4.0, 0.0, 'optimal')
    """

    def __init__(
        self,
        covers: object,
        agrees: object,
        weights: ArrayLike | None = None,
        *,
        fidelity: ArrayLike | None = None,
    ) -> None:
        self.covers, self.agrees = _matching_matrices(covers, agrees)
        self.weights = _point_weights(weights, self.n_points)
        self._given_fidelity = _candidate_fidelity(fidelity, self.n_candidates)
        # Loading kernels may take seconds, and compiling them on a new machine more: not in the time limit of a solve.
        kernels.load("PackedRows", "take_volume_steps")

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        return int(self.covers.shape[0])

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.covers.shape[1])

    @cached_property
    def fidelity(self) -> Floats:
        """The measure that is compared with the floor: as given, or the share of weight on which each agrees."""
        if self._given_fidelity is not None:
            return self._given_fidelity
        covered = self.covers @ self.weights
        agreed = self.agrees @ self.weights
        return np.asarray(np.divide(agreed, covered, out=np.zeros(self.n_candidates), where=covered > 0))

    def solve(
        self,
        max_explainers: int = 10,
        min_fidelity: float = 0.9,
        *,
        formulation: Formulation = "strict",
        solver: "str | Solver" = "auto",
        time_limit: float | None = 60.0,
        gap: float = 0.0,
        start: ArrayLike | None = None,
        tentative: ArrayLike | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> SelectionResult:
        """Choose the candidates that cover the largest weight.

        Parameters
        ----------
        max_explainers : int
            The maximum number of candidates (K in the paper).
        min_fidelity : float
            The floor (φ in the paper), in (0, 1].
        formulation : {"strict", "selective"}
            The paper's definition of fidelity, or its integer program to the letter.
        solver : {"auto", "highs", "quick", "greedy", "exhaustive"} or Solver
        time_limit : float, optional
            Seconds; None for no limit.
        gap : float
            Stop when the bound is within this share of the objective.
        start : indices or boolean mask, optional
            A choice to begin with. Candidates that are not allowed are left out, and the choice is filled up.
        tentative : indices or boolean mask, optional
            Candidates that may yet turn out not to be allowed. A choice with one of them is not final, so it is
            returned as it is, without a search for a better one that covers as much.
        progress : callable, optional
            Called some ten times a second with a `Progress`.

        Returns
        -------
        SelectionResult
            After a time limit or Ctrl-C the best choice so far with its gap. Of equally wide choices the most faithful
            under `"strict"`, then the smallest; `SelectionResult` says how far that is guaranteed.
        """
        from oleander.selection.answer import answer
        from oleander.selection.solvers import get_solver

        started = time.monotonic()
        if gap < 0 or (time_limit is not None and time_limit < 0):
            raise ValueError(f"gap={gap} and time_limit={time_limit} must not be negative.")
        worker = get_solver(solver)
        budget, floor = _check_count(max_explainers, "max_explainers"), _check_share(min_fidelity, "min_fidelity")
        wanted = _candidate_indices(start, self.n_candidates, "start")
        unsure = _candidate_indices(tentative, self.n_candidates, "tentative")
        statement = self._state(formulation, floor, budget)
        run = Run(
            statement.model,
            time_limit=np.inf if time_limit is None else float(time_limit),
            gap=float(gap),
            progress=progress,
            started=started,
        )
        return answer(statement, worker, run, wanted, unsure)

    def sweep(
        self,
        max_explainers: Sequence[int],
        min_fidelity: Sequence[float],
        *,
        formulation: Formulation = "strict",
        solver: "str | Solver" = "auto",
        time_limit: float | None = 60.0,
        gap: float = 0.0,
        known: Mapping[tuple[int, float], SelectionResult] | None = None,
        tentative: ArrayLike | None = None,
    ) -> dict[tuple[int, float], SelectionResult]:
        """Return the best choice for every number of explainers and every floor.

        Each cell starts from its neighbours, and their bounds tighten it, so that more explainers never
        cover less and a higher floor never covers more. The time limit is per cell. Cells that are `known` are not
        solved again. `tentative` is that of `solve`.

        Examples
        --------
        >>> problem = SelectionProblem(np.eye(3), np.eye(3))
        >>> {cell: result.objective for cell, result in problem.sweep([1, 2], [0.9]).items()}
        {(1, 0.9): 1.0, (2, 0.9): 2.0}
        """
        from oleander.selection.answer import best_within, tightened

        numbers = sorted({_check_count(number, "max_explainers") for number in max_explainers})
        floors = sorted({_check_share(share, "min_fidelity") for share in min_fidelity})
        results = {cell: known[cell] for cell in product(numbers, floors) if known and cell in known}
        # The highest floor and the smallest number first: their choices are allowed in all later cells.
        for floor, number in product(floors[::-1], numbers):
            if (number, floor) not in results:
                start = best_within(results, number, floor)
                results[number, floor] = self.solve(
                    number,
                    floor,
                    formulation=formulation,
                    solver=solver,
                    time_limit=time_limit,
                    gap=gap,
                    start=None if start is None else start.chosen,
                    tentative=tentative,
                )
        return {(number, floor): tightened(results, (number, floor)) for floor, number in product(floors, numbers)}

    def _state(self, formulation: Formulation, min_fidelity: float, budget: int) -> Statement:
        """Return the model at this floor."""
        admissible = np.ones(self.n_candidates, dtype=np.bool_)
        if formulation == "strict":
            model, admissible = strict_model(self.covers, self.weights, budget, self.fidelity, min_fidelity)
        elif formulation == "selective":
            if self._given_fidelity is not None:
                raise ValueError("fidelity stands for the strict formulation only: selective counts rows itself.")
            model = selective_model(self.covers, self.agrees, self.weights, budget, min_fidelity)
        else:
            raise ValueError(f"formulation={formulation!r} is not known: use 'strict' or 'selective'.")
        allowed = model if admissible.all() else model.keep(np.flatnonzero(admissible))
        if not self.weights.all():
            allowed = allowed.keep_points(np.flatnonzero(self.weights))
        return Statement(model, allowed, self.fidelity, min_fidelity, is_strict=formulation == "strict")


def _boolean_matrix(given: object, name: str) -> "PackedRows":
    """Return a boolean matrix, sparse, dense or packed, as packed bits."""
    if isinstance(given, kernels.PackedRows):
        return given
    matrix = sparse.csr_array(given)
    if matrix.ndim != 2:
        raise ValueError(f"{name} has {matrix.ndim} dimensions; it needs two, candidates × points.")
    if matrix.dtype != np.bool_ and not np.isin(matrix.data, (0, 1)).all():
        raise ValueError(f"{name} has entries other than 0 and 1; it needs to be boolean, candidates × points.")
    return pack_matrix(matrix)


def _matching_matrices(covers: object, agrees: object) -> tuple["PackedRows", "PackedRows"]:
    """Return both matrices, checked against each other."""
    cover, agree = _boolean_matrix(covers, "covers"), _boolean_matrix(agrees, "agrees")
    if cover.shape != agree.shape:
        raise ValueError(
            f"covers has shape {cover.shape} and agrees has shape {agree.shape}; both need to be candidates × points."
        )
    if 0 in cover.shape:
        raise ValueError(f"covers has shape {cover.shape}; a problem needs at least one candidate and one point.")
    outside = agree - cover
    if outside.nnz:
        first = int(np.flatnonzero(np.diff(outside.indptr))[0])
        raise ValueError(
            f"agrees has {outside.nnz} entries outside covers, the first at candidate {first}, point "
            f"{outside.row(first)[0]}. A candidate agrees only where it covers: pass agrees & covers."
        )
    return cover, agree


def _point_weights(weights: ArrayLike | None, n_points: int) -> Floats:
    """Return one weight per point, ones by default."""
    if weights is None:
        return np.ones(n_points)
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n_points,):
        raise ValueError(f"weights has shape {array.shape}; it needs one entry for each of {n_points} points.")
    bad = np.flatnonzero(~np.isfinite(array) | (array < 0))
    if len(bad):
        raise ValueError(f"weights[{bad[0]}] is {array[bad[0]]}; every entry needs to be finite and not negative.")
    if not array.any():
        raise ValueError("every weight is 0, so that no choice is wider than another; one needs to be positive.")
    return array


def _candidate_fidelity(fidelity: ArrayLike | None, n_candidates: int) -> Floats | None:
    """Return one fidelity per candidate, or None."""
    if fidelity is None:
        return None
    array = np.asarray(fidelity, dtype=np.float64)
    if array.shape != (n_candidates,):
        raise ValueError(f"fidelity has shape {array.shape}; it needs one entry for each of {n_candidates} candidates.")
    bad = np.flatnonzero(~((array >= 0) & (array <= 1)))
    if len(bad):
        raise ValueError(f"fidelity[{bad[0]}] is {array[bad[0]]}; every entry needs to be a share from 0 to 1.")
    return array


def _check_share(value: float, name: str) -> float:
    """Return a share in (0, 1]."""
    if not 0.0 < value <= 1.0:
        raise ValueError(f"{name}={value} is not a share: it needs to be over 0 and at most 1.")
    return float(value)


def _check_count(value: int, name: str) -> int:
    """Return a whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name}={value} is not allowed: it needs to be a whole number, at least 1.")
    return int(value)


def _candidate_indices(given: ArrayLike | None, n_candidates: int, name: str) -> Ints:
    """Return candidates given as indices or as a boolean mask, ascending and each once."""
    if given is None:
        return np.empty(0, dtype=np.intp)
    array = np.asarray(given)
    if array.dtype == np.bool_:
        if array.shape != (n_candidates,):
            raise ValueError(
                f"{name} is a mask of shape {array.shape}; it needs one entry for each of {n_candidates} candidates."
            )
        return np.flatnonzero(array)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name} has entries of type {array.dtype}; give indices of candidates, or a boolean mask.")
    indices = np.unique(array.astype(np.intp).ravel())
    outside = indices[(indices < 0) | (indices >= n_candidates)]
    if len(outside):
        raise ValueError(
            f"{name} names candidate {outside[0]}, but there are {n_candidates}: "
            f"use indices from 0 to {n_candidates - 1}, or a boolean mask."
        )
    return indices
