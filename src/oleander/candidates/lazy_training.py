"""The choice among the candidates of a pool, whose explainers are trained only when the choice needs them.

The region of every candidate is known from the start; its fidelity only once its explainer is trained. So the program
is solved as if every untrained candidate were always right, the chosen ones are trained, and the program is solved
again. When every chosen candidate is trained and reaches the floor, the answer is optimal for the whole pool, because
the program that was solved last is a relaxation of the true one.
"""

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Literal

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.candidates.pool import CandidatePool
from oleander.judging.floor import Floor
from oleander.messages import show_lower
from oleander.running.progress import tell_progress
from oleander.selection import SelectionProblem, SelectionResult
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


@dataclass(eq=False)
class PoolProgram:
    """The selection program over a pool.

    ``training`` is "lazy", when the choice needs an explainer, or "eager", all at once. The objective and its proof are
    the same. None is "eager" for the selective formulation, whose relaxation is too weak for lazy training to save
    anything. The proof ends where it is "enough", or goes on until it is "full"; counts decide, and not the clock. The
    time limit is for solving alone. The runtime of a result is that of all rounds together.
    """

    pool: CandidatePool
    floor: Floor
    _: KW_ONLY
    formulation: Literal["strict", "selective"] = "strict"
    training: Literal["lazy", "eager"] | None = None
    solver: str = "auto"
    time_limit: float | None = 60.0
    proof: Literal["enough", "full"] = "enough"
    _is_spent: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.training = self.training or ("eager" if self.formulation == "selective" else "lazy")

    @property
    def measured(self) -> Floats:
        """The measure that is compared with the floor; an untrained candidate counts as always right.

        A bound counts groups where there are groups; the share is the paper's, of rows.
        """
        pool = self.pool
        if self.floor.on == "share":
            return self.floor.measure(np.where(pool.is_trained, pool.n_right, pool.support), pool.support)
        right = np.where(pool.is_trained, pool.right_units, pool.n_units)
        return self.floor.measure(right, pool.n_units, pool.support)

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
        pool = self.pool
        if self.floor.on == "bound":
            too_few = why_too_few(int(pool.n_units.max()), pool.rows.unit, min_fidelity, self.floor.level)
            if too_few is not None:
                return too_few
        trained, is_reached = pool.is_trained, (self.measured >= min_fidelity).any()
        if trained.any() and not is_reached:
            best = show_lower(float(self.measured[trained].max()), 3)
            return (
                f"min_fidelity={min_fidelity:g} is not reached: the best of {int(trained.sum()):,} trained candidates "
                f"is at {best}. Lower min_fidelity, or give more rows or other regions."
            )
        if trained.any() or not is_reached:
            return result.message or "no explainer was found."
        limit = f"max_queries={pool.black_box.max_queries:,}" if self._is_spent else f"time_limit={self.time_limit:g}"
        return f"{limit} ended before a candidate was trained: raise it, or lower n_draws."

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

        def solve(solver: str | Solver, seconds: float, gap: float = 0.0, *, trained_only: bool = False) -> Answer:
            with tell_progress(title) as tell:
                found = self.problem(trained_only=trained_only).sweep(
                    numbers,
                    floors,
                    formulation=self.formulation,
                    solver=solver,
                    time_limit=None if np.isinf(seconds) else max(seconds, 0.0) / n_cells,
                    known=known,
                    earlier={} if trained_only else answer,
                    tentative=~self.pool.is_trained,
                    gap=gap,
                    progress=lambda now: tell(0, f"covers {now.value:,.0f}, at most {now.bound:,.0f} possible"),
                )
            before = {cell: result.runtime for cell, result in answer.items() if cell not in (known or {})}
            return {cell: replace(one, runtime=one.runtime + before.get(cell, 0.0)) for cell, one in found.items()}

        try:
            if self.training == "eager":
                self._train(np.flatnonzero(self.measured > 0))
            for solver, gap in self._list_stages():
                is_over = left <= 0 or self._is_spent or all(result.status not in OPEN for result in answer.values())
                if answer and is_over:
                    break
                while True:
                    started = time.monotonic()
                    answer = solve(solver, left, gap)
                    left -= time.monotonic() - started
                    if any(result.stopped == "Interrupted" for result in answer.values()):
                        raise KeyboardInterrupt
                    unknown = self._untrained(answer)
                    if not len(unknown) or left <= 0 or self._is_spent:
                        break
                    self._train(self._add_likely(unknown, max(floors)))
        except KeyboardInterrupt:
            if not answer or not self.pool.is_trained.any():
                raise
            why = "Interrupted: "
        else:
            if not len(self._untrained(answer)):
                return answer
            why = "max_queries is spent: " if self._is_spent else "time_limit is over: "
        return _bound_trained(solve(self.solver, 1.0, trained_only=True), answer, why)

    def _list_stages(self) -> list[tuple[str | Solver, float]]:
        """Return solvers one after another, each with the gap at which it may stop; the last one seeks the proof."""
        is_enough = self.proof == "enough" and self.solver not in ("greedy", "quick")
        if self.solver != "auto":
            return [(self.solver, ENOUGH_GAP if is_enough else 0.0)]
        last = (partial(solve_auto, max_nodes=ENOUGH_NODES), ENOUGH_GAP) if is_enough else ("auto", 0.0)
        # Greedy choices are quick and nearly right: they find most candidates that must be trained. A quick search, the
        # same on every machine, finds most of the others before a proof is sought.
        return [last] if self.training == "eager" else [(partial(solve_greedily, n_steps=0), 0.0), ("quick", 0.0), last]

    def _untrained(self, answer: Answer) -> Ints:
        chosen = np.unique(np.concatenate([result.chosen for result in answer.values()]))
        return np.asarray(chosen[~self.pool.is_trained[chosen]], dtype=np.intp)

    def _add_likely(self, unknown: Ints, min_fidelity: float) -> Ints:
        """Return more candidates, which the next relaxations will choose, where training a few takes many rounds."""
        reaches, trained = self.measured >= min_fidelity, self.pool.is_trained
        failed = float((~reaches[trained]).mean()) if trained.any() else 0.0
        if failed <= FAILING:
            return unknown
        likely = np.flatnonzero(~trained & reaches)
        widest = likely[np.argsort(-self.pool.support[likely], kind="stable")]
        more = widest[: int(len(unknown) / (1.01 - failed))]
        return np.concatenate([unknown, np.setdiff1d(more, unknown)])

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
