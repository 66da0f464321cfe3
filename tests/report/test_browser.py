"""The page in a real browser shows and answers the same as Python."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer
from oleander.data.tolerance import show_answer
from oleander.draws import Draws
from oleander.messages import show_share
from oleander.results.explanation import explain_row
from oleander.rules.conditions import Range
from oleander.words.rules import describe_change, describe_far, describe_sureness
from oleander.words.summary import describe_fit

pytestmark = pytest.mark.slow
KINDS = ["asking", "numbers", "balls", "trees"]


def encoded(rows):
    return [[None if np.isnan(value) else float(value) for value in row] for row in rows]


def ask_page(page, cell, rows):
    script = """([cell, rows]) => rows.map((row) => {
        const set = data.sets[data.cells[cell].set];
        const { label, disagree, far, statements } = explain(data, set, row);
        return [label, disagree, far, statements.map((one) => [one.explainer, data.classes[one.rule.label],
            nameOf(membersOf(set), one.explainer, one.position), one.rule.terms.join(" and "), one.rule.evidence])];
    })"""
    return page.tab.evaluate(script, [cell, encoded(rows)])


@pytest.mark.parametrize("kind", KINDS)
def test_every_cell_answers_rows_as_python_does(shared_page, kind, make_rows):
    page = shared_page(kind)
    atlas = page.atlas
    rows = atlas.schema_.encode(make_rows(60, seed=7))
    # Some values lie outside the data, many of them far.
    numbers = np.flatnonzero([feature.is_number for feature in atlas.schema_])
    rng = np.random.default_rng(0)
    rows[:, numbers] *= np.where(rng.random((60, len(numbers))) < 0.2, rng.uniform(-2, 3, (60, len(numbers))), 1)
    asked, warned = 0, 0
    for number, cell in enumerate(atlas.tradeoff().cells):
        if cell.explainers is None:
            continue
        members, tolerance = cell.explainers.members, cell.explainers.tolerance
        for row, (label, disagree, far, statements) in zip(rows, ask_page(page, number, rows), strict=True):
            explanation = explain_row(cell.explainers, row, with_change=False)
            assert label == (None if explanation.label is None else show_answer(explanation.label, tolerance))
            assert disagree == explanation.disagree
            assert far == [describe_far(one) for one in explanation.far_outside]
            warned += len(far)
            # The rule of a line is the line; what it says of a row is its label.
            rules = [
                members[one.explainer].rules()[0] if one.rule.formula else one.rule for one in explanation.statements
            ]
            assert [one[:3] for one in statements] == [
                [one.explainer, rule.answer, one.name] for one, rule in zip(explanation.statements, rules, strict=True)
            ]
            for said, one in zip(statements, explanation.statements, strict=True):
                assert said[3] == one.rule.premise
                if len(members[one.explainer].rules()) == 1:
                    assert said[4] == describe_sureness(one)
            asked += len(statements)
    assert asked > 100
    assert warned > 100


@pytest.mark.parametrize("kind", KINDS)
def test_what_would_change_an_answer_is_what_python_finds(shared_page, kind, make_rows):
    page = shared_page(kind)
    atlas = page.atlas
    rows = atlas.schema_.encode(make_rows(60, seed=11))
    rows[::7, 0] *= 3
    script = """([cell, rows]) => rows.map((row) => {
        const set = data.sets[data.cells[cell].set];
        const found = findChange(data, set, row);
        const name = found && nameOf(membersOf(set), found.number, found.position);
        return found && fill(data.phrases.change, found.label, name, found.terms);
    })"""
    found = 0
    for number, cell in [pair for pair in enumerate(atlas.tradeoff().cells) if pair[1].explainers is not None][::4]:
        for row, said in zip(rows, page.tab.evaluate(script, [number, encoded(rows)]), strict=True):
            change = explain_row(cell.explainers, row).change
            assert said == (None if change is None else describe_change(change))
            found += said is not None
    assert found > 200
    page.tab.evaluate("(row) => { state.row = row; answer(); }", encoded(rows)[0])
    expected = describe_change(explain_row(atlas.record_.explainers, rows[0]).change)
    assert page.tab.locator("#said .change").text_content() == expected


@pytest.mark.parametrize("kind", ["asking", "balls"])
def test_the_form_agrees_with_python(shared_page, kind, make_rows):
    page = shared_page(kind)
    atlas, tab, schema = page.atlas, page.tab, page.atlas.schema_
    typical = tab.evaluate("data.typical")
    fields = {
        int(field.get_attribute("id").removeprefix("field-")): field
        for field in tab.locator("#form input, #form select").all()
    }
    assert fields
    # A ball measures the distance along every column.
    assert len(fields) == len(schema) or kind != "balls"
    for row in schema.encode(make_rows(25, seed=3)):
        asked = np.array([np.nan if value is None else value for value in typical])
        for j, field in fields.items():
            asked[j] = row[j]
            if schema[j].is_number:
                field.fill("" if np.isnan(row[j]) else repr(float(row[j])))
            else:
                field.select_option("" if np.isnan(row[j]) else str(int(row[j])))
        explanation = explain_row(atlas.record_.explainers, asked)
        expected = "Silent" if explanation.label is None else str(explanation.label)
        assert tab.locator("#said .figure").inner_text() == expected
        shown = tab.locator("#said > ul > li[data-explainer]")
        assert shown.count() == len(explanation.statements)
        for said, statement in zip(shown.all(), explanation.statements, strict=True):
            assert said.inner_text().startswith(statement.name)
            checks = [text.split(" (here")[0] for text in said.locator(".checks li").all_inner_texts()]
            assert " ".join(" and ".join(checks).split()) == " ".join(statement.rule.premise.split())
        # The rule that answers is marked in the list, where the list shows it.
        marked = tab.locator("#list [aria-current]")
        assert marked.count() <= (explanation.label is not None)
        if kind == "asking":
            assert marked.count() == (explanation.label is not None)


def narrowest_cell(atlas):
    """Return the choice that leaves out the most rows, with its number."""
    cells = [(number, cell) for number, cell in enumerate(atlas.tradeoff().cells) if cell.explainers is not None]
    return min(cells, key=lambda pair: pair[1].coverage)


def test_silent_rows_are_listed_sorted_and_downloaded(shared_page, make_rows, label_rows):
    page, X = shared_page("asking"), make_rows()
    atlas, tab = page.atlas, page.tab
    number, cell = narrowest_cell(atlas)
    tab.evaluate("(number) => choose(data.cells[number])", number)
    silent = np.flatnonzero(cell.explainers.responsible(atlas.schema_.encode(X)) < 0)

    def read():
        return [
            [part.strip() for part in line.split("\t")]
            for line in tab.locator("#silent-list tbody").inner_text().split("\n")
        ]

    assert [int(row) for row, *_ in read()] == silent.tolist()
    assert [model for _, model, *_ in read()] == label_rows(X)[silent].tolist()
    # By the keyboard, up and down; rows of one answer keep their order.
    for state, is_down in (("ascending", False), ("descending", True)):
        tab.locator("#sort-model").press("Enter")
        assert tab.locator("#silent-list [aria-sort]").get_attribute("aria-sort") == state
        models = [line[1] for line in read()]
        assert models == sorted(models, key=str.lower, reverse=is_down)
    cells = tab.evaluate("['=1+1', '-x', 'a,\"b\"', -2, 'plain'].map(csvCell)")
    assert cells == ["'=1+1", "'-x", '"a,""b"""', "-2", "plain"]
    with tab.expect_download() as waiting:
        tab.locator("#download").click()
    table = pd.read_csv(waiting.value.path(), encoding="utf-8-sig")
    assert waiting.value.suggested_filename == "silent-rows.csv"
    assert table["row"].tolist() == silent.tolist()
    assert table["model"].tolist() == label_rows(X)[silent].tolist()
    # The rule and its conditions are those of the page's data, which the tests of the page compare with Python.
    assert table["nearest_rule"].str.fullmatch(r"rule \d+ → .*").all()
    assert table["misses"].str.len().min() > 0


def test_the_form_starts_from_a_silent_row_if_rows_are_allowed(open_page, atlases, make_rows):
    atlas, X = atlases["asking"], make_rows()
    page = open_page(atlas, X, include_rows=True, ids=[f"P{n}" for n in range(len(X))])
    number, cell = narrowest_cell(atlas)
    page.tab.evaluate("(number) => choose(data.cells[number])", number)
    rows = atlas.schema_.encode(X)
    first = np.flatnonzero(cell.explainers.responsible(rows) < 0)[0]
    assert page.tab.locator("#silent-list tbody th bdi").first.inner_text() == f"P{first}"
    page.tab.locator("#silent-list tbody button").first.click()
    assert page.tab.evaluate("state.row") == encoded(rows[[first]])[0]
    said, members = page.tab.locator("#said"), cell.explainers.members
    assert said.locator(".figure").inner_text() == "Silent"
    # The nearest rule is one of which the fewest conditions fail.
    failed = [[not one.contains(rows[[first]])[0] for one in member.conditions] for member in members]
    number = int(said.locator("strong").first.inner_text().removeprefix("rule "))
    assert ["failed" in one.get_attribute("class") for one in said.locator(".checks li").all()] == failed[number - 1]
    assert sum(failed[number - 1]) == min(map(sum, failed))


def test_the_way_of_a_row_through_a_tree_is_marked(shared_page, atlases, make_rows):
    atlas = atlases["balls"]
    number, member = next(pair for pair in enumerate(atlas.explainers_) if len(pair[1].rules()) > 2)
    rows = atlas.schema_.encode(make_rows(200, seed=3))
    row = rows[atlas.record_.explainers.covers(rows)[number]][0]
    page = shared_page("balls")
    page.tab.evaluate("(row) => { state.row = row; answer(); }", encoded([row])[0])
    said = page.tab.locator(f"#said li[data-explainer='{number}']")
    said.get_by_text("Its way through the tree").click()
    tree = member.explainer
    node, path = 0, []
    while tree.column[node] >= 0:
        left, right = tree.conditions(node)
        goes_left = bool(left.contains(row[None])[0])
        path.append(str(left if goes_left else right))
        node = int(tree.left[node] if goes_left else tree.right[node])
    marked = said.locator(".step > details > summary > bdi, .step > bdi")
    assert marked.all_inner_texts() == [" ".join(text.split()) for text in path]
    assert all(item.is_visible() for item in marked.all())


def test_a_date_has_a_field_of_its_own(open_page):
    rng = np.random.default_rng(0)
    n_rows = 400
    table = pd.DataFrame(
        {
            "admitted": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n_rows), "D"),
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**6, n_rows), "s"),
            "age": rng.integers(18, 90, n_rows),
        }
    )

    def label(rows):
        late = (rows["admitted"] > "2021-03-01") | (rows["seen"] > "2020-01-08 12:00")
        return np.where(late, "late", "early")

    atlas = AggregateExplainer(label, draws=Draws(2000), random_state=0).fit(table[::2], background=table[1::2])
    page = open_page(atlas)
    tab = page.tab
    assert tab.locator("#form").get_by_label("admitted").get_attribute("type") == "date"
    assert tab.locator("#form").get_by_label("seen").get_attribute("type") == "datetime-local"
    for admitted, seen in (("2020-05-17", "2020-01-02T10:30:15"), ("2022-02-28", "2020-01-10T00:00:00")):
        tab.locator("#form").get_by_label("admitted").fill(admitted)
        tab.locator("#form").get_by_label("seen").fill(seen)
        row = atlas.schema_.encode(table.head(1).assign(admitted=pd.Timestamp(admitted), seen=pd.Timestamp(seen)))[0]
        assert tab.evaluate("state.row")[:2] == pytest.approx(row[:2].tolist(), abs=1e-9)
        explanation = explain_row(atlas.record_.explainers, np.array(tab.evaluate("state.row"), dtype=float))
        assert tab.locator("#said .figure").inner_text() == str(explanation.label)
    tab.locator("#form").get_by_label("admitted").fill("")
    assert tab.locator("#said").inner_text() == "admitted needs a date."


def test_descriptions_and_units_are_used_on_the_whole_page(open_page, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"wt": rng.normal(70, 12, 400).round(1), "age_y": rng.integers(18, 90, 400)})
    words = pd.DataFrame({"name": ["wt", "age_y"], "description": ["weight", "age <b>"], "unit": ["kg", "years"]})
    atlas = AggregateExplainer(lambda X: X["wt"] > 72, draws=Draws(2000), random_state=0)
    atlas.fit(table[::2], background=table[1::2], columns=words).save(tmp_path / "a.oleander")
    loaded = AggregateExplainer.load(tmp_path / "a.oleander", lambda X: X["wt"] > 72)
    page = open_page(loaded, table)
    tab = page.tab
    assert "If weight > 7" in tab.locator("#list").inner_text()
    assert " kg → True" in " ".join(tab.locator("#list").inner_text().split())
    tab.locator("#form").get_by_label("weight (kg)").fill("999")
    far = explain_row(loaded.record_.explainers, np.array([999.0, 50.0])).far_outside
    assert f"Warning: {describe_far(far[0])}." in tab.locator("#said").inner_text()
    assert "weight = 999 kg lies far above" in tab.locator("#said").inner_text()
    assert tab.locator("#schema small").first.inner_text() == "wt"


def test_a_field_that_is_no_number_is_marked_and_shares_are_rounded_to_the_safe_side(shared_page):
    page = shared_page("balls")
    shares = [0.0, 1e-9, 0.0004, 0.29, 0.9994, 0.9996, 1 - 1e-9, 1.0]
    shown = page.tab.evaluate("(shares) => shares.map((share) => percent(share))", shares)
    assert shown == [show_share(share, 1) for share in shares]
    field = page.tab.locator("#form").get_by_label("weight")
    field.fill("")
    assert page.tab.locator("#said").inner_text() == "weight needs a number."
    assert field.get_attribute("aria-invalid") == "true"


@pytest.mark.parametrize("kind", ["asking", "balls"])
def test_the_controls_show_the_choices_of_the_trade_off(shared_page, kind):
    page = shared_page(kind)
    atlas, tab = page.atlas, page.tab
    tradeoff = atlas.tradeoff()
    seen = 0
    for floor in sorted({cell.min_fidelity for cell in tradeoff.cells}):
        tab.locator("#floor").select_option(str(floor))
        known = [cell for cell in tradeoff.cells if cell.min_fidelity == floor and cell.explainers is not None]
        if not known:
            assert tab.locator("#lead").inner_text().startswith("No explainer reaches the floor")
            assert tab.locator("#list li").count() == 0
            continue
        # By the keyboard alone, from the fewest rules to the most.
        if tab.locator("#budget").is_enabled():
            tab.locator("#budget").press("Home")
        before = (-1, -1.0)
        for _ in range(int(tab.locator("#budget").get_attribute("max")) + 1):
            number, kept = tab.evaluate("[state.cell.max_explainers, state.cell.min_fidelity]")
            assert kept >= floor
            cell = tradeoff.at(number, kept)
            lead = tab.locator("#lead").inner_text()
            assert tab.locator("#floor").input_value() == str(floor)
            assert f"max_explainers={number}, min_fidelity={kept}" in tab.locator("#call").text_content()
            assert tab.locator("#budget-out").inner_text() == f"{cell.n_rules:,}"
            assert f"({show_share(cell.coverage, 1)})" in lead or f"{show_share(cell.coverage, 1)} of rows" in lead
            assert tab.locator("#list > li").count() == cell.n_explainers
            assert tab.locator("#chart .here").count() == 1
            is_fitted = tab.evaluate("state.cell === fitted")
            # A choice with more to read answers more rows.
            assert is_fitted or (cell.n_rules > before[0] and cell.coverage > before[1])
            assert "Not certified" in lead or is_fitted
            assert tab.locator(".back").first.is_visible() != is_fitted
            before, seen = (cell.n_rules, max(before[1], cell.coverage)), seen + 1
            if tab.locator("#budget").is_enabled():
                tab.locator("#budget").press("ArrowRight")
    assert seen > 2
    tab.evaluate("choose(data.cells.find((cell) => cell.set !== null && cell !== fitted))")
    tab.locator(".back").first.click()
    assert tab.evaluate("state.cell === fitted")
    tab.locator("#chart .dot").first.click(force=True)
    assert tab.locator("#chart .here").count() == 1
    assert tab.locator("#cells tbody tr").count() == atlas.max_explainers


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_names_are_text(shared_page, kind, make_rows, hostile, levels):
    page = shared_page(kind)
    tab = page.tab
    tab.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    tab.wait_for_timeout(100)
    text = tab.locator("body").inner_text()
    answers = () if kind == "numbers" else ("<i>no dose</i>",)
    for part in (hostile, "<b>x</b>", *answers, levels[0], levels[2], levels[3]):
        assert part in text
    assert tab.locator("img, iframe, main script, i, b").count() == 0
    assert tab.title() == f"A page of {hostile}"
    page.shoot(f"page-{kind}", full_page=True)


@pytest.mark.parametrize(("width", "n_rules"), [(1280, 3), (768, 2), (390, 1)])
def test_the_first_screen_has_the_sentence_and_the_first_rules(open_page, atlases, width, n_rules):
    atlas = atlases["asking"]
    page = open_page(atlas, browser={"viewport": {"width": width, "height": 800}}, title="A clinic", about="")
    tab = page.tab
    assert tab.locator("#lead p").all_inner_texts() == describe_fit(atlas.record_)
    # What a bound beside a rule means is said above the rules.
    assert "“At least” is a lower bound with 95% confidence, for one rule" in tab.locator("#reading").inner_text()
    table = atlas.rules_frame()
    for number in range(min(n_rules, len(table))):
        line = tab.locator("#list .rule").nth(number)
        box = line.locator(".premise").bounding_box()
        assert box["y"] + box["height"] <= 800
        text = " ".join(line.inner_text().split())
        judged = table.iloc[number]
        assert f"If {' '.join(judged['conditions'].split())} → {judged['answer']}" in text
        assert f"matches the model on {judged['right']} of {judged['rows']} row" in text
    page.shoot(f"first-screen-{width}")


def test_each_rule_has_a_bar_and_histograms(shared_page, make_rows):
    page, X = shared_page("asking"), make_rows()
    atlas = page.atlas
    widest = max(member.judged[0].n_rows for member in atlas.explainers_)
    for member, card in zip(atlas.explainers_, page.tab.locator("#list .rule").all(), strict=True):
        judged, full = member.judged[0], card.locator(".counted").bounding_box()["width"]
        right, wrong = (card.locator(f".counted .{kind}").bounding_box()["width"] for kind in ("full", "wrong"))
        assert right + wrong == pytest.approx(full * judged.n_rows / widest, abs=1)
        if judged.n_right < judged.n_rows:
            assert wrong >= 1
        figures = card.locator("figure").all()
        assert len(figures) == len(member.region.conditions)
        for figure, condition in zip(figures, member.region.conditions, strict=True):
            label = figure.locator("svg").get_attribute("aria-label")
            assert label.startswith(f"Rows by {condition.feature.shown}")
            counts = [int(part.split()[-2]) for part in label.removesuffix(".").split("; ")]
            assert min(counts) >= 5
            assert len(X) - 4 <= sum(counts) <= len(X)
            ends = [condition.lower, condition.upper] if isinstance(condition, Range) else []
            assert figure.locator(".cut").count() == np.isfinite(ends).sum()
            # What fulfils the condition is in colour.
            assert figure.locator(".full").count() > 0
    # Without histograms, the sentences can be read as a list.
    for action, is_shown in (("Hide", False), ("Show", True)):
        page.tab.get_by_role("button", name=f"{action} the histograms").click()
        assert page.tab.locator("#list figure").first.is_visible() == is_shown
        assert page.tab.locator("#list .evidence").first.is_visible()


@pytest.mark.parametrize("kind", ["asking", "numbers", "balls"])
def test_the_picture_has_a_line_for_each_combination_of_rules(shared_page, kind, make_rows):
    page = shared_page(kind)
    atlas = page.atlas
    covers = atlas.record_.explainers.covers(atlas.schema_.encode(make_rows()))
    label = page.tab.locator("#plot svg").get_attribute("aria-label")
    lines = label.removeprefix("Rows by the rules that hold. ").removesuffix(".").split("; ")
    noun = "explainer" if kind == "balls" else "rule"
    counted = 0
    for line in lines:
        names, n = line.split(" (")[0].split(" row")[0].rsplit(": ", 1)
        counted += int(n)
        if "other combination" in names:
            continue
        own = [] if names == "no rule: silent" else [int(one.removeprefix(f"{noun} ")) - 1 for one in names.split(", ")]
        assert int(n) == (covers == np.isin(np.arange(len(covers)), own)[:, None]).all(axis=0).sum()
    assert 496 <= counted <= 500


@pytest.mark.parametrize("kind", ["asking", "balls"])
def test_a_selected_rule_is_marked_everywhere_and_in_the_address(shared_page, kind, make_rows):
    page = shared_page(kind)
    atlas, tab = page.atlas, page.tab
    covers = atlas.record_.explainers.covers(atlas.schema_.encode(make_rows()))
    own = make_rows()["smoker"].to_numpy()
    noun = "rule" if kind == "asking" else "explainer"
    tab.locator("#list [data-pick]").nth(1).press("Enter")
    for _ in range(2):
        assert tab.url.endswith("#rule=2")
        assert tab.locator("#list [aria-pressed=true]").count() == 1
        assert tab.locator("#list > .picked").count() == 1
        assert tab.locator("#plot .column.picked").count() == 1
        assert tab.locator("#picked strong").inner_text() == f"{noun} 2"
        table = tab.locator("#left table").filter(has_text="By smoker")
        held = dict(
            zip(table.locator("tbody th").all_inner_texts(), table.locator(".held").all_inner_texts(), strict=True)
        )
        assert held == {str(level): f"{(covers[1] & (own == level)).sum()}" for level in (False, True)}
        uses = {atlas.schema_[j].name for j in tab.evaluate("membersOf(here())[1].features")}
        assert set(tab.locator("#schema tr.picked th").all_text_contents()) == uses
        # A link to another part keeps the selection, and so does opening the address again.
        tab.locator("nav a[href='#leftout']").click()
        tab.reload()
    tab.locator("#picked button").click()
    assert "#" not in tab.url
    assert tab.locator(".picked").count() == 0
    # The address keeps another choice too, and what is no rule of this page selects nothing.
    tab.evaluate("choose(data.cells.find((cell) => cell.set !== null && cell !== fitted))")
    before = tab.evaluate("[state.cell.max_explainers, state.cell.min_fidelity]")
    tab.reload()
    assert tab.evaluate("[state.cell.max_explainers, state.cell.min_fidelity]") == before
    tab.evaluate("choose(fitted); location.hash = 'rule=77'")
    tab.reload()
    assert tab.evaluate("state.rule") is None
    tab.evaluate("history.replaceState(null, '', location.href.split('#')[0])")


def test_columns_are_counted_by_the_rows_that_they_decide(shared_page, make_rows):
    page = shared_page("asking")
    atlas = page.atlas
    responsible = atlas.responsible(make_rows())
    expected = dict.fromkeys(atlas.schema_.names, 0)
    for number, member in enumerate(atlas.explainers_):
        for condition in member.conditions:
            expected[condition.feature.name] += (responsible == number).sum()
    lines = page.tab.locator("#schema tbody tr").all()
    shown = {line.locator("th").text_content(): int(line.locator("td").first.text_content()) for line in lines}
    assert shown == expected
    assert list(shown.values()) == sorted(shown.values(), reverse=True)


def test_the_filter_keeps_rules_that_mention_a_word(shared_page):
    page = shared_page("balls")
    atlas, tab = page.atlas, page.tab
    assert tab.locator("#search").is_visible()
    tab.locator("#filter").fill("no such words")
    assert tab.locator("#list > li").count() == 0
    tab.locator("#filter").fill("LIGHT")
    mention = [m for m in atlas.explainers_ if "light" in str([rule.label for rule in m.rules()])]
    assert tab.locator("#list > li").count() == len(mention)
    assert tab.locator("#count").inner_text() == f"{len(mention)} of {len(atlas.explainers_)} explainers"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 768, 390])
def test_light_dark_and_small(shared_page, width, scheme):
    page = shared_page("asking")
    page.tab.emulate_media(color_scheme=scheme)
    page.tab.set_viewport_size({"width": width, "height": 800})
    page.tab.reload()
    assert page.tab.evaluate("document.documentElement.dataset.theme") == scheme
    for theme in ({"light": "dark", "dark": "light"}[scheme], scheme):
        page.tab.locator("#theme").press("Enter")
        assert page.tab.evaluate("document.documentElement.dataset.theme") == theme
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    # No text of a rule reaches over its card, and no letter of the chart is too small to read.
    over = page.tab.evaluate(
        """[...document.querySelectorAll("#list .rule :not(svg *)")].filter((part) =>
            part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).display === "block"
        ).map((part) => part.outerHTML.slice(0, 80))"""
    )
    assert over == []
    page.tab.wait_for_function(
        "Math.min(...[...$('chart').querySelectorAll('text')].map((t) => t.getBoundingClientRect().height)) > 11"
    )
    page.shoot(f"page-{width}-{scheme}", full_page=True)


def test_print_opens_the_rules_and_hides_controls(shared_page, atlases):
    page = shared_page("balls")
    page.tab.emulate_media(media="print")
    page.tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.tab.locator("details:not([open], .tree, .tree *, .long)").count() == 0
    # Drawn at once, because the browser prints what is there when the event returns.
    assert page.tab.locator("#list .rule").count() == sum(len(m.rules()) for m in atlases["balls"].explainers_)
    for part in ("#try", "#controls", "nav"):
        assert not page.tab.locator(part).is_visible()
    page.shoot("print", full_page=True)


def test_every_control_and_drawing_has_a_name_for_screen_readers(shared_page):
    page = shared_page("balls")
    page.tab.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    page.tab.wait_for_timeout(100)
    nameless = page.tab.evaluate(
        """() => [
            ...[...document.querySelectorAll("input, select")].filter((field) => !field.labels.length),
            ...[...document.querySelectorAll("button")].filter((button) => !button.textContent.trim()),
            ...[...document.querySelectorAll("svg")].filter((picture) =>
                picture.getAttribute("aria-hidden") !== "true"
                && !(picture.getAttribute("role") === "img" && picture.getAttribute("aria-label"))),
            ...[...document.querySelectorAll("section")].filter((part) =>
                !document.getElementById(part.getAttribute("aria-labelledby"))),
        ].map((element) => element.outerHTML.slice(0, 80))"""
    )
    assert not nameless


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(shared_page, scheme):
    page = shared_page("balls")
    page.tab.emulate_media(color_scheme=scheme)
    page.tab.reload()
    page.tab.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    page.tab.wait_for_timeout(100)
    pale = page.tab.evaluate(
        """() => {
            const read = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
            const light = (text) => read(text).slice(0, 3).map((part) => part / 255)
                .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
                .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
            const ground = (element) => {
                for (let part = element; part; part = part.parentElement) {
                    const colour = getComputedStyle(part).backgroundColor;
                    if (read(colour)[3] !== 0) return colour;
                }
                return "rgb(255, 255, 255)";
            };
            const elements = [...document.querySelectorAll("body *:not(script, noscript, noscript *, title)")];
            const texts = elements.filter((element) =>
                [...element.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim()));
            return texts.filter((element) => {
                const style = getComputedStyle(element);
                const colour = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
                const pair = [light(colour), light(ground(element))].sort((a, b) => a - b);
                return (pair[1] + 0.05) / (pair[0] + 0.05) < 4.5;
            }).map((element) => element.outerHTML.slice(0, 80));
        }"""
    )
    assert not pale


def test_every_control_is_reached_by_the_keyboard(shared_page):
    page = shared_page("balls")
    tab = page.tab
    tab.evaluate("choose(data.cells.find((cell) => cell.set !== null && cell !== fitted))")
    wanted = tab.evaluate(
        "[...document.querySelectorAll('a, button, input, select, summary')]"
        ".filter((one) => one.checkVisibility() && !one.disabled).length"
    )
    tab.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    reached = set()
    for _ in range(wanted + 30):
        tab.keyboard.press("Tab")
        reached.add(
            tab.evaluate(
                "[...document.querySelectorAll('a, button, input, select, summary')].indexOf(document.activeElement)"
            )
        )
    assert len(reached - {-1}) == wanted


def test_without_rows_and_without_a_trade_off(open_page, atlases, tmp_path):
    atlases["balls"].tradeoff()
    atlases["balls"].save(tmp_path / "with.oleander")
    page = open_page(AggregateExplainer.load(tmp_path / "with.oleander"))
    assert "there is no picture" in page.tab.locator("#picture").inner_text()
    assert page.tab.locator("#chart .dot").count() > 1
    assert page.tab.locator("#schema tbody tr").count() == len(atlases["balls"].schema_)
    bare = AggregateExplainer(label := (lambda X: X[:, 0] > 0.5), draws=Draws(600), random_state=0)
    bare.fit(np.random.default_rng(0).uniform(size=(300, 2))).save(tmp_path / "without.oleander")
    loaded = AggregateExplainer.load(tmp_path / "without.oleander", label)
    page = open_page(loaded, np.random.default_rng(1).uniform(size=(50, 2)))
    assert "All 50 rows of this page" in page.tab.locator("#picture").inner_text()


def test_vetoes_and_notes_are_exported_as_edits(shared_page, atlases):
    atlas, page = atlases["asking"], shared_page("asking")
    tab = page.tab
    tab.locator("#edit summary").click()
    tab.locator("[data-veto='1']").check()
    tab.locator("[data-note='2']").fill(' agreed \u2192 "ward" ')
    with tab.expect_download() as waiting:
        tab.locator("#export").click()
    content = json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))
    assert content["explainer"] == atlas.record_.fingerprint
    edited = atlas.edit(content["edits"])
    assert len(edited.explainers_) == len(atlas.explainers_) - 1
    assert edited.record_.edits[0].words.endswith(': agreed \u2192 "ward"')
