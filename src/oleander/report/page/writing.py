"""Writes the page: template, style, script and content in one file, with all text of the data escaped."""

import base64
import hashlib
import html
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from oleander.arrays import Labels
from oleander.data.checks import one_per_row
from oleander.data.frames import to_table
from oleander.explainer import AggregateExplainer
from oleander.files.atomic import write_whole
from oleander.report.page.content import build_content, known_rows
from oleander.report.page.shown import Shown, named_groups

SCRIPTS = ("reading.js", "drawing.js", "page.js")


def write_report(
    atlas: AggregateExplainer,
    path: str | os.PathLike[str],
    X: Any = None,
    *,
    labels: Any = None,
    by: Mapping[str, Any] | None = None,
    title: str = "How the model decides",
    about: str = "",
    include_rows: bool = False,
) -> None:
    """Write the explainers as one page of HTML.

    Parameters
    ----------
    atlas : AggregateExplainer
        A fitted or loaded explainer. A loaded one has the trade-off that was saved with it.
    path : path
        The file, which is written whole or not at all.
    X : DataFrame or array, optional
        Rows for the map and for the part on unanswered rows; None takes the rows of the fit, if they are still there.
        The map shows at most 2,000 of them, drawn at random, and says so; all other counts are of all rows.
    labels : array, optional
        The black box's labels for X. Otherwise the black box is asked about rows whose label is not known, and these
        rows are counted.
    by : mapping of name to array of shape (n_rows,), optional
        Groups of X in which unanswered rows are counted, besides the columns with few levels.
    title, about : str
        The title, and a line on the model and the rows.
    include_rows : bool
        Whether the page may hold the values of rows, which the map then shows.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> atlas = AggregateExplainer(lambda X: X[:, 0] > 0.5, max_explainers=3, random_state=0).fit(X)
    >>> write_report(atlas, "report.html")  # doctest: +SKIP
    """
    page = make_page(atlas, X, labels=labels, by=by, title=title, about=about, include_rows=include_rows)
    write_whole(Path(path), page.html.encode())


@dataclass(frozen=True)
class Page:
    """The page in memory, which a notebook shows in a frame of its own."""

    html: str

    def _repr_html_(self) -> str:
        # The frame may run the page's own script, and reaches nothing of the notebook around it.
        look = "width:100%;height:44em;border:1px solid rgba(128,128,128,0.4);background:white"
        return f'<iframe sandbox="allow-scripts" style="{look}" srcdoc="{html.escape(self.html)}"></iframe>'


def make_page(
    atlas: AggregateExplainer,
    X: Any = None,
    *,
    labels: Any = None,
    by: Mapping[str, Any] | None = None,
    title: str = "How the model decides",
    about: str = "",
    include_rows: bool = False,
) -> Page:
    """Return the page that ``write_report`` writes."""
    shown = _rows_to_show(atlas, X, labels, {} if by is None else by)
    if not include_rows:
        _refuse_records(atlas, shown)
    content = build_content(atlas, shown, title=title, about=about, include_rows=include_rows)
    return Page(fill_template(content, atlas.summary()))


def _rows_to_show(atlas: AggregateExplainer, X: Any, labels: Any, by: Mapping[str, Any]) -> Shown | None:
    if not isinstance(by, Mapping):
        raise TypeError(f"by is a {type(by).__name__}; give a mapping of names to groups, one group for each row of X.")
    schema = atlas.schema_
    if X is None:
        if by:
            raise ValueError("by names groups of the rows of X, and no X was given: pass both.")
        if atlas._engine is None:
            return None
        rows = atlas._engine.known
        values = rows.values[rows.point_of_row]
        known: Labels | None = rows.labels_of_rows
    else:
        values = schema.encode(X)
        can_ask = atlas.black_box is not None or labels is not None
        known = atlas._label_table(to_table(X), values, None, labels) if can_ask else None
    groups = {name: one_per_row(group, len(values), f"by[{name!r}]") for name, group in by.items()}
    by = {**named_groups(schema, values), **groups}
    return Shown(values, known, by, are_fitted=X is None, tolerance=atlas.record_.explainers.tolerance)


def _refuse_records(atlas: AggregateExplainer, shown: Shown | None) -> None:
    record = atlas.record_.explainers.find_record(known_rows(atlas, shown))
    if record is not None:
        raise ValueError(
            f"explainer {record + 1} is a ball around a row of the data, which the page would hold. "
            "Allow it with include_rows=True."
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
    page = _asset("template.html")
    # One pass over the marks of the template, so that text of the data is never taken for a mark.
    pieces = page.split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        filled += [parts[name], rest]
    return "".join(filled)


def json_in_html(content: Any) -> str:
    r"""Return JSON that cannot end the HTML element around it.

    Examples
    --------
    >>> json_in_html(["</script>"])
    '["\\u003c/script\\u003e"]'
    """
    text = json.dumps(content, allow_nan=False, separators=(",", ":"), default=_plain)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__} cannot be written to the page.")


def _asset(name: str) -> str:
    return files("oleander.report.page").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
