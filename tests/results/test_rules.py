from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.rivals.lime_linear import LimeLinear, Linear
from oleander import AggregateExplainer, Draws
from oleander.data.schema import FeatureSchema
from oleander.judging.bounds import lower_bound
from oleander.judging.certificate import Claim
from oleander.results.explainer_set import Answers, ChosenExplainer, ExplainerSet, name_rule
from oleander.results.fit_record import tabulate_rules
from oleander.rules import Box, Constant, UnfilteredTree
from oleander.rules.conditions import Range
from tests.making import Guess

X = np.random.default_rng(0).uniform(size=(300, 2))
SCHEMA = FeatureSchema.infer(X)
LABELS = np.where(X[:, 0] > 0.6, "high", np.where(X[:, 1] > 0.5, "mid", "low"))
TREE = UnfilteredTree(max_leaves=4).fit(X, LABELS, schema=SCHEMA)


def make_rows(values=X, labels=None, weights=None, groups=None):
    weights = np.ones(len(values), dtype=np.intp) if weights is None else weights
    return SimpleNamespace(values=values, labels=labels, weights=weights, groups=groups, unit="rows")


def member(explainer, region=None, **given):
    return ChosenExplainer(region or Box(()), explainer, "test", 40, 0.95, 1.0, **given)


BOX = member(Constant("high", 90, 0.99), Box((Range(0, SCHEMA[0], lower=0.6),)))


def test_the_rule_of_each_row_is_its_path():
    for explainer in (TREE, BOX.explainer, LimeLinear().fit(X, LABELS, schema=SCHEMA)):
        rules = explainer.rules()
        assert explainer.n_rules == len(rules)
        for row, position in zip(X[:50], explainer.find_rules(X)[:50], strict=True):
            assert rules[position].label == explainer.path(row).label
            if not isinstance(explainer, Linear):
                assert rules[position] == explainer.path(row)


def judge(explainer, right, values=X, weights=None):
    """Return what rows say of an explainer that covers all of them and is right on some."""
    said = np.where(right, "yes", "no")[None]
    answers = Answers(np.ones(said.shape, dtype=bool), said, np.zeros(len(values), dtype=np.intp), None)
    rows = make_rows(values, np.full(len(values), "yes"), weights)
    return ExplainerSet(SCHEMA, (member(explainer),)).judged_on(rows, answers, 0.05).members[0].judged


def test_rows_are_counted_for_each_rule():
    right = np.random.default_rng(1).random(len(X)) < 0.9
    judged = judge(TREE, right)
    position = TREE.find_rules(X)
    for number, claim in enumerate(judged):
        own = position == number
        assert (claim.n_right, claim.n_rows) == (right[own].sum(), own.sum())
        assert claim.bound == pytest.approx(float(lower_bound(claim.n_right, claim.n_rows, 0.05)))
    assert sum(claim.n_rows for claim in judged) == len(X)


def test_weights_stand_for_equal_rows():
    weights = np.random.default_rng(1).integers(1, 4, len(X))
    again = np.repeat(np.arange(len(X)), weights)
    right = X[:, 1] > 0.1
    assert judge(TREE, right, weights=weights) == judge(TREE, right[again], X[again])


def test_an_explainer_whose_rules_cannot_be_told_apart_is_not_judged_by_rule():
    own = Guess("high")
    assert own.find_rules(X) is None
    assert judge(own, np.ones(len(X), dtype=bool)) == ()


def test_names():
    boxes, tree = [BOX, BOX], member(TREE)
    assert name_rule(boxes, 1, 0) == "rule 2"
    assert name_rule([tree], 0, 2) == "rule 3"
    assert name_rule([BOX, tree], 0, 0) == "explainer 1"
    assert name_rule([BOX, tree], 1, 2) == "explainer 2, rule 3"
    assert name_rule([BOX, tree], 1, None) == "explainer 2"


def test_a_line_for_each_rule():
    table = tabulate_rules([replace(BOX, judged=(Claim(43, 45, 0.86),)), member(TREE, claim=Claim(9, 10, 0.6))])
    assert len(table) == 1 + TREE.complexity
    first = table.iloc[0]
    assert (first["name"], first["conditions"], first["answer"]) == ("explainer 1", "x0 > 0.6", "high")
    assert (first["rows"], first["right"], first["at_least"]) == (45, 43, 0.86)
    assert first["share"] == pytest.approx(43 / 45)
    assert table["rows"].isna().tolist() == [False] + [True] * TREE.complexity
    assert table["certified"].tolist()[1:] == [0.6] * TREE.complexity


def label(X):
    return np.select([X[:, 0] + X[:, 1] > 1.2, X[:, 2] > 0.6], ["high", "mid"], "low")


@pytest.mark.parametrize("is_given", [True, False], ids=["background", "folds"])
def test_a_rule_is_counted_on_all_rows_where_it_holds(is_given):
    rows = np.random.default_rng(0).uniform(size=(700, 3))
    atlas = AggregateExplainer(label, max_explainers=6, draws=Draws(3_000), random_state=0)
    atlas.fit(rows[400:], background=rows[:400] if is_given else None)
    truth = label(rows[400:])
    counted = atlas.rules_frame()[["rows", "right"]].to_numpy()
    assert len(counted) == len(atlas.explainers_) == len(atlas.evaluation_.explainer_counts) > 2
    sizes = [member.explainer.n_draws for member in atlas.explainers_]
    assert sizes == sorted(sizes, reverse=True)
    for member, counts in zip(atlas.explainers_, counted, strict=True):
        inside = member.region.contains(rows[400:])
        n_right = (truth[inside] == member.rules()[0].label).sum()
        assert member.draw_fidelity >= 0.9
        assert (member.support, member.fidelity) == (inside.sum(), pytest.approx(n_right / inside.sum()))
        # Rows that made the draws judge no rule.
        assert tuple(counts) == (inside.sum(), n_right) if is_given else not member.judged
