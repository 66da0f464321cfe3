"""Draws around rows, labelled by the black box."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.black_box.counting import CountingBlackBox
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance, agrees
from oleander.draws.densities import draw_forest, draw_mixture
from oleander.draws.jitter import draw_jitter
from oleander.draws.numbers import choose_tolerance, cut_into_bins, find_constants, find_nearest
from oleander.draws.options import Draws
from oleander.explainers.base import encode_labels
from oleander.running.progress import tell_progress

# Answers come in batches of this size, so that a checkpoint keeps what was asked before an interrupt.
BATCH = 5_000
# Constants against the rest: this many for each window of twice the tolerance, and no more in all.
WINDOW_TARGETS, MOST_TARGETS = 1, 24


@dataclass(frozen=True, eq=False)
class LabelledDraws:
    """Synthetic rows with the black box's answers.

    Parameters
    ----------
    schema : FeatureSchema
    values : array of shape (n_draws, n_features)
    classes : array of shape (n_classes,)
        The distinct answers for draws.
    codes : int array of shape (n_draws,)
        Positions in ``classes``.
    parents : int array of shape (n_draws, 2) or None
        The rows between which each draw lies; None where draws have no parents.
    truth : array of shape (n_draws,) or None
        The answers where they are numbers. Then ``classes`` are the constants that an explainer may say, and ``codes``
        the nearest of them.
    tolerance : Tolerance or None
        How near a constant must be to agree; None for labels.
    """

    schema: FeatureSchema
    values: Floats
    classes: Labels
    codes: Ints
    parents: Ints | None
    truth: Floats | None = None
    tolerance: Tolerance | None = None

    @property
    def n_classes(self) -> int:
        """The number of distinct answers."""
        return len(self.classes)

    def find_right(self, draws: Ints) -> Bools:
        """Return a mask of shape (n_classes, n_draws): which answer agrees with the black box on which draw."""
        if self.truth is None:
            return np.asarray(self.codes[draws] == np.arange(self.n_classes)[:, None])
        return agrees(self.classes[:, None], self.truth[draws], self.tolerance)

    def is_right(self, said: Ints) -> Bools:
        """Return a mask of the draws on which an answer, given as a code for each draw, agrees with the black box."""
        if self.truth is None:
            return np.asarray(said == self.codes)
        return agrees(self.classes[said], self.truth, self.tolerance)

    def agrees(self, codes: Ints, labels: Labels) -> Bools:
        """Return a mask of the answers, given as codes, that agree with labels of rows; none for a code of -1."""
        if self.tolerance is not None:
            return (codes >= 0) & agrees(self.classes[codes], labels, self.tolerance)
        place = {label: code for code, label in enumerate(self.classes.tolist())}
        truth = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)
        return np.asarray((codes >= 0) & (codes == truth))

    def bin_answers(self, shift: float = 0.0) -> tuple[Ints, int]:
        """Return a code for each draw that trees are grown on, and the number of codes: labels, or bins of numbers.

        Parameters
        ----------
        shift : float
            Where the first bin of numbers begins, in units of a bin.
        """
        if self.truth is None or self.tolerance is None:
            return self.codes, self.n_classes
        return cut_into_bins(self.truth, self.tolerance, shift)

    def list_targets(self, draws: Ints) -> Iterator[Ints]:
        """Yield 1 where an answer is right and 0 elsewhere: for each label, or for constants whose windows touch."""
        right = self.find_right(draws)
        if self.truth is None or self.tolerance is None:
            targets = np.arange(self.n_classes) if self.n_classes > 2 else np.arange(0)
        else:
            windows = np.floor(self.tolerance.to_windows(self.classes) * WINDOW_TARGETS)
            targets = np.unique(windows, return_index=True)[1]
            targets = targets[np.linspace(0, len(targets) - 1, min(len(targets), MOST_TARGETS)).astype(np.intp)]
        for is_right in right[targets]:
            if 0 < is_right.sum() < len(draws):
                yield is_right.astype(np.intp)

    def with_tolerance(self, tolerance: Tolerance) -> "LabelledDraws":
        """Return draws with numbers as answers under another tolerance."""
        assert self.truth is not None
        classes = find_constants(self.truth, tolerance)
        return replace(self, classes=classes, codes=find_nearest(self.truth, classes), tolerance=tolerance)

    def with_parents(self, point_of_row: Ints) -> "LabelledDraws":
        """Return the draws with points in the place of rows as parents."""
        assert self.parents is not None
        return replace(self, parents=point_of_row[self.parents])

    def take(self, draws: Ints) -> "LabelledDraws":
        """Return some of the draws, with the same classes."""
        parents = None if self.parents is None else self.parents[draws]
        truth = None if self.truth is None else self.truth[draws]
        return replace(self, values=self.values[draws], codes=self.codes[draws], parents=parents, truth=truth)


def draw_and_ask(
    rows: Floats,
    black_box: CountingBlackBox,
    draws: Draws,
    n_draws: int,
    seed: int,
    tolerance: Tolerance | Literal["auto"] | None = None,
) -> LabelledDraws:
    """Draw synthetic rows around some rows and ask the black box about each.

    Parameters
    ----------
    rows : array of shape (n_rows, n_features)
        Encoded rows that show where data lie. They are never judged on.
    black_box : CountingBlackBox
    draws : Draws
    n_draws : int
        The number that ``max_queries`` allows.
    seed : int
    tolerance : Tolerance, "auto" or None
        None for labels.
    """
    schema, rng = black_box.schema, np.random.default_rng([seed, len(rows), n_draws])
    parents = None
    if draws.source == "jitter":
        values, parents = draw_jitter(rows, schema, n_draws, rng)
    elif draws.source == "mixture":
        values = draw_mixture(rows, schema, n_draws, rng)
    else:
        values = draw_forest(rows, schema, n_draws, rng)
    answers = []
    with tell_progress("asking about draws", n_draws) as tell:
        for start in range(0, n_draws, BATCH):
            answers.append(black_box.ask(values[start : start + BATCH]))
            tell(min(start + BATCH, n_draws), f"{black_box.n_queries:,} rows asked in all")
    truth = np.concatenate(answers)
    if tolerance is None:
        classes, codes = encode_labels(truth)
        return LabelledDraws(schema, values, classes, codes, parents)
    within = tolerance if isinstance(tolerance, Tolerance) else choose_tolerance(values, truth, seed)
    none = np.zeros(0, dtype=np.intp)
    return LabelledDraws(schema, values, np.empty(0), none, parents, truth).with_tolerance(within)
