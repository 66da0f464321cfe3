"""A lesson: the draws that every student learns from, and the rows that judge it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.measuring import WatchedBlackBox
from benchmarks.rivals.base import draw_and_ask
from oleander.arrays import Floats, Ints
from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.draws.labelled import LabelledDraws
from oleander.fitting.rule_sequence import SHARE_HELD


@dataclass(frozen=True, eq=False)
class Lesson:
    """Draws of the default, judging rows and new rows."""

    draws: LabelledDraws
    # Draws that tune and order; the others are learned from, of shape (n_draws,).
    is_held: np.ndarray
    # The judging rows.
    rows: Rows
    # Of shape (n_points,).
    row_codes: Ints
    # Rows to measure on, and codes of the black box's answers.
    new: Floats
    truth: Ints
    code_of_label: dict[Any, int]
    # Rows that were sent to the black box before anything was learned; new rows are not counted.
    n_queries: int
    seed: int

    @classmethod
    def draw(cls, case: Case, n_draws: int) -> "Lesson":
        """Draw from the background of a case and ask its black box."""
        schema, watched = case.schema, WatchedBlackBox(case.black_box)
        counting = CountingBlackBox(BlackBox(watched, schema))
        groups = None if case.groups is None else case.groups.to_numpy()
        rows = label_rows(schema.encode(case.explain), counting, groups=groups, merge=False)
        draws = draw_and_ask(schema.encode(case.train), counting, n_draws, case.seed)
        is_held = np.zeros(n_draws, dtype=bool)
        is_held[np.random.default_rng(case.seed).permutation(n_draws)[: round(SHARE_HELD * n_draws)]] = True
        place = {label: code for code, label in enumerate(draws.classes.tolist())}

        def encode(labels: Any) -> Ints:
            # A label that no draw has is a class of its own, which no student can say.
            return np.array([place.setdefault(label, len(place)) for label in np.asarray(labels).tolist()])

        row_codes, truth = encode(rows.labels), encode(case.black_box.predict(case.test))
        new = schema.encode(case.test)
        return cls(draws, is_held, rows, row_codes, new, truth, place, watched.n_rows, case.seed)

    def save(self, path: Path, *, max_rules: int, is_tiny: bool) -> None:
        """Write what a worker needs, as plain numbers without gaps."""
        widen = Widening.learn(self.draws.values, self.rows.schema).apply
        held = self.is_held
        np.savez(
            path,
            X=widen(self.draws.values[~held]),
            y=self.draws.codes[~held],
            held=widen(self.draws.values[held]),
            held_codes=self.draws.codes[held],
            judged=widen(self.rows.values),
            new=widen(self.new),
            max_rules=max_rules,
            seed=self.seed,
            is_tiny=is_tiny,
        )


@dataclass(frozen=True, eq=False)
class Widening:
    """Encoded rows as plain numbers, without gaps.

    A level is a column of its own; a missing number is the median, and a further column says so.
    """

    schema: FeatureSchema
    # Of shape (n_features,).
    medians: Floats
    # Of shape (n_features,).
    has_missing: np.ndarray

    @classmethod
    def learn(cls, values: Floats, schema: FeatureSchema) -> "Widening":
        """Learn the medians, and which columns have gaps, from draws."""
        missing = np.isnan(values)
        filled = np.where(missing.all(axis=0), 0.0, values)
        return cls(schema, np.nanmedian(filled, axis=0), missing.any(axis=0))

    def apply(self, values: Floats) -> Floats:
        """Return rows of plain numbers."""
        columns = []
        for j, feature in enumerate(self.schema):
            column = values[:, j]
            if not feature.is_number:
                columns += [column == code for code in range(len(feature.levels))]
                continue
            columns.append(np.where(np.isnan(column), self.medians[j], column))
            if self.has_missing[j]:
                columns.append(np.isnan(column))
        return np.column_stack(columns).astype(float)
