"""A law to be explained, rows of it, and what a fit of a source comes to."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oleander import AggregateExplainer
from oleander.data.sources import Source, open_source
from oleander.draws import Draws
from tests.making import OwnTrees

QUICK: dict[str, Any] = {"candidates": OwnTrees(by_leaf=True), "max_explainers": 3, "min_fidelity": 0.8}
QUICK |= {"holdout": 0.25, "random_state": 0}
EPSILON = 0.15
ASKING: dict[str, Any] = {"draws": Draws(2_000), "min_fidelity": 0.8, "random_state": 0}


class Law:
    """A law with a border that small trees follow only roughly; it counts the rows that it is asked about."""

    n_asked = 0

    def predict(self, table: pd.DataFrame) -> np.ndarray:
        Law.n_asked += len(table)
        return np.where((table["a"] + 0.5 * table["b"] > 0) & (table["ward"] != "west"), "high", "low")


def make_rows(n_rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "b": rng.normal(size=n_rows).round(1),
            "visits": rng.integers(0, 6, n_rows),
            "ward": rng.choice(["east", "north", "west"], n_rows),
        }
    )


X = make_rows(12_000)


def quick_source(rows: Any, **changes: Any) -> Source:
    """Open a source with a small sample and small blocks."""
    return open_source(rows, **{"epsilon": EPSILON, "block_size": 1000, **changes})


def content(atlas: AggregateExplainer) -> str:
    """Return everything that a fit finds out, to the last digit."""
    return json.dumps(atlas.record_.to_dict())


def make_rare_rows() -> pd.DataFrame:
    """Return the rows with four rare values: a level, a missing number, a missing level and a large number."""
    rare = X.copy()
    rare.loc[11_111, "ward"] = "south"
    rare.loc[7_777, "a"] = np.nan
    rare.loc[5_555, "ward"] = None
    rare.loc[3_333, "visits"] = 99
    return rare


def write_frame(path: Path, frame: pd.DataFrame, **options: Any) -> Path:
    frame.to_parquet(path, **options)
    return path
