"""A case on uniform rows, whose three parts are thirds in order."""

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.cases import Case
from benchmarks.data_sets import DataSet


def make_case(black_box: Any, n_columns: int, n_rows: int = 900, groups: pd.Series | None = None) -> Case:
    X = pd.DataFrame(np.random.default_rng(0).uniform(size=(n_rows, n_columns))).add_prefix("x")
    data = DataSet("made", X, pd.Series(black_box.predict(X)), groups)
    return Case(data, black_box, tuple(np.split(np.arange(n_rows), 3)), seed=0)
