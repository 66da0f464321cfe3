"""What is known while a solve is under way: the best choice, the bound, the time left, what each stage did.

Solvers write here as they go, so that a time limit or Ctrl-C at any moment leaves an answer with its gap.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.selection.model import CoverageModel, grain_of


@dataclass(frozen=True)
class StageRecord:
    """What one stage of a solve did.

    Attributes
    ----------
    name : str
    runtime : float
        Seconds.
    n_merged : int
        Points that the stage merged or found covered by nobody.
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
    """What a progress callback is told: the stage, seconds since the start, best value and bound."""

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


def value_slack(weights: Floats) -> float:
    """Return by how much two values may differ and still count as equal.

    Whole numbers are summed without error, so next to nothing; other weights are compared to a millionth of
    their sum, which is as far as a linear programming solver can be trusted.

    Examples
    --------
    >>> value_slack(np.ones(2)), value_slack(np.full(4, 0.5))
    (2e-09, 2e-06)
    """
    return (1e-9 if grain_of(weights) else 1e-6) * max(1.0, float(weights.sum()))


class Run:
    """The state of one solve.

    Parameters
    ----------
    grain : float
        The step between values that can occur, 0 if there is none.
    slack : float
        The rounding error that a value may carry.
    time_limit : float
        Seconds.
    gap : float
        The relative gap at which to stop.
    target : float
        A value that is enough; values under it do not matter.
    progress : callable, optional
    """

    def __init__(
        self,
        *,
        grain: float,
        slack: float,
        time_limit: float = np.inf,
        gap: float = 0.0,
        target: float = -np.inf,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.grain, self.slack, self.gap, self.target = grain, slack, gap, target
        self.progress = progress
        self.started = time.monotonic()
        self.deadline = self.started + time_limit
        self.best: tuple[float, tuple[int, ...]] = (-np.inf, ())
        self.bound = np.inf
        self.stages: list[StageRecord] = []
        self.stage_name = "start"
        self._next_report = self.started

    @classmethod
    def of(cls, model: CoverageModel) -> "Run":
        """Return a run without limits for this model, as one stage used by itself needs it."""
        return cls(grain=model.grain, slack=value_slack(model.weights))

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
        """The least value worth looking for."""
        allowed = self.gap * abs(self.value) if self.value > -np.inf else 0.0
        return max(self.value + max(self.step, allowed), self.target - self.slack)

    @property
    def is_settled(self) -> bool:
        """Whether nothing worth looking for is left."""
        return self.bound <= self.cutoff + 0.25 * self.slack or self.value >= self.target - self.slack > -np.inf

    @property
    def runtime(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def time_left(self) -> float:
        """Seconds until the time limit, not under zero."""
        return max(0.0, self.deadline - time.monotonic())

    def should_stop(self) -> bool:
        """Return whether to stop now, and let the progress callback know where we are."""
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

        Candidates are dropped because nothing worth the cutoff needs them, so no bound speaks of values
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
