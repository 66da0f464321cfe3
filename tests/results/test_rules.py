from dataclasses import replace

import numpy as np
import pytest

from oleander import AggregateExplainer, Draws
from oleander.data.schema import FeatureSchema
from oleander.explainers import AbstainingTree, Constant, LimeLinear, UnfilteredTree
from oleander.judging.bounds import lower_bound
from oleander.judging.certificate import Claim
from oleander.regions import Box
from oleander.regions.conditions import Range
from oleander.results.explainer_set import ChosenExplainer
from oleander.results.rules import (
    count_rules,
    describe_all,
    describe_evidence,
    find_rules,
    judge_rules,
    name_rule,
    tabulate_rules,
)

X = np.random.default_rng(0).uniform(size=(300, 2))
SCHEMA = FeatureSchema.infer(X)
LABELS = np.where(X[:, 0] > 0.6, "high", np.where(X[:, 1] > 0.5, "mid", "low"))
TREE = UnfilteredTree(max_leaves=4).fit(X, LABELS, schema=SCHEMA)


def member(explainer, region=None, **given):
    return ChosenExplainer(region or Box(()), explainer, "test", 40, 0.95, 0.9, 1.0, **given)


BOX = member(Constant("high", 90, 0.99), Box((Range(0, SCHEMA[0], lower=0.6),)))


def test_the_rule_of_each_row_is_its_path():
    speaking = np.arange(len(TREE.tree_.column)) % 2 == 0
    explainers = [
        TREE,
        AbstainingTree(TREE.tree_, speaking),
        BOX.explainer,
        LimeLinear().fit(X, LABELS, schema=SCHEMA),
    ]
    for explainer in explainers:
        spoken = explainer.speaks(X) if isinstance(explainer, AbstainingTree) else np.ones(len(X), dtype=bool)
        rules = explainer.rules()
        assert count_rules(explainer) == len(rules)
        for row, position in zip(X[spoken][:50], find_rules(explainer, X[spoken])[:50], strict=True):
            assert rules[position].label == explainer.path(row).label
            if not isinstance(explainer, LimeLinear):
                assert rules[position] == explainer.path(row)


def test_rows_are_counted_for_each_rule():
    covers = np.ones((1, len(X)), dtype=bool)
    right = np.random.default_rng(1).random((1, len(X))) < 0.9
    (judged,) = judge_rules([member(TREE)], X, covers, right, 0.05)
    position = find_rules(TREE, X)
    for number, claim in enumerate(judged.judged):
        own = position == number
        assert (claim.n_right, claim.n_rows) == (right[0, own].sum(), own.sum())
        assert claim.bound == pytest.approx(float(lower_bound(claim.n_right, claim.n_rows, 0.05)))
    assert sum(claim.n_rows for claim in judged.judged) == len(X)


def test_weights_stand_for_equal_rows():
    weights = np.random.default_rng(1).integers(1, 4, len(X))
    again = np.repeat(np.arange(len(X)), weights)
    covers, right = np.ones((1, len(X)), dtype=bool), (X[:, 1] > 0.1)[None]
    (merged,) = judge_rules([member(TREE)], X, covers, right, 0.05, weights=weights)
    (whole,) = judge_rules([member(TREE)], X[again], covers[:, again], right[:, again], 0.05)
    assert merged.judged == whole.judged


def test_an_explainer_whose_rules_cannot_be_told_apart_is_not_judged_by_rule():
    class Own:
        def rules(self):
            return TREE.rules()

    covers = np.ones((1, len(X)), dtype=bool)
    assert find_rules(Own(), X) is None
    assert judge_rules([member(Own())], X, covers, covers, 0.05)[0].judged == ()


def test_names():
    boxes, tree = [BOX, BOX], member(TREE)
    assert name_rule(boxes, 1, 0) == "rule 1"
    assert name_rule([tree], 0, 2) == "rule 2"
    assert name_rule([BOX, tree], 0, 0) == "explainer 0"
    assert name_rule([BOX, tree], 1, 2) == "explainer 1, rule 2"
    assert name_rule([BOX, tree], 1, None) == "explainer 1"


class TestEvidence:
    RULE = TREE.rules()[1]
    CLAIMS = (Claim(9, 10, 0.606), Claim(0, 0, 0.0), Claim(29, 29, 0.9018), Claim(1, 1, 0.05))

    def test_rows_that_judged_the_rule(self):
        judged = member(TREE, judged=self.CLAIMS)
        assert describe_evidence(judged, 0, self.RULE) == "right on 9 of 10 rows, at least 0.60"
        assert describe_evidence(judged, 3, self.RULE) == "right on 1 of 1 row, at least 0.05"
        assert describe_evidence(judged, 1, self.RULE) == (
            f"no row judged it; right on 100% of {self.RULE.n_draws} draws"
        )
        assert describe_all(judged) == "right on 39 of 40 rows"

    def test_in_sample_rows_are_called_so(self):
        assert describe_evidence(member(TREE), 0, self.RULE) == "right on 38 of 40 rows that it was chosen on"
        nothing = replace(member(TREE), support=0, fidelity=float("nan"))
        assert describe_evidence(nothing, 0, self.RULE) == "no row judged it"

    def test_a_certified_explainer(self):
        claim = Claim(58, 60, 0.8999)
        certified = member(TREE, judged=self.CLAIMS, claim=claim)
        assert describe_evidence(certified, 0, self.RULE) == (
            "right on 9 of 10 rows, at least 0.60; its explainer is certified at least 0.89"
        )
        assert describe_evidence(replace(BOX, claim=claim), 0, BOX.rules()[0]) == (
            "certified at least 0.89, right on 58 of 60 rows"
        )
        assert "certified" not in describe_evidence(replace(BOX, claim=Claim(0, 0, 0.0)), 0, BOX.rules()[0])


def test_a_line_for_each_rule():
    table = tabulate_rules([replace(BOX, judged=(Claim(43, 45, 0.86),)), member(TREE, claim=Claim(9, 10, 0.6))])
    assert len(table) == 1 + TREE.complexity
    first = table.iloc[0]
    assert (first["name"], first["conditions"], first["answer"]) == ("explainer 0", "x0 > 0.6", "high")
    assert (first["rows"], first["right"], first["at_least"]) == (45, 43, 0.86)
    assert first["share"] == pytest.approx(43 / 45)
    assert table["rows"].isna().tolist() == [False] + [True] * TREE.complexity
    assert table["certified"].tolist()[1:] == [0.6] * TREE.complexity


def label(X):
    return np.select([X[:, 0] + X[:, 1] > 1.2, X[:, 2] > 0.6], ["high", "mid"], "low")


@pytest.mark.parametrize("max_explainers", [1, 6])
def test_rules_are_judged_on_rows_that_they_were_not_learned_from(max_explainers):
    rows = np.random.default_rng(0).uniform(size=(700, 3))
    options = {"max_explainers": max_explainers, "draws": Draws(3_000), "random_state": 0}
    given = AggregateExplainer(label, **options).fit(rows[400:], background=rows[:400])
    counted = given.rules_frame()[["rows", "right"]].sum()
    assert tuple(counted) == (given.certificate_.answers.n_rows, given.certificate_.answers.n_right)
    # Where folds judge, the right answers are those of rules that were learned without the row.
    folds = AggregateExplainer(label, **options).fit(rows[400:])
    counted, judged = folds.rules_frame()[["rows", "right"]].sum(), folds.record_.judged
    assert counted["rows"] <= judged.n_rows
    assert counted["right"] <= judged.n_right
    assert counted["rows"] - counted["right"] <= judged.n_rows - judged.n_right
