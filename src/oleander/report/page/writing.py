"""From content to one file: the template, the style, the program and the data, safe whatever names the data have."""

import base64
import hashlib
import html
import json
import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from oleander.aggregate import AggregateExplainer
from oleander.arrays import Labels
from oleander.data.checks import one_per_row
from oleander.report.page.content import Shown, build_content, known_rows, named_groups
from oleander.storage.files import write_whole

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
        Fitted or loaded. A loaded one has the trade-off that was saved with it.
    path : path
        Written whole or not at all.
    X : DataFrame or array, optional
        Rows for the map and for who is left out; None takes those it was fitted on, if it still has them.
    labels : array, optional
        The black box's labels for X. Otherwise it is asked about rows whose answer is not known, and they are counted.
    by : mapping of name to array of shape (n_rows,), optional
        Groups of X in which to see who is left out, besides the columns with few levels.
    title, about : str
        What the page is about, and which model on which rows.
    include_rows : bool
        Whether the page may hold the rows' values, which the map then shows.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> atlas = AggregateExplainer(lambda X: X[:, 0] > 0.5, max_explainers=3, random_state=0).fit(X)
    >>> write_report(atlas, "report.html")  # doctest: +SKIP
    """
    shown = _rows_to_show(atlas, X, labels, by or {})
    if not include_rows:
        _refuse_records(atlas, shown)
    content = build_content(atlas, shown, title=title, about=about, include_rows=include_rows)
    write_whole(Path(path), fill_template(content, atlas.summary()).encode())


def _rows_to_show(atlas: AggregateExplainer, X: Any, labels: Any, by: Mapping[str, Any]) -> Shown | None:
    schema = atlas.schema_
    if X is None:
        if by:
            raise ValueError("by groups the rows of X, and no X was given: pass both.")
        if atlas._workings is None:
            return None
        rows = atlas._workings.known
        values = rows.values[rows.point_of_row]
        said: Labels | None = rows.labels_of_rows
    else:
        values = schema.encode(X)
        can_ask = atlas.black_box is not None or labels is not None
        said = atlas.label(values, labels) if can_ask else None
    groups = {name: one_per_row(group, len(values), f"by[{name!r}]") for name, group in by.items()}
    return Shown(values, said, {**named_groups(schema, values), **groups})


def _refuse_records(atlas: AggregateExplainer, shown: Shown | None) -> None:
    record = atlas.record_.explainers.find_record(known_rows(atlas, shown))
    if record is not None:
        raise ValueError(
            f"explainer {record} is a ball around a row of the data, which the page would hold. "
            "Allow it with include_rows=True."
        )


def fill_template(content: Mapping[str, Any], summary: str) -> str:
    """Return the page: text escaped, data that cannot end their element, and a policy that runs our program only."""
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
    # One pass over the template's own marks, so that nothing in the data is taken for one.
    pieces = page.split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        filled += [parts[name], rest]
    return "".join(filled)


def json_in_html(content: Any) -> str:
    r"""Return JSON that no reader of HTML takes for the end of the element around it.

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
    raise TypeError(f"a {type(value).__name__} has no place in the page's data.")


def _asset(name: str) -> str:
    return files("oleander.report.page").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
