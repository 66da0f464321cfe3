"""The file: nothing that ends its element, nothing fetched, the same bytes each time."""

import json
import re

import pytest

from oleander import AggregateExplainer, Balls, Floor
from oleander.report import write_report
from oleander.report.page.writing import _asset, fill_template, json_in_html


def test_a_ball_around_a_row_is_refused(tmp_path, make_rows, label_rows):
    atlas = AggregateExplainer(
        label_rows,
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
        write_report(atlases["balls"], tmp_path / "p.html", by={"kind": ["a"]})


@pytest.mark.parametrize("by", ["kind", ["a"], 0])
def test_groups_have_names(atlases, tmp_path, by):
    with pytest.raises(TypeError, match=f"by is a {type(by).__name__}; give a mapping of names to groups"):
        write_report(atlases["balls"], tmp_path / "p.html", by=by)


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
def test_text_has_enough_contrast(theme):
    rule = _asset("page.css").split(theme)[1].split("}")[0]
    colours = dict(re.findall(r"--(\w+): (#[0-9a-fA-F]{6})", rule))
    for text in ("ink", "soft", "strong", "accent", "warn"):
        for ground in ("paper", "panel"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)


def test_the_summary_is_shown_without_scripts(atlases, tmp_path):
    write_report(atlases["balls"], tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text()
    assert "local explainer" in re.search(r"<noscript>(.*?)</noscript>", page, re.DOTALL)[1]


@pytest.mark.parametrize("text", ["</script>", "<!--", "&lt;", "{{data}}"])
def test_text_of_the_data_stays_text(text):
    content = {"title": text, "about": text, "columns": [text]}
    page = fill_template(content, text)
    assert json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1]) == content
    assert page.count("<script") == 2
    assert "<" not in json_in_html([text])


def test_only_plain_data_can_be_written():
    with pytest.raises(TypeError, match="a set cannot be written to the page"):
        json_in_html({"a": {1}})
