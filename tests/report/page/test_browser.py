"""The page in a real browser shows and answers the same as Python."""

import time
import warnings

import numpy as np
import pytest

from oleander import AggregateExplainer, Balls, Floor
from oleander.draws.options import Draws
from oleander.running.shares import show_lower_percent, show_share, show_upper_percent

pytestmark = pytest.mark.slow
KINDS = ["asking", "trees", "nodes", "balls", "linear", "anchors"]


def encoded(rows):
    return [[None if np.isnan(value) else float(value) for value in row] for row in rows]


def ask_page(page, cell, rows):
    script = """([cell, rows]) => rows.map((row) => {
        const explanation = explain(data, data.sets[data.cells[cell].set], row);
        return [explanation.label, explanation.disagree,
                explanation.statements.map((one) => [one.explainer, data.classes[one.rule.label], one.rule.text])];
    })"""
    return page.tab.evaluate(script, [cell, encoded(rows)])


@pytest.mark.parametrize("kind", KINDS)
def test_every_cell_answers_rows_as_python_does(open_page, atlases, kind, make_rows):
    atlas = atlases[kind]
    page = open_page(atlas)
    rows = atlas.schema_.encode(make_rows(120, seed=7))
    asked = 0
    for number, cell in enumerate(atlas.tradeoff().cells):
        if cell.explainers is None:
            continue
        for row, (label, disagree, statements) in zip(rows, ask_page(page, number, rows), strict=True):
            explanation = cell.explainers.explain(row)
            assert label == (None if explanation.label is None else str(explanation.label))
            assert [one[0] for one in statements] == [s.explainer for s in explanation.statements]
            assert disagree == explanation.disagree
            assert [one[:2] for one in statements] == [[s.explainer, str(s.rule.label)] for s in explanation.statements]
            if kind != "linear":
                assert [one[2] for one in statements] == [str(s.rule) for s in explanation.statements]
            asked += len(statements)
    assert asked > 100
    page.check()


@pytest.mark.parametrize("kind", ["asking", "trees", "nodes", "balls"])
def test_the_form_agrees_with_python(open_page, atlases, kind, make_rows):
    atlas = atlases[kind]
    page = open_page(atlas)
    tab, schema = page.tab, atlas.schema_
    typical = tab.evaluate("data.typical")
    fields = {
        int(field.get_attribute("id").removeprefix("field-")): field
        for field in tab.locator("#form input, #form select").all()
    }
    assert fields
    for row in schema.encode(make_rows(25, seed=3)):
        asked = np.array([np.nan if value is None else value for value in typical])
        for j, field in fields.items():
            asked[j] = row[j]
            if schema[j].is_number:
                field.fill("" if np.isnan(row[j]) else repr(float(row[j])))
            else:
                field.select_option("" if np.isnan(row[j]) else str(int(row[j])))
        explanation = atlas.record_.explainers.explain(asked)
        expected = "No answer" if explanation.label is None else str(explanation.label)
        assert tab.locator("#said .figure").inner_text() == expected
        shown = tab.locator("#said li").all_inner_texts()
        assert len(shown) == len(explanation.statements)
        for text, statement in zip(shown, explanation.statements, strict=True):
            assert text.startswith(f"Explainer {statement.explainer} ")
            assert text.endswith(" ".join(str(statement.rule).split()))
    page.check()


def test_shares_and_bounds_are_rounded_to_the_safe_side(open_page, atlases):
    tab = open_page(atlases["trees"]).tab
    shares = [0.0, 1e-9, 0.0004, 0.29, 0.9994, 0.9996, 1 - 1e-9, 1.0]
    assert tab.evaluate("(shares) => shares.map((share) => percent(share))", shares) == [
        show_share(share, 1) for share in shares
    ]
    some = [0.0, 0.29, 0.57, 0.9996, 1.0]
    assert tab.evaluate("(some) => some.map(atLeast)", some) == [show_lower_percent(share) for share in some]
    assert tab.evaluate("(some) => some.map(atMost)", some) == [show_upper_percent(share) for share in some]


def test_results_in_a_notebook_run_no_script_of_the_data(chromium, atlases, make_rows, tmp_path):
    atlas, rows = atlases["asking"], make_rows(30, seed=7)
    shown = [atlas, *(atlas.explain(rows.iloc[[k]]) for k in range(30)), atlas.evaluation_, atlas.uncovered(rows)]
    shown += [atlas.tradeoff(), *atlas.explainers_, atlas.report()]
    path = tmp_path / "cells.html"
    cells = "<hr>".join(one._repr_html_() for one in shown)
    path.write_text(f"<meta charset='utf-8'><body>{cells}</body>", encoding="utf-8")
    tab = chromium.new_page()
    messages = []
    tab.on("console", lambda message: messages.append(message.text))
    tab.on("pageerror", lambda error: messages.append(str(error)))
    tab.goto(path.as_uri())
    assert tab.locator("iframe").content_frame.locator("#tile-coverage .figure").inner_text().endswith("%")
    assert tab.evaluate("window.hit === undefined && !document.querySelector('script, img')")
    assert not messages
    tab.close()


def test_a_field_that_is_no_number_is_marked(open_page, atlases):
    page = open_page(atlases["trees"])
    field = page.tab.get_by_label("weight")
    field.fill("")
    assert page.tab.locator("#said").inner_text() == "weight needs a number."
    assert field.get_attribute("aria-invalid") == "true"
    page.check()


@pytest.mark.parametrize("kind", ["asking", "trees", "nodes", "balls"])
def test_sliders_show_the_cells_of_the_trade_off(open_page, atlases, kind):
    atlas = atlases[kind]
    page = open_page(atlas)
    tab = page.tab
    cells = atlas.tradeoff().cells
    numbers = sorted({cell.max_explainers for cell in cells})
    floors = sorted({cell.min_fidelity for cell in cells})
    # By the keyboard alone.
    tab.locator("#k").press("Home")
    for number in numbers:
        tab.locator("#phi").press("Home")
        for floor in floors:
            cell = atlas.tradeoff().at(number, floor)
            assert tab.locator("#k-out").inner_text() == str(number)
            assert float(tab.locator("#phi-out").inner_text()) == floor
            if cell.explainers is None:
                assert tab.locator("#tile-none .figure").inner_text() == "0%"
                assert tab.locator(".card").count() == 0
            else:
                assert tab.locator("#tile-coverage .figure").inner_text() == f"{cell.coverage * 100:.1f}%"
                figure = cell.agreement if cell.explainers.in_turn else cell.fidelity
                assert tab.locator("#tile-fidelity .figure").inner_text() == f"{figure * 100:.1f}%"
                assert tab.locator("#tile-number .figure").inner_text() == str(cell.n_explainers)
                assert tab.locator(".card").count() == cell.n_explainers
            tab.locator("#phi").press("ArrowRight")
        tab.locator("#k").press("ArrowRight")
    tab.locator("#back").click()
    assert tab.locator("#tile-coverage .figure").inner_text() == f"{atlas.coverage_ * 100:.1f}%"
    page.check()


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_names_are_text(open_page, atlases, kind, make_rows, hostile, levels):
    page = open_page(atlases[kind], make_rows(), by={f"own {hostile}": np.resize(["<b>x</b>", "'y'"], 500)})
    tab = page.tab
    tab.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    tab.wait_for_timeout(100)
    text = tab.locator("body").inner_text()
    for part in (hostile, "<b>x</b>", "<i>no dose</i>", levels[0], levels[2], levels[3]):
        assert part in text
    assert tab.locator("img, iframe, main script, i, b").count() == 0
    assert tab.title() == f"A page of {hostile}"
    page.check()
    page.shoot(f"page-{kind}", full_page=True)


@pytest.mark.parametrize("kind", ["asking", "balls"])
def test_the_tiles_are_seen_without_scrolling(open_page, atlases, kind):
    page = open_page(atlases[kind])
    for name in ("coverage", "fidelity", "number", "best", "tree"):
        box = page.tab.locator(f"#tile-{name}").bounding_box()
        assert box["y"] + box["height"] <= 800
    page.shoot(f"first-screen-{kind}")
    page.check()


def test_the_map_shows_the_explainers_of_a_point_and_no_value(open_page, atlases, make_rows):
    atlas, X = atlases["balls"], make_rows()
    page = open_page(atlas, X)
    tab = page.tab
    responsible = np.where(np.ma.getmaskarray(atlas.predict(X)), -1, atlas.responsible(X))
    covers = atlas.covers(X)
    for i in [*np.flatnonzero(responsible >= 0)[:5], *np.flatnonzero(responsible < 0)[:5]]:
        tab.locator(f"#plot [data-i='{i}']").dispatch_event("mouseover")
        tip = tab.locator(".tip").inner_text()
        assert ("No answer." if responsible[i] < 0 else f"Explainer {responsible[i]} answers.") in tip
        inside = np.flatnonzero(covers[:, i])
        assert (f"Covered by {', '.join(map(str, inside))}." if len(inside) else "No explainer covers this row.") in tip
        assert "weight =" not in tip
    assert tab.locator("#plot .cross").count() == (responsible < 0).sum()
    page.check()


def test_sort_and_filter(open_page, atlases):
    atlas = atlases["balls"]
    page = open_page(atlas)
    tab = page.tab
    tab.locator("#sort").select_option("support")
    order = sorted(range(len(atlas.explainers_)), key=lambda n: -atlas.explainers_[n].support)
    assert tab.locator(".card h3").all_inner_texts() == [f" Explainer {n}".strip() for n in order]
    tab.locator("#filter").fill("no such words")
    assert tab.locator(".card").count() == 0
    tab.locator("#filter").fill("WEIGHT")
    mention = [m for m in atlas.explainers_ if "weight" in {atlas.schema_[j].name for j in m.explainer.features}]
    assert tab.locator(".card").count() == len(mention)
    page.check()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_dark_and_small(open_page, atlases, scheme):
    page = open_page(atlases["nodes"], browser={"color_scheme": scheme})
    assert page.tab.evaluate("document.documentElement.dataset.theme") == scheme
    page.shoot(f"theme-{scheme}", full_page=True)
    page.tab.set_viewport_size({"width": 390, "height": 800})
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 390
    # The chart is drawn anew after the window has changed.
    page.tab.wait_for_function(
        "Math.min(...[...$('chart').querySelectorAll('text')].map((t) => t.getBoundingClientRect().height)) > 11"
    )
    page.shoot(f"small-{scheme}", full_page=True)
    page.check()


@pytest.mark.parametrize(("kind", "rows"), [("asking", "rows it answers"), ("balls", "rows it was chosen on")])
def test_a_card_names_the_rows_of_its_figures(open_page, atlases, kind, rows):
    page = open_page(atlases[kind])
    assert f"agreement, {rows}" in page.tab.locator(".card").first.inner_text()
    page.check()


@pytest.mark.parametrize("kind", ["asking", "balls"])
def test_the_certificate_is_shown_without_rounding_up(open_page, atlases, kind):
    page = open_page(atlases[kind])
    claim = atlases[kind].certificate_.answers
    shown = f"Certified: at least {np.floor(claim.bound * 1000) / 10:.1f}% ({claim.n_right} of {claim.n_rows} rows"
    assert shown in page.tab.locator("#tile-fidelity").inner_text()
    assert "Clopper" in page.tab.locator("#making").inner_text()
    page.check()


def test_a_long_condition_keeps_its_number(open_page, atlases):
    page = open_page(atlases["trees"])
    short = page.tab.evaluate("shorten('a very long name of a column ≤ 0.146', 25)")
    assert short == "a very long na…mn ≤ 0.146"
    page.check()


def test_print_opens_everything_and_hides_controls(open_page, atlases):
    page = open_page(atlases["nodes"])
    page.tab.emulate_media(media="print")
    page.tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.tab.locator("details:not([open])").count() == 0
    # Drawn at once, because the browser prints what is there when the event returns.
    assert page.tab.evaluate("[...document.querySelectorAll('.tree .scroll')].every((place) => place.firstChild)")
    assert not page.tab.locator("#try").is_visible()
    page.shoot("print", full_page=True)
    page.check()


def test_every_control_and_drawing_has_a_name_for_screen_readers(open_page, atlases):
    page = open_page(atlases["balls"])
    page.tab.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    page.tab.wait_for_timeout(100)
    nameless = page.tab.evaluate(
        """() => [
            ...[...document.querySelectorAll("input, select")].filter((field) => !field.labels.length),
            ...[...document.querySelectorAll("svg")].filter((picture) =>
                picture.getAttribute("aria-hidden") !== "true"
                && !(picture.getAttribute("role") === "img" && picture.getAttribute("aria-label"))),
            ...[...document.querySelectorAll("section")].filter((part) =>
                !document.getElementById(part.getAttribute("aria-labelledby"))),
        ].map((element) => element.outerHTML.slice(0, 80))"""
    )
    assert not nameless
    page.check()


def test_without_rows_and_without_a_trade_off(open_page, atlases, tmp_path):
    atlases["trees"].tradeoff()
    atlases["trees"].save(tmp_path / "with.oleander")
    page = open_page(AggregateExplainer.load(tmp_path / "with.oleander"))
    assert "there is no map" in page.tab.locator("#map").inner_text()
    assert page.tab.locator("#k").get_attribute("max") == "3"
    page.check()
    bare = AggregateExplainer(label := (lambda X: X[:, 0] > 0.5), draws=Draws(600), random_state=0)
    bare.fit(np.random.default_rng(0).uniform(size=(300, 2))).save(tmp_path / "without.oleander")
    loaded = AggregateExplainer.load(tmp_path / "without.oleander", label)
    page = open_page(loaded, np.random.default_rng(1).uniform(size=(50, 2)))
    assert page.tab.locator("#plot [data-i]").count() == 50
    page.check()


def test_two_thousand_rows_and_fifty_explainers(open_page):
    X = np.random.default_rng(0).uniform(size=(2700, 2)).round(3)
    atlas = AggregateExplainer(
        lambda X: (np.sin(9 * X[:, 0]) > X[:, 1]).astype(int),
        candidates=Balls(0.25, max_candidates=300, n_draws=300),
        max_explainers=50,
        min_fidelity=0.7,
        max_rules=None,
        floor=Floor(on="share"),
        time_limit=2,
        random_state=0,
    )
    with warnings.catch_warnings():
        # A slow machine may not prove the choice in time.
        warnings.simplefilter("ignore", UserWarning)
        atlas.fit(X)
    # Explainers that add nothing are left out.
    assert 40 <= len(atlas.explainers_) <= 50
    atlas.tradeoff(max_explainers=[5, 10, 20, 30, 50], min_fidelity=[0.7, 0.8, 0.9])
    started = time.monotonic()
    page = open_page(atlas, X[:2000])
    page.tab.locator("#plot [data-i]").nth(1999).wait_for()
    assert page.path.stat().st_size < 8e6
    loaded = page.tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    assert loaded < 3000
    print(f"{page.path.stat().st_size / 1e6:.2f} MB, {loaded:.0f} ms, {time.monotonic() - started:.1f} s in all")
    page.shoot("fifty", full_page=True)
    page.check()
