import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Draws
from oleander.data.rows import hash_rows
from tests.results.conftest import stripes

HOSTILE = '<img src=x onerror="alert(1)">'


def test_explain_asks_and_counts_unless_the_answer_is_known(fit_stripes, rows):
    atlas = fit_stripes()
    before = atlas.n_queries_
    known = atlas.explain(rows[0])
    assert (known.black_box, atlas.n_queries_) == (stripes(rows[:1])[0], before)
    new = np.array([0.123, 0.456, 0.789])
    assert atlas.explain(new).black_box == stripes(new[None])[0]
    assert atlas.n_queries_ == before + 1
    assert atlas.explain(new, ask=False).black_box is None
    assert atlas.n_queries_ == before + 1


def test_a_loaded_explainer_says_that_the_black_box_was_not_asked(atlas, rows, tmp_path):
    atlas.save(tmp_path / "saved", include_rows=True)
    loaded = AggregateExplainer.load(tmp_path / "saved")
    explanation = loaded.explain(rows[0])
    assert str(explanation).startswith("The model was not asked: it is not in the saved file.\n")
    assert explanation.agrees is None
    again = AggregateExplainer.load(tmp_path / "saved", stripes)
    assert again.explain(rows[0]).black_box == stripes(rows[:1])[0]
    assert again.n_queries_ == atlas.n_queries_ + 1
    assert loaded.explain_many(rows[:3])["black_box"].isna().all()


def test_without_queries_left_the_black_box_is_not_asked(rows):
    atlas = AggregateExplainer(stripes, draws=Draws(0), random_state=0, max_queries=len(rows) + 110).fit(rows)
    left = atlas.max_queries - atlas.n_queries_
    for place in range(left):
        atlas.explain(np.array([0.001 * place, 0.5, 0.5]))
    explanation = atlas.explain(np.array([0.9999, 0.5, 0.5]))
    assert explanation.black_box is None
    assert "not asked: max_queries=" in str(explanation)
    assert atlas.n_queries_ == atlas.max_queries


def test_many_rows_are_explained_as_each_by_itself(atlas, rows):
    X = np.vstack([rows[:60], [[40.0, 0.5, 0.5]]])
    table = atlas.explain_many(X)
    assert len(table) == len(X)
    for line, x in zip(table.itertuples(index=False), X, strict=True):
        explanation = atlas.explain(x)
        first = explanation.statements[0] if explanation.label is not None else None
        assert line.answer == explanation.label
        assert line.black_box == explanation.black_box
        assert line.agrees == explanation.agrees
        assert line.rule == (None if first is None else first.name)
        assert line.explainer == (None if first is None else first.explainer + 1)
        assert line.why_silent == ("" if explanation.statements else "no rule holds for this row")
        assert line.far_outside == "; ".join(map(str, explanation.far_outside))
        if first is not None:
            judged = first.member.judged
            bound = judged[first.position].bound if judged else np.nan
            assert line.at_least == pytest.approx(bound, nan_ok=True)
    assert "far above" in table["far_outside"].iloc[-1]


def test_rows_that_cannot_be_read_have_their_reason_and_the_index_is_kept():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(20, 80, 300), "ward": rng.choice(["north", "west"], 300)})

    def label(table):
        return np.where((table["age"] > 50).to_numpy() & (table["ward"] == "north").to_numpy(), "yes", "no")

    atlas = AggregateExplainer(label, draws=Draws(0), random_state=0).fit(X)
    new = pd.DataFrame({"age": [30, 60], "ward": ["north", "south"]}, index=["first", "second"])
    table = atlas.explain_many(new)
    assert table.index.tolist() == ["first", "second"]
    assert table.loc["first", "answer"] == table.loc["first", "black_box"] == "no"
    assert "column 'ward' holds 'south'" in table.loc["second", "why_silent"]
    assert table.loc["second", "black_box"] == "no"
    assert table.loc["second", "answer"] is None


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({HOSTILE: rng.uniform(size=600), "</table>": rng.choice([HOSTILE, "b"], 600)})

    def label(table):
        high = (table[HOSTILE] > 0.5).to_numpy() | (table["</table>"] == HOSTILE).to_numpy()
        return np.where(high, HOSTILE, "</div><script>")

    return AggregateExplainer(label, draws=Draws(2_000), holdout=0.5, random_state=0).fit(X), X


class TestHtml:
    def test_names_levels_and_labels_are_text(self, hostile):
        atlas, X = hostile
        shown = [
            atlas,
            atlas.explain(X.iloc[0]),
            atlas.evaluation_,
            atlas.certificate_,
            atlas.uncovered(X),
            atlas.tradeoff(),
            atlas.explainers_[0],
        ]
        for one in shown:
            html = one._repr_html_()
            assert "<img" not in html
            assert "<script" not in html
            assert html.count("<table") == html.count("</table>")
            assert html.count("<div") == html.count("</div>")

    def test_the_fit_shows_its_rules_and_no_row(self, hostile):
        atlas, X = hostile
        html = atlas._repr_html_()
        assert "rule 1" in html
        assert "at least" in html
        assert not any(f"{value}" in html for value in X[HOSTILE])
        assert atlas._repr_mimebundle_()["text/html"] == html

    def test_before_a_fit_parameters_are_shown(self):
        unfitted = AggregateExplainer(stripes, max_explainers=7)
        assert "max_explainers" in unfitted._repr_mimebundle_()["text/html"]

    def test_a_page_is_shown_in_a_frame_of_its_own(self, hostile, tmp_path):
        atlas, _ = hostile
        page = atlas.report()
        frame = page._repr_html_()
        assert frame.startswith('<iframe sandbox="allow-scripts allow-downloads"')
        assert frame.count("<") == 2
        assert atlas.report(tmp_path / "page.html") is None
        assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html


@pytest.mark.parametrize("ask", [True, False])
def test_an_explanation_touches_no_other_row_of_the_fit(monkeypatch: pytest.MonkeyPatch, ask: bool) -> None:
    X = np.random.default_rng(0).uniform(size=(6_000, 3))
    atlas = AggregateExplainer(lambda X: X[:, 0] > 0.5, draws=Draws(2_000), random_state=0).fit(X)
    n_queries, hashed = atlas.n_queries_, []

    def counting(values: np.ndarray) -> np.ndarray:
        hashed.append(len(values))
        return hash_rows(values)

    monkeypatch.setattr("oleander.data.rows.hash_rows", counting)
    assert atlas.explain(X[5], ask=ask).black_box == (X[5, 0] > 0.5 if ask else None)
    assert max(hashed, default=0) <= 1
    assert atlas.n_queries_ == n_queries
