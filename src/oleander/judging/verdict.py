"""The verdict: how far one plain tree and one tree that abstains would get."""

from typing import Any

import numpy as np
import pandas as pd

from oleander.data.checks import check_choice, read_count

# Questions are the distinct ones above the leaves that answer; leaves_alone is the share of these leaves that reach the
# floor by themselves, on the draws.
COLUMNS: dict[str, Any] = {
    "answer": str,
    "rules": read_count,
    "coverage": float,
    "agreement": float,
    "bound": float,
    "questions": read_count,
    "leaves_alone": float,
}
PLAIN, ABSTAINING = "one plain tree", "one tree that abstains"


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
    for line in lines:
        check_choice("answer", line[0], (PLAIN, ABSTAINING))
    return pd.DataFrame(lines, columns=list(COLUMNS))
