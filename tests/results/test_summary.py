from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer
from oleander.candidates.sizes import BallSize
from oleander.data.schema import FeatureSchema
from oleander.draws.options import Draws
from oleander.explainers import Constant, UnfilteredTree
from oleander.judging.certificate import Certificate, Claim
from oleander.judging.verdict import COLUMNS
from oleander.regions import Ball, Box
from oleander.regions.conditions import Range
from oleander.results.accuracy import Accuracy
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.results.fit_record import FitRecord
from oleander.results.summary import MOST_CLASSES, describe_fit
from oleander.selection.result import Proof

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
    explainers = ExplainerSet(SCHEMA, (member,), in_turn=member.origin == "asking")
    return {"explainers": explainers, "evaluation": explainers.evaluate(X, labels)}


PROVEN = FitRecord(5, 0.9, **chosen(BALL), n_queries=100, proof=Proof(40.0, 40.0, "optimal", 0.1, 0.4, 100.0))
ASKED = FitRecord(5, 0.9, **chosen(BOX), n_queries=100, judged=Claim(50, 50, 0.91), realism=0.61)


class TestProgram:
    def test_what_is_covered_and_proven(self):
        lines = describe_fit(PROVEN).splitlines()
        assert lines[0] == "1 local explainer with 1 rule covers 40 of 100 rows (40.0%); no choice covers more"
        assert lines[1] == "fidelity at least 1.000 on the rows they were chosen on"
        assert "explainer 0: right on 38 of 40 rows that it was chosen on" in lines
        assert any(line.strip().startswith("rule 0: always → low") for line in lines)

    def test_a_choice_without_proof_names_its_gap(self):
        record = replace(PROVEN, proof=Proof(40.0, 50.0, "feasible", 0.1, 0.4, 100.0))
        assert "; within 25.00% of the best choice" in describe_fit(record)

    def test_rows_that_the_printed_program_leaves_out_are_named(self):
        text = describe_fit(replace(PROVEN, counted=0.38))
        assert "the printed program counts 38.0% of the rows and asks for the floor of 0.9 on these alone" in text
        assert "printed program" not in describe_fit(replace(PROVEN, counted=0.4))
        assert "printed program" not in describe_fit(PROVEN)

    def test_a_certificate_of_held_out_rows(self):
        certificate = Certificate((Claim(60, 60, 0.93),), Claim(80, 200, 0.34), Claim(78, 80, 0.92), 0.95)
        record = replace(PROVEN, certificate=certificate, explainers=PROVEN.explainers.with_claims(certificate))
        text = describe_fit(record)
        assert "certified on held-out rows, all together at 95% confidence:" in text
        assert "  answers certified at least 0.34 (80 of 200 rows)" in text
        assert "  right where it answers certified at least 0.92 (78 of 80 rows)" in text
        assert "explainer 0: right on 38 of 40 rows that it was chosen on, certified at least 0.93 (60 of 60" in text
        assert "not certified" not in text

    def test_a_certificate_under_the_floor_says_what_that_means(self):
        certificate = Certificate((Claim(60, 60, 0.93),), Claim(80, 200, 0.34), Claim(78, 80, 0.8999), 0.95)
        text = describe_fit(replace(PROVEN, certificate=certificate))
        assert "  right where it answers certified at least 0.89 (78 of 80 rows), under the floor of 0.9" in text
        assert "the floor of 0.9 is not certified: it held on the rows that the explainers were chosen on" in text
        assert "may be as low as 0.89" in text


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
        text = describe_fit(replace(PROVEN, explainers=explainers, evaluation=evaluation))
        lines = text.splitlines()
        assert len(lines) <= 40
        assert f"  {tree.complexity} rules on {len(tree.features)} features: " in text
        widest = max(tree.rules(), key=lambda rule: rule.n_draws)
        assert f"    rule {tree.rules().index(widest)}: {widest}" in lines
        assert f"    and {tree.complexity - 4} narrower rules: explainers_[2].rules() lists all" in lines

    def test_a_few_rules_are_all_shown(self):
        tree = UnfilteredTree(max_leaves=8).fit(X, np.sin(3 * X[:, 0]) > 0, schema=SCHEMA)
        explainers = ExplainerSet(SCHEMA, (replace(BALL, explainer=tree),))
        text = describe_fit(replace(PROVEN, explainers=explainers))
        assert all(f"    rule {number}: {rule}" in text for number, rule in enumerate(tree.rules()))
        assert "narrower" not in text

    def test_lines_on_the_size_of_balls(self):
        record = replace(PROVEN, ball_sizes=(BallSize("radius 7", 31.0, 779, False),))
        assert describe_fit(record).splitlines()[2] == "a typical ball of radius 7 holds 31 of 779 rows (4.0%)"


class TestAsking:
    def test_what_is_answered_and_judged(self):
        lines = describe_fit(ASKED).splitlines()
        assert lines[0] == (
            "1 rule answers 50 of 100 rows (50.0%) and says what the black box says on 50 of these (100.0%)"
        )
        assert lines[1] == "judged, not certified: nothing was learned from these rows (at least 0.91)"
        assert "certified at" not in describe_fit(ASKED)
        assert lines[-1] == "draws can be told from rows in 61% of cases (50% is perfect)"

    def test_folds_judge_by_other_rules_than_those_delivered(self):
        """The counts of the delivered rules and of the rules that judged are not mixed in one sentence."""
        lines = describe_fit(replace(ASKED, judged=Claim(46, 48, 0.879), by_folds=True)).splitlines()
        assert lines[0] == "1 rule answers 50 of 100 rows (50.0%)"
        assert lines[1] == (
            "judged, not certified: rules that were learned in the same way without the row answer 48 of 100 rows and "
            "say what the black box says on 46 of these (95.8%, at least 0.87); counts beside a rule are "
            "of these answers too"
        )
        assert any("not judged: the rules were learned from draws around these rows" in line for line in lines)

    def test_a_rule_is_shown_whole_with_its_bound_rounded_down(self):
        line = f"rule 0: {BOX.region.describe()} → low (right on 49 of 50 rows, at least 0.90)"
        assert line in describe_fit(ASKED).splitlines()

    def test_a_certificate_of_every_judging_row(self):
        text = describe_fit(replace(ASKED, judged=None, certificate=Certificate((), None, Claim(49, 50, 0.9), 0.95)))
        assert (
            "certified at 95% confidence: at least 0.90 of the answers are the black box's (49 of 50 rows that nothing "
            "was learned from)"
        ) in text
        assert "not certified" not in text

    @pytest.mark.parametrize(
        ("unit", "about", "counted"),
        [
            ("groups", "on a random row of a random group", "groups, one row of each"),
            ("distinct rows", "on a random row, all its copies counted once", "distinct rows, one of all copies"),
        ],
    )
    def test_a_certificate_of_groups_says_so_and_speaks_of_rows_too(self, unit, about, counted):
        certificate = Certificate((), None, Claim(49, 50, 0.9, unit), 0.95, Claim(190, 200, 0.9))
        text = describe_fit(replace(ASKED, judged=None, certificate=certificate))
        assert (
            f"certified at 95% confidence, each statement alone: at least 0.90 of the answers {about} are the black "
            f"box's (49 of 50 {counted})"
        ) in text
        assert "\n  of all answered rows at least 0.90 are right too (190 of 200)" in text
        unsure = replace(certificate, rows=Claim(190, 200, 0.0))
        assert "the share of all rows is not certified" in describe_fit(replace(ASKED, judged=None, certificate=unsure))

    def test_a_judgement_of_groups_says_so(self):
        judged = Claim(46, 48, 0.87, "groups")
        for by_folds in (True, False):
            text = describe_fit(replace(ASKED, judged=judged, by_folds=by_folds))
            assert "at least 0.87 on a random row of a random group)" in text

    def test_a_rule_that_answers_no_judging_row_shows_its_draws(self):
        silent = replace(BOX, support=0, fidelity=float("nan"), floor_value=0.0, judged=(Claim(0, 0, 0.0),))
        text = describe_fit(replace(ASKED, **chosen(silent)))
        assert "(no row judged it; right on 100% of 10 draws)" in text


class TestSource:
    ACCURACY = Accuracy(
        n_rows=1000, n_sample=100, n_judged=25, n_unread=3, epsilon=0.1, delta=0.05, promised=0.08, seen=0.05
    )

    def describe(self, **changes):
        accuracy = replace(self.ACCURACY, **changes)
        return describe_fit(replace(PROVEN, exact=PROVEN.evaluation, accuracy=accuracy))

    def test_what_was_counted_on_all_rows(self):
        text = self.describe()
        assert "on all 1,000 rows: 40.00% answered, 100.00% of them as the black box does" in text
        assert "a sample of 100 rows; 25 of it, held out, give shares within 0.0500 of exact ones" in text
        assert "\nas promised: within 0.0800 with probability 95%, for every candidate" in text
        assert "3 rows hold values that the schema does not allow, and are not answered" in text

    def test_a_promise_that_was_not_kept_is_named(self):
        assert "NOT as promised" in self.describe(seen=0.09)

    def test_without_held_out_rows_nothing_is_promised(self):
        text = self.describe(n_judged=0, promised=float("nan"), seen=float("nan"), n_unread=0)
        assert "promised" not in text
        assert "held out" not in text
        assert "schema does not allow" not in text


class TestVerdict:
    def describe(self, *lines):
        return describe_fit(replace(PROVEN, verdict=pd.DataFrame(lines, columns=list(COLUMNS))))

    def test_what_one_tree_would_do(self):
        text = self.describe(("one plain tree", 9, 1.0, 0.85, 0.8), ("one tree that abstains", 9, 0.6, 0.96, 0.9))
        assert "judged on rows that it was not grown on (floor 0.9):" in text
        assert "  one plain tree, 9 leaves: answers 100.0%, right on 85.0% of them (at least 80.0%)" in text
        assert "  one tree that abstains, 9 leaves: answers 60.0%, right on 96.0% of them (at least 90.0%)" in text
        assert "is enough" not in text

    def test_one_tree_may_be_enough(self):
        text = self.describe(("one plain tree", 9, 1.0, 0.95, 0.92), ("one tree that abstains", 9, 0.0, np.nan, 0.0))
        assert "one plain tree is enough: it reaches the floor on all rows" in text
        assert "one tree that abstains: reaches the floor on no share of the rows" in text

    def test_no_verdict_no_words(self):
        assert "tree would" not in describe_fit(PROVEN)


class TestClasses:
    def test_the_rarest_stands_first_and_neglect_is_named(self):
        lines = describe_fit(PROVEN).splitlines()
        start = lines.index("rows by what the black box says, the rarest first:")
        assert lines[start + 1 : start + 4] == [
            "  high: 20 rows, 0 answered, 0 of these rightly",
            "  low: 80 rows, 40 answered, 40 of these rightly",
            "  answered rightly on under half of their rows: high",
        ]

    def test_many_classes_are_cut_short(self):
        labels = np.array([f"c{i % 20:02}" for i in range(100)])
        text = describe_fit(replace(PROVEN, **chosen(BALL, labels)))
        assert f"  and {20 - MOST_CLASSES} more" in text


def test_names_cannot_control_the_terminal():
    X = pd.DataFrame(np.random.default_rng(0).uniform(size=(300, 2)), columns=["\x1b[2Ja", "b\x9b"])
    atlas = AggregateExplainer(lambda X: X.iloc[:, 0].to_numpy() > 0.5, draws=Draws(1_000), random_state=0).fit(X)
    for text in (atlas.summary(), str(atlas.explain(X.iloc[[0]]))):
        assert "\\x1b[2Ja" in text
        assert not set("\x1b\x9b") & set(text)
