"""Draws around rows, labelled by the black box."""

from dataclasses import dataclass, replace

import numpy as np

from oleander.arrays import Floats, Ints, Labels
from oleander.black_box.counting import CountingBlackBox
from oleander.data.schema import FeatureSchema
from oleander.draws.densities import draw_forest, draw_mixture
from oleander.draws.jitter import draw_jitter
from oleander.draws.options import Draws
from oleander.explainers.base import encode_labels
from oleander.running.progress import tell_progress

# Answers come in batches of this size, so that a checkpoint keeps what was asked before an interrupt.
BATCH = 5_000


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
    """

    schema: FeatureSchema
    values: Floats
    classes: Labels
    codes: Ints
    parents: Ints | None

    @property
    def n_classes(self) -> int:
        """The number of distinct answers."""
        return len(self.classes)

    def encode(self, labels: Labels) -> Ints:
        """Return the positions of labels among the classes; -1 for a label that no draw has."""
        place = {label: code for code, label in enumerate(self.classes.tolist())}
        return np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)

    def with_parents(self, point_of_row: Ints) -> "LabelledDraws":
        """Return the draws with points in the place of rows as parents."""
        assert self.parents is not None
        return replace(self, parents=point_of_row[self.parents])

    def take(self, draws: Ints) -> "LabelledDraws":
        """Return some of the draws, with the same classes."""
        parents = None if self.parents is None else self.parents[draws]
        return LabelledDraws(self.schema, self.values[draws], self.classes, self.codes[draws], parents)


def draw_and_ask(rows: Floats, black_box: CountingBlackBox, draws: Draws, n_draws: int, seed: int) -> LabelledDraws:
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
    classes, codes = encode_labels(np.concatenate(answers))
    return LabelledDraws(schema, values, classes, codes, parents)
