"""The page: the figures of Python, no value of a row, text that stays text, and the same bytes each time."""

import json
import re

import numpy as np
import pytest

from oleander import AggregateExplainer, Balls, Floor
from oleander.draws import Draws
from oleander.report.counts import MOST_LISTED, describe_columns, list_silent
from oleander.report.page import SCRIPTS, _asset, fill_template, json_in_html
from oleander.results.explanation import far_limits
from oleander.words.summary import describe_fit

KINDS = ["asking", "balls"]


def read_content(html):
    return json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])


def build(atlas, X=None, **options):
    return read_content(atlas.report(X=X, **options).html)


def fitted_cell(content):
    return next(cell for cell in content["cells"] if [cell["max_explainers"], cell["min_fidelity"]] == content["start"])


@pytest.mark.parametrize("kind", KINDS)
def test_no_value_of_a_row_by_default(atlases, tmp_path, kind, make_rows):
    X = make_rows()
    atlases[kind].report(tmp_path / "p.html", X)
    page = (tmp_path / "p.html").read_text()
    values = [repr(float(value)) for value in X["weight"]] + [f"{value:.10g}" for value in X["dose"].dropna()]
    assert not [value for value in values if value in page]
    silent = build(atlases[kind], X, include_rows=True)["listed"]
    assert len(silent["values"]) == len(silent["rows"]) > 0
    weights = [row[list(X.columns).index("weight")] for row in silent["values"]]
    assert weights == X["weight"].iloc[silent["rows"]].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_the_fitted_cell_has_the_figures_of_the_fit(atlases, kind, make_rows):
    atlas = atlases[kind]
    content = build(atlas, make_rows())
    cell = fitted_cell(content)
    assert (cell["coverage"], cell["n_rules"]) == (atlas.coverage_, atlas.record_.explainers.n_rules)
    assert len(content["sets"][cell["set"]]["members"]) == len(atlas.explainers_)
    assert cell["lead"] == describe_fit(atlas.record_)
    assert any("min_fidelity=0.75" in line for line in content["made"])


def test_judged_counts_stand_beside_each_rule(atlases, make_rows):
    atlas = atlases["asking"]
    content = build(atlas, make_rows())
    members = content["sets"][fitted_cell(content)["set"]]["members"]
    lines = [rule for number in members for rule in content["members"][number]["rules"]]
    for line, (_, judged) in zip(lines, atlas.rules_frame().iterrows(), strict=True):
        assert line["evidence"].startswith(f"matches the model on {judged['right']} of {judged['rows']} row")
        assert line["n"] == judged["rows"]
        assert line["bar"] == [judged["right"], judged["rows"]]


def test_small_groups_are_not_counted(atlases, make_rows):
    X = make_rows()
    few = np.where(np.arange(len(X)) < 4, "rare", "common")
    content = build(atlases["balls"], X, by={"kind": few})
    groups = {group["name"]: group["lines"] for group in content["sets"][0]["left_out"]["by"]}
    assert {"value": "rare"} in groups["kind"]


@pytest.mark.parametrize("kind", ["asking", "balls", "nodes"])
def test_silent_rows_have_a_reason_and_no_value(atlases, kind, make_rows):
    atlas, X = atlases[kind], make_rows(seed=5)
    content = build(atlas, X)
    assert content["listed"]["values"] is None
    assert content["listed"]["names"] == content["listed"]["rows"]
    silent = content["sets"][fitted_cell(content)["set"]]["silent"]
    rows = atlas.schema_.encode(X)
    assert silent["rows"] == np.flatnonzero(np.ma.getmaskarray(atlas.predict(X))).tolist()
    for row, why in zip(silent["rows"], silent["why"], strict=True):
        number, misses = silent["reasons"][why]
        if number is None:
            assert misses is None
        else:
            conditions = atlas.explainers_[number].conditions
            assert list(misses) == [k for k, one in enumerate(conditions) if not one.contains(rows[[row]])[0]]
            assert misses


def test_a_list_of_silent_rows_is_bounded(atlases, make_rows):
    atlas = atlases["asking"]
    rows = atlas.schema_.encode(make_rows(MOST_LISTED + 50))
    found = list_silent(atlas.record_.explainers, rows, np.zeros(len(rows), dtype=bool))
    assert found["rows"] == list(range(MOST_LISTED))


@pytest.mark.parametrize("kind", ["asking", "balls"])
def test_a_page_of_a_thousand_rows_is_small(atlases, kind, make_rows):
    assert len(atlases[kind].report(X=make_rows(1000)).html.encode()) < 1e6


def test_answers_by_folds_are_judged_without_the_row(label_rows, make_rows):
    atlas = AggregateExplainer(label_rows, draws=Draws(2000), min_fidelity=0.75, random_state=0).fit(make_rows(300))
    content = build(atlas)
    lines = content["sets"][fitted_cell(content)["set"]]["left_out"]["by"][0]["lines"]
    assert content["by_folds"]
    judged = atlas.record_.judged
    assert sum(line["judged"] for line in lines) == judged.n_rows
    assert sum(line["right"] for line in lines) == judged.n_right
    # For other rows than those of the fit no such rules are known.
    other = build(atlas, make_rows(300, seed=4))
    assert all("right" not in line for line in other["sets"][0]["left_out"]["by"][0]["lines"])


def test_columns_have_no_bounds_but_those_beyond_which_a_value_is_far(mixed_schema):
    for column, feature in zip(describe_columns(mixed_schema, None), mixed_schema, strict=True):
        names = "name own_name unit kind number scale missing levels n_named far values bins"
        assert set(column) == set(names.split())
        assert column["far"] == (far_limits(feature) if feature.is_number else None)


def test_a_ball_around_a_row_is_refused(tmp_path, make_rows, label_rows):
    atlas = AggregateExplainer(
        label_rows,
        candidates=Balls(2.0, centers="rows", n_draws=200, max_candidates=30),
        min_fidelity=0.5,
        floor=Floor(on="share"),
        random_state=0,
    ).fit(make_rows(200))
    with pytest.raises(ValueError, match="which the file would hold"):
        atlas.report(tmp_path / "p.html")
    with pytest.raises(ValueError, match="which the file would hold"):
        atlas.report(tmp_path / "p.html", make_rows(50, seed=9))
    assert not list(tmp_path.iterdir())
    atlas.report(tmp_path / "p.html", include_rows=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ids": [1, 2, 3]}, r"ids has shape \(3,\); one entry for each of 500 rows is expected"),
        ({"X": None, "by": {"kind": ["a"]}}, "no X was given"),
        ({"by": "kind"}, "by is a str; give a mapping of names to groups"),
        ({"by": ["a"]}, "by is a list; give a mapping of names to groups"),
    ],
)
def test_groups_and_names_are_one_for_each_row(atlases, make_rows, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        atlases["asking"].report(**{"X": make_rows(), **options})


def test_the_same_explainer_writes_the_same_bytes(atlases, tmp_path):
    for name in ("a.html", "b.html"):
        atlases["balls"].report(tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_nothing_is_fetched():
    for name in ("page.css", *SCRIPTS, "template.html"):
        addresses = re.findall(r"https?://[^\s\"')]+", _asset(name))
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}


def test_the_summary_is_shown_without_scripts(atlases, tmp_path):
    atlases["balls"].report(tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text()
    assert "explainers with" in re.search(r"<noscript>(.*?)</noscript>", page, re.DOTALL)[1]


@pytest.mark.parametrize("text", ["</script>", "<!--", "&lt;", "{{data}}"])
def test_text_of_the_data_stays_text(text):
    content = {"title": text, "about": text, "columns": [text]}
    page = fill_template(content, text)
    assert read_content(page) == content
    assert page.count("<script") == 2
    assert "<" not in json_in_html([text])
