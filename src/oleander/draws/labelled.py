"""Draws around rows, labelled by the black box."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance, agrees
from oleander.draws.between_neighbours import draw_jitter
from oleander.rules.base import encode_labels
from oleander.rules.constant import choose_tolerance, cut_into_bins, find_constants
from oleander.rules.line import Line


@dataclass(frozen=True, eq=False)
class LabelledDraws:
    """Synthetic rows with the black box's answers."""

    schema: FeatureSchema
    values: Floats
    # The distinct labels, or the constants that an explainer may answer with; each draw has its own or the nearest.
    classes: Labels
    codes: Ints
    # The rows between which each draw lies, of shape (n_draws, 2); None where they are unknown.
    parents: Ints | None
    # The answers where they are numbers, and how near a constant must be to agree.
    truth: Floats | None = None
    tolerance: Tolerance | None = None
    # Further answers that an explainer may give where they are numbers; their codes follow those of ``classes``.
    lines: tuple[Line, ...] = ()

    @classmethod
    def read(
        cls,
        schema: FeatureSchema,
        values: Floats,
        answers: Labels,
        parents: Ints | None,
        seed: int,
        tolerance: Tolerance | Literal["auto"] | None = None,
    ) -> Self:
        """Return draws with the black box's answers: labels, or numbers with a tolerance, which "auto" chooses."""
        if tolerance is None:
            return cls(schema, values, *encode_labels(answers), parents)
        within = choose_tolerance(values, answers, seed) if tolerance == "auto" else tolerance
        draws = cls(schema, values, np.empty(0), np.zeros(0, dtype=np.intp), parents, answers)
        return draws.with_tolerance(within)

    @property
    def n_answers(self) -> int:
        """The number of answers that an explainer may give."""
        return len(self.classes) + len(self.lines)

    def count_terms(self) -> Ints:
        """Return the number of terms of each answer; 0 for a label or a constant."""
        return np.array([0] * len(self.classes) + [len(line.terms) for line in self.lines], dtype=np.intp)

    def find_right(self, draws: Ints) -> Bools:
        """Return a mask of shape (n_answers, n_draws): which answer agrees with the black box on which draw."""
        if self.truth is None:
            return np.asarray(self.codes[draws] == np.arange(self.n_answers)[:, None])
        right = self.list_right(range(self.n_answers), self.values[draws], self.truth[draws])
        return np.array(list(right)).reshape(self.n_answers, len(draws))

    def list_right(self, codes: Iterable[int], values: Floats, labels: Labels) -> Iterator[Bools]:
        """Yield for each answer, given as a code, a mask of the rows on which it agrees with the black box."""
        if self.tolerance is None:
            found, positions = encode_labels(labels)
            place, classes = {label: number for number, label in enumerate(found.tolist())}, self.classes.tolist()
            yield from (np.asarray(positions == place.get(classes[code], len(place))) for code in codes)
            return
        for code in codes:
            is_constant = code < len(self.classes)
            said = self.classes[code] if is_constant else self.lines[code - len(self.classes)].predict(values)
            yield agrees(said, labels, self.tolerance)

    def bin_answers(self, shift: float = 0.0) -> tuple[Ints, int]:
        """Return the codes that trees are grown on, one for each draw, and their number: labels, or bins of numbers."""
        if self.truth is None or self.tolerance is None:
            return self.codes, self.n_answers
        return cut_into_bins(self.truth, self.tolerance, shift)

    def list_targets(self, draws: Ints) -> Iterator[Ints]:
        """Yield 1 where a label is right and 0 elsewhere, for each of several labels; nothing for numbers."""
        for is_right in self.find_right(draws) if self.truth is None and self.n_answers > 2 else ():
            if is_right.any() and not is_right.all():
                yield is_right.astype(np.intp)

    def with_tolerance(self, tolerance: Tolerance) -> Self:
        """Return the same draws, whose answers are numbers, with another tolerance."""
        assert self.truth is not None
        classes = find_constants(self.truth, tolerance)
        # The constants are in ascending order: the nearest is that on this side of the middle between two.
        codes = np.searchsorted((classes[1:] + classes[:-1]) / 2, self.truth)
        return replace(self, classes=classes, codes=codes, tolerance=tolerance, lines=())

    def hide(self, names: Iterable[str]) -> Self:
        """Return the draws with one value in each of some columns, so that nothing can be learned from it."""
        columns = {self.schema.position(name) for name in names}
        if len(columns) == len(self.schema):
            raise ValueError("forbid names every column, so no rule could have a condition: leave one of them out.")
        values = self.values.copy() if columns else self.values
        for column in columns:
            known = values[~np.isnan(values[:, column]), column]
            values[:, column] = known[0] if len(known) else np.nan
        return replace(self, values=values)

    def take(self, draws: Ints) -> "LabelledDraws":
        """Return some of the draws, with the same classes."""
        parents = None if self.parents is None else self.parents[draws]
        truth = None if self.truth is None else self.truth[draws]
        return replace(self, values=self.values[draws], codes=self.codes[draws], parents=parents, truth=truth)


def draw_around(rows: Floats, schema: FeatureSchema, n_draws: int, seed: int) -> tuple[Floats, Ints]:
    """Return synthetic rows around some rows, encoded by the exact schema, and the two rows that each lies between."""
    return draw_jitter(rows, schema, n_draws, np.random.default_rng([seed, len(rows), n_draws]))


def take_as_draws(rows: Rows, seed: int, tolerance: Tolerance | Literal["auto"] | None = None) -> LabelledDraws:
    """Return labelled rows as draws, each of which is its own parent."""
    points = np.repeat(np.arange(rows.n_points), rows.weights)
    parents = np.column_stack([points, points])
    return LabelledDraws.read(rows.schema, rows.values[points], rows.labels[points], parents, seed, tolerance)
