"""The content of the page as plain data, computed in Python and drawn by the page's script."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError

from oleander.aggregate import AggregateExplainer
from oleander.arrays import Bools, Floats
from oleander.data.schema.table import describe_features
from oleander.data.tolerance import agrees
from oleander.learning.union import UnionLearner
from oleander.report.page.members import describe_columns, describe_member, labels_of, numbers
from oleander.report.page.shown import Shown, describe_map, describe_rows, typical_row, usual_range
from oleander.report.page.words import describe_choice, describe_making, describe_settings, describe_verdict
from oleander.results.stability import Stability
from oleander.results.tradeoff import Cell, TradeOff


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
        labels |= {str(label) for label in shown.names}
    codes = {label: code for code, label in enumerate(sorted(labels))}
    members: dict[tuple[int, bool], int] = {}
    described: list[dict[str, Any]] = []
    sets: dict[tuple[tuple[int, ...], str], int] = {}
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
            own = (tuple(members[key] for key in keys), cell.explainers.overlap)
            if own not in sets:
                sets[own] = len(set_data)
                about_set: dict[str, Any] = {"overlap": cell.explainers.overlap, "in_turn": cell.explainers.in_turn}
                if shown is not None:
                    data = [described[place] for place in own[0]]
                    about_set |= describe_rows(cell.explainers, data, shown, codes, _judge(atlas, cell, shown))
                set_data.append({"members": list(own[0]), **about_set})
            number = sets[own]
        cells.append({**_describe_cell(cell, number), "words": describe_choice(record, cell, is_fitted=is_fitted)})
    return {
        "title": title,
        "about": about,
        "columns": _describe_columns(atlas, shown),
        "classes": list(codes),
        "members": described,
        "sets": set_data,
        "cells": cells,
        "start": start,
        "refits": _describe_stability(record.stability),
        "map": None if shown is None else describe_map(schema, shown, codes, include_rows=include_rows),
        "by_folds": record.by_folds,
        "within": "" if record.explainers.tolerance is None else str(record.explainers.tolerance),
        "typical": numbers(typical_row(schema, None if shown is None else shown.values)),
        "made": describe_making(atlas),
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
        [stability.describe_rule(number, position) for position in range(len(counts))]
        for number, counts in enumerate(stability.found)
    ]


def _judge(atlas: AggregateExplainer, cell: Cell, shown: Shown) -> tuple[Bools, Bools] | None:
    """Return masks of the rows with an answer that may be compared with the black box's, and of those where it is it.

    None where that is not known.
    """
    workings = atlas._workings
    if not atlas.record_.by_folds:
        if shown.labels is None or cell.explainers is None:
            return None
        answers = cell.explainers.answer(shown.values)
        answered = ~np.ma.getmaskarray(answers)
        return answered, answered & agrees(np.ma.getdata(answers), shown.labels, shown.tolerance)
    # The rules were learned from draws around these rows: answers of rules that were learned without the row count.
    if workings is None or not shown.are_fitted or not isinstance(workings.program, UnionLearner):
        return None
    union = workings.program.choose(cell.max_explainers, cell.min_fidelity)
    point_of_row = workings.rows.point_of_row
    return None if union is None else (union.answered[point_of_row], union.right[point_of_row])


def known_rows(atlas: AggregateExplainer, shown: Shown | None) -> Floats:
    """Return the rows that the page must not show: those of the fit, if they are still there, and those given."""
    parts = [] if atlas._workings is None else [atlas._workings.known.values]
    parts += [] if shown is None else [shown.values]
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
