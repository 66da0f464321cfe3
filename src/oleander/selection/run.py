"""The state of a solve under way: the best choice, the bound, the time left, a record of each stage.

Solvers write here as they go, so that a time limit or Ctrl-C at any moment leaves an answer with its gap.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from oleander.arrays import Ints
from oleander.selection.model import CoverageModel


@dataclass(frozen=True)
class StageRecord:
    """The record of one stage of a solve.

    Attributes
    ----------
    name : str
    runtime : float
        Seconds.
    n_merged : int
        Points that the stage merged, or removed because no candidate covers them.
    n_dropped : int
        Candidates that the stage showed to be unnecessary.
    n_steps : int
        Moves of a search, steps of a bound, nodes of a tree.
    value, bound : float
        The best value and the bound when the stage ended.
    """

    name: str
    runtime: float
    n_merged: int
    n_dropped: int
    n_steps: int
    value: float
    bound: float


@dataclass(frozen=True)
class Progress:
    """The argument of a progress callback: the stage, seconds since the start, best value and bound."""

    stage: str
    runtime: float
    value: float
    bound: float


@dataclass
class StageNotes:
    """Counts that a stage fills in while it works."""

    n_merged: int = 0
    n_dropped: int = 0
    n_steps: int = 0


class Run:
    """The state of one solve.

    Parameters
    ----------
    model : CoverageModel
        Gives the step between values and their rounding error.
    time_limit : float
        Seconds, from `started`.
    gap : float
        The relative gap at which to stop.
    progress : callable, optional
    started : float, optional
        The time of the start on the monotonic clock; now by default.
    """

    def __init__(
        self,
        model: CoverageModel,
        *,
        time_limit: float = np.inf,
        gap: float = 0.0,
        progress: Callable[[Progress], None] | None = None,
        started: float | None = None,
    ) -> None:
        self.model, self.gap, self.progress = model, gap, progress
        self.grain, self.slack = model.grain, model.slack
        self.started = time.monotonic() if started is None else started
        self.deadline = self.started + time_limit
        self.best: tuple[float, tuple[int, ...]] = (-np.inf, ())
        self.bound = np.inf
        self.stages: list[StageRecord] = []
        self.stage_name = "start"
        self._next_report = self.started

    def part(self, time_limit: float) -> "Run":
        """Return a run for a part of this solve, with the same clock; `time_limit` counts from now."""
        part = Run(self.model, started=self.started)
        part.deadline = min(self.deadline, time.monotonic() + time_limit)
        return part

    @property
    def value(self) -> float:
        """The best value found."""
        return self.best[0]

    @property
    def step(self) -> float:
        """A better value is better by at least this much."""
        return self.grain - self.slack if self.grain else self.slack

    @property
    def cutoff(self) -> float:
        """The smallest value worth looking for."""
        return self.value + max(self.step, self.gap * abs(self.value)) if self.value > -np.inf else -np.inf

    @property
    def is_settled(self) -> bool:
        """Whether nothing worth looking for is left."""
        return self.bound <= self.cutoff + 0.25 * self.slack

    @property
    def is_proven(self) -> bool:
        """Whether no choice has a larger value than the best one found."""
        return self.value > -np.inf and self.bound <= self.value + (0.5 if self.grain else 2.0) * self.slack

    @property
    def runtime(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def time_left(self) -> float:
        """Seconds until the time limit, not under zero."""
        return max(0.0, self.deadline - time.monotonic())

    def should_stop(self) -> bool:
        """Return whether the run is settled or out of time; reports progress now and then."""
        now = time.monotonic()
        if now >= self._next_report:
            self._report(now)
        return now >= self.deadline or self.is_settled

    def _report(self, now: float) -> None:
        self._next_report = now + 0.1
        if self.progress is not None:
            self.progress(Progress(self.stage_name, now - self.started, self.value, self.bound))

    def offer(self, value: float, chosen: Ints) -> None:
        """Take a choice, named by the indices of the stated problem, if it is better than the best so far."""
        if value > self.value + (0.0 if self.value == -np.inf else self.slack):
            self.best = (value, tuple(sorted(int(i) for i in chosen)))

    def tighten(self, bound: float) -> None:
        """Take an upper bound, rounded down to a value that can occur.

        Candidates are dropped because no choice worth the cutoff needs them, so no bound holds for values
        under it.
        """
        bound = max(bound, self.cutoff)
        if self.grain and np.isfinite(bound):
            bound = float(np.floor((bound + 0.25 * self.slack) / self.grain) * self.grain)
        self.bound = max(min(self.bound, bound), self.value)

    def exhaust(self) -> None:
        """Note that every choice worth the cutoff has been ruled out."""
        self.tighten(self.cutoff)

    @contextmanager
    def stage(self, name: str) -> Iterator[StageNotes]:
        """Time a stage and keep its record, whatever ends it."""
        started, notes = time.monotonic(), StageNotes()
        self.stage_name = name
        try:
            self._report(started)
            yield notes
        finally:
            runtime = time.monotonic() - started
            counts = (notes.n_merged, notes.n_dropped, notes.n_steps)
            self.stages.append(StageRecord(name, runtime, *counts, self.value, self.bound))
