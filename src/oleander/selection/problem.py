"""`SelectionProblem`: the statement of the problem, free of any solver.

Solvers are looked up by name when `solve` is called; nothing here imports one.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from oleander.arrays import Floats
from oleander.selection import validation
from oleander.selection.constraints import (
    Constraints,
    GroupMinima,
    Groups,
    candidate_indices,
    group_members,
    group_minima,
)
from oleander.selection.formulations import (
    SHARE_TOLERANCE,
    Statement,
    build_model,
    selective_rules,
    strict_rules,
    wrong_points,
)
from oleander.selection.result import SelectionResult
from oleander.selection.run import Progress, Run

if TYPE_CHECKING:
    from oleander.selection.solvers import Solver

Formulation = Literal["strict", "selective"]


class SelectionProblem:
    """Choose the explainers that cover the most, each faithful where it speaks.

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
    cost : array of shape (n_candidates,), optional
        The cost of each candidate, for a `budget`.
    groups : array of shape (n_points,) or mapping of masks, optional
        One label per point, or a boolean mask of points by group name (groups may overlap), for
        `min_group_coverage`.

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
        cost: ArrayLike | None = None,
        groups: Groups | None = None,
    ) -> None:
        self.covers, self.agrees = validation.matching_matrices(covers, agrees)
        self.weights = validation.point_weights(weights, self.n_points)
        self.cost = validation.candidate_costs(cost, self.n_candidates)
        self.groups = None if groups is None else group_members(groups, self.n_points)
        self._given_fidelity = validation.candidate_fidelity(fidelity, self.n_candidates)

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
        max_explainers: int | None = None,
        min_fidelity: float = 0.9,
        *,
        formulation: Formulation = "strict",
        solver: "str | Solver" = "auto",
        time_limit: float | None = 60.0,
        gap: float = 0.0,
        must_include: ArrayLike | None = None,
        must_exclude: ArrayLike | None = None,
        min_group_coverage: float | Mapping[object, float] | None = None,
        budget: float | None = None,
        min_coverage: float | None = None,
        union_fidelity: float | None = None,
        start: ArrayLike | None = None,
        tentative: ArrayLike | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> SelectionResult:
        """Choose the candidates that cover the most weight.

        Parameters
        ----------
        max_explainers : int, optional
            The largest number of candidates (K in the paper). By default 10, or no limit with `min_coverage`.
        min_fidelity : float
            The floor (φ in the paper), in (0, 1].
        formulation : {"strict", "selective"}
            The paper's definition of fidelity, or its integer program to the letter.
        solver : {"auto", "highs", "quick", "greedy", "exhaustive"} or Solver
        time_limit : float, optional
            Seconds; None for no limit.
        gap : float
            Stop when the bound is within this share of the objective.
        must_include, must_exclude : indices or boolean mask, optional
            Candidates that must be chosen, or must not be.
        min_group_coverage : float or mapping, optional
            The share of every group's weight that must be covered, or a share for each group named.
        budget : float, optional
            The largest total of the candidates' `cost`, instead of a number of them.
        min_coverage : float, optional
            Look for the fewest candidates that cover this share of all weight.
        union_fidelity : float, optional
            A floor for all chosen candidates together, in (0, 1]; strict formulation only. A point is wrong if any
            chosen candidate that covers it is wrong there, and the other points must have this share of the
            weight that is covered. `min_fidelity` still holds for each candidate alone and may be far lower.
        start : indices or boolean mask, optional
            A choice to begin with. Candidates that are not allowed are left out, and the choice is filled up.
        tentative : indices or boolean mask, optional
            Candidates that may yet turn out not to be allowed. A choice with one of them is not final, so it is
            returned as it is, without a search for the fewest candidates that cover as much.
        progress : callable, optional
            Called some ten times a second with a `Progress`.

        Returns
        -------
        SelectionResult
            After a time limit or Ctrl-C the best choice so far with its gap. Of equally wide choices the one with
            the fewest candidates; `SelectionResult` says how far that is guaranteed.

        Examples
        --------
        >>> problem = SelectionProblem(np.eye(3), np.eye(3), groups=["a", "b", "b"])
        >>> problem.solve(min_coverage=0.6).chosen.tolist()
        [0, 1]
        >>> problem.solve(1, min_group_coverage={"b": 0.5}).chosen.tolist()
        [1]
        """
        from oleander.selection.answer import answer_coverage, answer_fewest
        from oleander.selection.solvers import get_solver, missing_features

        started = time.monotonic()
        if gap < 0 or (time_limit is not None and time_limit < 0):
            raise ValueError(f"gap={gap} and time_limit={time_limit} must not be negative.")
        worker = get_solver(solver)
        constraints = self._constraints(
            max_explainers, budget, min_coverage, must_include, must_exclude, min_group_coverage
        )
        if union_fidelity is not None:
            if formulation != "strict":
                raise ValueError(
                    "union_fidelity stands for the strict formulation only: selective does not count wrong points. "
                    "Use formulation='strict'."
                )
            constraints = replace(constraints, union_fidelity=validation.check_share(union_fidelity, "union_fidelity"))
        wanted = candidate_indices(start, self.n_candidates, "start")
        statement = self._state(formulation, validation.check_share(min_fidelity, "min_fidelity"), constraints)
        missing = missing_features(statement.model, worker)
        if missing:
            raise ValueError(f"solver={worker.name!r} cannot deal with {missing[0]}: use 'auto' or 'highs'.")
        run = Run(
            statement.model,
            time_limit=np.inf if time_limit is None else float(time_limit),
            gap=float(gap),
            progress=progress,
            started=started,
        )
        if min_coverage is None:
            unsure = candidate_indices(tentative, self.n_candidates, "tentative")
            return answer_coverage(statement, worker, run, wanted, unsure)
        return answer_fewest(statement, worker, run, validation.check_share(min_coverage, "min_coverage"))

    def sweep(
        self,
        max_explainers: Sequence[int],
        min_fidelity: Sequence[float],
        *,
        formulation: Formulation = "strict",
        solver: "str | Solver" = "auto",
        time_limit: float | None = 60.0,
        gap: float = 0.0,
        floor_over_union: bool = False,
        known: Mapping[tuple[int, float], SelectionResult] | None = None,
        tentative: ArrayLike | None = None,
    ) -> dict[tuple[int, float], SelectionResult]:
        """Return the best choice for every number of explainers and every floor.

        Each cell starts from its neighbours, and their bounds tighten it, so that more explainers never
        cover less and a higher floor never covers more. The time limit is per cell. With `floor_over_union` each
        cell's floor is also a floor over the union. Cells that are `known` are not solved again. `tentative` is that
        of `solve`.

        Examples
        --------
        >>> problem = SelectionProblem(np.eye(3), np.eye(3))
        >>> {cell: result.objective for cell, result in problem.sweep([1, 2], [0.9]).items()}
        {(1, 0.9): 1.0, (2, 0.9): 2.0}
        """
        from oleander.selection.sweep import sweep

        return sweep(
            self,
            [validation.check_count(number, "max_explainers") for number in max_explainers],
            [validation.check_share(share, "min_fidelity") for share in min_fidelity],
            formulation=formulation,
            solver=solver,
            time_limit=time_limit,
            gap=gap,
            floor_over_union=floor_over_union,
            known=known or {},
            tentative=tentative,
        )

    def _constraints(
        self,
        max_explainers: int | None,
        budget: float | None,
        min_coverage: float | None,
        must_include: ArrayLike | None,
        must_exclude: ArrayLike | None,
        min_group_coverage: float | Mapping[object, float] | None,
    ) -> Constraints:
        """Return the constraints, checked against each other."""
        if budget is not None:
            if self.cost is None:
                raise ValueError("budget needs a cost for each candidate: pass cost to SelectionProblem.")
            if max_explainers is not None or min_coverage is not None:
                raise ValueError("budget stands instead of max_explainers and min_coverage: pass one of them.")
            if not budget > 0:
                raise ValueError(f"budget={budget} is not allowed: it needs to be positive.")
        included = candidate_indices(must_include, self.n_candidates, "must_include")
        excluded = candidate_indices(must_exclude, self.n_candidates, "must_exclude")
        both = np.intersect1d(included, excluded)
        if len(both):
            raise ValueError(f"candidate {both[0]} is in must_include and in must_exclude: leave it out of one.")
        minima: GroupMinima | None = None
        if min_group_coverage is not None:
            if self.groups is None:
                raise ValueError("min_group_coverage needs groups: pass groups to SelectionProblem.")
            minima = group_minima(self.groups, min_group_coverage)
        if budget is not None:
            limit = float(budget)
        elif max_explainers is None:
            limit = 10.0 if min_coverage is None else float(self.n_candidates)
        else:
            limit = float(validation.check_count(max_explainers, "max_explainers"))
        cost = self.cost if budget is not None else None
        price = float(len(included)) if cost is None else float(cost[included].sum())
        if price > limit + SHARE_TOLERANCE:
            name = "max_explainers" if budget is None else "budget"
            raise ValueError(f"must_include takes {price:g} and {name} allows {limit:g}: raise it, or include fewer.")
        return Constraints(limit, cost, included, excluded, minima)

    def _state(self, formulation: Formulation, min_fidelity: float, constraints: Constraints) -> Statement:
        """Return the counting rules at this floor, and the model of them."""
        if formulation == "strict":
            rules = strict_rules(self.covers, self.fidelity, min_fidelity)
            if constraints.union_fidelity is not None:
                rules = replace(rules, wrong=wrong_points(self.covers, self.agrees))
        elif formulation == "selective":
            if self._given_fidelity is not None:
                raise ValueError("fidelity stands for the strict formulation only: selective counts rows itself.")
            rules = selective_rules(self.covers, self.agrees, self.weights, min_fidelity)
        else:
            raise ValueError(f"formulation={formulation!r} is not known: use 'strict' or 'selective'.")
        out = constraints.must_include[~rules.admissible[constraints.must_include]]
        if len(out):
            raise ValueError(
                f"must_include names candidate {out[0]}, whose fidelity {self.fidelity[out[0]]:.3g} is under "
                f"min_fidelity={min_fidelity:g}. Lower the floor, or leave it out."
            )
        return Statement(
            rules=rules,
            constraints=constraints,
            model=build_model(rules, self.weights, constraints),
            weights=self.weights,
            fidelity=self.fidelity,
            min_fidelity=min_fidelity,
        )
