"""Facts of a fit as sentences: three that every reader gets, and what must be known beside them."""

from dataclasses import replace

import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.judging.certificate import Certificate, Claim, JointCertificate
from oleander.results.evaluation import ClassCount, SilentPlace, Uncovered
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.results.fit_record import Accuracy, FitRecord, ModelScore, OneTree
from oleander.rules import Ball, Box, Constant, UnfilteredTree
from oleander.rules.conditions import Range
from oleander.selection.result import Proof
from oleander.words.summary import (
    MOST_CLASSES,
    describe_cell,
    describe_fit,
    describe_making,
    describe_uncovered,
    summarize,
)

X = np.linspace(0.05, 9.95, 100)[:, None]
SCHEMA = FeatureSchema.infer(X, scale="none")
LABELS = np.where(X[:, 0] < 8, "low", "high")
TREE = UnfilteredTree().fit(X, np.full(100, "low"), schema=SCHEMA)
BALL = ChosenExplainer(Ball(SCHEMA, np.array([3.0]), 2.0), TREE, "balls", 40, 0.95, 0.99)
BOX = ChosenExplainer(
    Box((Range(0, SCHEMA[0], 0, 5),)),
    Constant("low", 10, 1.0, np.dtype("<U4")),
    "asking",
    support=50,
    fidelity=0.98,
    draw_fidelity=1.0,
    judged=(Claim(49, 50, 0.9086),),
)


def chosen(member, labels=LABELS):
    explainers = ExplainerSet(SCHEMA, (member,))
    return {"explainers": explainers, "evaluation": explainers.evaluate(X, labels)}


PROVEN = FitRecord(5, 0.9, **chosen(BALL), n_queries=100, proof=Proof(40.0, 40.0, "optimal", 0.4, 100.0))
ASKED = FitRecord(5, 0.9, **chosen(BOX), n_queries=100, judged=Claim(50, 50, 0.91), from_draws=True, realism=0.61)


CERTIFIED = replace(ASKED, judged=None, certificate=Certificate(Claim(49, 50, 0.9), 0.95))


def certified(unit="rows", **changes):
    certificate = Certificate(Claim(49, 50, 0.9, unit), 0.95, **changes)
    return replace(ASKED, judged=None, certificate=certificate)


def held_out():
    fidelity, coverage = (Claim(60, 60, 0.93),), Claim(80, 200, 0.34)
    certificate = JointCertificate(Claim(78, 80, 0.92), 0.95, coverage=coverage, fidelity=fidelity)
    return replace(PROVEN, certificate=certificate, explainers=PROVEN.explainers.with_claims(certificate))


def sampled(**changes):
    facts = {"n_rows": 1000, "n_sample": 100, "n_judged": 25, "n_unread": 3, "epsilon": 0.1, "delta": 0.05}
    accuracy = Accuracy(**{**facts, "promised": 0.08, "seen": 0.05, **changes})
    return replace(PROVEN, exact=PROVEN.evaluation, accuracy=accuracy)


def two_rules():
    wider = replace(BOX, region=Box(()), draw_fidelity=0.95678, explainer=Constant("high", 10, 0.95678))
    proof = Proof(1856.0, 1861.2, "feasible", 0.928, 2000.0)
    return replace(ASKED, explainers=ExplainerSet(SCHEMA, (wider, BOX)), proof=proof, n_candidates=1412)


def with_classes(*counts):
    return replace(ASKED, evaluation=replace(ASKED.evaluation, class_counts=tuple(ClassCount(*one) for one in counts)))


SILENCE = (
    "The rule is silent on 50 of 100 rows (50.0%): no rule describes what the model says there, so a person should "
    "decide."
)
ANSWERS, RANDOM = "1 rule answers 50 of 100 rows (50.0%)", "for a random row of a random group"
MATCHES = f"{ANSWERS} and matches the model on 50 of them (100.0%)"
ON_OTHERS = "rules learned the same way from the other rows answer 48 of 100 rows and match the model on 46 of them"
WRONG_AT_MOST = "such statements are wrong at most 5% of the time"
BY_FOLDS = replace(ASKED, judged=Claim(46, 48, 0.879), by_folds=True)
OF_GROUPS = replace(ASKED, judged=Claim(46, 48, 0.87, "groups"))


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (
            CERTIFIED,
            f"{MATCHES}; on new rows, at least 90% of answers match, certified with 95% confidence ({WRONG_AT_MOST}).",
        ),
        (
            certified("groups"),
            f"{MATCHES}; {RANDOM}, at least 90% of answers match, certified with 95% confidence (average over 50 "
            f"groups: 98.0%; {WRONG_AT_MOST}).",
        ),
        (ASKED, f"{MATCHES}; on new rows, at least 91% of answers match, which was checked but is not certified."),
        (OF_GROUPS, f"{MATCHES}; {RANDOM}, at least 87% of answers match, which was checked but is not certified."),
        # The counts of the delivered rules and of the rules that judged are not mixed in one sentence.
        (BY_FOLDS, f"{ANSWERS}. Cross-checked, not certified: {ON_OTHERS} (95.8%; at least 87%)."),
        (
            replace(OF_GROUPS, by_folds=True),
            f"{ANSWERS}. Cross-checked, not certified: {ON_OTHERS} (95.8%; at least 87% {RANDOM}).",
        ),
        (
            PROVEN,
            "1 explainer with 1 rule answers 40 of 100 rows (40.0%) and matches the model on 40 of them (100.0%), "
            "counted on the rows it was chosen on.",
        ),
    ],
)
def test_what_is_answered_and_how_surely(record, words):
    assert describe_fit(record)[0] == words
    assert summarize(record).startswith(words)


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (
            ModelScore(50, 45, 50, 30),
            "45 of 50 answered rows (90.0%; 78% to 97% on new rows, with 95% confidence) and on 30 of 50 silent rows "
            "(60.0%; 45% to 74%).",
        ),
        (
            ModelScore(50, 45, 0, 0, by_group=True),
            "45 of 50 answered rows (90.0%); the true label is known for 50 of 100 rows.",
        ),
    ],
)
def test_how_good_the_model_itself_is(score, words):
    said = describe_fit(replace(CERTIFIED, model_score=score))
    assert said[1:] == [SILENCE, f"The model itself is correct on {words}"]


def test_what_silence_means():
    everywhere = replace(BOX, region=Box(()))
    assert describe_fit(CERTIFIED)[-1] == SILENCE
    silence = describe_fit(replace(ASKED, **chosen(everywhere)))[-1]
    assert silence == "Every row gets an answer. A new row that no rule covers would be silent."


NO_HELD_OUT = sampled(n_judged=0, promised=float("nan"), seen=float("nan"), n_unread=0)
UNJUDGED = replace(BOX, support=0, fidelity=float("nan"), judged=(Claim(0, 0, 0.0),))
CLASSES = (
    "Rows by the model's answer, rarest first:\n  high: 20 rows, 0 answered, 0 match the model\n  low: 80 rows, 40"
)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (PROVEN, "The least faithful explainer matches the model on 100.0% of the rows in its region.\n"),
        (PROVEN, "Proven: no other choice of as many candidates covers more rows.\n"),
        (PROVEN, "explainer 1: matches the model on 38 of 40 rows it was chosen on\n"),
        (PROVEN, CLASSES),
        (PROVEN, "where the model says high, the rules give its answer on fewer than half of the rows.\n"),
        (
            replace(PROVEN, proof=Proof(40.0, 50.0, "feasible", 0.4, 100.0)),
            "No other choice of as many candidates covers more than 50.0% of rows; the search stopped early.",
        ),
        (
            replace(PROVEN, counted=0.38),
            "The printed program counts 38.0% of the rows and applies the floor of 90% to those only",
        ),
        (replace(PROVEN, counted=0.38), "Proven: no other choice of as many candidates counts more rows.\n"),
        (replace(PROVEN, counted=0.4, **chosen(BALL, LABELS[::-1])), "The printed program counts 40.0% of the rows"),
        (held_out(), "Certified on held-out rows (95% confidence for all statements together):"),
        (held_out(), "matches the model on 38 of 40 rows it was chosen on, certified: at least 93% on"),
        (replace(PROVEN, **chosen(BALL, [f"c{i % 20:02}" for i in range(100)])), f"  and {20 - MOST_CLASSES} more"),
        (
            replace(PROVEN, verdict=OneTree(9, 1.0, 0.95, 0.92, 1.0)),
            "\n\nOne plain tree instead (9 leaves) would answer all rows",
        ),
        (certified("groups", rows=Claim(190, 200, 0.9)), "Also certified: at least 90% of all answered rows match"),
        (BY_FOLDS, "not a check: the rules were learned from synthetic rows around these"),
        (replace(CERTIFIED, n_fits=3), "This is fit number 3 on these rows"),
        (ASKED, "The rule matches the model on 100.0% of the synthetic rows where it holds.\n"),
        (ASKED, "A classifier tells synthetic rows from real ones with 61% accuracy (50% is ideal)."),
        # The bound of 0.9086 is rounded down.
        (ASKED, f"{BOX.region.describe()} → low (matches the model on 49 of 50 rows; at least 90% on new rows)\n"),
        (two_rules(), "the least faithful one matches the model on 95.6% of the synthetic rows where it holds."),
        (two_rules(), "These 2 rules cover 92.8% of the synthetic rows; no other 2 of the 1,412 candidate rules cover"),
        (
            replace(ASKED, **chosen(UNJUDGED)),
            "(not checked on any row; matches the model on 100% of 10 rows it was learned from)",
        ),
        # 54 of 60 is the floor of 0.9 itself.
        (
            with_classes(("a", 50, 20, 17), ("b", 60, 60, 54)),
            "Warning: the floor of 90% is not kept where the model says a (17 of 20 answers match).\n",
        ),
        (sampled(), "On all 1,000 rows: 40.00% are answered, 100.00% of the answers match the model"),
        (sampled(), "a sample of 100 rows. Shares on the 25 held-out rows are within 0.0500 of the exact ones, which"),
        (sampled(), "3 rows hold values that the schema does not allow, and are silent."),
        (sampled(seen=0.09), "does NOT keep the promise"),
    ],
)
def test_the_summary_says(record, words):
    assert words in summarize(record)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        *((PROVEN, words) for words in ("printed program", "One plain tree")),
        (replace(PROVEN, counted=0.4), "printed program"),
        (held_out(), "not certified"),
        (CERTIFIED, "This is fit number"),
        *((NO_HELD_OUT, words) for words in ("promise", "held-out", "schema does not allow")),
    ],
)
def test_the_summary_does_not_say(record, words):
    assert words not in summarize(record)


class TestPage:
    def test_the_fitted_choice_has_the_sentences_of_the_summary(self):
        said = describe_cell(CERTIFIED, CERTIFIED.cell, is_fitted=True)
        assert said["lead"] == describe_fit(CERTIFIED)
        assert set(said["facts"]) <= set(summarize(CERTIFIED).splitlines())

    def test_another_choice_is_not_certified(self):
        first, silence = describe_cell(CERTIFIED, CERTIFIED.cell, is_fitted=False)["lead"]
        assert first.startswith("1 rule answers 50.0% of rows and matches the model on 100.0% of them. Not certified:")
        assert silence.startswith("The rule is silent on 50 of 100")

    @pytest.mark.parametrize(
        ("record", "status", "words"),
        [
            (ASKED, "unknown", "No explainer reaches the floor"),
            (PROVEN, "unknown", "The search ran out of time"),
            (PROVEN, "infeasible", "No explainer reaches the floor"),
        ],
    )
    def test_a_choice_without_explainers_says_why(self, record, status, words):
        cell = replace(record.cell, explainers=None, status=status)
        (line,) = describe_cell(record, cell, is_fitted=False)["lead"]
        assert line.startswith(words)

    def test_how_it_was_made(self):
        made = " ".join(describe_making(replace(CERTIFIED, n_draws=2_000, max_conditions=2), 2_100))
        assert "The model labelled 2,000 synthetic rows" in made
        assert "In total, 2,100 rows were sent to the model." in made
        assert "Clopper" in made
        assert "An integer program chose at most 5 rules with at most 2 conditions each that together cover" in made
        first, printed = (describe_making(record, 100)[0] for record in (PROVEN, replace(PROVEN, counted=0.4)))
        assert first.startswith("At most 5 explainers, each for one region")
        assert first.endswith("on 90% or more of its rows.")
        assert printed.endswith("on 90% or more of the rows that it counts.")


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ([], ["No few conditions tell them from the answered rows."]),
        ([("a", 100, 40)], ["Most of them, 40 of 53, are where:", "  a: 40 of 100 rows are silent (40%)"]),
        ([("a", 50, 20)], ["20 of 53 are where:", "  a: 20 of 50 rows are silent (40%)"]),
    ],
)
def test_silent_rows(places, words):
    found = Uncovered(606, 53, [SilentPlace(*place) for place in places])
    assert describe_uncovered(found) == ["53 of 606 rows are silent (8.7%).", *words]
    assert describe_uncovered(Uncovered(606, 0, [])) == ["No row is silent."]


def test_three_whole_trees_fit_on_a_screen():
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(4000, 8))
    schema = FeatureSchema.infer(rows)
    labels = np.sin(30 * rows[:, 0]) + np.sin(25 * rows[:, 1]) + rows[:, 2] > 0.5
    tree = UnfilteredTree(max_leaves=None).fit(rows, labels, schema=schema)
    assert tree.complexity > 200
    ball = Ball(schema, rows[0], 2.0)
    members = tuple(ChosenExplainer(ball, tree, "balls", 40, 0.95, 0.99) for _ in range(3))
    explainers = ExplainerSet(schema, members)
    evaluation = explainers.evaluate(rows, labels)
    text = summarize(replace(PROVEN, explainers=explainers, evaluation=evaluation))
    lines = text.splitlines()
    assert len(lines) <= 40
    assert f"  {tree.complexity:,} rules on {len(tree.features)} features: " in text
    widest = max(tree.rules(), key=lambda rule: rule.n_draws)
    assert any(line.startswith(f"    rule {tree.rules().index(widest) + 1}: {widest.premise} → ") for line in lines)
    assert f"    and {tree.complexity - 4} narrower rules: explainers_[2].rules() lists all" in lines
