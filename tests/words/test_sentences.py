import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from oleander.data.schema import FeatureSchema
from oleander.judging.certificate import Certificate, Claim, JointCertificate
from oleander.results.evaluation import ClassCount, Uncovered
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.results.fit_record import Accuracy, BallSize, FitRecord, ModelScore
from oleander.rules import Ball, Box, Constant, UnfilteredTree
from oleander.rules.base import Rule
from oleander.rules.conditions import Range
from oleander.selection.result import Proof
from oleander.words.sentences import (
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


class TestFit:
    """Three sentences: what is answered, how good the model is, what silence means."""

    SILENCE = "Silence on 50 of 100 rows (50.0%) means that no rule describes what the model says there: a person "

    def test_a_certificate_of_every_judging_row(self):
        answers, silence = describe_fit(CERTIFIED)
        assert answers == (
            "1 rule answers 50 of 100 rows (50.0%) and matches the model on 50 of them (100.0%); on new rows, at least "
            "90% of answers match, certified with 95% confidence (such statements are false at most 5% of the time)."
        )
        assert silence == f"{self.SILENCE}should decide."

    def test_the_model_itself(self):
        for score, words in (
            (
                ModelScore(50, 45, 50, 30),
                "The model itself is correct on 45 of 50 answered rows (90.0%; 78% to 97% on new rows, with 95% "
                "confidence) and on 30 of 50 silent rows (60.0%; 45% to 74%).",
            ),
            (
                ModelScore(50, 45, 0, 0, by_group=True),
                "The model itself is correct on 45 of 50 answered rows (90.0%); the true label is known of 50 of 100 "
                "rows.",
            ),
            (
                ModelScore(100, 100, 0, 0, by_group=True, unsaid=("rare", "<b>")),
                "The model itself is correct on 100 of 100 answered rows (100.0%); it never says 'rare' and '<b>'.",
            ),
        ):
            assert describe_fit(replace(CERTIFIED, model_score=score))[1] == words

    def test_rules_that_were_checked_only(self):
        assert describe_fit(ASKED)[0].endswith(
            "; on new rows, at least 91% of answers match, which is checked and not certified."
        )

    def test_folds_judge_by_other_rules_than_those_delivered(self):
        """The counts of the delivered rules and of the rules that judged are not mixed in one sentence."""
        record = replace(ASKED, judged=Claim(46, 48, 0.879), by_folds=True)
        assert describe_fit(record)[0] == (
            "1 rule answers 50 of 100 rows (50.0%). Cross-checked, not certified: rules learned the same way from "
            "the other rows answer 48 of 100 rows and match the model on 46 of them (95.8%; at least 87%)."
        )
        assert "no check: the rules were learned from synthetic rows around these" in summarize(record)

    def test_groups(self):
        certificate = Certificate(Claim(49, 50, 0.9, "groups"), 0.95, Claim(190, 200, 0.9))
        record = replace(ASKED, judged=None, certificate=certificate)
        assert (
            "; for a random row of a random group, at least 90% of answers match, certified with 95% confidence "
            "(average over 50 groups: 98.0%; such statements are false at most 5%"
        ) in describe_fit(record)[0]
        assert "Also certified: at least 90% of all answered rows match the model" in summarize(record)
        for by_folds in (True, False):
            judged = replace(ASKED, judged=Claim(46, 48, 0.87, "groups"), by_folds=by_folds)
            assert re.search("for a random row of a random group", describe_fit(judged)[0])

    def test_no_row_is_silent(self):
        everywhere = replace(BOX, region=Box(()))
        silence = describe_fit(replace(ASKED, **chosen(everywhere)))[-1]
        assert silence == "No row is silent; a new row that no rule covers would get no answer."

    def test_a_program_chose_on_the_same_rows(self):
        lines = summarize(PROVEN).splitlines()
        assert lines[0] == (
            "1 explainer with 1 rule answers 40 of 100 rows (40.0%) and matches the model on 40 of them (100.0%), "
            "counted on the rows it was chosen on."
        )
        assert "The least faithful explainer matches the model on 100.0% of the rows in its region." in lines
        assert "Proven: no choice of as many candidates covers more rows." in lines
        assert "explainer 1: matches the model on 38 of 40 rows it was chosen on" in lines
        assert any(line.strip().startswith("rule 1: always → low") for line in lines)

    def test_a_choice_without_proof_names_its_bound(self):
        record = replace(PROVEN, proof=Proof(40.0, 50.0, "feasible", 0.4, 100.0))
        words = "No choice of as many candidates covers more than 50.0% of rows; the search stopped early."
        assert words in summarize(record)

    def test_rows_that_the_printed_program_leaves_out_are_named(self):
        text = summarize(replace(PROVEN, counted=0.38))
        assert "The printed program counts 38.0% of the rows and applies the floor of 90% to those only" in text
        assert "printed program" not in summarize(replace(PROVEN, counted=0.4))
        assert "printed program" not in summarize(PROVEN)

    def test_a_certificate_of_held_out_rows(self):
        certificate = JointCertificate(
            Claim(78, 80, 0.92), 0.95, coverage=Claim(80, 200, 0.34), fidelity=(Claim(60, 60, 0.93),)
        )
        record = replace(PROVEN, certificate=certificate, explainers=PROVEN.explainers.with_claims(certificate))
        text = summarize(record)
        assert "Certified on held-out rows (95% confidence for all statements together):" in text
        assert "explainer 1: matches the model on 38 of 40 rows it was chosen on, certified: at least 93% on" in text
        assert "not certified" not in text


class TestPage:
    def test_the_fitted_choice_has_the_sentences_of_the_summary(self):
        said = describe_cell(CERTIFIED, CERTIFIED.cell, is_fitted=True)
        assert said["lead"] == describe_fit(CERTIFIED)
        assert set(said["facts"]) <= set(summarize(CERTIFIED).splitlines())

    def test_another_choice_is_not_certified(self):
        first, silence = describe_cell(CERTIFIED, CERTIFIED.cell, is_fitted=False)["lead"]
        assert first.startswith("1 rule answers 50.0% of rows and matches the model on 100.0% of them. Not certified:")
        assert silence.startswith("Silence on 50 of 100")

    @pytest.mark.parametrize(
        ("record", "status", "words"),
        [
            (ASKED, "unknown", "No explainer reaches the floor"),
            (PROVEN, "unknown", "The search ran out of time"),
            (PROVEN, "infeasible", "No explainer reaches the floor"),
            (PROVEN, "withheld", "Not shown, because an explainer of this choice is a ball around a row"),
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
        assert "A program chose at most 5 rules with at most 2 conditions each that together cover" in made
        assert describe_making(PROVEN, 100)[0].startswith("At most 5 explainers, each for one region")


class TestSilentRows:
    def leaf(self, name, n_silent, n_rows):
        label = "not answered" if 2 * n_silent > n_rows else "answered"
        return Rule((name,), label, n_rows, max(n_silent, n_rows - n_silent) / n_rows, unit="rows")

    def describe(self, *leaves, least=1):
        n_silent, n_rows = sum(leaf[1] for leaf in leaves), sum(leaf[2] for leaf in leaves)
        rules = [self.leaf(*leaf) for leaf in leaves]
        return describe_uncovered(Uncovered(n_silent, n_silent / n_rows, pd.DataFrame(), rules), least)

    def test_most_means_more_than_half_of_the_silent_rows(self):
        # A leaf may hold most silent rows without being silent itself.
        assert self.describe(("a", 40, 100), ("b", 5, 6), ("c", 8, 500)) == [
            "53 rows (8.7%) are not answered.",
            "Most of them, 40 of 53, are where:",
            "  a: 40 of 100 rows there (40%)",
        ]
        _, head, *lines = self.describe(("a", 37, 50), ("b", 48, 900))
        assert head == "They are most frequent where (37 of 85):"
        assert lines == ["  a: 37 of 50 rows there (74%)"]

    def test_small_places_are_left_out(self):
        words = "No small tree separates them from the answered rows."
        assert self.describe(("b", 4, 4), ("c", 1, 500), least=5)[1] == words


class TestLength:
    def test_three_whole_trees_fit_on_a_screen(self):
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
        assert f"  {tree.complexity} rules on {len(tree.features)} features: " in text
        widest = max(tree.rules(), key=lambda rule: rule.n_draws)
        assert any(line.startswith(f"    rule {tree.rules().index(widest) + 1}: {widest.premise} → ") for line in lines)
        assert f"    and {tree.complexity - 4} narrower rules: explainers_[2].rules() lists all" in lines

    def test_a_few_rules_are_all_shown(self):
        tree = UnfilteredTree(max_leaves=8).fit(X, np.sin(3 * X[:, 0]) > 0, schema=SCHEMA)
        explainers = ExplainerSet(SCHEMA, (replace(BALL, explainer=tree),))
        text = summarize(replace(PROVEN, explainers=explainers))
        for number, rule in enumerate(tree.rules(), start=1):
            assert f"    rule {number}: {rule.premise} → {rule.answer} (matches the model on {rule.share:.0%}" in text
        assert "narrower" not in text

    def test_lines_on_the_size_of_balls(self):
        record = replace(PROVEN, ball_sizes=(BallSize("radius 7", 31.0, 779, False),))
        assert "A typical ball of radius 7 holds 31 of 779 rows (4.0%)." in summarize(record).splitlines()


class TestAsking:
    def test_what_each_rule_promises_and_how_wide_the_choice_is(self):
        lines = summarize(ASKED).splitlines()
        assert "The rule matches the model on 100.0% of the synthetic rows where it holds." in lines
        assert lines[-1] == "A classifier tells synthetic rows from real ones with 61% accuracy (50% is ideal)."
        wider = replace(BOX, region=Box(()), draw_fidelity=0.95678, explainer=Constant("high", 10, 0.95678))
        explainers = ExplainerSet(SCHEMA, (wider, BOX))
        proof = Proof(1856.0, 1861.2, "feasible", 0.928, 2000.0)
        text = summarize(replace(ASKED, explainers=explainers, proof=proof, n_candidates=1412))
        assert (
            "the least faithful one matches the model on 95.6% of the synthetic rows where it holds. Where several "
            "rules hold, the most faithful one answers." in text
        )
        assert (
            "These 2 rules cover 92.8% of the synthetic rows; no other 2 of the 1,412 candidate rules cover more"
        ) in text
        assert "hardly ever" not in text

    def test_rules_that_say_one_thing_are_named_so(self):
        words = "Every rule says 'low': where they hold, the model hardly ever says anything else."
        assert words in summarize(ASKED).splitlines()

    def test_a_rule_is_shown_whole_with_its_bound_rounded_down(self):
        line = f"rule 1: {BOX.region.describe()} → low (matches the model on 49 of 50 rows; at least 90% on new rows)"
        assert line in summarize(ASKED).splitlines()

    def test_a_refit_on_the_same_rows_says_so(self):
        assert "This is fit number" not in summarize(CERTIFIED)
        assert "This is fit number 3 on these rows" in summarize(replace(CERTIFIED, n_fits=3))

    def test_a_rule_that_answers_no_judging_row_shows_its_draws(self):
        silent = replace(BOX, support=0, fidelity=float("nan"), judged=(Claim(0, 0, 0.0),))
        text = summarize(replace(ASKED, **chosen(silent)))
        assert "(not checked on any row; matches the model on 100% of 10 synthetic rows)" in text


class TestSource:
    ACCURACY = Accuracy(
        n_rows=1000, n_sample=100, n_judged=25, n_unread=3, epsilon=0.1, delta=0.05, promised=0.08, seen=0.05
    )

    def describe(self, **changes):
        accuracy = replace(self.ACCURACY, **changes)
        return summarize(replace(PROVEN, exact=PROVEN.evaluation, accuracy=accuracy))

    def test_what_was_counted_on_all_rows(self):
        text = self.describe()
        assert "On all 1,000 rows: 40.00% are answered, 100.00% of them as the model does" in text
        assert "a sample of 100 rows. Shares on the 25 held-out rows are within 0.0500 of the exact ones." in text
        assert "This keeps the promise: within 0.0800 for every candidate, with 95% probability." in text
        assert "3 rows hold values that the schema does not allow, and are not answered" in text

    def test_a_promise_that_was_not_kept_is_named(self):
        assert "does NOT keep the promise" in self.describe(seen=0.09)

    def test_without_held_out_rows_nothing_is_promised(self):
        text = self.describe(n_judged=0, promised=float("nan"), seen=float("nan"), n_unread=0)
        assert "promise" not in text
        assert "held-out" not in text
        assert "schema does not allow" not in text


class TestClasses:
    def test_the_rarest_stands_first_and_neglect_is_named(self):
        lines = summarize(PROVEN).splitlines()
        start = lines.index("Rows by the model's answer, rarest first:")
        assert lines[start + 1 : start + 3] == [
            "  high: 20 rows, 0 answered, 0 as the model",
            "  low: 80 rows, 40 answered, 40 as the model",
        ]
        assert "Warning: the rules give the model's answer on fewer than half of the rows where it says high." in lines

    def test_a_class_whose_answers_are_under_the_floor_is_a_warning(self):
        classes = ClassCount("a", 50, 20, 17), ClassCount("b", 60, 60, 54)
        poor = replace(ASKED, evaluation=replace(ASKED.evaluation, class_counts=classes))
        # 54 of 60 is the floor of 0.9 itself.
        words = "Warning: fewer than 90% of answers (the floor that was set) match the model where it says"
        assert f"{words} a (17 of 20 match)." in summarize(poor).splitlines()

    def test_many_classes_are_cut_short(self):
        labels = np.array([f"c{i % 20:02}" for i in range(100)])
        text = summarize(replace(PROVEN, **chosen(BALL, labels)))
        assert f"  and {20 - MOST_CLASSES} more" in text
