"""Selection over a pool whose explainers are trained only when the answer needs them, without losing the proof.

Who covers what is known for every candidate; how faithful it is, only once it is trained. So: solve as if everybody
untrained were perfectly faithful, train those that were chosen, and solve again. When everybody chosen is trained and
good enough, the answer is optimal for the whole pool, because what was solved last was a relaxation of it.
"""

import copy
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from oleander.arrays import Floats
from oleander.candidates.pool import CandidatePool
from oleander.judging.certificate import lower_bound
from oleander.running.progress import tell_progress
from oleander.selection import SelectionProblem, SelectionResult
from oleander.selection.frontier import Frontier

Answer = dict[Any, SelectionResult]
FAILING = 0.5
SHORT = 1.0
OPEN = ("feasible", "unknown")


@dataclass(frozen=True)
class Floor:
    """What is compared with ``min_fidelity``.

    Parameters
    ----------
    on : {"bound", "share"}
        The one-sided exact lower bound on an explainer's fidelity, or the raw share as in the paper.
    min_support : int
        An explainer that speaks for fewer rows is out: a region of one row has fidelity 1 and means nothing.
    level : float
        One-sided error of the bound.
    """

    on: Literal["bound", "share"] = "bound"
    min_support: int = 10
    level: float = 0.05

    def measure(self, n_right: Any, n_rows: Any) -> Floats:
        """Return what is compared with the floor; 0 for those out for want of rows.

        Examples
        --------
        >>> Floor("share", min_support=5).measure([9, 4], [10, 4]).tolist()
        [0.9, 0.0]
        """
        right, rows = np.asarray(n_right, dtype=float), np.asarray(n_rows, dtype=float)
        share = np.divide(right, rows, out=np.zeros_like(right), where=rows > 0)
        value = share if self.on == "share" else lower_bound(right, rows, self.level)
        return np.where(rows >= self.min_support, value, 0.0)


class PoolSelection:
    """The selection program over a pool.

    Parameters
    ----------
    pool : CandidatePool
    floor : Floor
    formulation : {"strict", "selective"}
    training : {"lazy", "eager"}
    solver : str
    time_limit : float or None
        Seconds for solving, training not counted.
    verbose : int
    floor_over : {"each", "union", "both"}
        Ask the floor of each chosen explainer, of the answers that they give together, or of both. For the answers
        together a row is wrong if any chosen explainer that covers it is wrong there.
    max_leaves_total : int or None
        The most leaves, weights and rules of all chosen together. Beside a number of explainers it makes one budget:
        each takes the larger of its share of the leaves and of the number, which keeps both.
    """

    def __init__(
        self,
        pool: CandidatePool,
        floor: Floor,
        *,
        floor_over: Literal["each", "union", "both"] = "each",
        max_leaves_total: int | None = None,
        formulation: Literal["strict", "selective"] = "strict",
        training: Literal["lazy", "eager"] = "lazy",
        solver: str = "auto",
        time_limit: float | None = 60.0,
        verbose: int = 0,
    ) -> None:
        self.pool, self.floor, self.formulation = pool, floor, formulation
        self.floor_over, self.max_leaves_total = floor_over, max_leaves_total
        self._number = 1
        self._spent = False
        self.training, self.solver, self.time_limit, self.verbose = training, solver, time_limit, verbose

    @property
    def measured(self) -> Floats:
        """What is compared with the floor, as if everybody untrained were always right.

        Only rows count that a candidate did not learn from.
        """
        pool = self.pool
        right = np.where(pool.is_trained, pool.judged_right, pool.judged_support)
        return self.floor.measure(right, pool.judged_support)

    def problem(self, *, known_only: bool = False) -> SelectionProblem:
        """Return the program as far as it is known: a relaxation, or with ``known_only`` one over the trained alone."""
        pool = self.pool
        measured = np.where(pool.is_trained, self.measured, 0.0) if known_only else self.measured
        # Whoever is not trained yet might always be right, and have one leaf.
        agrees = (pool.agrees + _keep_rows(pool.covers, ~pool.is_trained)).astype(bool)
        if self.formulation == "strict":
            if self.floor_over == "union":
                measured = (measured > 0).astype(float)
            return SelectionProblem(pool.covers, agrees, pool.rows.weights, fidelity=measured, cost=self._cost())
        allowed = (measured > 0) & (pool.is_trained | (not known_only))
        covers, agrees = _keep_rows(pool.covers, allowed), _keep_rows(agrees, allowed)
        return SelectionProblem(covers, agrees, pool.rows.weights, cost=self._cost())

    def _cost(self) -> Floats | None:
        """Return what share of the reading each candidate takes, when leaves are limited."""
        if self.max_leaves_total is None:
            return None
        leaves = [1 if explainer is None else explainer.complexity for explainer in self.pool.explainers]
        # Whole numbers keep the budget exact: a share of K explainers is worth as much as a share of the leaves.
        cost: Floats = np.maximum(np.array(leaves, dtype=float) * self._number, float(self.max_leaves_total))
        return cost

    def _limits(self, max_explainers: int) -> dict[str, Any]:
        """Return the limit that a solve is told: a number of explainers, or a budget that keeps that and the leaves."""
        if self.max_leaves_total is None:
            return {"max_explainers": max_explainers}
        self._number = max_explainers
        return {"budget": float(max_explainers * self.max_leaves_total)}

    def select(self, max_explainers: int, min_fidelity: float) -> SelectionResult:
        """Return the best choice, everybody in it trained."""
        limits = self._limits(max_explainers)
        together = None if self.floor_over == "each" else min_fidelity

        def ask(problem: SelectionProblem, solver: str, time_limit: float | None, start: Answer) -> Answer:
            with tell_progress("closing the gap", None, verbose=self.verbose) as tell:
                result = problem.solve(
                    min_fidelity=min_fidelity,
                    **limits,
                    formulation=self.formulation,
                    union_fidelity=together,
                    solver=solver,
                    time_limit=time_limit,
                    start=start[None].chosen if start else None,
                    progress=lambda now: tell(0, f"covers {now.value:g}, at most {now.bound:g} possible"),
                )
            return {None: result}

        return self._settle(ask, max_explainers, min_fidelity)[None]

    def frontier(self, max_explainers: Sequence[int], min_fidelity: Sequence[float]) -> Frontier:
        """Return the best choice for every number of explainers and floor; the time limit is for all together."""
        n_cells = len(set(max_explainers)) * len(set(min_fidelity))
        if self.max_leaves_total is not None:
            # What a candidate takes of the budget depends on the number of explainers: every cell is its own program.
            cells = [(int(number), float(floor)) for number in max_explainers for floor in min_fidelity]
            each = copy.copy(self)
            each.time_limit = None if self.time_limit is None else self.time_limit / n_cells
            return Frontier({cell: each.select(*cell) for cell in cells})

        def ask(problem: SelectionProblem, solver: str, time_limit: float | None, start: Answer) -> Answer:
            frontier = problem.frontier(
                max_explainers,
                min_fidelity,
                formulation=self.formulation,
                floor_over_union=self.floor_over != "each",
                solver=solver,
                time_limit=None if time_limit is None else time_limit / n_cells,
            )
            return dict(frontier.results)

        return Frontier(self._settle(ask, max(max_explainers), max(min_fidelity)))

    def _settle(
        self,
        ask: Callable[[SelectionProblem, str, float | None, Answer], Answer],
        max_explainers: int,
        min_fidelity: float,
    ) -> Answer:
        """Solve, train whom the answer needs, and again, until it needs nobody who is not trained."""
        left = np.inf if self.time_limit is None else float(self.time_limit)
        answer: Answer = {}

        def solve(solver: str, most: float) -> None:
            nonlocal left, answer
            started = time.monotonic()
            answer = ask(self.problem(), solver, None if np.isinf(most) else max(most, 0.0), answer)
            left -= time.monotonic() - started
            if any(result.message.startswith("Interrupted") for result in answer.values()):
                raise KeyboardInterrupt

        def train_chosen(solver: str, most: float) -> None:
            while True:
                solve(solver, min(left, most))
                unknown = self._untrained(answer.values())
                if not len(unknown) or left <= 0 or self._spent:
                    return
                # Where most fail, asking a few at a time would take forever: train as many as will give enough.
                failed = self._share_failed(min_fidelity)
                if failed > FAILING:
                    more = self._next_best(int(len(unknown) / (1.01 - failed)), min_fidelity)
                    unknown = np.concatenate([unknown, np.setdiff1d(more, unknown)])
                self._train(unknown)

        try:
            if self.training == "eager":
                self._train(np.flatnonzero(self.measured > 0))
            elif self.solver == "auto":
                # Greedy choices come at once and are nearly right: they find most of those who must be trained.
                train_chosen("greedy", np.inf)
                # A short search finds most of the others; a proof is sought only of what nobody else can better.
                train_chosen(self.solver, SHORT)
            # These prove no more however often they are asked.
            can_prove = self.solver not in ("greedy", "quick")
            while not answer or (can_prove and left > 0 and any(result.status in OPEN for result in answer.values())):
                train_chosen(self.solver, left)
                if self._spent:
                    break
        except KeyboardInterrupt:
            if not answer or not self.pool.is_trained.any():
                raise
            return self._with_known(ask, answer, "Interrupted: ")
        if not len(self._untrained(answer.values())):
            return answer
        return self._with_known(ask, answer, "max_queries is spent: " if self._spent else "")

    def _untrained(self, results: Iterable[SelectionResult]) -> NDArray[np.intp]:
        chosen = np.unique(np.concatenate([result.chosen for result in results]))
        return np.asarray(chosen[~self.pool.is_trained[chosen]], dtype=np.intp)

    def _share_failed(self, min_fidelity: float) -> float:
        trained = self.pool.is_trained
        return float((self.measured[trained] < min_fidelity).mean()) if trained.any() else 0.0

    def _next_best(self, n_tries: int, min_fidelity: float) -> NDArray[np.intp]:
        """Return so many of the untrained that cover most: those that the next relaxations will choose."""
        likely = np.flatnonzero(~self.pool.is_trained & (self.measured >= min_fidelity))
        widest_first = np.argsort(-self.pool.support[likely], kind="stable")
        return np.asarray(likely[widest_first[:n_tries]])

    def _train(self, indices: NDArray[np.intp]) -> None:
        before, pool = self.pool.n_queries, self.pool
        with tell_progress("training explainers", len(indices), verbose=self.verbose) as tell:
            pool.train(indices, on_trained=lambda done: tell(done, f"{pool.n_queries - before:,} rows asked"))
        # Whoever is still not trained could not be paid for.
        self._spent = not pool.is_trained[indices].all()

    def _with_known(
        self, ask: Callable[[SelectionProblem, str, float | None, Answer], Answer], relaxed: Answer, why: str = ""
    ) -> Answer:
        """Return the best choice among the trained, with the bound that the relaxation gives for the whole pool."""
        known = ask(self.problem(known_only=True), self.solver, 1.0, {})
        settled = {}
        for cell, result in known.items():
            bound = max(relaxed[cell].bound, result.objective)
            if result.status == "optimal" and bound > result.objective:
                result = replace(result, status="feasible", message=f"{why}some candidates were not looked at.")
            settled[cell] = replace(result, bound=bound)
        return settled


def _keep_rows(matrix: csr_array, rows: NDArray[np.bool_]) -> csr_array:
    """Return the matrix with the other rows emptied."""
    kept = csr_array(matrix.multiply(rows[:, None].astype(bool)))
    kept.eliminate_zeros()
    return kept.astype(bool)
