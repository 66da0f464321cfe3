"""The content of the file: no value of a row, nothing that ends its element, the same bytes each time."""

import json
import re

import numpy as np
import pytest

from oleander import AggregateExplainer, Balls, Floor
from oleander.report import write_report
from oleander.report.page.writing import _asset


def data_of(page: str):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.mark.parametrize("kind", ["trees", "nodes", "balls", "linear", "anchors"])
def test_no_value_of_a_row_unless_asked(atlases, tmp_path, kind, make_rows):
    X = make_rows()
    atlases[kind].report(tmp_path / "p.html", X)
    page = (tmp_path / "p.html").read_text()
    values = [repr(float(value)) for value in X["weight"]] + [f"{value:.10g}" for value in X["dose"].dropna()]
    assert not [value for value in values if value in page]
    assert "rows" not in data_of(page)["map"]
    atlases[kind].report(tmp_path / "q.html", X, include_rows=True)
    assert f"{X['weight'].iloc[0]:.10g}" in (tmp_path / "q.html").read_text()


def test_a_ball_around_a_row_is_refused(tmp_path, make_rows, judge_rows):
    atlas = AggregateExplainer(
        judge_rows,
        candidates=Balls(2.0, centers="rows", n_draws=200, max_candidates=30),
        min_fidelity=0.5,
        floor=Floor(on="share"),
        random_state=0,
    ).fit(make_rows(200))
    with pytest.raises(ValueError, match="which the page would hold"):
        write_report(atlas, tmp_path / "p.html")
    with pytest.raises(ValueError, match="which the page would hold"):
        write_report(atlas, tmp_path / "p.html", make_rows(50, seed=9))
    assert not list(tmp_path.iterdir())
    write_report(atlas, tmp_path / "p.html", include_rows=True)


def test_groups_need_their_rows(atlases, tmp_path):
    with pytest.raises(ValueError, match="no X was given"):
        write_report(atlases["trees"], tmp_path / "p.html", by={"kind": ["a"]})


def test_few_people_are_not_counted_apart(atlases, tmp_path, make_rows):
    X = make_rows()
    few = np.where(np.arange(len(X)) < 4, "rare", "common")
    write_report(atlases["trees"], tmp_path / "p.html", X, by={"kind": few})
    groups = {
        group["name"]: group["lines"]
        for group in data_of((tmp_path / "p.html").read_text())["sets"][0]["left_out"]["by"]
    }
    assert {"value": "rare"} in groups["kind"]


def test_left_out_is_what_predict_leaves_out(atlases, tmp_path, make_rows, judge_rows):
    X = make_rows(seed=5)
    atlas = atlases["trees"]
    write_report(atlas, tmp_path / "p.html", X)
    data = data_of((tmp_path / "p.html").read_text())
    cell = next(cell for cell in data["cells"] if [cell["max_explainers"], cell["min_fidelity"]] == data["start"])
    left = data["sets"][cell["set"]]["left_out"]
    assert left["n"] == np.ma.getmaskarray(atlas.predict(X)).sum()
    by_label = {line["value"]: line for line in left["by"][0]["lines"]}
    for label in np.unique(judge_rows(X)):
        here = judge_rows(X) == label
        assert by_label[label]["left"] == np.ma.getmaskarray(atlas.predict(X[here])).sum()


def test_the_same_explainer_writes_the_same_bytes(atlases, tmp_path):
    for name in ("a.html", "b.html"):
        write_report(atlases["balls"], tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_nothing_is_fetched():
    for name in ("page.css", "page.js", "drawing.js", "reading.js", "template.html"):
        addresses = re.findall(r"https?://[^\s\"')]+", _asset(name))
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, bright = sorted([light(one), light(other)])
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [":root {", ':root[data-theme="dark"] {'])
def test_words_stand_out(theme):
    rule = _asset("page.css").split(theme)[1].split("}")[0]
    colours = dict(re.findall(r"--(\w+): (#[0-9a-fA-F]{6})", rule))
    for word in ("ink", "soft", "strong", "accent", "warn"):
        for ground in ("paper", "panel"):
            assert contrast(colours[word], colours[ground]) >= 4.5, (word, ground)


def test_summary_stands_in_for_the_script(atlases, tmp_path):
    write_report(atlases["trees"], tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text()
    assert "local explainer" in re.search(r"<noscript>(.*?)</noscript>", page, re.DOTALL)[1]
