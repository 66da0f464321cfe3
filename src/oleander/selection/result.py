"""The result of a solve: the choice, the points it covers, and the proof of how close to the best possible it is.

Solvers write to a `Run` as they go, so that a time limit or Ctrl-C at any moment leaves an answer with its gap.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from typing import Literal, Self

import numpy as np
from scipy import sparse

from oleander.arrays import Bools, Ints
from oleander.files.codec import Saved
from oleander.messages import show_upper_percent
from oleander.selection.model import ROUNDING, CoverageModel

Status = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass
class StageRecord:
    """The record of one stage of a solve."""

    name: str
    # Seconds.
    runtime: float = 0.0
    # Candidates dropped, moves of a search, steps of a bound, nodes of a tree.
    n_steps: int = 0
    # The best value and the bound when the stage ended, or now if it is at work.
    value: float = 0.0
    bound: float = np.inf


class Run:
    """The state of one solve, which begins with the empty choice and all weight as the bound.

    The time limit counts from `started`, a time on the monotonic clock. A solve stops at the relative `gap`, and
    `progress` gets the record of the stage at work some ten times a second.
    """

    def __init__(
        self,
        model: CoverageModel,
        *,
        time_limit: float = np.inf,
        gap: float = 0.0,
        progress: Callable[[StageRecord], None] | None = None,
        started: float | None = None,
    ) -> None:
        self.gap, self.progress = gap, progress
        self.started = time.monotonic() if started is None else started
        self.deadline = self.started + time_limit
        self.value = 0.0
        self.chosen = np.empty(0, dtype=np.intp)
        self.bound = float(model.weights.sum())
        # The rounding error that a bound may carry. Values are whole, so a better one is better by at least a step.
        self.slack = ROUNDING * self.bound
        self.step = 1.0 - self.slack
        self.stages: list[StageRecord] = []
        self._next_report = self.started

    @property
    def cutoff(self) -> float:
        """The smallest value worth looking for."""
        return self.value + max(self.step, self.gap * self.value)

    @property
    def is_settled(self) -> bool:
        """Whether nothing worth looking for is left."""
        return self.bound <= self.cutoff

    @property
    def is_proven(self) -> bool:
        """Whether no choice has a larger value than the best one found."""
        return self.bound <= self.value

    @property
    def runtime(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def is_out_of_time(self) -> bool:
        """Whether the time limit is over."""
        return time.monotonic() >= self.deadline

    def should_stop(self) -> bool:
        """Return whether the run is settled or out of time; reports progress now and then."""
        if self.stages and time.monotonic() >= self._next_report:
            self._report(self.stages[-1])
        return self.is_out_of_time or self.is_settled

    def _report(self, stage: StageRecord) -> None:
        self._next_report = time.monotonic() + 0.1
        if self.progress is not None:
            self.progress(replace(stage, value=self.value, bound=self.bound))

    def offer(self, value: float, chosen: Ints) -> None:
        """Take a choice, named by the indices of the stated problem, if it is better than the best so far."""
        if value > self.value:
            self.value, self.chosen = value, np.sort(chosen)

    def tighten(self, bound: float) -> None:
        """Take an upper bound, rounded down to a whole number.

        Candidates are dropped because no choice worth the cutoff needs them, so no bound holds for values under it.
        """
        whole = float(np.floor(max(bound, self.cutoff) + 0.5 * self.slack))
        self.bound = max(min(self.bound, whole), self.value)

    def exhaust(self) -> None:
        """Note that every choice worth the cutoff has been ruled out."""
        self.tighten(self.cutoff)

    @contextmanager
    def stage(self, name: str) -> Iterator[StageRecord]:
        """Time a stage and keep its record, whatever ends it."""
        started, record = time.monotonic(), StageRecord(name)
        self.stages.append(record)
        try:
            self._report(record)
            yield record
        finally:
            record.runtime = time.monotonic() - started
            record.value, record.bound = self.value, self.bound


@dataclass(frozen=True)
class Proof(Saved):
    """The distance of a choice from the best possible, without the choice itself and the time that it took.

    Equal fits have equal proofs.

    >>> proof = Proof(95.0, 100.0, "feasible", 0.475, 200.0)
    >>> round(proof.gap, 4), proof.is_proven_optimal, Proof.from_dict(proof.to_dict()) == proof
    (0.0526, False, True)
    """

    # The weight that is covered.
    objective: float
    # No choice covers more.
    bound: float
    # "optimal" or "infeasible" only if that is proven, and "unknown" if nothing could be chosen before time ran out.
    status: Status
    # Share of all weight that is covered.
    coverage: float
    # The weight of all points: the number of rows if every row weighs one.
    total_weight: float

    @property
    def gap(self) -> float:
        """The distance from the objective to the bound, as a share of the objective."""
        return relative_gap(self.objective, self.bound)

    @property
    def is_proven_optimal(self) -> bool:
        """Whether no better choice exists."""
        return self.status == "optimal"

    def check_read(self) -> None:
        """Raise ``ValueError`` for a proof that no solve has."""
        numbers = self.objective, self.bound, self.coverage, self.total_weight
        is_possible = all(0 <= number < inf for number in numbers) and self.objective <= self.bound
        if not is_possible or self.coverage > 1.0 or (self.is_proven_optimal and self.objective < self.bound):
            raise ValueError(f"no solve has this proof: {self}")


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionResult(Proof):
    """The chosen candidates and the proof of how good they are.

    No chosen candidate of a proven optimum is redundant: without it less would be covered. (A choice without a proof is
    searched for redundant candidates until the time limit, and a quarter of a second if it is over.) Of all
    choices that cover as much as a proven optimum, a bounded search returns the one with the highest lowest fidelity
    (under `"strict"`), and of those the smallest; see `oleander.selection.solving.most_faithful_as_wide`. A choice
    without a proof is the smallest of all that cover as much. Where the search ends at its bounds, a more faithful or
    smaller choice may exist.
    """

    # Indices of the chosen candidates, ascending.
    chosen: Ints
    # The points that count (y in the paper).
    covered: Bools
    # The weight that each chosen candidate counts at each point (z in the paper). Under `"selective"` it need not count
    # all that it covers.
    counted: sparse.csr_array
    # Seconds of the whole solve.
    runtime: float
    # A record of each stage of the solve.
    stages: tuple[StageRecord, ...]
    # The end of a search without a proof: by the time limit, or by Ctrl-C.
    stopped: Literal["", "Stopped", "Interrupted"] = ""
    # Why there is no answer, or no proof, if it is not the end of the search.
    note: str = ""

    @property
    def proof(self) -> Proof:
        """The distance of the choice from the best possible, without the choice itself."""
        return Proof(self.objective, self.bound, self.status, self.coverage, self.total_weight)

    @property
    def message(self) -> str:
        """Why there is no answer, or why the search stopped before a proof; empty otherwise."""
        if self.note or not self.stopped:
            return self.note
        start = f"{self.stopped} after {self.runtime:.1f} s"
        if self.objective == 0.0:
            return f"{start}, before any choice that covers a point was found. Allow more time."
        return f"{start}: the gap is {show_upper_percent(self.gap, 2)}."

    def with_bound(self, bound: float) -> Self:
        """Return the same choice under another upper bound; status and message follow it."""
        if self.status not in ("optimal", "feasible"):
            return replace(self, bound=bound)
        if bound > self.objective:
            return replace(self, bound=bound, status="feasible", note="")
        return replace(self, bound=self.objective, status="optimal", note="", stopped="")


def relative_gap(objective: float, bound: float) -> float:
    """Return the distance from the objective to the bound as a share of the objective.

    >>> relative_gap(100.0, 103.0), relative_gap(0.0, 0.0), relative_gap(0.0, 2.0)
    (0.03, 0.0, inf)
    """
    distance = abs(bound - objective)
    if distance == 0.0:
        return 0.0
    return distance / abs(objective) if objective else np.inf
