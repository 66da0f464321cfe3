"""The page: one file of HTML that opens anywhere."""

import html
import os
from pathlib import Path
from typing import Any

from oleander.aggregate import AggregateExplainer
from oleander.datasets.fetch import write_whole


def write_report(
    atlas: AggregateExplainer,
    path: str | os.PathLike[str],
    X: Any = None,
    *,
    title: str = "How the model decides",
    about: str = "",
    include_rows: bool = False,
) -> None:
    """Write the explainers as one page of HTML."""
    text = f"<!doctype html><meta charset=utf-8><title>{html.escape(title)}</title><pre>{html.escape(atlas.summary())}"
    write_whole(Path(path), text.encode())
