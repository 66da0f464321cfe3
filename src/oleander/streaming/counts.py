"""Counts of what explainers say of rows, added up block by block, and the figures that follow from them."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from oleander.judging.certificate import Certificate
from oleander.results.accuracy import Accuracy
from oleander.results.evaluation import Evaluation, evaluate_counts
from oleander.results.ranges import Ranges
from oleander.streaming.sample_size import promise

Counted = NDArray[np.int64]
# Rows are counted apart by their part in the fit.
LEARNED, HELD, OUTSIDE = range(3)


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of what explainers say; each array has a column for rows learned from, held out, and not in the sample.

    Parameters
    ----------
    rows, unread, answered, right, conflicts : int arrays of shape (3,)
        Rows; rows with values that the schema does not allow, which the black box is not asked about; rows that are
        answered; rows that are answered as the black box does; rows on which explainers disagree.
    covered, agreed : int arrays of shape (n_explainers, 3)
    classes : mapping of label to int array of shape (3,)
        For each label of the black box, or the position of each range of its numbers: its rows, those answered, and
        those answered as it does.
    """

    rows: Counted
    unread: Counted
    answered: Counted
    right: Counted
    conflicts: Counted
    covered: Counted
    agreed: Counted
    classes: dict[Any, Counted]

    @classmethod
    def nothing(cls, n_explainers: int) -> Self:
        """Return the counts of no rows."""
        none, each = np.zeros(3, dtype=np.int64), np.zeros((n_explainers, 3), dtype=np.int64)
        return cls(none, none, none, none, none, each, each, {})

    def __add__(self, other: Self) -> "Counts":
        sums = {name: getattr(self, name) + getattr(other, name) for name in ARRAYS}
        labels = {**self.classes, **other.classes}
        none = np.zeros(3, dtype=np.int64)
        return Counts(**sums, classes={x: self.classes.get(x, none) + other.classes.get(x, none) for x in labels})

    def evaluation(self, complexity: list[int], ranges: Ranges | None = None) -> Evaluation:
        """Return coverage and fidelity on all rows that were counted; numbers are counted in ranges."""
        labels = sorted(self.classes)
        return evaluate_counts(
            n_rows=int(self.rows.sum()),
            n_answered=int(self.answered.sum()),
            n_right=int(self.right.sum()),
            n_conflicts=int(self.conflicts.sum()),
            covered=self.covered.sum(axis=1),
            agreed=self.agreed.sum(axis=1),
            complexity=complexity,
            labels=np.array(labels) if ranges is None else ranges.names[labels],
            classes=np.array([self.classes[label] for label in labels]).reshape(-1, 3),
        )

    @property
    def n_asked(self) -> int:
        """The number of rows that the black box was asked about: those outside the sample."""
        return int(self.rows[OUTSIDE] - self.unread[OUTSIDE])

    @property
    def n_new(self) -> int:
        """Rows that were not learned from."""
        return int(self.rows[[HELD, OUTSIDE]].sum())

    def accuracy(self, epsilon: float, delta: float, n_sample: int, n_candidates: int | None) -> Accuracy:
        """Return the accuracy of the held-out rows; without a number of candidates nothing is promised."""
        n_judged, n_others = int(self.rows[HELD]), int(self.rows[OUTSIDE])
        return Accuracy(
            n_rows=int(self.rows.sum()),
            n_sample=n_sample,
            n_judged=n_judged,
            n_unread=int(self.unread.sum()),
            epsilon=epsilon,
            delta=delta,
            promised=float("nan") if n_candidates is None else promise(n_judged, n_others, delta, n_candidates),
            seen=self.furthest(),
        )

    def certificate(self, confidence: float) -> Certificate:
        """Return what the rows that were not learned from allow to be claimed."""
        new = [HELD, OUTSIDE]
        pairs = zip(self.agreed[:, new].sum(axis=1), self.covered[:, new].sum(axis=1), strict=True)
        n_answered = int(self.answered[new].sum())
        return Certificate.of_counts(
            [(int(n_right), int(n_rows)) for n_right, n_rows in pairs],
            coverage=(n_answered, self.n_new),
            answers=(int(self.right[new].sum()), n_answered),
            confidence=confidence,
        )

    def furthest(self) -> float:
        """Return the largest distance of a held-out share from that of all rows that were not learned from."""
        if not self.rows[HELD]:
            return float("nan")
        counts = np.vstack([self.answered, self.right, self.covered, self.agreed])
        # Rows that cannot be read are in no sample.
        read = self.rows - self.unread
        held = counts[:, HELD] / read[HELD]
        new = counts[:, [HELD, OUTSIDE]].sum(axis=1) / read[[HELD, OUTSIDE]].sum()
        return float(np.abs(held - new).max())

    def to_dict(self) -> dict[str, Any] | None:
        """Return plain data for JSON; None where JSON has no word for the labels."""
        labels = [label.item() if isinstance(label, np.generic) else label for label in self.classes]
        if any(type(label) not in (str, int, float, bool) for label in labels):
            return None
        classes = [[label, *map(int, counts)] for label, counts in zip(labels, self.classes.values(), strict=True)]
        return {**{name: getattr(self, name).tolist() for name in ARRAYS}, "classes": classes}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote."""
        arrays = {name: np.array(data[name], dtype=np.int64) for name in ARRAYS}
        each = (-1, 3)
        arrays |= {name: arrays[name].reshape(each) for name in ("covered", "agreed")}
        classes = {label: np.array(counts, dtype=np.int64) for label, *counts in data["classes"]}
        return cls(**arrays, classes=classes)


ARRAYS = tuple(field.name for field in fields(Counts) if field.name != "classes")
