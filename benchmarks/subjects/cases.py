"""The three cases that subjects share: a forest, rows to explain it on that are new to it, and rows to measure on."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from data_sets import SHARED, DataSet, from_sklearn, geriatric
from floor import thirds
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


def five_classes(n_rows: int) -> DataSet:
    """Return the made set of the anchors benchmark: five classes, five informative columns of thirty."""
    X, y = make_classification(
        n_rows, 30, n_informative=5, n_redundant=5, n_classes=5, n_clusters_per_class=1, class_sep=1.5, random_state=0
    )
    return DataSet("five_classes", pd.DataFrame(X).add_prefix("x"), pd.Series(y))


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
