"""The content of the page as plain data, computed in Python and drawn by the page's script."""

import hashlib
import platform
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError

from oleander import __version__
from oleander.arrays import Bools, Floats
from oleander.data.schema.schema import describe_features
from oleander.explainer import AggregateExplainer
from oleander.messages import visible
from oleander.report.page.members import describe_columns, describe_member, labels_of, numbers
from oleander.report.page.shown import Shown, describe_map, describe_rows, typical_row, usual_range
from oleander.results.explainer_set import Answers
from oleander.results.fit_record import Stability
from oleander.results.tradeoff import Cell, TradeOff
from oleander.words.claims import describe_verdict
from oleander.words.page import describe_cell, describe_making
from oleander.words.rules import describe_refits


def build_content(
    atlas: AggregateExplainer, shown: Shown | None, *, title: str, about: str, include_rows: bool
) -> dict[str, Any]:
    """Return the content of the page as plain data for JSON."""
    schema, record = atlas.schema_, atlas.record_
    start = [record.max_explainers, record.min_fidelity]
    tradeoff = _tradeoff_of(atlas)
    if not include_rows:
        tradeoff = tradeoff.without_records(known_rows(atlas, shown))
    chosen = [cell.explainers for cell in tradeoff.cells if cell.explainers is not None]
    labels = {label for one in chosen for member in one.members for label in labels_of(member)}
    if shown is not None and shown.names is not None:
        labels |= {visible(label) for label in shown.names}
    codes = {label: code for code, label in enumerate(sorted(labels))}
    members: dict[tuple[int, bool], int] = {}
    described: list[dict[str, Any]] = []
    sets: dict[tuple[int, ...], int] = {}
    set_data: list[dict[str, Any]] = []
    cells = []
    for cell in tradeoff.cells:
        number, is_fitted = None, [cell.max_explainers, cell.min_fidelity] == start
        if cell.explainers is not None:
            keys = [(id(member.explainer), member.claim is None) for member in cell.explainers.members]
            for key, member in zip(keys, cell.explainers.members, strict=True):
                if key not in members:
                    members[key] = len(described)
                    described.append(describe_member(member, schema, codes, record.min_fidelity))
            own = tuple(members[key] for key in keys)
            if own not in sets:
                sets[own] = len(set_data)
                about_set: dict[str, Any] = {"ranked": cell.explainers.ranked.tolist()}
                if shown is not None:
                    data = [described[place] for place in own]
                    answers = cell.explainers.read(shown.values)
                    judged = _judge(atlas, cell, answers, shown)
                    about_set |= describe_rows(cell.explainers, answers, data, shown, codes, judged)
                set_data.append({"members": list(own), **about_set})
            number = sets[own]
        cells.append({**_describe_cell(cell, number), "words": describe_cell(record, cell, is_fitted=is_fitted)})
    return {
        "title": visible(title),
        "about": visible(about),
        "columns": _describe_columns(atlas, shown),
        "classes": list(codes),
        "members": described,
        "sets": set_data,
        "cells": cells,
        "start": start,
        "refits": _describe_stability(record.stability),
        "map": None if shown is None else describe_map(schema, shown, codes, include_rows=include_rows),
        "by_folds": record.by_folds,
        "is_asked": record.is_asked,
        "within": "" if record.explainers.tolerance is None else str(record.explainers.tolerance),
        "typical": numbers(typical_row(schema, None if shown is None else shown.values)),
        "made": _describe_making(atlas),
        "verdict": describe_verdict(_verdict_of(atlas), record.min_fidelity),
        "settings": describe_settings(atlas, None if shown is None else shown.values),
    }


def _describe_columns(atlas: AggregateExplainer, shown: Shown | None) -> list[dict[str, Any]]:
    table = describe_features(atlas.schema_, with_bounds=False)
    columns = describe_columns(atlas.schema_)
    for j, (column, words) in enumerate(zip(columns, table["values"], strict=True)):
        column["values"] = words
        column["range"] = "" if shown is None else usual_range(atlas.schema_[j], shown.values[:, j])
    return columns


def _describe_stability(stability: Stability | None) -> list[list[str]] | None:
    """Return in words how often each rule of the fitted choice came back in refits; None where there were none."""
    if stability is None:
        return None
    return [
        [describe_refits(stability, number, position) for position in range(len(counts))]
        for number, counts in enumerate(stability.found)
    ]


def _judge(atlas: AggregateExplainer, cell: Cell, answers: Answers, shown: Shown) -> tuple[Bools, Bools] | None:
    """Return masks of the comparable answers, and of those that agree with the black box; None where not known."""
    engine = atlas._engine
    if not atlas.record_.by_folds:
        return None if shown.labels is None else (answers.answered, answers.right(shown.labels))
    # The rules were learned from draws around these rows: answers of rules that were learned without the row count.
    if engine is None or not shown.are_fitted:
        return None
    judged = engine.judged_apart((cell.max_explainers, cell.min_fidelity))
    if judged is None:
        return None
    answered, right = (mask[engine.rows.point_of_row] for mask in judged)
    return answered, right


def known_rows(atlas: AggregateExplainer, shown: Shown | None) -> Floats:
    """Return the rows that the page must not show: those of the fit, if they are still there, and those given."""
    parts = [] if atlas._engine is None else [atlas._engine.known.values]
    parts += [] if shown is None or shown.are_fitted else [shown.values]
    return np.concatenate([np.empty((0, len(atlas.schema_))), *parts])


def _tradeoff_of(atlas: AggregateExplainer) -> TradeOff:
    """Return the trade-off; for an explainer that was loaded without one, its own cell alone."""
    try:
        return atlas.tradeoff()
    except NotFittedError:
        return TradeOff((atlas.record_.cell,))


def _verdict_of(atlas: AggregateExplainer) -> pd.DataFrame:
    """Return the verdict; an empty table for an explainer that was loaded without one."""
    try:
        return atlas.verdict_
    except NotFittedError:
        return pd.DataFrame()


def _describe_cell(cell: Cell, number: int | None) -> dict[str, Any]:
    names = ("max_explainers", "min_fidelity", "n_rules", "coverage", "most")
    figures = {name: getattr(cell, name) for name in names}
    return {**{name: None if value != value else value for name, value in figures.items()}, "set": number}


def _describe_making(atlas: AggregateExplainer) -> list[str]:
    engine = atlas._engine
    making = (None, None) if engine is None else (engine.n_draws, engine.max_conditions)
    return describe_making(atlas.record_, *making, atlas.n_queries_)


def describe_settings(atlas: AggregateExplainer, shown: Floats | None) -> list[list[str]]:
    """Return what is needed to make the explanation again, as pairs of name and text."""
    engine = atlas._engine
    params = atlas.get_params(deep=False)
    hidden = {"black_box", "schema", "verbose", "n_jobs"}
    names = ["max_explainers", "min_fidelity"] if engine is None else sorted(params.keys() - hidden)
    settings = [
        ["software", f"Oleander {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"],
        ["parameters", ", ".join(f"{name}={params[name]!r}" for name in names)],
    ]
    if engine is not None:
        rows = engine.rows
        settings.append(["rows of the fit", f"{rows.n_rows:,}, fingerprint {_digest(rows.values)}"])
    if shown is not None:
        settings.append(["rows on this page", f"{len(shown):,}, fingerprint {_digest(shown)}"])
    return settings


def _digest(values: Floats) -> str:
    """Return a hash of the rows and their order, which reveals no value."""
    plain = np.ascontiguousarray(np.where(np.isnan(values), np.nan, values) + 0.0)
    return hashlib.sha256(plain.tobytes()).hexdigest()[:16]
