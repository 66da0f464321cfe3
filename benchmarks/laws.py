"""Problems with a known law: rows, a background, and the truth on as many new rows as one likes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

KINDS = (
    "plain",
    "60 rows",
    "20 classes",
    "98% in one class",
    "14 groups",
    "40 groups",
    "groups of equal rows",
    "groups of informative sizes",
    "population of 40 rows",
    "copied rows",
    "copied rows, jittered",
    "coin, groups of equal rows",
    "coin, copied rows",
    "background of another population",
    "unrealistic draws",
)
# Kinds that differ from others in the background alone.
OF_BACKGROUND = ("background of another population", "unrealistic draws")
N_GROUPS = {
    "14 groups": 14,
    "40 groups": 40,
    "groups of equal rows": 60,
    "groups of informative sizes": 60,
    "coin, groups of equal rows": 60,
}
N_ROWS = {"60 rows": 60, "20 classes": 400}
N_NEW = 10_000
ROWS_PER_GROUP = 8
# Copied rows come in this many copies on average, and are jittered by as much.
N_COPIES, JITTER = 5, 1e-9

Law = Callable[[np.ndarray], np.ndarray]


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

    law: Law
    rows: np.ndarray
    background: np.ndarray
    new: np.ndarray
    groups: np.ndarray | None
    new_groups: np.ndarray | None

    def agreement(self, answers: np.ma.MaskedArray) -> float:
        """Return the true share of right answers on new rows; with groups, of a random row of a random group."""
        answered, right = self._compare(answers)
        if self.new_groups is None or not answered.any():
            return self.row_agreement(answers)
        size = np.bincount(self.new_groups[answered])
        n_right = np.bincount(self.new_groups[answered], weights=right[answered])
        return float((n_right[size > 0] / size[size > 0]).mean())

    def row_agreement(self, answers: np.ma.MaskedArray) -> float:
        """Return the true share of right answers on new rows, whatever their groups."""
        answered, right = self._compare(answers)
        return float(right[answered].mean()) if answered.any() else 1.0

    def _compare(self, answers: np.ma.MaskedArray) -> tuple[np.ndarray, np.ndarray]:
        return ~np.ma.getmaskarray(answers), np.ma.getdata(answers) == self.law(self.new)


def make_law(rng: np.random.Generator, n_classes: int) -> Law:
    """Return a rough law: the label of the nearest of random centers, with waves that boxes cannot follow."""
    centers, labels = rng.normal(size=(3 * n_classes, 4)), rng.integers(n_classes, size=3 * n_classes)
    direction = rng.normal(size=4) * rng.uniform(0, 3)

    def law(X: np.ndarray) -> np.ndarray:
        bent = X[:, :4] + 0.5 * np.sin(X[:, :4] @ direction)[:, None]
        return labels[((bent[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)]

    return law


def make_majority(rng: np.random.Generator) -> Law:
    """Return a law that gives one label to about 98% of standard normal rows."""
    direction = rng.normal(size=4)
    height = 2.05 * np.linalg.norm(direction)
    return lambda X: (X[:, :4] @ direction + np.sin(3 * X[:, 0]) > height).astype(int)


def toss_coin(X: np.ndarray) -> np.ndarray:
    """Return a label that no explainer can learn, and that rows with a tiny jitter share."""
    return np.floor(1e4 * X[:, 0] + 0.5).astype(int) % 2


def make_problem(kind: str, seed: int) -> Problem:
    """Return a problem of one kind."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    n_columns = int(rng.integers(4, 9))
    law = make_law(rng, 20 if kind == "20 classes" else int(rng.integers(2, 6)))
    if kind == "98% in one class":
        law = make_majority(rng)
    if kind.startswith("coin"):
        law = toss_coin
    n_rows, n_groups = N_ROWS.get(kind, 300), N_GROUPS.get(kind)
    population = rng.normal(size=(40, n_columns))

    def draw(n_rows: int, n_groups: int | None) -> tuple[np.ndarray, np.ndarray | None]:
        if n_groups is not None:
            return draw_groups(kind, rng, n_groups, n_columns)
        if kind == "population of 40 rows":
            return population[rng.integers(len(population), size=n_rows)], None
        rows = rng.normal(size=(n_rows, n_columns))
        return (0.2 * rows + rows[:, :1] if kind == "unrealistic draws" else rows), None

    rows, groups = draw(n_rows, n_groups)
    new, new_groups = draw(N_NEW, None if n_groups is None else N_NEW // ROWS_PER_GROUP)
    background = draw(n_rows, n_groups)[0]
    if "copied" in kind:
        first = np.repeat(np.arange(n_rows // N_COPIES), rng.geometric(1 / N_COPIES, size=n_rows // N_COPIES))
        rows = rng.permutation(rows[first] + JITTER * kind.endswith("jittered") * rng.normal(size=(len(first), 1)))
    if kind == "population of 40 rows":
        # Rows of the background do not judge, and all rows of the population would be among them.
        background = background + 0.1 * rng.normal(size=background.shape)
    if kind == "background of another population":
        background = rng.uniform(-1.0, 1.0, size=background.shape)
    if kind == "unrealistic draws":
        background = np.column_stack([rng.permutation(column) for column in background.T])
    return Problem(law, rows, background, new, groups, new_groups)


def draw_groups(kind: str, rng: np.random.Generator, n_groups: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of groups that resemble each other or are equal, and the number of each row's group."""
    n_mean = 20 if kind == "14 groups" else ROWS_PER_GROUP
    size, scale = np.full(n_groups, n_mean), np.ones(n_groups)
    if kind == "groups of informative sizes":
        # A tenth of the groups is large, and lies where labels change often.
        size = np.where(rng.random(n_groups) < 0.1, 40, rng.integers(1, 9, size=n_groups))
        scale = np.where(size == 40, 0.5, 1.5)
    groups = np.repeat(np.arange(n_groups), size)
    centers = scale[:, None] * rng.normal(size=(n_groups, n_columns))
    spread = 0.0 if "equal rows" in kind else 0.3
    return centers[groups] + spread * rng.normal(size=(len(groups), n_columns)), groups
