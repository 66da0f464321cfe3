"""The verdict: how far one plain tree and one tree that abstains would get."""

from typing import Any

import numpy as np
import pandas as pd

from oleander.data.rows import Rows
from oleander.data.tolerance import Tolerance
from oleander.judging.cross_fitting import cross_fit_tree

MIN_LEAVES = (3, 8)
COLUMNS: dict[str, Any] = {"answer": str, "rules": int, "coverage": float, "agreement": float, "bound": float}
PLAIN, ABSTAINING = "one plain tree", "one tree that abstains"


def judge_trees(
    rows: Rows, min_fidelity: float, *, max_leaves: int, seed: int, tolerance: Tolerance | None = None
) -> pd.DataFrame:
    """Return a line for one plain tree and one for the widest abstaining tree whose bound reaches the floor.

    Both are judged by cross-fitting, on rows that they were not grown on. The black box is not asked.

    Parameters
    ----------
    rows : Rows
    min_fidelity : float
    max_leaves : int
        The most leaves of the tree.
    seed : int
    tolerance : Tolerance or None
        How near an answer must be, where labels are numbers.
    """
    judged = [cross_fit_tree(rows, max_leaves, min_leaf, seed, tolerance) for min_leaf in MIN_LEAVES]
    figures = [
        pd.DataFrame({"coverage": one.coverage(), "agreement": one.agreement(), "bound": one.bounds()})
        for one in judged
    ]
    # The lowest bar lets every leaf answer.
    plain = max((table.iloc[0] for table in figures), key=lambda line: float(line["agreement"]))
    widest = pd.concat(figures)
    widest = widest[widest["bound"] >= min_fidelity].sort_values(["coverage", "agreement"], ascending=False)
    nothing = pd.Series({"coverage": 0.0, "agreement": np.nan, "bound": 0.0})
    abstaining = widest.iloc[0] if len(widest) else nothing
    lines = [(name, max_leaves, *line) for name, line in ((PLAIN, plain), (ABSTAINING, abstaining))]
    return pd.DataFrame(lines, columns=list(COLUMNS))


def one_tree_is_enough(verdict: pd.DataFrame, min_fidelity: float) -> bool:
    """Return whether a plain tree reaches the floor on all rows."""
    plain = verdict.loc[verdict["answer"] == PLAIN, "bound"]
    return bool(len(plain) and plain.iloc[0] >= min_fidelity)


def write_verdict(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a verdict's table as plain data for JSON."""
    return [
        {name: None if pd.isna(line[name]) else kind(line[name]) for name, kind in COLUMNS.items()}
        for line in table.to_dict("records")
    ]


def read_verdict(data: list[dict[str, Any]]) -> pd.DataFrame:
    """Read what ``write_verdict`` wrote."""
    lines = [[np.nan if line[name] is None else kind(line[name]) for name, kind in COLUMNS.items()] for line in data]
    return pd.DataFrame(lines, columns=list(COLUMNS))
