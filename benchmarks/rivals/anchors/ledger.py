"""The draws of rules and the black box's answers to them, shared by all searches.

The draws of a rule depend on the rule and the seed alone, so no search changes the result of another.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.rivals.anchors.predicates import Conjunction, Grid, Predicate
from oleander.arrays import Bools, Floats, Ints
from oleander.black_box.asking import CountingBlackBox
from oleander.data.rows import Rows
from oleander.rules.base import encode_labels

# A rule and the number of batches of its draws that are needed, from the first on.
Demand = tuple[Conjunction, int]


@dataclass(frozen=True, eq=False)
class Batch:
    """Draws for a rule: learning rows, in which a value that breaks a condition is replaced by one that keeps it."""

    # The learning row that each draw is made from, of shape (n_draws,).
    base: Ints
    # The draws whose value in a column is replaced, and the learning rows that the values come from.
    repairs: list[tuple[int, Ints, Ints]]
    # A mask of the draws with a replaced value, of shape (n_draws,).
    changed: Bools


class Ledger:
    """Draws for rules, a batch at a time, and the black box's labels for them.

    A draw without a replaced value is a learning row, whose label is known: the black box is not asked again.

    Parameters
    ----------
    rows : Rows
    grid : Grid
    black_box : CountingBlackBox
    seed : int
    batch_size : int
        The draws in a batch.
    max_call : int
        The most rows in one call of the black box.
    """

    def __init__(
        self,
        rows: Rows,
        grid: Grid,
        black_box: CountingBlackBox,
        seed: int,
        *,
        batch_size: int = 100,
        max_call: int = 100_000,
    ) -> None:
        self.rows, self.grid, self.black_box, self.seed = rows, grid, black_box, seed
        self.batch_size = batch_size
        self._batches_per_call = max(1, max_call // batch_size)
        self.classes, self.label_codes = encode_labels(rows.labels)
        self._index = pd.Index(self.classes)
        self._labels: dict[Conjunction, list[Ints]] = {}
        self._conditions: dict[Predicate, tuple[Bools, Ints]] = {}

    def labels(self, rule: Conjunction, n_batches: int) -> list[Ints]:
        """Return the label codes of the rule's first batches; -1 is a label that no learning row has."""
        return self._labels.get(rule, [])[:n_batches]

    def fill(self, demands: Iterable[Demand]) -> None:
        """Draw the batches that are missing, and ask the black box in as few calls as possible."""
        most: dict[Conjunction, int] = {}
        for rule, n_batches in demands:
            most[rule] = max(n_batches, most.get(rule, 0))
        todo = [(rule, k) for rule, n in most.items() for k in range(len(self._labels.get(rule, ())), n)]
        for start in range(0, len(todo), self._batches_per_call):
            self._ask(todo[start : start + self._batches_per_call])

    def _ask(self, todo: list[Demand]) -> None:
        batches = [self.draw(rule, number) for rule, number in todo]
        labels = self.label_codes[np.concatenate([batch.base for batch in batches])]
        is_new = np.concatenate([batch.changed for batch in batches])
        if is_new.any():
            new = np.concatenate([self._values(batch) for batch in batches])
            labels[is_new] = self._index.get_indexer(self.black_box.ask(new))
        for (rule, _), answers in zip(todo, labels.reshape(len(todo), -1), strict=True):
            self._labels.setdefault(rule, []).append(answers)

    def _values(self, batch: Batch) -> Floats:
        """Return the draws that are not learning rows."""
        values = self.rows.values
        draws = values[batch.base]
        for column, where, sources in batch.repairs:
            draws[where, column] = values[sources, column]
        return draws[batch.changed]

    def draw(self, rule: Conjunction, number: int) -> Batch:
        """Return a batch of the rule's draws: the same one every time."""
        key = f"{self.seed} {number} {rule}".encode()
        rng = np.random.default_rng(int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "little"))
        again = self.rows.point_of_row
        base = again[rng.integers(len(again), size=self.batch_size)]
        changed = np.zeros(self.batch_size, dtype=bool)
        repairs = []
        for predicate in rule:
            allows, sources = self.condition(predicate)
            breaks = ~allows[base]
            changed |= breaks
            where = np.flatnonzero(breaks)
            repairs.append((predicate[0], where, sources[rng.integers(len(sources), size=len(where))]))
        return Batch(base, repairs, changed)

    def fulfils(self, rule: Conjunction, n_batches: int, usable: Ints) -> Bools:
        """Return a mask of the rule's first draws that fulfil each predicate, of shape (n_usable, n_draws)."""
        fulfils = self.grid.fulfils[usable]
        column_of = np.array([self.grid.predicates[predicate][0] for predicate in usable])
        found = []
        for batch in (self.draw(rule, number) for number in range(n_batches)):
            drawn = fulfils[:, batch.base]
            for column, where, sources in batch.repairs:
                lines = np.flatnonzero(column_of == column)
                drawn[np.ix_(lines, where)] = fulfils[np.ix_(lines, sources)]
            found.append(drawn)
        return np.concatenate([np.zeros((len(usable), 0), dtype=bool), *found], axis=1)

    def condition(self, predicate: Predicate) -> tuple[Bools, Ints]:
        """Return a mask of the points that fulfil a predicate, and their indices, one for each of the user's rows."""
        if predicate not in self._conditions:
            allows = self.grid.allows(predicate)
            again = self.rows.point_of_row
            self._conditions[predicate] = allows, again[allows[again]]
        return self._conditions[predicate]
