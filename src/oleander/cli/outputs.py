"""Output of the commands: tables in files, and text or JSON on the screen."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oleander.cli.options import Options, show
from oleander.data.schema import FeatureSchema
from oleander.explainer import AggregateExplainer
from oleander.files.saved import write_whole
from oleander.messages import printable, shorten, visible

MOST_COLUMNS, MOST_LETTERS = 60, 80
PREDICTIONS = ("row", "model", "answer", "answered", "explainer", "covered_by")


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV, whole or not at all."""
    write_whole(path, table.to_csv(index=False).encode())


def predictions_table(atlas: AggregateExplainer, X: pd.DataFrame, ids: pd.DataFrame) -> pd.DataFrame:
    """Return a line per row: its number, its ids, the model's answer, the rules' answer, and the rules behind it.

    The model's answer is there where the model is. ``answer`` and ``explainer`` are empty where no rule answers.
    Explainers, which are rules by default, are numbered from 1, as in the summary.
    """
    found = atlas.explain_many(X)
    columns = {
        "row": X.index,
        # A column of the user's may have the name of one of ours.
        **{f"{name} (data)" if name in PREDICTIONS else str(name): ids[name].to_numpy() for name in ids},
        "model": found["black_box"].to_numpy(),
        "answer": found["answer"].to_numpy(),
        "answered": found["explainer"].notna().to_numpy(),
        "explainer": found["explainer"].to_numpy(),
        "covered_by": [" ".join(map(str, np.flatnonzero(column) + 1)) for column in atlas.covers(X).T],
    }
    if found["black_box"].isna().all():
        del columns["model"]
    return pd.DataFrame(columns)


def facts_of(atlas: AggregateExplainer) -> dict[str, Any]:
    """Return the main figures as plain data for JSON."""
    certificate, score = atlas.certificate_, atlas.model_score_
    return {
        "accuracy": None if score is None else score.share,
        "model_score": None if score is None else score.to_dict(),
        "n_explainers": len(atlas.explainers_),
        "n_rules": atlas.record_.explainers.n_rules,
        "coverage": atlas.coverage_,
        "fidelity": atlas.fidelity_,
        "min_fidelity": atlas.min_fidelity,
        "status": atlas.record_.status,
        "gap": None if atlas.proof_ is None else atlas.proof_.gap,
        "certificate": None if certificate is None else certificate.to_dict(),
        "verdict": records(atlas.verdict_),
        "n_queries": atlas.n_queries_,
    }


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the lines of a table as plain data for JSON."""
    plain: list[dict[str, Any]] = json.loads(table.to_json(orient="records"))
    return plain


def answer(given: Options, facts: dict[str, Any], text: str) -> None:
    """Print what a command has found, as one JSON object or as text."""
    show(json.dumps(facts, allow_nan=False, indent=1, default=np.generic.item) if given.as_json else text)


def show_text(text: str) -> None:
    """Print text that may hold names as they are, such as SQL: only a terminal would obey orders in them."""
    show(printable(text) if sys.stdout.isatty() else text, end="")


def tabulate(table: pd.DataFrame, title: str) -> str:
    """Return a table as text, numbers to the right."""
    columns = []
    for name in table.columns:
        cells = [visible(name), *map(_format, table[name])]
        width, is_number = max(map(len, cells)), pd.api.types.is_numeric_dtype(table[name])
        columns.append([cell.rjust(width) if is_number else cell.ljust(width) for cell in cells])
    lines = ("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))
    return "\n".join([visible(title), *lines])


def tabulate_schema(schema: FeatureSchema) -> str:
    """Return the columns as text, the first of them where there are many."""
    table = schema.table
    more = f", the first {MOST_COLUMNS} of {len(table)}" if len(table) > MOST_COLUMNS else ""
    return tabulate(table.head(MOST_COLUMNS), f"Columns{more}")


def _format(value: Any) -> str:
    if not isinstance(value, float):
        return shorten(visible(value), MOST_LETTERS)
    if np.isnan(value):
        return "–"
    # A share that is nearly 1 is not all.
    if 0.9995 <= value < 1:
        return ">0.999"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
