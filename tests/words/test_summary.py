import re
from dataclasses import replace

import numpy as np
import pandas as pd

from oleander import AggregateExplainer
from oleander.data.schema import FeatureSchema
from oleander.draws import Draws
from oleander.judging.certificate import Certificate, Claim
from oleander.judging.verdict import COLUMNS
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.results.fit_record import Accuracy, BallSize, FitRecord
from oleander.rules import Ball, Box, Constant, UnfilteredTree
from oleander.rules.conditions import Range
from oleander.selection.result import Proof
from oleander.words.sentences import MOST_CLASSES, summarize

X = np.linspace(0.05, 9.95, 100)[:, None]
SCHEMA = FeatureSchema.infer(X, scale="none")
LABELS = np.where(X[:, 0] < 8, "low", "high")
TREE = UnfilteredTree().fit(X, np.full(100, "low"), schema=SCHEMA)
BALL = ChosenExplainer(Ball(SCHEMA, np.array([3.0]), 2.0), TREE, "balls", 40, 0.95, 0.9, 0.99)
BOX = ChosenExplainer(
    Box((Range(0, SCHEMA[0], 0, 5),)),
    Constant("low", 10, 1.0, np.dtype("<U4")),
    "asking",
    support=50,
    fidelity=0.98,
    floor_value=0.9,
    draw_fidelity=1.0,
    judged=(Claim(49, 50, 0.9086),),
)


def chosen(member, labels=LABELS):
    explainers = ExplainerSet(SCHEMA, (member,))
    return {"explainers": explainers, "evaluation": explainers.evaluate(X, labels)}


PROVEN = FitRecord(5, 0.9, **chosen(BALL), n_queries=100, proof=Proof(40.0, 40.0, "optimal", 0.4, 100.0))
ASKED = FitRecord(5, 0.9, **chosen(BOX), n_queries=100, judged=Claim(50, 50, 0.91), realism=0.61)


class TestProgram:
    def test_what_is_covered_and_proven(self):
        lines = summarize(PROVEN).splitlines()
        assert lines[0] == "1 local explainer with 1 rule covers 40 of 100 rows (40.0%). Proven: no choice covers more."
        assert lines[1] == "The least faithful explainer matches the model on 100.0% of the rows it was chosen on."
        assert "explainer 1: correct on 38 of 40 rows it was chosen on" in lines
        assert any(line.strip().startswith("rule 1: always → low") for line in lines)

    def test_a_choice_without_proof_names_its_gap(self):
        record = replace(PROVEN, proof=Proof(40.0, 50.0, "feasible", 0.4, 100.0))
        assert "The best possible choice covers at most 25.00% more." in summarize(record)

    def test_rows_that_the_printed_program_leaves_out_are_named(self):
        text = summarize(replace(PROVEN, counted=0.38))
        assert "The printed program counts 38.0% of the rows and applies the floor of 90% to those only" in text
        assert "printed program" not in summarize(replace(PROVEN, counted=0.4))
        assert "printed program" not in summarize(PROVEN)

    def test_a_certificate_of_held_out_rows(self):
        certificate = Certificate((Claim(60, 60, 0.93),), Claim(80, 200, 0.34), Claim(78, 80, 0.92), 0.95)
        record = replace(PROVEN, certificate=certificate, explainers=PROVEN.explainers.with_claims(certificate))
        text = summarize(record)
        assert "Certified on held-out rows (95% confidence for all statements together):" in text
        assert "explainer 1: correct on 38 of 40 rows it was chosen on, certified at least 93% (60 of 60" in text
        assert "not certified" not in text


class TestLength:
    def test_three_whole_trees_fit_on_a_screen(self):
        rng = np.random.default_rng(0)
        rows = rng.uniform(size=(4000, 8))
        schema = FeatureSchema.infer(rows)
        labels = np.sin(30 * rows[:, 0]) + np.sin(25 * rows[:, 1]) + rows[:, 2] > 0.5
        tree = UnfilteredTree(max_leaves=None).fit(rows, labels, schema=schema)
        assert tree.complexity > 200
        ball = Ball(schema, rows[0], 2.0)
        members = tuple(ChosenExplainer(ball, tree, "balls", 40, 0.95, 0.9, 0.99) for _ in range(3))
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
            assert f"    rule {number}: {rule.premise} → {rule.answer} (correct on {rule.share:.0%} of " in text
        assert "narrower" not in text

    def test_lines_on_the_size_of_balls(self):
        record = replace(PROVEN, ball_sizes=(BallSize("radius 7", 31.0, 779, False),))
        assert summarize(record).splitlines()[2] == "A typical ball of radius 7 holds 31 of 779 rows (4.0%)."


class TestAsking:
    def test_what_is_answered_and_judged(self):
        lines = summarize(ASKED).splitlines()
        assert lines[0] == ("1 rule answers 50 of 100 rows (50.0%) and matches the model on 50 of them (100.0%).")
        assert lines[1] == (
            "Checked, not certified: at least 91% of answers match the model, counted on rows that nothing was learned "
            "from (50 of 50 rows)."
        )
        assert "Certified" not in summarize(ASKED)
        assert lines[-1] == "A classifier tells synthetic rows from real ones with 61% accuracy (50% is ideal)."

    def test_folds_judge_by_other_rules_than_those_delivered(self):
        """The counts of the delivered rules and of the rules that judged are not mixed in one sentence."""
        lines = summarize(replace(ASKED, judged=Claim(46, 48, 0.879), by_folds=True)).splitlines()
        assert lines[0] == "1 rule answers 50 of 100 rows (50.0%)."
        assert lines[1] == (
            "Cross-checked, not certified: rules learned the same way without the row answer 48 of 100 rows and match "
            "the model on 46 of them (95.8%; at least 87%)."
        )
        assert any("no check: the rules were learned from synthetic rows around these" in line for line in lines)

    def test_what_each_rule_promises_and_how_wide_the_choice_is(self):
        lines = summarize(ASKED).splitlines()
        assert lines[2] == "The rule matches the model on 100.0% of the synthetic rows where it holds."
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
        line = f"rule 1: {BOX.region.describe()} → low (correct on 49 of 50 rows, at least 90%)"
        assert line in summarize(ASKED).splitlines()

    def test_a_certificate_of_every_judging_row(self):
        text = summarize(replace(ASKED, judged=None, certificate=Certificate((), None, Claim(49, 50, 0.9), 0.95)))
        assert ("Certified: at least 90% of answers match the model (95% confidence; 49 of 50 rows).") in text
        assert "not certified" not in text

    def test_a_refit_on_the_same_rows_says_so(self):
        of_fit = {"judged": None, "certificate": Certificate((), None, Claim(49, 50, 0.9), 0.95)}
        assert "This is fit number" not in summarize(replace(ASKED, **of_fit))
        assert "This is fit number 3 on these rows" in summarize(replace(ASKED, n_fits=3, **of_fit))

    def test_a_judgement_of_groups_says_so(self):
        judged = Claim(46, 48, 0.87, "groups")
        for by_folds in (True, False):
            text = summarize(replace(ASKED, judged=judged, by_folds=by_folds))
            assert re.search("at least 87%.* for a random row of a random group", text)

    def test_a_rule_that_answers_no_judging_row_shows_its_draws(self):
        silent = replace(BOX, support=0, fidelity=float("nan"), floor_value=0.0, judged=(Claim(0, 0, 0.0),))
        text = summarize(replace(ASKED, **chosen(silent)))
        assert "(not checked on any row; correct on 100% of 10 synthetic rows)" in text


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


def test_what_one_tree_would_do():
    verdict = pd.DataFrame([("one plain tree", 9, 1.0, 0.95, 0.92)], columns=list(COLUMNS))
    assert summarize(replace(PROVEN, verdict=verdict)).splitlines()[-3:] == [
        "One tree instead, judged on rows it was not grown on (floor 90%):",
        "  One plain tree (9 leaves) answers 100.0% of rows, 95.0% of them correctly (at least 92.0%).",
        "  One plain tree is enough: it reaches the floor of 90% on all rows.",
    ]
    assert "tree instead" not in summarize(PROVEN)


class TestClasses:
    def test_the_rarest_stands_first_and_neglect_is_named(self):
        lines = summarize(PROVEN).splitlines()
        start = lines.index("Rows by the model's answer, rarest first:")
        assert lines[start + 1 : start + 4] == [
            "  high: 20 rows, 0 answered, 0 correctly",
            "  low: 80 rows, 40 answered, 40 correctly",
            "  Fewer than half of the rows in high are answered correctly.",
        ]

    def test_many_classes_are_cut_short(self):
        labels = np.array([f"c{i % 20:02}" for i in range(100)])
        text = summarize(replace(PROVEN, **chosen(BALL, labels)))
        assert f"  and {20 - MOST_CLASSES} more" in text


def test_names_cannot_control_the_terminal():
    X = pd.DataFrame(np.random.default_rng(0).uniform(size=(300, 2)), columns=["\x1b[2Ja", "b\x9b"])
    atlas = AggregateExplainer(lambda X: X.iloc[:, 0].to_numpy() > 0.5, draws=Draws(1_000), random_state=0).fit(X)
    for text in (atlas.summary(), str(atlas.explain(X.iloc[[0]]))):
        assert "\\x1b[2Ja" in text
        assert not set("\x1b\x9b") & set(text)
