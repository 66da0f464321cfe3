"""The content of the page as plain data, computed in Python and drawn by the page's script."""

import base64
import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from oleander import __version__
from oleander.aggregate import AggregateExplainer
from oleander.arrays import Floats, Labels
from oleander.data.schema import FeatureSchema
from oleander.regions.conditions import clauses
from oleander.report.displays import CoverageDisplay
from oleander.report.page.members import describe_columns, describe_member, labels_of, numbers
from oleander.results.evaluation import describe_uncovered
from oleander.results.explainer_set import ABSTAINS, ExplainerSet
from oleander.results.tradeoff import Cell, TradeOff
from oleander.running.shares import show_upper_percent

# More points could not be distinguished on the map, and would make the file large.
MOST_POINTS = 2000
# Smaller groups are not counted, because a count of one row is about one person.
FEWEST_COUNTED = 5
MOST_LEVELS = 12
GRID = 1000


@dataclass(frozen=True, eq=False)
class Shown:
    """The rows that the map and the part on unanswered rows show.

    Parameters
    ----------
    values : array of shape (n_rows, n_features)
        The encoded rows.
    labels : array of shape (n_rows,) or None
        The black box's labels, where they are known.
    by : mapping of name to array of shape (n_rows,)
        Groups in which unanswered rows are counted.
    """

    values: Floats
    labels: Labels | None
    by: Mapping[str, Labels]


def build_content(
    atlas: AggregateExplainer, shown: Shown | None, *, title: str, about: str, include_rows: bool
) -> dict[str, Any]:
    """Return the content of the page as plain data for JSON."""
    schema = atlas.schema_
    tradeoff = _tradeoff_of(atlas)
    if not include_rows:
        tradeoff = tradeoff.without_records(known_rows(atlas, shown))
    chosen = [cell.explainers for cell in tradeoff.cells if cell.explainers is not None]
    labels = {label for one in chosen for member in one.members for label in labels_of(member)}
    if shown is not None and shown.labels is not None:
        labels |= {str(label) for label in shown.labels}
    codes = {label: code for code, label in enumerate(sorted(labels))}
    members: dict[tuple[int, bool], int] = {}
    described: list[dict[str, Any]] = []
    sets: dict[tuple[tuple[int, ...], str], int] = {}
    set_data: list[dict[str, Any]] = []
    some = None if shown is None else _some_rows(len(shown.values))
    cells = []
    for cell in tradeoff.cells:
        number = None
        if cell.explainers is not None:
            keys = [(id(member.explainer), member.claim is None) for member in cell.explainers.members]
            for key, member in zip(keys, cell.explainers.members, strict=True):
                if key not in members:
                    members[key] = len(described)
                    described.append(describe_member(member, schema, codes, atlas.record_.min_fidelity))
            own = (tuple(members[key] for key in keys), cell.explainers.overlap)
            if own not in sets:
                sets[own] = len(set_data)
                set_data.append({"members": list(own[0]), **_describe_set(cell.explainers, shown, some)})
            number = sets[own]
        cells.append(_describe_cell(cell, number))
    return {
        "title": title,
        "about": about,
        "columns": describe_columns(schema),
        "classes": list(codes),
        "members": described,
        "sets": set_data,
        "cells": cells,
        "start": [atlas.record_.max_explainers, atlas.record_.min_fidelity],
        "verdict": _records(_verdict_of(atlas)),
        "certificate": _certificate(atlas),
        "map": None if shown is None or some is None else _map(schema, shown, some, codes, include_rows),
        "typical": numbers(_typical(schema, None if shown is None else shown.values)),
        "made": describe_making(atlas, shown),
    }


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
    names = ("max_explainers", "min_fidelity", "coverage", "fidelity", "agreement", "most", "status")
    figures = {name: getattr(cell, name) for name in names}
    return {**{name: None if value != value else value for name, value in figures.items()}, "set": number}


def _describe_set(chosen: ExplainerSet, shown: Shown | None, some: NDArray[np.intp] | None) -> dict[str, Any]:
    about: dict[str, Any] = {"left_out": None, "overlap": chosen.overlap, "in_turn": chosen.in_turn}
    if shown is None or some is None:
        return about
    covers = chosen.covers(shown.values)
    first = chosen.responsible(shown.values)
    about["responsible"] = _base64(first[some].astype("<i2"))
    about["covers"] = [_base64(np.packbits(inside[some], bitorder="little")) for inside in covers]
    about["left_out"] = _left_out(chosen.schema, shown, first != ABSTAINS)
    return about


def _left_out(schema: FeatureSchema, shown: Shown, answered: NDArray[np.bool_]) -> dict[str, Any]:
    groups = {} if shown.labels is None else {"the model's answer": shown.labels}
    groups |= shown.by
    labels = np.full(len(answered), "") if shown.labels is None else shown.labels
    described = describe_uncovered(shown.values, labels, answered, schema)
    rules = [
        {"terms": clauses(rule.terms), "share": rule.share, "n": rule.n_draws}
        for rule in described.rules
        if rule.label == "not covered" and rule.n_draws >= FEWEST_COUNTED
    ]
    return {
        "n": int((~answered).sum()),
        "of": len(answered),
        "by": [{"name": name, "lines": _count(values, answered)} for name, values in groups.items()],
        "rules": rules,
    }


def _count(values: Labels, answered: NDArray[np.bool_]) -> list[dict[str, Any]]:
    table = pd.DataFrame({"value": [str(value) for value in values], "answered": answered})
    counted = table.groupby("value", sort=True)["answered"].agg(["size", "sum"])
    return [
        {"value": value, "n": int(size), "left": int(size - given)} if size >= FEWEST_COUNTED else {"value": value}
        for value, size, given in counted.itertuples()
    ]


def named_groups(schema: FeatureSchema, values: Floats) -> dict[str, Labels]:
    """Return the columns with few levels, in which unanswered rows are counted."""
    groups = {}
    for j in schema.named:
        feature = schema[int(j)]
        if 2 <= len(feature.levels) <= MOST_LEVELS:
            groups[feature.name] = np.array([feature.describe_value(code) for code in values[:, j]], dtype=object)
    return groups


def _map(
    schema: FeatureSchema, shown: Shown, some: NDArray[np.intp], codes: Mapping[str, int], include_rows: bool
) -> dict[str, Any]:
    points = CoverageDisplay.project(schema, shown.values)[some]
    # Positions on a grid are exact enough for the eye, and too coarse to compute a row from.
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    places = np.round((points - low) / np.where(span > 0, span, 1.0) * GRID).astype(int)
    about: dict[str, Any] = {"points": places.tolist(), "grid": GRID, "n_rows": len(shown.values), "labels": None}
    if shown.labels is not None:
        about["labels"] = [codes[str(label)] for label in shown.labels[some]]
    if include_rows:
        about["rows"] = [
            [feature.describe_value(value) for feature, value in zip(schema, row, strict=True)]
            for row in shown.values[some]
        ]
    return about


def _some_rows(n_rows: int) -> NDArray[np.intp]:
    if n_rows <= MOST_POINTS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, MOST_POINTS, replace=False))


def _typical(schema: FeatureSchema, values: Floats | None) -> Floats:
    """Return the rounded middle of each column by itself, which is no row of the data."""
    typical = np.zeros(len(schema))
    for j, feature in enumerate(schema):
        present = np.zeros(0) if values is None else values[~np.isnan(values[:, j]), j]
        if not len(present):
            typical[j] = float(f"{(feature.lower + feature.upper) / 2:.3g}") if feature.is_number else 0.0
        elif feature.is_number:
            typical[j] = float(f"{np.median(present):.3g}")
        else:
            typical[j] = np.bincount(present.astype(np.intp)).argmax()
    return typical


def _certificate(atlas: AggregateExplainer) -> dict[str, Any] | None:
    certificate = atlas.certificate_
    if certificate is None:
        return None
    return {
        "confidence": certificate.confidence,
        "unit": "groups" if certificate.by_group else "rows",
        "coverage": None if certificate.coverage is None else vars(certificate.coverage),
        "answers": vars(certificate.answers),
        "answers_words": certificate.answers.describe(atlas.record_.min_fidelity),
    }


def describe_proof(atlas: AggregateExplainer) -> str:
    """Return how the explainers were chosen, and how good the choice is known to be."""
    proof = atlas.proof_
    if proof is None:
        return "learned and chosen on draws that the model labelled, judged on rows that nothing was learned from"
    if proof.is_proven_optimal:
        return "proven: no choice of as many candidates covers more rows"
    return f"the choice is within {show_upper_percent(proof.gap, 2)} of the best possible"


def describe_making(atlas: AggregateExplainer, shown: Shown | None) -> list[list[str]]:
    """Return how the explanation was made, as pairs of name and text, so that it can be cited and made again."""
    workings = atlas._workings
    params = atlas.get_params(deep=False)
    hidden = {"black_box", "schema", "verbose", "n_jobs"}
    names = (
        ["max_explainers", "min_fidelity"]
        if workings is None
        else [name for name in sorted(params) if name not in hidden]
    )
    proven = describe_proof(atlas)
    made = [
        ["software", f"Oleander {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"],
        ["proof", proven],
        ["rows sent to the model", f"{atlas.n_queries_:,}"],
        ["parameters", ", ".join(f"{name}={params[name]!r}" for name in names)],
    ]
    if workings is not None:
        rows = workings.rows
        made.append(["rows chosen on", f"{rows.n_rows:,}, fingerprint {_digest(rows.values)}"])
    if shown is not None:
        made.append(["rows on this page", f"{len(shown.values):,}, fingerprint {_digest(shown.values)}"])
    return made


def _digest(values: Floats) -> str:
    """Return a hash of the rows and their order, which reveals no value."""
    plain = np.ascontiguousarray(np.where(np.isnan(values), np.nan, values) + 0.0)
    return hashlib.sha256(plain.tobytes()).hexdigest()[:16]


def _base64(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode()


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {str(name): None if value != value else value for name, value in line.items()}
        for line in table.to_dict("records")
    ]
