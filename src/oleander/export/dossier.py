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
from oleander.export.recompute import canonical, fingerprint, has_numbers
from oleander.files.saved import whole_folder
from oleander.messages import visible
from oleander.results.fit_record import FitRecord
from oleander.words.dossier import write_readme

PACKAGES = ("oleander", "numpy", "scipy", "pandas", "scikit-learn", "numba", "highspy")


class DossierError(ValueError):
    """A dossier cannot be written; the message says why. Nothing was written."""


def write_folder(
    record: FitRecord,
    rows: Rows | None,
    folder: Path,
    *,
    confidence: float,
    model_file: Path | None,
    **readme: Any,
) -> None:
    """Write the folder; ``rows`` are those that judged, None where an explainer was loaded.

    ``readme`` has the title, the intended use and the kind of headings.
    """
    if not record.is_asked:
        raise DossierError("a dossier is for rules, and these explainers are small models in regions that were chosen.")
    if folder.exists() and not folder.is_dir():
        raise DossierError(f"{visible(folder)} is a file, and a dossier is a folder: give another name.")
    facts = {
        "floor": record.min_fidelity,
        "confidence": confidence if record.certificate is None else record.certificate.confidence,
        "order": [number + 1 for number in record.explainers.ranked.tolist()],
        "tolerance": None if record.explainers.tolerance is None else record.explainers.tolerance.to_dict(),
        "figures": _list_figures(record, rows),
        "model file": None if model_file is None else hashlib.sha256(model_file.read_bytes()).hexdigest(),
        "versions": {"python": platform.python_version(), **{name: metadata.version(name) for name in PACKAGES}},
    }
    contents = {
        "rules.json": json.dumps(record.to_dict(), allow_nan=False, indent=1),
        "rules.py": write_python(record.explainers, record.floor_by),
        "README.md": write_readme(record, facts, **readme),
    }
    facts["files"] = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in contents.items()}
    contents["figures.json"] = json.dumps(facts, allow_nan=False, indent=1, ensure_ascii=False)
    contents["recompute.py"] = files("oleander.export").joinpath("recompute.py").read_text(encoding="utf-8")
    with whole_folder(folder) as draft:
        for name, text in contents.items():
            (draft / name).write_bytes(text.encode())


def _list_lines(record: FitRecord, rows: Rows) -> Iterator[list[str]]:
    """Yield each row that judged as text, the model's answer last."""
    points = rows.point_of_row
    table = pd.DataFrame(record.schema.decode(rows.exact[points]))
    kinds = [has_numbers(None if one.is_number else one.named_levels) for one in record.schema]
    columns = [table.iloc[:, j].tolist() for j in range(len(kinds))] + [rows.labels_of_rows.tolist()]
    for line in zip(*columns, strict=True):
        values = (None if pd.isna(value) else value for value in line)
        yield [canonical(value, is_number) for value, is_number in zip(values, [*kinds, record.is_number], strict=True)]


def _list_figures(record: FitRecord, rows: Rows | None) -> dict[str, Any]:
    """Return every figure that the script recomputes, under the name that it has there."""
    evaluation, members, by = record.widest_evaluation, record.explainers.members, record.floor_by
    figures: dict[str, Any] = {
        "rows": evaluation.n_rows,
        "answered": evaluation.n_answered,
        "answered as the model": evaluation.n_right,
    }
    has_groups = record.certificate is not None and record.certificate.unit == "groups"
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
    if rows is not None and record.exact is None:
        lines = list(_list_lines(record, rows))
        figures["fingerprint of the rows"] = fingerprint(line[:-1] for line in lines)
        figures["fingerprint of the rows with the answers"] = fingerprint(lines)
    return figures
