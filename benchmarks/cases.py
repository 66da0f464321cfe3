"""The three cases that subjects share: a forest, rows to explain it on that are new to it, and rows to measure on."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from data_sets import SHARED, DataSet, five_classes, from_sklearn, geriatric
from floor import thirds
from sklearn.ensemble import RandomForestClassifier
from subjects.base import Size

ABSENT = (
    "The geriatric data are not in this run: they are read from `../shared/data` where they lie beside the project.\n"
)


@dataclass(frozen=True, eq=False)
class Case:
    """A data set, the forest of 50 trees that was trained on a third of it, and the other two thirds."""

    data: DataSet
    forest: RandomForestClassifier
    learn: np.ndarray
    test: np.ndarray

    @property
    def name(self) -> str:
        """The name of the data."""
        return self.data.name

    @property
    def rows(self) -> np.ndarray:
        """The rows to explain, as numbers."""
        return self.data.X.to_numpy(dtype=float)[self.learn]


def make_case(data: DataSet, seed: int = 0, most_rows: int | None = None, n_trees: int = 50) -> Case:
    """Train a forest on one third; no group is torn apart."""
    rng = np.random.default_rng(seed)
    train, learn, test = (rng.permutation(part)[:most_rows] for part in thirds(data, seed))
    forest = RandomForestClassifier(n_trees, random_state=seed, n_jobs=1)
    return Case(data, forest.fit(data.X.iloc[train].to_numpy(dtype=float), data.y.iloc[train]), learn, test)


def cases(size: Size) -> Iterator[Case]:
    """Yield breast cancer, five classes of 1,500 × 30 and, where they lie beside the project, the geriatric data."""
    if size == "tiny":
        yield make_case(from_sklearn("breast_cancer"), most_rows=120, n_trees=5)
        return
    yield make_case(from_sklearn("breast_cancer"))
    yield make_case(five_classes(4_500))
    if SHARED.is_dir():
        yield make_case(geriatric())
