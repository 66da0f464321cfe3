"""The model card: every figure and rule, and names that stay text."""

import re

import numpy as np
import pytest

from oleander import AggregateExplainer
from oleander.messages import show_share
from oleander.words.card import escape
from oleander.words.summary import describe_fit
from tests.export.judges import BREAKERS, fitted
from tests.making import ROWS_ONLY, halves


def test_figures_rules_and_columns_are_there():
    atlas = fitted("patients", "default")
    card = atlas.to_card(title="Referrals")
    assert card.startswith("# Referrals\n")
    assert f"rows ({show_share(atlas.coverage_, 1)})" in card
    assert f"- {atlas.n_queries_:,} rows were sent to the model." in card
    rules = [rule for member in atlas.explainers_ for rule in member.rules()]
    assert len(re.findall(r"^- .*→", card, flags=re.MULTILINE)) == len(rules)
    for feature in atlas.schema_:
        assert f"| {escape(feature.name)} | {feature.kind} |" in card
    for title in ("How well it does", "Rules", "Columns", "Limits"):
        assert f"\n## {title}\n" in card


def test_a_certificate_is_named_and_its_absence_too():
    assert "not certified" in fitted("patients", "default").to_card()
    X = np.random.default_rng(0).uniform(size=(400, 2))
    atlas = AggregateExplainer(halves, **ROWS_ONLY).fit(X)
    card = atlas.to_card()
    assert all(f"- {escape(line)}\n" in card for line in describe_fit(atlas.record_))
    assert "not certified" not in card


@pytest.mark.parametrize("fit", ["default", "balls"])
def test_hostile_names_stay_text(fit):
    card = fitted("strange", fit).to_card(title="<script>alert(1)</script>\n# x")
    assert "<script" not in card
    assert all(line.isprintable() for line in card.splitlines())
    widths = {line.replace("\\|", "").count("|") for line in card.splitlines() if line.startswith("|")}
    assert widths == {5}
    assert len(re.findall(r"^#", card, flags=re.MULTILINE)) == 7


@pytest.mark.parametrize("text", [*BREAKERS, "1. list", "- item", "[x](javascript:alert(1))", "<b>", "&lt;"])
def test_escaped_text_has_no_markup_left(text):
    shown = escape(text)
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)[*_`\[\]|]", shown)
    assert "<" not in shown
    assert not re.match(r"[-+=]|\d+[.)]", shown)


def test_the_card_holds_no_center_of_a_ball():
    X = np.random.default_rng(0).uniform(size=(60, 2))
    atlas = AggregateExplainer.paper(halves, radius=0.4, n_draws=200, max_explainers=2, min_fidelity=0.7).fit(X)
    card = atlas.to_card()
    for member in atlas.explainers_:
        assert not any(repr(float(value)) in card for value in member.ball.center)
