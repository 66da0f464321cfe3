"""`SelectionProblem`: the statement of the problem and the checks of its input, free of any solver.

Solvers are looked up by name when `solve` is called; nothing here imports one.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from oleander import kernels
from oleander.arrays import Floats, Ints
from oleander.selection.model import SHARE_TOLERANCE, CoverageModel, pack_matrix
from oleander.selection.printed_program import selective_model
from oleander.selection.result import Run, SelectionResult, StageRecord

if TYPE_CHECKING:
    from oleander.kernels import PackedRows
    from oleander.selection.solvers import Solver

Formulation = Literal["strict", "selective"]
# What a network flow counts with; and bounds, which are good to a share of all weight, tell whole numbers apart.
MOST_WEIGHT = 2**31 - 1


class SelectionProblem:
    """Choose the explainers that cover as much as possible, each faithful where it speaks.

    Parameters
    ----------
    covers : sparse or dense boolean matrix of shape (n_candidates, n_points)
        The points in each candidate's region.
    agrees : sparse or dense boolean matrix of shape (n_candidates, n_points)
        The points of its region on which a candidate gives the black box's answer; inside `covers`.
    weights : array of shape (n_points,), optional
        How many equal rows a point stands for: whole numbers, one each by default.
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
        self.weights = np.ones(self.n_points)
        if weights is not None:
            self.weights = _one_each(weights, "weights", self.n_points, "points")
            if (self.weights % 1).any():
                raise ValueError("weights count rows, so they need to be whole numbers: scale and round others.")
            if self.weights.sum() > MOST_WEIGHT:
                raise ValueError(f"weights add up to {self.weights.sum():.3g}, more than {MOST_WEIGHT:,}: scale them.")
        if not self.weights.any():
            raise ValueError("every weight is 0, so no choice is wider than another; one needs to be positive.")
        self._given_fidelity = None
        if fidelity is not None:
            self._given_fidelity = _one_each(fidelity, "fidelity", self.n_candidates, "candidates", highest=1.0)
        # Loading kernels may take seconds, and compiling them on a new machine more: not in the time limit of a solve.
        kernels.load("PackedRows", "Dual")

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
        progress: Callable[[StageRecord], None] | None = None,
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
        solver : {"auto", "highs", "quick", "greedy"} or Solver
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
            Called some ten times a second with the `StageRecord` of the stage at work.

        Returns
        -------
        SelectionResult
            After a time limit or Ctrl-C the best choice so far with its gap. Of equally wide choices the most faithful
            under `"strict"`, then the smallest; `SelectionResult` says how far that is guaranteed.
        """
        from oleander.selection.solvers import get_solver
        from oleander.selection.solving import answer, assemble

        started = time.monotonic()
        if gap < 0 or (time_limit is not None and time_limit < 0):
            raise ValueError(f"gap={gap} and time_limit={time_limit} must not be negative.")
        if isinstance(max_explainers, bool) or not isinstance(max_explainers, (int, np.integer)) or max_explainers < 1:
            raise ValueError(f"max_explainers={max_explainers} is not allowed: give a whole number, 1 or more.")
        if not 0.0 < min_fidelity <= 1.0:
            raise ValueError(f"min_fidelity={min_fidelity} is not allowed: give a number over 0 and up to 1.")
        model = self._state(formulation, float(min_fidelity), int(max_explainers))
        run = Run(
            model,
            time_limit=np.inf if time_limit is None else float(time_limit),
            gap=float(gap),
            progress=progress,
            started=started,
        )
        wanted = _read_indices(start, self.n_candidates, "start")
        unsure = _read_indices(tentative, self.n_candidates, "tentative")
        if not model.n_candidates:
            note = (
                f"min_fidelity={min_fidelity:g} leaves no candidate: the best of {self.n_candidates} reaches "
                f"{self.fidelity.max():.3g}. Lower min_fidelity, or use other radii."
            )
            return replace(assemble(model, run, "infeasible"), note=note)
        fidelity = self.fidelity if formulation == "strict" else None
        return answer(model, fidelity, get_solver(solver), run, wanted, unsure)

    def sweep(
        self,
        max_explainers: Iterable[int],
        min_fidelity: Iterable[float],
        *,
        known: Mapping[tuple[int, float], SelectionResult] | None = None,
        earlier: Mapping[tuple[int, float], SelectionResult] | None = None,
        **options: Any,
    ) -> dict[tuple[int, float], SelectionResult]:
        """Return the best choice for every number of explainers and every floor.

        Each cell starts from its neighbours, and their bounds tighten it, so that more explainers never cover less and
        a higher floor never covers more. Cells that are `known` are not solved again. Results of an `earlier`,
        similar problem are a start for cells without neighbours. Other options are those of `solve`; the time limit is
        per cell.

        >>> problem = SelectionProblem(np.eye(3), np.eye(3))
        >>> {cell: result.objective for cell, result in problem.sweep([1, 2], [0.9]).items()}
        {(1, 0.9): 1.0, (2, 0.9): 2.0}
        """
        from oleander.selection.solving import best_within, tightened

        numbers, floors = sorted(set(max_explainers)), sorted(set(min_fidelity))
        results = {cell: known[cell] for cell in product(numbers, floors) if known and cell in known}
        # The highest floor and the smallest number first: their choices are allowed in all later cells.
        for floor, number in product(floors[::-1], numbers):
            if (number, floor) not in results:
                start = best_within(results, number, floor) or (earlier or {}).get((number, floor))
                chosen = None if start is None else start.chosen
                results[number, floor] = self.solve(number, floor, start=chosen, **options)
        return {(number, floor): tightened(results, (number, floor)) for floor, number in product(floors, numbers)}

    def _state(self, formulation: Formulation, min_fidelity: float, budget: int) -> CoverageModel:
        """Return the model at this floor."""
        if formulation == "strict":
            reaches = self.fidelity >= min_fidelity - SHARE_TOLERANCE
            model = CoverageModel(self.covers, self.weights, budget, np.arange(self.n_candidates))
            return model.keep(np.flatnonzero(reaches & (np.diff(self.covers.indptr) > 0)))
        if formulation == "selective":
            if self._given_fidelity is not None:
                raise ValueError("fidelity is for the strict formulation only: selective counts rows itself.")
            # Every candidate may be chosen: the worst one simply counts nothing.
            return selective_model(self.covers, self.agrees, self.weights, budget, min_fidelity)
        raise ValueError(f"formulation={formulation!r} is not known: use 'strict' or 'selective'.")


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


def _one_each(given: ArrayLike, name: str, n_entries: int, what: str, highest: float = np.inf) -> Floats:
    """Return one number for each point or candidate."""
    array = np.asarray(given, dtype=np.float64)
    if array.shape != (n_entries,):
        raise ValueError(f"{name} has shape {array.shape}; it needs one entry for each of {n_entries} {what}.")
    bad = np.flatnonzero(~(np.isfinite(array) & (array >= 0) & (array <= highest)))
    if len(bad):
        allowed = "finite and not negative" if np.isinf(highest) else "a share from 0 to 1"
        raise ValueError(f"{name}[{bad[0]}] is {array[bad[0]]}; every entry needs to be {allowed}.")
    return array


def _read_indices(given: ArrayLike | None, n_candidates: int, name: str) -> Ints:
    """Return candidates given as indices or as a boolean mask, ascending and each once."""
    array = np.asarray(() if given is None else given)
    if array.dtype == np.bool_ and array.shape == (n_candidates,):
        return np.flatnonzero(array)
    indices = np.unique(array).astype(np.intp)
    is_index = array.dtype != np.bool_ and np.issubdtype(array.dtype, np.integer)
    if array.size and (not is_index or indices[0] < 0 or indices[-1] >= n_candidates):
        raise ValueError(
            f"{name} does not name candidates: give indices from 0 to {n_candidates - 1}, or a boolean mask with one "
            f"entry for each of {n_candidates} candidates."
        )
    return indices
