"""The README of a dossier: every figure and rule, and names that stay text."""

import re

import numpy as np
import pytest

from oleander import AggregateExplainer
from oleander.messages import show_share
from oleander.words.dossier import escape
from oleander.words.summary import describe_fit
from tests.export.judges import BREAKERS, fitted
from tests.making import ROWS_ONLY, halves


def readme_of(atlas, folder, **options):
    atlas.dossier(folder / "evidence", **options)
    return (folder / "evidence" / "README.md").read_text()


def test_figures_rules_and_columns_are_there(tmp_path):
    atlas = fitted("patients", "default")
    readme = readme_of(atlas, tmp_path, title="Referrals")
    assert readme.startswith("# Referrals\n")
    assert f"rows ({show_share(atlas.coverage_, 1)})" in readme
    assert f"- Rows sent to the model: {atlas.n_queries_:,}." in readme
    assert len(re.findall(r"^- \*\*rule .*→", readme, flags=re.MULTILINE)) == len(atlas.explainers_)
    for feature in atlas.schema_:
        assert f"| {escape(feature.name)} | {feature.kind} |" in readme
    assert "not certified" in readme


def test_a_certificate_is_named(tmp_path):
    X = np.random.default_rng(0).uniform(size=(400, 2))
    atlas = AggregateExplainer(halves, **ROWS_ONLY).fit(X)
    readme = readme_of(atlas, tmp_path)
    assert all(f"- {escape(line)}\n" in readme for line in describe_fit(atlas.record_))
    assert "not certified" not in readme


def test_hostile_names_stay_text(tmp_path):
    readme = readme_of(fitted("strange", "default"), tmp_path, title="<script>alert(1)</script>\n# x")
    assert "<script" not in readme
    assert all(line.isprintable() for line in readme.splitlines())
    widths = {line.replace("\\|", "").count("|") for line in readme.splitlines() if line.startswith("|")}
    assert widths == {5}
    assert len(re.findall(r"^#", readme, flags=re.MULTILINE)) == 9


@pytest.mark.parametrize("text", [*BREAKERS, "1. list", "- item", "[x](javascript:alert(1))", "<b>", "&lt;"])
def test_escaped_text_has_no_markup_left(text):
    shown = escape(text)
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)[*_`\[\]|]", shown)
    assert "<" not in shown
    assert not re.match(r"[-+=]|\d+[.)]", shown)
