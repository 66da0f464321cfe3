"""The choice among the candidates of a pool, whose explainers are trained only when the choice needs them.

The region of every candidate is known from the start; its fidelity only once its explainer is trained. So the program
is solved as if every untrained candidate were always right, the chosen ones are trained, and the program is solved
again. When every chosen candidate is trained and reaches the floor, the answer is optimal for the whole pool, because
the program that was solved last is a relaxation of the true one.
"""

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Self

import numpy as np
from scipy import sparse

from oleander.arrays import Bools, Floats, Ints
from oleander.candidates.pool import CandidatePool
from oleander.data.rows import Rows
from oleander.judging.floor import Floor
from oleander.messages import show_lower
from oleander.running.progress import tell_progress
from oleander.selection import SelectionProblem, SelectionResult, StageRecord
from oleander.selection.result import Status
from oleander.selection.solvers import Solver, solve_auto, solve_greedily
from oleander.selection.solving import Cell
from oleander.words.claims import why_too_few

Answer = dict[Cell, SelectionResult]
# Where more than this share of the trained candidates fails, more of them are trained at a time.
FAILING = 0.5
OPEN = ("feasible", "unknown")
# A proof is enough at this gap, or after this number of nodes of a search that brought nothing.
ENOUGH_GAP, ENOUGH_NODES = 0.001, 3_000


class PoolProgram:
    """The selection program over a pool.

    ``training`` is "lazy", when the choice needs an explainer, or "eager", all at once. The objective and its proof are
    the same. None is "eager" for the selective formulation, whose relaxation is too weak for lazy training to save
    anything. The proof ends where it is "enough", or goes on until it is "full"; counts decide, and not the clock. The
    time limit is for solving alone. The runtime of a result is that of all rounds together.
    """

    def __init__(
        self,
        pool: CandidatePool,
        floor: Floor,
        *,
        formulation: Literal["strict", "selective"] = "strict",
        training: Literal["lazy", "eager"] | None = None,
        solver: str = "auto",
        time_limit: float | None = 60.0,
        proof: Literal["enough", "full"] = "enough",
    ) -> None:
        self.pool, self.floor, self.formulation = pool, floor, formulation
        self.training = training or ("eager" if formulation == "selective" else "lazy")
        self.solver, self.time_limit, self.proof = solver, time_limit, proof
        self._is_spent = False

    @property
    def measured(self) -> Floats:
        """The measure that is compared with the floor; an untrained candidate counts as always right.

        Only rows that a candidate did not learn from count. A bound counts groups where there are groups; the share is
        the paper's, of rows.
        """
        pool = self.pool
        if self.floor.on == "share":
            right = np.where(pool.is_trained, pool.judged_right, pool.judged_support)
            return self.floor.measure(right, pool.judged_support)
        right = np.where(pool.is_trained, pool.right_units, pool.n_units)
        return self.floor.measure(right, pool.n_units, pool.judged_support)

    def problem(self, *, trained_only: bool = False) -> SelectionProblem:
        """Return the program over the trained candidates, or its relaxation over the whole pool."""
        pool = self.pool
        measured = np.where(pool.is_trained, self.measured, 0.0) if trained_only else self.measured
        # An untrained candidate might always be right.
        agrees = pool.agrees | pool.covers.keep_rows(~pool.is_trained)
        if self.formulation == "strict":
            return SelectionProblem(pool.covers, agrees, pool.rows.weights, fidelity=measured)
        allowed = (measured > 0) & (pool.is_trained | (not trained_only))
        return SelectionProblem(pool.covers.keep_rows(allowed), agrees.keep_rows(allowed), pool.rows.weights)

    def select(self, max_explainers: int, min_fidelity: float) -> SelectionResult:
        """Return the best choice, with every chosen candidate trained."""
        return self.sweep([max_explainers], [min_fidelity])[max_explainers, min_fidelity]

    def why_nothing(self, result: SelectionResult, min_fidelity: float) -> str:
        """Return in a sentence why a result of this floor chooses no candidate."""
        if self.floor.on == "bound":
            too_few = why_too_few(int(self.pool.n_units.max()), self.pool.rows.unit, min_fidelity, self.floor.level)
            if too_few is not None:
                return too_few
        good = self.measured >= min_fidelity
        trained = self.pool.is_trained
        if trained.any() and not trained.all() and not good.any():
            best, n_trained = show_lower(float(self.measured[trained].max()), 3), int(trained.sum())
            return (
                f"min_fidelity={min_fidelity:g} is not reached: the best of {n_trained:,} trained candidates is at "
                f"{best}, and the other {len(trained) - n_trained:,} hold too few rows to show it, even if all answers "
                "are right. Lower min_fidelity, or give more rows or wider regions."
            )
        if trained.any() or not good.any():
            return result.message or "no explainer was found."
        if self._is_spent:
            counter = self.pool.black_box
            return (
                f"max_queries={counter.max_queries:,} leaves {counter.queries_left:,} rows to ask about, too few for "
                "the draws of any candidate: raise it, or lower n_draws."
            )
        return f"time_limit={self.time_limit:g} ended before a candidate was trained: raise it."

    def select_trained(self, max_explainers: int, min_fidelity: float) -> SelectionResult:
        """Return a quick choice among the trained candidates, within the same limits."""
        problem = self.problem(trained_only=True)
        return problem.solve(max_explainers, min_fidelity, formulation=self.formulation, solver="greedy")

    def sweep(
        self, max_explainers: Sequence[int], min_fidelity: Sequence[float], known: Answer | None = None
    ) -> Answer:
        """Return the best choice for every number of explainers and floor; the time limit is for all together.

        Results that are known, such as that of the fit, are taken as they are, and help the other cells.
        """
        numbers, floors = set(max_explainers), set(min_fidelity)
        n_cells = len(numbers) * len(floors)
        title = "closing the gap" if n_cells == 1 else f"tracing the trade-off of {n_cells} choices"
        left = np.inf if self.time_limit is None else float(self.time_limit)
        answer: Answer = {}
        spent: dict[Cell, float] = {}

        def ask(
            problem: SelectionProblem, solver: str | Solver, time_limit: float, earlier: Answer, gap: float = 0.0
        ) -> Answer:
            with tell_progress(title) as tell:
                found = problem.sweep(
                    numbers,
                    floors,
                    formulation=self.formulation,
                    solver=solver,
                    time_limit=None if np.isinf(time_limit) else max(time_limit, 0.0) / n_cells,
                    known=known,
                    earlier=earlier,
                    tentative=~self.pool.is_trained,
                    gap=gap,
                    progress=lambda now: tell(0, _describe_search(now)),
                )
            # The seconds of all rounds so far.
            for cell, result in found.items():
                spent[cell] = spent.get(cell, 0.0) + result.runtime
            return {cell: replace(result, runtime=spent[cell]) for cell, result in found.items()}

        def solve(solver: str | Solver, gap: float) -> None:
            nonlocal left, answer
            started = time.monotonic()
            answer = ask(self.problem(), solver, left, answer, gap)
            left -= time.monotonic() - started
            if any(result.stopped == "Interrupted" for result in answer.values()):
                raise KeyboardInterrupt

        def train_chosen(solver: str | Solver, gap: float = 0.0) -> None:
            while True:
                solve(solver, gap)
                unknown = self._untrained(answer.values())
                if not len(unknown) or left <= 0 or self._is_spent:
                    return
                # Where most candidates fail, training a few at a time would take many rounds.
                reaches, trained = self.measured >= max(floors), self.pool.is_trained
                failed = float((~reaches[trained]).mean()) if trained.any() else 0.0
                if failed > FAILING:
                    # The widest are those that the next relaxations will choose.
                    likely = np.flatnonzero(~trained & reaches)
                    widest = likely[np.argsort(-self.pool.support[likely], kind="stable")]
                    more = widest[: int(len(unknown) / (1.01 - failed))]
                    unknown = np.concatenate([unknown, np.setdiff1d(more, unknown)])
                self._train(unknown)

        try:
            if self.training == "eager":
                self._train(np.flatnonzero(self.measured > 0))
            elif self.solver == "auto":
                # Greedy choices are quick and nearly right: they find most candidates that must be trained.
                train_chosen(partial(solve_greedily, n_steps=0))
                # A quick search, the same on every machine, finds most of the others before a proof is sought.
                train_chosen("quick")
            # A second call of these solvers proves no more than the first.
            can_prove = self.solver not in ("greedy", "quick")
            prover: str | Solver = self.solver
            gap = ENOUGH_GAP if self.proof == "enough" and can_prove else 0.0
            if gap and self.solver == "auto":
                prover = partial(solve_auto, max_nodes=ENOUGH_NODES)
            while not answer or (can_prove and left > 0 and any(result.status in OPEN for result in answer.values())):
                train_chosen(prover, gap)
                if self._is_spent or self.proof == "enough":
                    break
        except KeyboardInterrupt:
            if not answer or not self.pool.is_trained.any():
                raise
            why = "Interrupted: "
        else:
            if not len(self._untrained(answer.values())):
                return answer
            why = "max_queries is spent: " if self._is_spent else "time_limit is over: "
        return _bound_trained(ask(self.problem(trained_only=True), self.solver, 1.0, {}), answer, why)

    def _untrained(self, results: Iterable[SelectionResult]) -> Ints:
        chosen = np.unique(np.concatenate([result.chosen for result in results]))
        return np.asarray(chosen[~self.pool.is_trained[chosen]], dtype=np.intp)

    def _train(self, indices: Ints) -> None:
        pool, counter = self.pool, self.pool.black_box
        before = counter.n_queries
        with tell_progress("training explainers", len(indices)) as tell:
            pool.train(indices, on_trained=lambda done: tell(done, f"{counter.n_queries - before:,} rows asked"))
        # A candidate stays untrained where max_queries does not allow its draws.
        self._is_spent = not pool.is_trained[indices].all()


def _bound_trained(trained: Answer, relaxed: Answer, why: str) -> Answer:
    """Return the best choices among the trained, with the bounds that the relaxation gives for the whole pool."""
    settled = {}
    for cell, result in trained.items():
        bound = max(relaxed[cell].bound, result.objective)
        if result.status not in OPEN and bound > result.objective:
            # A candidate that is not trained might be better, or the only one that reaches the floor.
            note = f"{why}some candidates were not looked at. {result.message}".rstrip()
            status: Status = "feasible" if len(result.chosen) else "unknown"
            settled[cell] = replace(result, status=status, note=note, bound=bound)
        else:
            settled[cell] = result.with_bound(bound)
    return settled


def _describe_search(now: StageRecord) -> str:
    return f"covers {math.floor(now.value):,}, at most {math.ceil(now.bound):,} possible"


@dataclass(frozen=True, eq=False)
class PaperVariables:
    """The paper's w, y and z (its Proposition 3), in the order of the rows of X.

    Rows that were held out or not used have zeros. Of equal rows the first one carries the explainer.
    """

    # By row, 1 where the explainer around it is chosen. With a ladder of radii, the number of balls around the row.
    w: Ints
    # By row, whether it is covered. In the printed program (``formulation="selective"``) a row that lies in a chosen
    # ball need not be counted, and only counted rows are covered.
    y: Bools
    # By two rows, whether the explainer around the first counts the second.
    z: sparse.csr_array

    @classmethod
    def read(cls, program: PoolProgram, result: SelectionResult, n_rows: int) -> Self:
        """Return the variables of a result, counted in rows instead of points."""
        rows, candidates = program.pool.rows, program.pool.candidates
        centers = [candidates[index].row for index in result.chosen]
        if any(center is None for center in centers):
            raise AttributeError("there are no w, y and z: not every explainer is a ball around a row.")
        own = np.asarray(centers, dtype=np.intp)
        first, second = _count_rows(result, rows)
        numbers = np.arange(n_rows) if rows.row_numbers is None else rows.row_numbers
        first, second = own[first], numbers[second]
        z = sparse.csr_array((np.ones(len(first), dtype=bool), (first, second)), shape=(n_rows, n_rows), dtype=bool)
        y = np.zeros(n_rows, dtype=bool)
        y[second] = True
        return cls(np.bincount(own, minlength=n_rows), y, z)


def _count_rows(result: SelectionResult, rows: Rows) -> tuple[Ints, Ints]:
    """Return pairs of a chosen explainer and a row that it counts.

    Of a point whose equal rows are counted in part, each explainer counts rows that no other counts.
    """
    by_point = np.argsort(rows.point_of_row, kind="stable")
    starts = np.concatenate([[0], np.cumsum(rows.weights)])
    counted = result.counted.tocoo()
    taken = np.zeros(rows.n_points, dtype=np.intp)
    pairs: list[tuple[int, Ints]] = []
    for explainer, point, weight in zip(counted.row.tolist(), counted.col.tolist(), counted.data, strict=True):
        n_counted, n_equal = round(float(weight)), int(rows.weights[point])
        begin = 0 if n_counted == n_equal else int(taken[point])
        if n_counted < n_equal:
            taken[point] += n_counted
        pairs.append((explainer, by_point[starts[point] + begin : starts[point] + begin + n_counted]))
    if not pairs:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    first = np.repeat([explainer for explainer, _ in pairs], [len(own) for _, own in pairs])
    return first, np.concatenate([own for _, own in pairs])
