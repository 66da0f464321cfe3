"""The sentences of the page: true figures, and bounds that are not rounded up."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer
from oleander.draws.options import Draws
from oleander.judging.certificate import Certificate, Claim
from oleander.report.page.words import describe_choice, describe_making, describe_settings, describe_verdict
from oleander.running.shares import show_lower, show_share


def test_the_sentence_has_the_counts_of_the_certificate(atlases):
    record = atlases["asking"].record_
    claim = record.certificate.answers
    first, *facts = describe_choice(record, record.cell, is_fitted=True)
    assert first == (
        f"{len(record.explainers.members)} rules answer {show_share(record.evaluation.coverage)} of rows and say what "
        f"the model says on {show_share(claim.share)} of them; certified at least {show_lower(claim.bound)} "
        f"({claim.n_right:,} of {claim.n_rows:,} rows)."
    )
    assert facts[0] == f"{record.evaluation.n_answered:,} of {record.evaluation.n_rows:,} rows are answered."


def test_folds_judge_and_do_not_certify(atlases):
    record = atlases["asking"].record_
    judged = replace(record, certificate=None, judged=Claim(87, 100, 0.7999), by_folds=True)
    first, fact, *_ = describe_choice(judged, judged.cell, is_fitted=True)
    assert first.endswith("on 87% of them; judged, not certified: at least 0.79.")
    assert "without the row answer 100 of" in fact


def test_a_certificate_of_groups_says_what_it_is_about(atlases):
    certificate = Certificate((), None, Claim(49, 50, 0.9, "groups"), 0.95, Claim(190, 200, 0.9))
    record = replace(atlases["asking"].record_, certificate=certificate)
    first, *facts = describe_choice(record, record.cell, is_fitted=True)
    assert first.endswith("certified at least 0.90 (49 of 50 groups) on a random row of a random group.")
    assert "Certified with 95% confidence for each statement alone, counted on groups, one row of each." in facts
    assert any(fact.startswith("Of all answered rows at least 0.90 are right too (190 of 200)") for fact in facts)


def test_another_choice_is_not_certified(atlases):
    record = atlases["asking"].record_
    first, fact, *_ = describe_choice(record, record.cell, is_fitted=False)
    assert first.endswith("; not certified.")
    assert "after looking at several" in fact


def test_candidates_were_chosen_on_these_rows(atlases):
    record = atlases["trees"].record_
    first, *facts = describe_choice(record, record.cell, is_fitted=True)
    assert "counted on the rows that they were chosen on; " in first
    assert "Proven: no choice of as many candidates covers more rows." in facts
    stopped = replace(record.cell, gap=0.1, coverage=0.5, status="feasible")
    assert "No choice of as many candidates covers more than 55.1%" in " ".join(
        describe_choice(record, replace(stopped, gap=0.1001), is_fitted=True)
    )


def test_classes_that_are_mostly_left_out_are_named(atlases):
    record = atlases["asking"].record_
    classes = record.evaluation.classes.assign(answered_rightly=[0.49, 0.5, 0.9][: len(record.evaluation.classes)])
    poor = replace(record, evaluation=replace(record.evaluation, classes=classes))
    facts = describe_choice(poor, record.cell, is_fitted=True)
    assert f"Answered rightly on under half of their rows: {classes['label'].iloc[0]}." in facts


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        ("asking", "unknown", "No explainer reaches the floor"),
        ("trees", "unknown", "The search ran out of time"),
        ("trees", "infeasible", "No explainer reaches the floor"),
        ("trees", "withheld", "Not shown, because an explainer of this choice is a ball around a row"),
    ],
)
def test_a_choice_without_explainers_says_why(atlases, kind, status, words):
    record = atlases[kind].record_
    cell = replace(record.cell, explainers=None, status=status)
    (line,) = describe_choice(record, cell, is_fitted=False)
    assert line.startswith(words)


def test_how_it_was_made(atlases):
    made = " ".join(describe_making(atlases["asking"]))
    assert "The model labelled 2,000 draws" in made
    assert f"In all, {atlases['asking'].n_queries_:,} rows were sent to the model." in made
    assert "Clopper" in made
    assert "with at most 5 explainers:" in made
    assert describe_making(atlases["trees"])[0].startswith("Of candidates")


def test_budgets_are_named(label_rows, make_rows):
    atlas = AggregateExplainer(label_rows, max_conditions=2, draws=Draws(500), min_fidelity=0.6, random_state=0)
    made = " ".join(describe_making(atlas.fit(make_rows(200), background=make_rows(200, seed=1))))
    assert "with at most 10 explainers, 20 rules in all, 2 conditions a rule:" in made


def test_what_one_tree_would_do():
    lines = [("one plain tree", 20, 1.0, 0.93, 0.9196), ("one tree that abstains", 20, 0.0, math.nan, 0.0)]
    verdict = pd.DataFrame(lines, columns=["answer", "rules", "coverage", "agreement", "bound"])
    plain, abstaining, enough = describe_verdict(verdict, 0.9)
    assert plain.endswith("says on 93.0% of them (at least 0.91).")
    assert abstaining == "One tree that abstains reaches the floor of 0.9 on no share of the rows."
    assert enough.startswith("One plain tree is enough")
    assert len(describe_verdict(verdict, 0.95)) == 2
    assert describe_verdict(verdict.iloc[:0], 0.9) == []


def test_settings_name_the_parameters_and_the_rows(atlases):
    atlas = atlases["asking"]
    rows = np.arange(6.0).reshape(3, 2)
    settings = dict(describe_settings(atlas, rows))
    assert "min_fidelity=0.75" in settings["parameters"]
    # The fingerprint follows the rows.
    assert settings["rows on this page"] != dict(describe_settings(atlas, rows[::-1]))["rows on this page"]
