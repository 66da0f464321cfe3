"""Problems with known truth: laws that rows, a background and as many new rows as one likes are drawn from.

A law is a family of populations, and every problem draws one of them with its own parameters.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal
from zlib import crc32

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

Label = Callable[[np.ndarray], np.ndarray]
# A number of rows in; rows, and the group of each row or None, out.
Draw = Callable[[int], tuple[np.ndarray, np.ndarray | None]]
Records = Literal["distinct", "repeated", "dependent"]
Way = Literal["background", "holdout", "folds", "Parquet", "Parquet, background"]

# With groups the number of rows is met on average, and at least 20,000 are wanted.
N_NEW = 22_000
# Rows of a file without a background, enough for some to make draws while the others certify.
N_IN_FILE = 6_000
ROWS_PER_GROUP = 8
# Copied rows come in this many copies on average.
N_COPIES = 5


@dataclass(frozen=True, eq=False)
class Population:
    """Where rows come from and what is explained."""

    # Rows in, labels out.
    label: Label
    draw: Draw
    # The number of rows of X.
    n_rows: int = 300
    # The kind of model that learns the labels on the background, or "function" for the labels themselves.
    black_box: str = "function"
    # Rows of X and background in; both as the fit gets them out, for samples that are not what they should be.
    change: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]] = lambda *both: both


@dataclass(frozen=True, eq=False)
class Problem:
    """A black box, and the rows on which it is explained and measured."""

    black_box: Callable[[Any], np.ndarray]
    rows: pd.DataFrame
    background: pd.DataFrame
    new: pd.DataFrame
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
        return ~np.ma.getmaskarray(answers), np.ma.getdata(answers) == self.black_box(self.new)


def make_problem(law: str, way: Way, seed: int) -> Problem:
    """Return a fresh problem of one law, with as many rows of X as a way of judging needs."""
    rng = np.random.default_rng([seed, crc32(f"{law}, {way}".encode())])
    population = LAWS[law].make(rng)
    n_rows = {"holdout": 2 * population.n_rows, "Parquet": N_IN_FILE}.get(way, population.n_rows)
    rows, groups = population.draw(n_rows)
    background, _ = population.draw(population.n_rows)
    label = train(population, background)
    rows, background = population.change(rows, background)
    new, new_groups = population.draw(N_NEW)
    rows, background, new = (pd.DataFrame(part).add_prefix("x") for part in (rows, background, new))
    return Problem(lambda X: label(np.asarray(X)), rows, background, new, groups, new_groups)


BLACK_BOXES: dict[str, Callable[[], Any]] = {
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=30, random_state=0),
    "forest": lambda: RandomForestClassifier(20, random_state=0),
    "logistic regression": lambda: LogisticRegression(max_iter=1_000),
}


def train(population: Population, rows: np.ndarray) -> Label:
    """Return what is explained: the labels themselves, or those of a model that learned them on these rows."""
    labels = population.label(rows)
    # No model learns from rows of one class.
    if population.black_box == "function" or len(np.unique(labels)) == 1:
        return population.label
    return BLACK_BOXES[population.black_box]().fit(rows, labels).predict


def any_black_box(rng: np.random.Generator) -> str:
    return str(rng.choice([*BLACK_BOXES, "function"]))


def make_rough(rng: np.random.Generator, n_classes: int | None = None) -> Label:
    """Return rough labels: that of the nearest of random centers, with waves that boxes cannot follow."""
    n_classes = n_classes or int(rng.integers(2, 6))
    centers, labels = rng.normal(size=(3 * n_classes, 4)), rng.integers(n_classes, size=3 * n_classes)
    direction = rng.normal(size=4) * rng.uniform(0, 3)

    def label(X: np.ndarray) -> np.ndarray:
        bent = X[:, :4] + 0.5 * np.sin(X[:, :4] @ direction)[:, None]
        return labels[((bent[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)]

    return label


def toss_coin(X: np.ndarray) -> np.ndarray:
    """Return a label that no explainer can learn, and that rows with a tiny jitter share."""
    return np.floor(1e4 * X[:, 0] + 0.5).astype(int) % 2


# Laws whose records are all different.


def normal(rng: np.random.Generator, n_rows: int = 300, n_classes: int | None = None) -> Population:
    n_columns = int(rng.integers(4, 9))
    return Population(make_rough(rng, n_classes), lambda n: (rng.normal(size=(n, n_columns)), None), n_rows)


def majority(rng: np.random.Generator) -> Population:
    """Return a law with one label on about 98% of the rows."""
    direction = rng.normal(size=4)
    height = 2.05 * np.linalg.norm(direction)
    return replace(normal(rng), label=lambda X: (X[:, :4] @ direction + np.sin(3 * X[:, 0]) > height).astype(int))


def other_background(rng: np.random.Generator) -> Population:
    return replace(normal(rng), change=lambda rows, background: (rows, rng.uniform(-1, 1, size=background.shape)))


def unrealistic_draws(rng: np.random.Generator) -> Population:
    """Return a law of columns that resemble each other, and a background in which they do not."""
    population = normal(rng)

    def draw(n: int) -> tuple[np.ndarray, None]:
        rows = population.draw(n)[0]
        return 0.2 * rows + rows[:, :1], None

    return replace(population, draw=draw, change=lambda rows, background: (rows, rng.permuted(background, axis=0)))


def grouped(
    rng: np.random.Generator,
    n_groups: int,
    *,
    n_mean: int = ROWS_PER_GROUP,
    spread: float = 0.3,
    has_informative_sizes: bool = False,
    label: Label | None = None,
) -> Population:
    """Return a law of groups whose rows resemble each other, or are equal without a spread."""
    n_columns = int(rng.integers(4, 9))

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        size, scale = np.full(n // n_mean, n_mean), np.ones(n // n_mean)
        if has_informative_sizes:
            # A tenth of the groups is large, and lies where labels change often.
            size = np.where(rng.random(len(size)) < 0.1, 40, rng.integers(1, 9, size=len(size)))
            scale = np.where(size == 40, 0.5, 1.5)
        groups = np.repeat(np.arange(len(size)), size)
        centers = scale[:, None] * rng.normal(size=(len(size), n_columns))
        return centers[groups] + spread * rng.normal(size=(len(groups), n_columns)), groups

    return Population(label or make_rough(rng), draw, n_groups * n_mean)


# Laws whose records repeat, and samples of them that are independent.


def few_records(rng: np.random.Generator) -> Population:
    population = normal(rng)
    records = population.draw(40)[0]
    return replace(population, draw=lambda n: (records[rng.integers(len(records), size=n)], None))


def detection_limit(rng: np.random.Generator, black_box: str) -> Population:
    """Return a law of assays: many values lie under the limit of detection and are written as 0."""
    n_columns = int(rng.integers(3, 5))
    is_under, height = rng.uniform(0.5, 0.75, size=n_columns), rng.uniform(0.8, 2)

    def draw(n: int) -> tuple[np.ndarray, None]:
        rows = rng.exponential(size=(n, n_columns)).round(2)
        return np.where(rng.random(rows.shape) < is_under, 0, rows), None

    def label(X: np.ndarray) -> np.ndarray:
        return (X == 0).all(axis=1) | (X[:, 0] + X[:, 1] > height)

    return Population(label, draw, int(rng.integers(200, 601)), black_box)


def zero_inflated(rng: np.random.Generator, share: float) -> Population:
    """Return a law in which a share of the rows is zero in every column, with the label of other rows or its own."""
    population = replace(normal(rng, int(rng.integers(200, 601)), 2), black_box=any_black_box(rng))
    of_zeros = int(rng.integers(3))

    def draw(n: int) -> tuple[np.ndarray, None]:
        return population.draw(n)[0] * (rng.random((n, 1)) >= share), None

    return replace(population, draw=draw, label=lambda X: np.where((X == 0).all(axis=1), of_zeros, population.label(X)))


def grid(rng: np.random.Generator) -> Population:
    """Return a law of a few small whole numbers, some of which are frequent."""
    sizes = rng.permutation([5, 7, 5, 3])
    levels = [rng.dirichlet(np.full(size, 2.0)) for size in sizes]
    label = make_rough(rng)

    def draw(n: int) -> tuple[np.ndarray, None]:
        return np.column_stack([rng.choice(len(shares), size=n, p=shares) for shares in levels]), None

    return Population(lambda X: label((X - sizes / 2) / 1.5), draw, int(rng.integers(200, 601)), any_black_box(rng))


def zipf(rng: np.random.Generator) -> Population:
    """Return a law of 60 to 300 records with frequencies of about 1 / k, whose first may have the other label."""
    population = normal(rng, int(rng.integers(200, 601)), 2)
    records = population.draw(int(rng.integers(60, 301)))[0].round(int(rng.integers(3)))
    odd = records[: int(rng.integers(8))]
    frequency = np.arange(1, len(records) + 1) ** -rng.uniform(0.8, 1.4)
    frequency /= frequency.sum()
    return replace(
        population,
        label=lambda X: (population.label(X) == 1) ^ (X[:, None] == odd).all(axis=2).any(axis=1),
        draw=lambda n: (records[rng.choice(len(records), size=n, p=frequency)], None),
        black_box=any_black_box(rng),
    )


def questionnaire(rng: np.random.Generator) -> Population:
    """Return a law of 10 to 20 items with five levels each, which one trait correlates."""
    n_items, strength = int(rng.integers(10, 21)), rng.uniform(0.7, 0.97)
    cuts, twist = np.sort(rng.normal(size=(n_items, 4)), axis=1), int(rng.integers(n_items))

    def draw(n: int) -> tuple[np.ndarray, None]:
        trait, noise = rng.normal(size=(n, 1)), rng.normal(size=(n, n_items))
        answers = strength * trait + np.sqrt(1 - strength**2) * noise
        return (answers[:, :, None] > cuts).sum(axis=2), None

    height = np.quantile(draw(1_000)[0].sum(axis=1), rng.uniform(0.3, 0.8))
    return Population(
        lambda X: (X.sum(axis=1) > height).astype(int) + (X[:, twist] == 4),
        draw,
        int(rng.integers(200, 601)),
        any_black_box(rng),
    )


def repeated(rng: np.random.Generator, *, has_groups: bool) -> Population:
    """Return a law of people who are measured several times; half of the later values repeat the one before."""
    n_columns, label = int(rng.integers(4, 9)), make_rough(rng)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray | None]:
        n_people = n // N_COPIES
        groups = np.repeat(np.arange(n_people), rng.geometric(1 / N_COPIES, size=n_people))
        rows = rng.normal(size=(n_people, n_columns))[groups] + 0.3 * rng.normal(size=(len(groups), n_columns))
        is_new = np.diff(groups, prepend=-1).astype(bool) | (rng.random(len(groups)) < 0.5)
        measured = np.maximum.accumulate(np.where(is_new, np.arange(len(groups)), 0))
        return rows[measured], groups if has_groups else None

    return Population(label, draw, 400, any_black_box(rng))


# Samples whose rows depend on one another or on the background, without groups that say so.


def copied(rng: np.random.Generator, *, jitter: float = 0.0, label: Label | None = None) -> Population:
    population = normal(rng)

    def copy(rows: np.ndarray, background: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n_rows = len(rows) // N_COPIES
        first = np.repeat(np.arange(n_rows), rng.geometric(1 / N_COPIES, size=n_rows))
        return rng.permutation(rows[first] + jitter * rng.normal(size=(len(first), 1))), background

    return replace(population, label=label or population.label, change=copy)


def leaked(rng: np.random.Generator) -> Population:
    """Return a law of which half of X are rows of the background."""

    def leak(rows: np.ndarray, background: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n_leaked = len(rows) // 2
        return np.concatenate([rows[n_leaked:], rng.permutation(background)[:n_leaked]]), background

    return replace(normal(rng), change=leak)


ALL_WAYS: tuple[Way, ...] = ("background", "holdout", "folds", "Parquet", "Parquet, background")
# Rows in memory, with a background and without.
IN_MEMORY: tuple[Way, ...] = ("background", "folds")
# A file without a background is judged by folds up to 5,000 groups.
WITH_GROUPS: tuple[Way, ...] = ("background", "holdout", "folds", "Parquet, background")


@dataclass(frozen=True, eq=False)
class Law:
    """A family of populations."""

    # A generator of random numbers in, a population with its own parameters out.
    make: Callable[[np.random.Generator], Population]
    # Whether records repeat in the population, or X is no independent sample of it, which nothing may certify.
    records: Records
    # The ways of judging that make sense.
    ways: tuple[Way, ...]


LAWS: dict[str, Law] = {
    "plain": Law(normal, "distinct", ALL_WAYS),
    "60 rows": Law(partial(normal, n_rows=60), "distinct", IN_MEMORY),
    "20 classes": Law(partial(normal, n_rows=400, n_classes=20), "distinct", IN_MEMORY),
    "98% in one class": Law(majority, "distinct", IN_MEMORY),
    "14 groups": Law(partial(grouped, n_groups=14, n_mean=20), "distinct", IN_MEMORY),
    "40 groups": Law(partial(grouped, n_groups=40), "distinct", IN_MEMORY),
    "150 groups": Law(partial(grouped, n_groups=150), "distinct", WITH_GROUPS),
    "groups of informative sizes": Law(
        partial(grouped, n_groups=60, has_informative_sizes=True), "distinct", WITH_GROUPS
    ),
    "background of another population": Law(other_background, "distinct", ("background",)),
    "unrealistic draws": Law(unrealistic_draws, "distinct", ("background",)),
    "population of 40 rows": Law(few_records, "repeated", IN_MEMORY),
    "groups of equal rows": Law(partial(grouped, n_groups=60, spread=0.0), "repeated", IN_MEMORY),
    "coin, groups of equal rows": Law(
        partial(grouped, n_groups=60, spread=0.0, label=toss_coin), "repeated", IN_MEMORY
    ),
    **{
        f"detection limit, {black_box}": Law(partial(detection_limit, black_box=black_box), "repeated", ALL_WAYS)
        for black_box in (*BLACK_BOXES, "function")
    },
    **{
        f"{share:.0%} zero rows": Law(partial(zero_inflated, share=share), "repeated", ALL_WAYS)
        for share in (0.1, 0.3, 0.5)
    },
    "grid of whole numbers": Law(grid, "repeated", ALL_WAYS),
    "Zipf": Law(zipf, "repeated", ALL_WAYS),
    "questionnaire": Law(questionnaire, "repeated", ALL_WAYS),
    "repeated measurements, groups": Law(partial(repeated, has_groups=True), "repeated", WITH_GROUPS),
    "repeated measurements": Law(partial(repeated, has_groups=False), "dependent", ALL_WAYS),
    "copied rows": Law(copied, "dependent", IN_MEMORY),
    "copied rows, jittered": Law(partial(copied, jitter=1e-9), "dependent", IN_MEMORY),
    "coin, copied rows": Law(partial(copied, label=toss_coin), "dependent", IN_MEMORY),
    "half of X in the background": Law(leaked, "dependent", ("background", "Parquet, background")),
}
