"""Cases: a black box, the rows that trained it, rows to explain it on that are new to it, and rows to measure on.

The three parts are thirds of a data set. They keep groups whole where rows come from one patient or trial.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit
from sklearn.pipeline import make_pipeline

from benchmarks.data_sets import SHARED, five_classes, from_sklearn, geriatric
from benchmarks.subjects.base import Size
from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.rules.region import ball_distances
from studies.data import DataSet

BLACK_BOXES = ("forest", "boosting")
ABSENT = (
    "The geriatric data are not in this run: they are read from `../shared/data` where they lie beside the project.\n"
)


@dataclass(frozen=True, eq=False)
class Case:
    """A data set, a black box, and the positions of the rows in each of the three parts."""

    data: DataSet
    # Trained on the first part.
    black_box: Any
    # The rows that trained the black box, the rows to explain, and the rows to measure on.
    parts: tuple[np.ndarray, np.ndarray, np.ndarray]
    seed: int

    @property
    def train(self) -> pd.DataFrame:
        """The rows that trained the black box."""
        return self.data.X.iloc[self.parts[0]]

    @property
    def explain(self) -> pd.DataFrame:
        """The rows to explain, which are new to the black box."""
        return self.data.X.iloc[self.parts[1]]

    @property
    def test(self) -> pd.DataFrame:
        """The rows to measure on."""
        return self.data.X.iloc[self.parts[2]]

    @property
    def groups(self) -> pd.Series | None:
        """The groups of the rows to explain, if there are any."""
        return None if self.data.groups is None else self.data.groups.iloc[self.parts[1]]

    @property
    def schema(self) -> FeatureSchema:
        """The schema of all rows."""
        return FeatureSchema.infer(self.data.X)

    @property
    def rows(self) -> np.ndarray:
        """The rows to explain, as numbers."""
        return self.explain.to_numpy(dtype=float)

    def labelled_rows(self) -> Rows:
        """Return the rows to explain, as numbers, with the black box's labels."""
        schema = FeatureSchema.infer(self.rows)
        return label_rows(schema.encode(self.rows), CountingBlackBox(BlackBox(self.black_box, schema)))


def make_case(data: DataSet, black_box: str, seed: int, max_rows: int | None = None) -> Case:
    """Return a case with at most ``max_rows`` in each part; the black box takes tables with missing numbers."""
    parts = thirds(data, seed, max_rows)
    if black_box == "forest":
        model = make_pipeline(SimpleImputer(strategy="median"), RandomForestClassifier(50, random_state=seed))
    else:
        model = HistGradientBoostingClassifier(max_iter=50, random_state=seed)
    return Case(data, model.fit(data.X.iloc[parts[0]], data.y.iloc[parts[0]]), parts, seed)


def make_numeric_case(data: DataSet, seed: int = 0, max_rows: int | None = None, n_trees: int = 50) -> Case:
    """Return a case whose black box is a plain forest on arrays, as other packages want it."""
    parts = thirds(data, seed, max_rows)
    forest = RandomForestClassifier(n_trees, random_state=seed, n_jobs=1)
    train = data.X.iloc[parts[0]].to_numpy(dtype=float)
    return Case(data, forest.fit(train, data.y.iloc[parts[0]]), parts, seed)


def numeric_cases(size: Size) -> Iterator[Case]:
    """Yield breast cancer, five classes of 1,500 × 30 and, where they lie beside the project, the geriatric data."""
    if size == "tiny":
        yield make_numeric_case(from_sklearn("breast_cancer"), max_rows=120, n_trees=5)
        return
    yield make_numeric_case(from_sklearn("breast_cancer"))
    yield make_numeric_case(five_classes(4_500))
    if SHARED.is_dir():
        yield make_numeric_case(geriatric())


def thirds(data: DataSet, seed: int, max_rows: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the positions of three parts in random order, groups kept whole, each cut to ``max_rows``."""

    def halve(rows: np.ndarray, share: float) -> list[np.ndarray]:
        groups = None if data.groups is None else data.groups.to_numpy()[rows]
        splitter = ShuffleSplit if groups is None else GroupShuffleSplit
        return [rows[part] for part in next(splitter(1, test_size=share, random_state=seed).split(rows, groups=groups))]

    first, rest = halve(np.arange(len(data.X)), 2 / 3)
    second, third = halve(rest, 1 / 2)
    rng = np.random.default_rng(seed)
    return tuple(rng.permutation(part)[:max_rows] for part in (first, second, third))


def typical_radius(data: DataSet, share: float = 0.2, n_centers: int = 200) -> float:
    """Return the radius, in raw units, at which a ball around a typical row holds this share of the rows.

    The paper leaves the radius to the user. Here it is the median over centers of the distance within which the share
    of the rows lies, rounded to two digits.
    """
    schema = FeatureSchema.infer(data.X)
    rows = schema.encode(data.X)
    centers = np.random.default_rng(0).permutation(rows)[:n_centers]
    distances = [np.maximum(*ball_distances(rows, center, schema, is_raw=True)) for center in centers]
    return float(f"{np.median(np.quantile(distances, share, axis=1)):.2g}")
