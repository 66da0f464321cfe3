"""The content of the page: no value of a row, and the same figures as in Python."""

import json
import re

import numpy as np
import pytest

from oleander import AggregateExplainer
from oleander.draws import Draws
from oleander.messages import show_lower_percent
from oleander.report.page.content import build_content
from oleander.report.page.shown import Shown, named_groups

KINDS = ["asking", "balls", pytest.param("linear", marks=pytest.mark.slow)]


def show(atlas, X, by=None):
    values = atlas.schema_.encode(X)
    return Shown(values, atlas.label(values), {**named_groups(atlas.schema_, values), **(by or {})})


def build(atlas, X, *, by=None, include_rows=False):
    return build_content(atlas, show(atlas, X, by), title="title", about="about", include_rows=include_rows)


def fitted_cell(content):
    return next(cell for cell in content["cells"] if [cell["max_explainers"], cell["min_fidelity"]] == content["start"])


@pytest.mark.parametrize("kind", KINDS)
def test_no_value_of_a_row_by_default(atlases, tmp_path, kind, make_rows):
    X = make_rows()
    atlases[kind].report(tmp_path / "p.html", X)
    page = (tmp_path / "p.html").read_text()
    values = [repr(float(value)) for value in X["weight"]] + [f"{value:.10g}" for value in X["dose"].dropna()]
    assert not [value for value in values if value in page]
    assert "rows" not in build(atlases[kind], X)["map"]
    atlases[kind].report(tmp_path / "q.html", X, include_rows=True)
    assert f"{X['weight'].iloc[0]:.10g}" in (tmp_path / "q.html").read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_the_fitted_cell_has_the_figures_of_the_fit(atlases, kind, make_rows):
    atlas = atlases[kind]
    content = build(atlas, make_rows())
    cell = fitted_cell(content)
    assert (cell["coverage"], cell["n_rules"]) == (atlas.coverage_, atlas.record_.explainers.n_rules)
    assert len(content["sets"][cell["set"]]["members"]) == len(atlas.explainers_)
    assert any(f"at least {show_lower_percent(atlas.certificate_.answers.bound, 0)}" in line for line in cell["words"])


def test_judged_counts_stand_beside_each_rule(atlases, make_rows):
    atlas = atlases["asking"]
    content = build(atlas, make_rows())
    members = content["sets"][fitted_cell(content)["set"]]["members"]
    lines = [rule for number in members for rule in content["members"][number]["rules"]]
    for line, (_, judged) in zip(lines, atlas.rules_frame().iterrows(), strict=True):
        assert line["evidence"].startswith(f"correct on {judged['right']} of {judged['rows']} row")
        assert line["n"] == judged["rows"]


def test_parameters_set_after_the_fit_change_nothing(atlases, make_rows, monkeypatch):
    atlas, before = atlases["balls"], build(atlases["balls"], make_rows())
    monkeypatch.setattr(atlas, "max_explainers", 1)
    monkeypatch.setattr(atlas, "min_fidelity", 0.5)
    after = build(atlas, make_rows())
    assert after["start"] == before["start"]
    assert fitted_cell(after)["words"] == fitted_cell(before)["words"]


def test_small_groups_are_not_counted(atlases, make_rows):
    X = make_rows()
    few = np.where(np.arange(len(X)) < 4, "rare", "common")
    content = build(atlases["balls"], X, by={"kind": few})
    groups = {group["name"]: group["lines"] for group in content["sets"][0]["left_out"]["by"]}
    assert {"value": "rare"} in groups["kind"]


@pytest.mark.parametrize("kind", ["asking", "balls"])
def test_unanswered_rows_are_those_of_predict(atlases, kind, make_rows, label_rows):
    X = make_rows(seed=5)
    atlas = atlases[kind]
    content = build(atlas, X)
    left = content["sets"][fitted_cell(content)["set"]]["left_out"]
    assert left["n"] == np.ma.getmaskarray(atlas.predict(X)).sum()
    by_label = {line["value"]: line for line in left["by"][0]["lines"]}
    for label in np.unique(label_rows(X)):
        here = label_rows(X) == label
        n_left = np.ma.getmaskarray(atlas.predict(X[here])).sum()
        assert by_label[label]["n"] - by_label[label]["answered"] == n_left


def test_columns_have_rounded_ranges_and_no_bounds(atlases, make_rows):
    X = make_rows()
    columns = {column["name"]: column for column in build(atlases["balls"], X)["columns"]}
    low, high = map(float, columns["weight"]["range"].split(" to "))
    assert X["weight"].min() < low < high < X["weight"].max()
    assert (low % 1, high % 1) == (0, 0)
    assert columns["weight"]["values"] == "numbers"
    assert columns["smoker"]["range"] == ""


def test_answers_by_folds_are_judged_without_the_row(label_rows, make_rows):
    atlas = AggregateExplainer(label_rows, draws=Draws(2000), min_fidelity=0.75, random_state=0).fit(make_rows(300))
    content = json.loads(re.search(r'id="data">(.*?)</script>', atlas.report().html, re.DOTALL)[1])
    lines = content["sets"][fitted_cell(content)["set"]]["left_out"]["by"][0]["lines"]
    assert content["by_folds"]
    judged = atlas.record_.judged
    assert sum(line["judged"] for line in lines) == judged.n_rows
    assert sum(line["right"] for line in lines) == judged.n_right
    # For other rows than those of the fit no such rules are known.
    other = build(atlas, make_rows(300, seed=4))
    assert all("right" not in line for line in other["sets"][0]["left_out"]["by"][0]["lines"])
