"""Problems with a known law: rows, a background, and the truth on as many new rows as one likes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

KINDS = (
    "plain",
    "60 rows",
    "20 classes",
    "14 groups",
    "40 groups",
    "groups of equal rows",
    "duplicates",
    "background of another population",
    "background of shuffled columns",
)
N_GROUPS = {"14 groups": 14, "40 groups": 40, "groups of equal rows": 60}
N_ROWS = {"60 rows": 60, "20 classes": 400}
N_NEW = 20_000
ROWS_PER_NEW_GROUP = 10


@dataclass(frozen=True, eq=False)
class Problem:
    """A law and the rows on which it is explained and measured.

    Parameters
    ----------
    law : callable
        Rows in, labels out.
    rows, background, new : arrays
    groups, new_groups : int arrays or None
    """

    law: Callable[[np.ndarray], np.ndarray]
    rows: np.ndarray
    background: np.ndarray
    new: np.ndarray
    groups: np.ndarray | None
    new_groups: np.ndarray | None

    def agreement(self, answers: np.ma.MaskedArray) -> float:
        """Return the true share of right answers on new rows; with groups, of a random row of a random group."""
        answered = ~np.ma.getmaskarray(answers)
        right = np.ma.getdata(answers) == self.law(self.new)
        if not answered.any():
            return 1.0
        if self.new_groups is None:
            return float(right[answered].mean())
        size = np.bincount(self.new_groups[answered])
        n_right = np.bincount(self.new_groups[answered], weights=right[answered])
        return float((n_right[size > 0] / size[size > 0]).mean())


def make_law(rng: np.random.Generator, n_classes: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return a rough law: the label of the nearest of random centers, with waves that boxes cannot follow."""
    centers, labels = rng.normal(size=(3 * n_classes, 4)), rng.integers(n_classes, size=3 * n_classes)
    direction = rng.normal(size=4) * rng.uniform(0, 3)

    def law(X: np.ndarray) -> np.ndarray:
        bent = X[:, :4] + 0.5 * np.sin(X[:, :4] @ direction)[:, None]
        return labels[((bent[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)]

    return law


def make_problem(kind: str, seed: int) -> Problem:
    """Return a problem of one kind."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    n_columns = int(rng.integers(4, 9))
    law = make_law(rng, 20 if kind == "20 classes" else int(rng.integers(2, 6)))
    support = rng.normal(size=(40, n_columns))

    def draw(n_rows: int, n_groups: int | None) -> tuple[np.ndarray, np.ndarray | None]:
        if kind == "duplicates":
            return support[rng.integers(len(support), size=n_rows)], None
        if n_groups is None:
            return rng.normal(size=(n_rows, n_columns)), None
        groups = np.repeat(np.arange(n_groups), max(1, n_rows // n_groups))
        spread = 0.0 if kind == "groups of equal rows" else 0.3
        centers = rng.normal(size=(n_groups, n_columns))
        return centers[groups] + spread * rng.normal(size=(len(groups), n_columns)), groups

    n_rows, n_groups = N_ROWS.get(kind, 300), N_GROUPS.get(kind)
    rows, groups = draw(n_rows, n_groups)
    new, new_groups = draw(N_NEW, None if n_groups is None else N_NEW // ROWS_PER_NEW_GROUP)
    background = draw(n_rows, n_groups)[0] + 1e-6 * rng.normal(size=n_columns)
    if kind == "background of another population":
        background = rng.uniform(-1.0, 1.0, size=background.shape)
    if kind == "background of shuffled columns":
        background = 0.5 * np.column_stack([rng.permutation(column) for column in background.T])
    return Problem(law, rows, background, new, groups, new_groups)
