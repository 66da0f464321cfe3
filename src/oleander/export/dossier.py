"""A folder of evidence that a third party can check: rules, figures, hashes, and a script that recomputes them."""

import hashlib
import json
import platform
from collections.abc import Iterator
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from oleander.data.rows import Rows
from oleander.export.python import write_python
from oleander.export.recompute import canonical, fingerprint
from oleander.files.saved import whole_folder
from oleander.messages import visible
from oleander.results.fit_record import FitRecord
from oleander.words.dossier import Headings, write_dossier

PACKAGES = ("oleander", "numpy", "scipy", "pandas", "scikit-learn", "numba", "highspy")
ANSWERS = "model_answer"
GROUPS = "group"


class DossierError(ValueError):
    """A dossier cannot be written; the message says why. Nothing was written."""


def write_folder(
    record: FitRecord,
    rows: Rows | None,
    folder: Path,
    *,
    title: str,
    intended_use: str,
    confidence: float,
    headings: Headings,
    model_file: Path | None,
    include_rows: bool,
) -> None:
    """Write the folder; ``rows`` are those that judged, None where an explainer was loaded."""
    if not record.is_asked:
        raise DossierError("a dossier is for rules, and these explainers are small models in regions that were chosen.")
    if include_rows and rows is None:
        raise DossierError("this explainer was loaded from a file, which holds no rows: leave out include_rows.")
    if include_rows and record.exact is not None:
        raise DossierError("the rows stay in their table, which the figures count whole: leave out include_rows.")
    columns = () if record.floor_by is None else record.floor_by.columns
    if include_rows and (lacking := [name for name in columns if name not in record.schema.names]):
        raise DossierError(
            f"the rows are kept without column {lacking[0]!r}, which makes subgroups and is none of the model's: leave "
            "out include_rows."
        )
    if folder.exists() and not folder.is_dir():
        raise DossierError(f"{visible(folder)} is a file, and a dossier is a folder: give another name.")
    if not include_rows and (folder / "rows.csv").exists():
        raise DossierError(f"{visible(folder)} holds rows.csv, with rows of an earlier dossier: give another folder.")
    table = None if rows is None else _read_rows(record, rows)
    facts = {
        "floor": record.min_fidelity,
        "confidence": confidence if record.certificate is None else record.certificate.confidence,
        "order": [number + 1 for number in record.explainers.ranked.tolist()],
        "tolerance": None if record.explainers.tolerance is None else record.explainers.tolerance.to_dict(),
        "figures": _list_figures(record, rows, table),
        "model file": None if model_file is None else hashlib.sha256(model_file.read_bytes()).hexdigest(),
        "versions": {"python": platform.python_version(), **{name: metadata.version(name) for name in PACKAGES}},
    }
    contents = {
        "rules.json": json.dumps(record.to_dict(), allow_nan=False, indent=1),
        "rules.py": write_python(record.explainers, record.floor_by),
        "README.md": write_dossier(record, facts, title=title, intended_use=intended_use, headings=headings),
    }
    facts["files"] = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in contents.items()}
    contents["figures.json"] = json.dumps(facts, allow_nan=False, indent=1, ensure_ascii=False)
    contents["recompute.py"] = files("oleander.export").joinpath("recompute.py").read_text(encoding="utf-8")
    if include_rows and table is not None:
        contents["rows.csv"] = table.to_csv(index=False)
    with whole_folder(folder) as draft:
        for name, text in contents.items():
            (draft / name).write_bytes(text.encode())


def _read_rows(record: FitRecord, rows: Rows) -> pd.DataFrame:
    """Return the rows that judged with the model's answers, as the data have them."""
    schema, points = record.schema, rows.point_of_row
    table = pd.DataFrame(schema.decode(rows.exact[points]))
    table.columns = pd.Index([str(column) for column in schema.columns or schema.names])
    for name, values in (
        (ANSWERS, rows.labels_of_rows),
        (GROUPS, None if rows.groups is None else rows.groups[points]),
    ):
        if values is not None:
            if name in table.columns:
                raise DossierError(
                    f"a column is called {name!r}, a name that the dossier needs for itself: rename the column."
                )
            table[name] = values
    return table


def _list_lines(record: FitRecord, table: pd.DataFrame) -> Iterator[list[str]]:
    """Yield each row as text, its answer last."""
    columns = []
    for name, feature in zip(record.schema.columns or record.schema.names, record.schema, strict=True):
        is_number = feature.is_number or not any(isinstance(level, (bool, str)) for level in feature.named_levels)
        values = [None if pd.isna(value) else value for value in table[str(name)].tolist()]
        columns.append([canonical(value, is_number) for value in values])
    columns.append([canonical(value, record.is_number) for value in table[ANSWERS].tolist()])
    yield from (list(line) for line in zip(*columns, strict=True))


def _list_figures(record: FitRecord, rows: Rows | None, table: pd.DataFrame | None) -> dict[str, Any]:
    """Return every figure that the script recomputes, under the name that it has there."""
    evaluation, members, by = record.widest_evaluation, record.explainers.members, record.floor_by
    figures: dict[str, Any] = {
        "rows": evaluation.n_rows,
        "answered": evaluation.n_answered,
        "answered as the model": evaluation.n_right,
    }
    has_groups = record.certificate is not None and record.certificate.by_group
    for number, (counts, member) in enumerate(zip(evaluation.explainer_counts, members, strict=True), start=1):
        figures[f"rule {number}: rows"] = counts.n_rows
        figures[f"rule {number}: as the model"] = counts.n_right
        has_bound = member.judged and not has_groups and not record.n_edits and record.exact is None
        if has_bound and member.judged[0].unit == "rows":
            figures[f"rule {number}: at least"] = member.judged[0].bound
    if not record.is_number and (record.accuracy is None or not record.accuracy.n_unread):
        for label, *of_label in evaluation.class_counts:
            for what, n_rows in zip(("rows", "answered", "answered as the model"), of_label, strict=True):
                figures[f"model says {label}: {what}"] = n_rows
    for one in () if by is None else by.subgroups:
        figures[f"subgroup {one.name}: rows"] = one.n_rows
        figures[f"subgroup {one.name}: covered"] = one.n_answered
        figures[f"subgroup {one.name}: covered and as the model"] = one.n_right
        if one.speaks and record.certificate is not None and not has_groups:
            figures[f"subgroup {one.name}: certified"] = True
    if record.certificate is not None and record.exact is None and by is None:
        if has_groups:
            figures["groups"] = record.certificate.answers.n_rows
            figures["groups: sum of shares"] = float(record.certificate.answers.n_right)
        figures["certified"] = True
    if rows is not None and table is not None and record.exact is None:
        lines = list(_list_lines(record, table))
        figures["fingerprint of the rows"] = fingerprint(line[:-1] for line in lines)
        figures["fingerprint of the rows with the answers"] = fingerprint(lines)
    return figures
