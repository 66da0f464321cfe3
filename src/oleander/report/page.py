"""The page: one file of HTML that opens in any browser, without a server and without a network.

Its content is computed here as plain data, and drawn by the page's script. All text of the data is escaped.
"""

import base64
import hashlib
import html
import json
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from oleander import __version__
from oleander.arrays import Bools
from oleander.data.checks import one_per_row
from oleander.data.schema import FeatureSchema
from oleander.explainer import AggregateExplainer
from oleander.files.saved import write_whole
from oleander.messages import show_percent, visible
from oleander.report.counts import (
    PageRows,
    describe_columns,
    describe_listed,
    describe_rows,
    named_groups,
    typical_row,
)
from oleander.results.explainer_set import Answers, ChosenExplainer
from oleander.results.tradeoff import Cell
from oleander.rules.conditions import Condition, clauses
from oleander.words.claims import LEAST_STATED, describe_claim
from oleander.words.rules import CHANGE, DISAGREE, FAR, SILENT, count_matches, describe_all, describe_evidence
from oleander.words.summary import describe_cell, describe_making

CELL_FIGURES = ("max_explainers", "min_fidelity", "n_rules", "coverage", "most")
SCRIPTS = ("reading.js", "changing.js", "drawing.js", "page.js", "editing.js")
# Parameters that change nothing of what is found, or have no short text.
HIDDEN = {"black_box", "schema", "verbose", "n_jobs"}
Codes = Mapping[str, int]


@dataclass(frozen=True)
class Page:
    """The page in memory, which a notebook shows in a frame of its own."""

    html: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        write_whole(Path(path), self.html.encode())

    def _repr_html_(self) -> str:
        # The frame may run the page's own script, and reaches nothing of the notebook around it.
        look = "width:100%;height:44em;border:1px solid rgba(128,128,128,0.4);background:white"
        may = "allow-scripts allow-downloads"
        return f'<iframe sandbox="{may}" style="{look}" srcdoc="{html.escape(self.html)}"></iframe>'


def make_page(
    atlas: AggregateExplainer,
    X: Any = None,
    *,
    labels: Any = None,
    by: Mapping[str, Any] | None = None,
    ids: Any = None,
    title: str = "How the model decides",
    about: str = "",
    include_rows: bool = False,
) -> Page:
    """Return the explainers as one page of HTML.

    Parameters
    ----------
    atlas : AggregateExplainer
        A fitted or loaded explainer. A loaded one has the trade-off that was saved with it.
    X : DataFrame or array, optional
        Rows that the page counts, rule by rule and group by group; None takes the rows of the fit, if they are still
        there.
    labels : array, optional
        The black box's labels for X. Otherwise the black box is asked about rows whose label is not known, and these
        rows are counted.
    by : mapping of name to array of shape (n_rows,), optional
        Groups of X in which rows are counted, besides the columns with few levels.
    ids : array of shape (n_rows,), optional
        What each row is called in the list of silent rows, such as the number of a patient; by default its number,
        counted from 0.
    title, about : str
        The title, and a line on the model and the rows.
    include_rows : bool
        Whether the page may hold the values of silent rows, which the form can then start from.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> atlas = AggregateExplainer(lambda X: X[:, 0] > 0.5, max_explainers=3, random_state=0).fit(X)
    >>> make_page(atlas).save("report.html")  # doctest: +SKIP
    """
    shown = rows_to_show(atlas, X, labels, {} if by is None else by, ids)
    # The summary and the trade-off are made when they are first asked for, and then stand in the record.
    summary = atlas.summary()
    if atlas.engine_ is not None:
        atlas.tradeoff()
    content = build_content(atlas, shown, title=title, about=about, include_rows=include_rows)
    return Page(fill_template(content, summary))


def rows_to_show(atlas: AggregateExplainer, X: Any, labels: Any, by: Mapping[str, Any], ids: Any) -> PageRows | None:
    """Return the rows that the page counts; None where there are none."""
    if not isinstance(by, Mapping):
        raise TypeError(f"by is a {type(by).__name__}; give a mapping of names to groups, one group for each row of X.")
    if X is None and by:
        raise ValueError("by names groups of the rows of X, and no X was given: pass both.")
    if X is not None:
        found = atlas.new_rows_.rows_to_count(X, labels)
    elif atlas.engine_ is not None:
        found = atlas.engine_.rows_to_count(atlas.record_.floor_by)
    else:
        return None
    (values, known, heard), record = found, atlas.record_
    groups = {name: one_per_row(group, len(values), f"by[{name!r}]") for name, group in by.items()}
    claims = [record.judged, None if record.certificate is None else record.certificate.answers]
    return PageRows(
        values,
        known,
        {**named_groups(record.schema, values), **groups},
        are_fitted=X is None,
        tolerance=record.explainers.tolerance,
        ids=None if ids is None else one_per_row(ids, len(values), "ids"),
        # Rows of one group are no independent evidence, and explainers that were chosen on rows look better on them.
        has_intervals=record.is_asked and not any(claim is not None and claim.unit == "groups" for claim in claims),
        heard=heard,
    )


def fill_template(content: Mapping[str, Any], summary: str) -> str:
    """Return the page, with text escaped and a policy that allows only its own script to run."""
    style = _asset("page.css")
    script = "\n".join(_asset(name) for name in SCRIPTS)
    parts = {
        "title": html.escape(str(content["title"])),
        "about": html.escape(str(content["about"])),
        "summary": html.escape(summary),
        "data": json_in_html(content),
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
    }
    # One pass over the marks of the template, so that text of the data is never taken for a mark.
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], _asset("template.html"))


def json_in_html(content: Any) -> str:
    """Return JSON that cannot end the HTML element around it."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"), default=np.generic.item)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _asset(name: str) -> str:
    return files("oleander.report").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def build_content(
    atlas: AggregateExplainer, shown: PageRows | None, *, title: str, about: str, include_rows: bool
) -> dict[str, Any]:
    """Return the content of the page as plain data for JSON; ``ValueError`` where it would hold a row of the data."""
    schema, values = atlas.schema_, None if shown is None else shown.values
    record, engine = atlas.record_, atlas.engine_
    if not include_rows:
        for rows in (None if engine is None else engine.known.values, values):
            record = record if rows is None else record.without_records(rows)
    # An explainer that was loaded without a trade-off has its own cell alone.
    cells = (record.cell,) if record.tradeoff is None else record.tradeoff.cells
    answers = {
        rule.answer for cell in cells if cell.explainers for one in cell.explainers.members for rule in one.rules()
    }
    given = None if shown is None or shown.answers is None else shown.answers[0]
    answers.update(() if given is None else given)
    codes = {answer: code for code, answer in enumerate(sorted(answers))}
    # Explainers and sets that several cells share are described once.
    members: dict[tuple[int, bool], dict[str, Any]] = {}
    sets: dict[tuple[int, ...], dict[str, Any]] = {}
    start, described = [record.max_explainers, record.min_fidelity], []
    for cell in cells:
        line = {name: getattr(cell, name) for name in CELL_FIGURES}
        line |= describe_cell(record, cell, is_fitted=[cell.max_explainers, cell.min_fidelity] == start)
        described.append(line | {"set": None})
        if cell.explainers is None:
            continue
        keys = [(id(member.explainer), member.claim is None) for member in cell.explainers.members]
        for key, member in zip(keys, cell.explainers.members, strict=True):
            if key not in members:
                members[key] = describe_member(member, schema, codes, record.min_fidelity)
        own = tuple(list(members).index(key) for key in keys)
        if own not in sets:
            sets[own] = {"members": own, "ranked": cell.explainers.ranked.tolist()}
            if shown is not None:
                said = cell.explainers.read(shown.values, shown.heard)
                sets[own] |= describe_rows(cell.explainers, said, shown, codes, _judge(atlas, cell, said, shown))
        described[-1]["set"] = list(sets).index(own)
    lists = [one["silent"] for one in sets.values() if "silent" in one]
    within, params = record.explainers.tolerance, atlas.get_params(deep=False)
    names = ["max_explainers", "min_fidelity"] if engine is None else sorted(params.keys() - HIDDEN)
    return {
        "title": visible(title),
        "about": visible(about),
        "columns": describe_columns(schema, values),
        "classes": list(codes),
        # Ranges of numbers, in their order.
        "ranges": None if within is None or given is None else [codes[word] for word in given],
        "members": list(members.values()),
        "sets": list(sets.values()),
        "cells": described,
        "start": start,
        # Edits are of rules, each with its own conditions and answer.
        "fingerprint": record.fingerprint if all(one.is_one_rule for one in record.explainers.members) else None,
        "n_rows": None if shown is None else len(shown.values),
        "has_intervals": shown is not None and shown.has_intervals,
        "listed": None if shown is None else describe_listed(lists, shown, codes, include_rows=include_rows),
        "phrases": {"far": FAR, "disagree": DISAGREE, "change": CHANGE, "silent": SILENT},
        "by_folds": record.by_folds,
        "confidence": "" if record.certificate is None else show_percent(record.certificate.confidence),
        "is_asked": record.is_asked,
        # The form does not know a row's subgroup.
        "silent_for": [] if record.floor_by is None else record.floor_by.silent,
        "within": "" if within is None else str(within),
        "tolerance": None if within is None else {"value": within.value, "relative": within.is_relative},
        "typical": [value if np.isfinite(value) else None for value in typical_row(schema, values).tolist()],
        "made": [
            *describe_making(record, atlas.n_queries_),
            f"Parameters: {', '.join(f'{name}={params[name]!r}' for name in names)}.",
            f"Software: Oleander {__version__}, Python {platform.python_version()}, NumPy {np.__version__}.",
        ],
    }


def describe_member(member: ChosenExplainer, schema: FeatureSchema, codes: Codes, floor: float) -> dict[str, Any]:
    """Return a chosen explainer: its rules, how sure they are, and what is needed to answer a row."""
    explainer = member.explainer
    claim = "" if member.claim is None else f", {describe_claim(member.claim, floor)}"
    rules = []
    for position, rule in enumerate(member.rules()):
        judged = member.judged[position] if member.judged else None
        rules.append(
            {
                "terms": clauses(rule.terms),
                "columns": [term.column for term in rule.terms if isinstance(term, Condition)],
                "label": codes[rule.answer],
                "value": None if member.tolerance is None or explainer.line is not None else float(rule.label),
                # How sure an explainer of several rules is stands above them all.
                "evidence": describe_evidence(member, position, rule, alone=explainer.n_rules > 1),
                "n": rule.n_draws if judged is None else judged.n_rows,
                "bar": count_matches(member, position),
                "unsure": judged is not None and judged.bound < LEAST_STATED,
            }
        )
    where, form = member.region.describe(), explainer.form()
    if member.ball is not None:
        # Without its center a radius means nothing.
        center = zip(schema, member.ball.center, strict=True)
        where += f"; center: {', '.join(f'{one.shown} = {one.describe_value(value)}' for one, value in center)}"
    if explainer.line is not None and member.tolerance is not None:
        within = member.tolerance
        form |= {"within": str(within), "digits": within.digits, "relative": within.is_relative}
    return {
        "words": f"{describe_all(member)}{claim}",
        "where": where,
        "one": member.is_one_rule,
        "features": member.features,
        "region": member.region.form(),
        "explainer": form,
        "rules": rules,
    }


def _judge(atlas: AggregateExplainer, cell: Cell, answers: Answers, shown: PageRows) -> tuple[Bools, Bools] | None:
    """Return masks of the comparable answers, and of those that agree with the black box; None where not known."""
    if not atlas.record_.by_folds:
        return None if shown.labels is None else (answers.answered, answers.right(shown.labels))
    # The rules were learned from draws around these rows: answers of rules that were learned without the row count.
    if atlas.engine_ is None or not shown.are_fitted or atlas.record_.n_edits:
        return None
    return atlas.engine_.judged_apart((cell.max_explainers, cell.min_fidelity))
