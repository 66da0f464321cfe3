"""Evidence that gathers batch by batch, and may be looked at after each of them, for ever."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from oleander.arrays import Floats
from oleander.messages import Shown

State = Literal["well", "suspicion", "alarm"]
# Shares of correct rows that would explain a broken floor, as parts of the floor: from hardly under it to far under it.
PARTS = np.array([0.98, 0.96, 0.93, 0.89, 0.83, 0.75, 0.6, 0.4, 0.2])
# How the chance of a false alarm is divided: agreement, coverage, and all rules together.
SHARES = {"agreement": 0.5, "coverage": 0.25, "rules": 0.25}
# Evidence is suspicious from this share of an alarm's on.
SUSPICIOUS = 0.1


@dataclass(frozen=True)
class Batch:
    """Counts of one batch of new rows. Nothing else is kept of it."""

    # Such as its day.
    name: str
    # All rows, those with an answer, and those on which it is the black box's.
    n_rows: int
    n_answered: int
    n_right: int
    # For each rule the rows where it holds, and those of them on which it matches the black box.
    rules: tuple[tuple[int, int], ...]

    def check(self) -> None:
        """Raise ``ValueError`` where the counts contradict each other."""
        pairs = [(self.n_answered, self.n_rows), (self.n_right, self.n_answered)]
        pairs += [pair for n_rows, n_right in self.rules for pair in ((n_right, n_rows), (n_rows, self.n_answered))]
        if any(not 0 <= part <= whole for part, whole in pairs):
            raise ValueError(f"the counts of batch {self.name!r} are impossible: a part is larger than its whole.")


@dataclass(frozen=True)
class Evidence:
    """How strongly the batches so far speak against a floor."""

    # "agreement", "coverage", or the number of a rule, from 1.
    about: str
    # The share that is promised.
    floor: float
    # Rows that keep the promise, and all rows that it is about.
    n_right: int
    n_rows: int
    # The logarithm of the evidence after each batch.
    path: Floats
    # The probability of an alarm, ever, while the floor holds.
    level: float

    @property
    def title(self) -> str:
        """What it is about, in words: "agreement", "coverage" or "rule 3"."""
        return f"rule {self.about}" if self.about.isdecimal() else self.about

    @property
    def shares(self) -> Floats:
        """The evidence after each batch, as a share of what raises an alarm."""
        return np.exp(self.path) * self.level

    @property
    def state(self) -> State:
        """What the evidence says now; an alarm stays."""
        if self.alarm is not None:
            return "alarm"
        return "suspicion" if len(self.path) and self.path[-1] >= np.log(SUSPICIOUS / self.level) else "well"

    @property
    def alarm(self) -> int | None:
        """The first batch after which there is an alarm; None if there is none."""
        over = np.flatnonzero(self.path >= -np.log(self.level))
        return int(over[0]) if len(over) else None


@dataclass(frozen=True)
class Watched(Shown):
    """What all batches so far say: of the agreement, of the coverage, and of each rule."""

    evidence: tuple[Evidence, ...]
    batches: tuple[Batch, ...]

    @property
    def state(self) -> State:
        """The worst state of all."""
        states = [one.state for one in self.evidence]
        return "alarm" if "alarm" in states else "suspicion" if "suspicion" in states else "well"


def gather(n_right: Any, n_rows: Any, floor: float) -> Floats:
    """Return the logarithm of the evidence against a floor after each batch: an e-process.

    For a share q under the floor φ, the product of q / φ for correct rows and (1 - q) / (1 - φ) for others has a mean
    of at most 1 while the floor holds. The evidence is a mean of such products: over the shares in ``PARTS``, and over
    the batch k before which the share fell, with the weight 1 / (k (k + 1)) (docs/mathematics.md). Correct rows and all
    rows have shape (n_batches, ...), and further axes are processes of their own.

    >>> path = gather([92] * 30 + [80] * 3, [100] * 33, 0.9)
    >>> bool(path[29] < 0), bool(path[-1] > np.log(20))
    (True, True)
    """
    right, rows = np.asarray(n_right, dtype=float), np.asarray(n_rows, dtype=float)
    shares = (PARTS * floor).reshape(-1, *[1] * (right.ndim - 1))
    with np.errstate(divide="ignore"):
        of_right, of_wrong = np.log(shares / floor), np.log((1 - shares) / (1 - floor))
    mass, path = np.full((len(shares), *right.shape[1:]), -np.inf), np.zeros(right.shape)
    for number in range(1, len(rows) + 1):
        n_correct, n_wrong = right[number - 1], rows[number - 1] - right[number - 1]
        begun = np.logaddexp(mass, -np.log(number * (number + 1.0) * len(shares)))
        # No wrong row has no factor, also where a floor of 1 makes it infinite.
        mass = begun + n_correct * of_right + np.where(n_wrong > 0, np.maximum(n_wrong, 1.0) * of_wrong, 0.0)
        path[number - 1] = np.logaddexp(np.logaddexp.reduce(mass, axis=0), -np.log(number + 1.0))
    return path


def watch(batches: Sequence[Batch], n_rules: int, *, floor: float, min_coverage: float, level: float) -> Watched:
    """Return what the batches say; all alarms together are false with a probability of at most ``level``, ever."""
    promises: dict[str, tuple[float, float, list[tuple[int, int]]]] = {
        "agreement": (floor, SHARES["agreement"], [(one.n_answered, one.n_right) for one in batches]),
        "coverage": (min_coverage, SHARES["coverage"], [(one.n_rows, one.n_answered) for one in batches]),
    }
    for rule in range(n_rules):
        promises[str(rule + 1)] = floor, SHARES["rules"] / n_rules, [one.rules[rule] for one in batches]
    found = []
    for about, (promised, share, counts) in promises.items():
        n_rows, n_right = np.array(counts, dtype=np.intp).reshape(-1, 2).T
        path = gather(n_right, n_rows, promised)
        found.append(Evidence(about, promised, int(n_right.sum()), int(n_rows.sum()), path, level * share))
    return Watched(tuple(found), tuple(batches))
