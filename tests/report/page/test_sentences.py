"""The sentences of the page: true figures, and bounds that are not rounded up."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Boxes
from oleander.draws import Draws
from oleander.judging.certificate import Certificate, Claim
from oleander.messages import show_share
from oleander.report.page.content import _describe_making, describe_settings
from oleander.words.page import describe_cell


def test_the_sentence_has_the_counts_of_the_certificate(atlases):
    record = atlases["asking"].record_
    claim = record.certificate.answers
    first, *facts = describe_cell(record, record.cell, is_fitted=True)
    assert first == (
        f"{len(record.explainers.members)} rules answer {show_share(record.evaluation.coverage)} of rows and match the "
        f"model on {show_share(claim.share)} of them. Certified: at least 75% of answers match the model (95% "
        f"confidence; {claim.n_right:,} of {claim.n_rows:,} rows)."
    )
    assert facts[0] == f"{record.evaluation.n_answered:,} of {record.evaluation.n_rows:,} rows are answered."


def test_folds_judge_and_do_not_certify(atlases):
    record = atlases["asking"].record_
    judged = replace(record, certificate=None, judged=Claim(87, 100, 0.7999), by_folds=True)
    first, fact, *_ = describe_cell(judged, judged.cell, is_fitted=True)
    assert "on 87% of them. Cross-checked, not certified: rules learned the same way without the row answer" in first
    assert first.endswith("at least 79%).")
    assert fact.startswith("Counts beside a rule are of its own answers")


def test_a_certificate_of_groups_says_what_it_is_about(atlases):
    certificate = Certificate((), None, Claim(49, 50, 0.9, "groups"), 0.95, Claim(190, 200, 0.9))
    record = replace(atlases["asking"].record_, certificate=certificate)
    first, *facts = describe_cell(record, record.cell, is_fitted=True)
    assert first.endswith("for a random row of a random group (95% confidence; average over 50 groups: 98.0%).")
    assert facts[0].startswith("Also certified: at least 90% of all answered rows match the model")


def test_another_choice_is_not_certified(atlases):
    record = atlases["asking"].record_
    first, fact, *_ = describe_cell(record, record.cell, is_fitted=False)
    assert first.endswith(". Not certified.")
    assert "after looking at several" in fact


def test_candidates_were_chosen_on_these_rows(atlases):
    record = atlases["balls"].record_
    first, *facts = describe_cell(record, record.cell, is_fitted=True)
    assert "counted on the rows that they were chosen on." in first
    assert "Proven: no choice of as many candidates covers more rows." in facts
    stopped = replace(record.cell, gap=0.1, coverage=0.5, status="feasible")
    assert "No choice of as many candidates covers more than 55.1%" in " ".join(
        describe_cell(record, replace(stopped, gap=0.1001), is_fitted=True)
    )


def test_classes_that_are_mostly_left_out_are_named(atlases):
    record = atlases["asking"].record_
    classes = record.evaluation.classes.assign(answered_correctly=[0.49, 0.5, 0.9][: len(record.evaluation.classes)])
    poor = replace(record, evaluation=replace(record.evaluation, classes=classes))
    facts = describe_cell(poor, record.cell, is_fitted=True)
    assert f"Fewer than half of the rows in {classes['label'].iloc[0]} are answered correctly." in facts


def test_a_class_whose_answers_are_under_the_floor_is_a_warning(atlases):
    record = atlases["asking"].record_
    classes = pd.DataFrame(
        {"label": ["a", "b"], "rows": [50, 60], "covered": [0.4, 1.0], "answered_correctly": [0.28, 0.75]}
    )
    poor = replace(record, evaluation=replace(record.evaluation, classes=classes))
    facts = describe_cell(poor, record.cell, is_fitted=True)
    # 45 of 60 is the floor of 0.75 itself.
    assert "Warning: agreement with the model is below the floor of 75% in a (14 of 20 answers)." in facts
    assert not any("Warning" in fact for fact in describe_cell(poor, record.cell, is_fitted=False))


def test_the_proof_is_that_of_the_fitted_choice(atlases):
    record = atlases["asking"].record_
    proof = replace(record.proof, bound=931.4, total_weight=1000.0, coverage=0.928)
    proven = replace(record, proof=proof, n_candidates=1_264)
    sentence = (
        f"These {len(record.explainers.members)} rules cover 92.8% of the synthetic rows; no other "
        f"{len(record.explainers.members)} of the 1,264 candidate rules cover more than 93.2%."
    )
    assert sentence in describe_cell(proven, proven.cell, is_fitted=True)
    assert sentence not in describe_cell(proven, proven.cell, is_fitted=False)


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        ("asking", "unknown", "No explainer reaches the floor"),
        ("balls", "unknown", "The search ran out of time"),
        ("balls", "infeasible", "No explainer reaches the floor"),
        ("balls", "withheld", "Not shown, because an explainer of this choice is a ball around a row"),
    ],
)
def test_a_choice_without_explainers_says_why(atlases, kind, status, words):
    record = atlases[kind].record_
    cell = replace(record.cell, explainers=None, status=status)
    (line,) = describe_cell(record, cell, is_fitted=False)
    assert line.startswith(words)


def test_how_it_was_made(atlases):
    made = " ".join(_describe_making(atlases["asking"]))
    assert "The model labelled 2,000 synthetic rows" in made
    assert f"In total, {atlases['asking'].n_queries_:,} rows were sent to the model." in made
    assert "Clopper" in made
    assert "A program chose at most 5 rules that together cover" in made
    assert _describe_making(atlases["balls"])[0].startswith("At most 5 explainers, each for one region")


def test_budgets_are_named(label_rows, make_rows):
    atlas = AggregateExplainer(label_rows, candidates=Boxes(2), draws=Draws(500), min_fidelity=0.6, random_state=0)
    made = " ".join(_describe_making(atlas.fit(make_rows(200), background=make_rows(200, seed=1))))
    assert "at most 10 rules with at most 2 conditions each" in made


def test_settings_name_the_parameters_and_the_rows(atlases):
    atlas = atlases["asking"]
    rows = np.arange(6.0).reshape(3, 2)
    settings = dict(describe_settings(atlas, rows))
    assert "min_fidelity=0.75" in settings["parameters"]
    # The fingerprint follows the rows.
    assert settings["rows on this page"] != dict(describe_settings(atlas, rows[::-1]))["rows on this page"]
