"""The state of a solve under way: the best choice, the bound, the time left, a record of each stage.

Solvers write here as they go, so that a time limit or Ctrl-C at any moment leaves an answer with its gap.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from oleander.arrays import Ints
from oleander.selection.model import CoverageModel


@dataclass
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
        The best value and the bound when the stage ended, or now if it is at work.
    """

    name: str
    runtime: float = 0.0
    n_merged: int = 0
    n_dropped: int = 0
    n_steps: int = 0
    value: float = 0.0
    bound: float = np.inf


class Run:
    """The state of one solve, which begins with the empty choice and all weight as the bound.

    The model gives the step between values and their rounding error. The time limit counts from `started`, a time on
    the monotonic clock. A solve stops at the relative `gap`, and `progress` gets the record of the stage at work some
    ten times a second.
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
        self.grain, self.slack = model.grain, model.slack
        self.started = time.monotonic() if started is None else started
        self.deadline = self.started + time_limit
        self.value = 0.0
        self.chosen = np.empty(0, dtype=np.intp)
        self.bound = float(model.weights.sum())
        self.stages: list[StageRecord] = []
        self._next_report = self.started

    @property
    def step(self) -> float:
        """A better value is better by at least this much."""
        return self.grain - self.slack if self.grain else self.slack

    @property
    def cutoff(self) -> float:
        """The smallest value worth looking for."""
        return self.value + max(self.step, self.gap * self.value)

    @property
    def is_settled(self) -> bool:
        """Whether nothing worth looking for is left."""
        return self.bound <= self.cutoff + 0.25 * self.slack

    @property
    def is_proven(self) -> bool:
        """Whether no choice has a larger value than the best one found."""
        return self.bound <= self.value + (0.5 if self.grain else 2.0) * self.slack

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
        if value > self.value + self.slack:
            self.value, self.chosen = value, np.sort(chosen)

    def tighten(self, bound: float) -> None:
        """Take an upper bound, rounded down to a value that can occur.

        Candidates are dropped because no choice worth the cutoff needs them, so no bound holds for values under it.
        """
        bound = max(bound, self.cutoff)
        if self.grain:
            bound = float(np.floor((bound + 0.25 * self.slack) / self.grain) * self.grain)
        self.bound = max(min(self.bound, bound), self.value)

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
