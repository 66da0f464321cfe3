"""The content of the page: no value of a row, and the same figures as in Python."""

import numpy as np
import pytest

from oleander.report.page.content import MOST_POINTS, Shown, build_content, describe_making, named_groups

# The trade-off of balls takes some seconds.
SLOW = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("balls", "linear")]
KINDS = ["asking", "trees", "nodes", "anchors", *SLOW]


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
    assert (cell["coverage"], cell["fidelity"]) == (atlas.coverage_, atlas.fidelity_)
    assert len(content["sets"][cell["set"]]["members"]) == len(atlas.explainers_)
    assert content["certificate"]["answers"] == vars(atlas.certificate_.answers)


def test_parameters_set_after_the_fit_change_nothing(atlases, make_rows, monkeypatch):
    atlas, before = atlases["trees"], build(atlases["trees"], make_rows())
    monkeypatch.setattr(atlas, "max_explainers", 1)
    monkeypatch.setattr(atlas, "min_fidelity", 0.5)
    after = build(atlas, make_rows())
    assert after["start"] == before["start"]
    assert after["certificate"] == before["certificate"]


def test_small_groups_are_not_counted(atlases, make_rows):
    X = make_rows()
    few = np.where(np.arange(len(X)) < 4, "rare", "common")
    content = build(atlases["trees"], X, by={"kind": few})
    groups = {group["name"]: group["lines"] for group in content["sets"][0]["left_out"]["by"]}
    assert {"value": "rare"} in groups["kind"]


@pytest.mark.parametrize("kind", ["asking", "trees"])
def test_unanswered_rows_are_those_of_predict(atlases, kind, make_rows, label_rows):
    X = make_rows(seed=5)
    atlas = atlases[kind]
    content = build(atlas, X)
    left = content["sets"][fitted_cell(content)["set"]]["left_out"]
    assert left["n"] == np.ma.getmaskarray(atlas.predict(X)).sum()
    by_label = {line["value"]: line for line in left["by"][0]["lines"]}
    for label in np.unique(label_rows(X)):
        here = label_rows(X) == label
        assert by_label[label]["left"] == np.ma.getmaskarray(atlas.predict(X[here])).sum()


def test_the_map_has_a_bounded_number_of_points_on_a_grid(atlases, make_rows):
    content = build(atlases["trees"], make_rows(MOST_POINTS + 100))["map"]
    assert content["n_rows"] == MOST_POINTS + 100
    places = np.array(content["points"])
    assert places.shape == (MOST_POINTS, 2)
    assert places.dtype.kind == "i"
    assert (places >= 0).all()
    assert (places <= content["grid"]).all()


def test_the_typical_row_is_rounded(atlases, make_rows):
    atlas, X = atlases["trees"], make_rows()
    typical = dict(zip(atlas.schema_.names, build(atlas, X)["typical"], strict=True))
    assert typical["weight"] == float(f"{X['weight'].median():.3g}")


def test_how_it_was_made(atlases, make_rows):
    atlas = atlases["asking"]
    made = dict(describe_making(atlas, show(atlas, make_rows())))
    assert made["rows sent to the model"] == f"{atlas.n_queries_:,}"
    assert "min_fidelity=0.75" in made["parameters"]
    assert made["proof"].startswith("learned and chosen on draws")
    assert dict(describe_making(atlases["trees"], None))["proof"].startswith("proven")
    # The fingerprint follows the rows.
    other = dict(describe_making(atlas, show(atlas, make_rows(seed=2))))
    assert other["rows on this page"] != made["rows on this page"]
