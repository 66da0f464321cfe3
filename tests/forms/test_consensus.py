"""A consensus says in one pass under all bars what its explainers say one by one."""

import numpy as np
import pytest

from oleander.black_box.asking import BlackBox
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.forms.consensus import BARS, Consensus, make_consensus_forms


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).uniform(size=(300, 5))

    def rings(X):
        return np.digitize(np.hypot(X[:, 0], X[:, 1]), [0.5, 0.9])

    return Rows.ask(X, BlackBox(rings, FeatureSchema.infer(X)))


@pytest.mark.parametrize("n_trees", [1, 2, 5])
def test_the_family_and_its_members_say_the_same(rows, n_trees):
    form = Consensus(n_trees, 6)
    family = form.learn(rows, 0)
    new = np.random.default_rng(1).uniform(size=(400, 5))
    labels, given = family.answers(new)
    assert labels.shape == given.shape == (form.n_settings, 400)
    for setting in range(0, form.n_settings, 3):
        answers = family.at(setting).answer(new)
        np.testing.assert_array_equal(~np.ma.getmaskarray(answers), given[setting])
        np.testing.assert_array_equal(answers.compressed(), labels[setting][given[setting]])


def test_trees_that_come_out_the_same_are_read_once():
    X = np.random.default_rng(0).uniform(size=(300, 3))
    rows = Rows.ask(X, BlackBox(lambda X: X[:, 0] > 0.5, FeatureSchema.infer(X)))
    form = Consensus(5, 4, share_of_features=1.0)
    family = form.learn(rows, 0)
    new = np.random.default_rng(1).uniform(size=(200, 3))
    given = family.answers(new)[1]
    for setting in range(form.n_settings):
        together = family.at(setting)
        assert len(together.members) <= 1
        np.testing.assert_array_equal(~np.ma.getmaskarray(together.answer(new)), given[setting])


def test_a_single_tree_that_never_abstains_answers_everything(rows):
    family = Consensus(1, 8).learn(rows, 0)
    assert family.answers(rows.values)[1][0].all()
    assert family.at(0).members[0].explainer.describe_silence() == "silent nowhere"


def test_the_more_careful_the_fewer_answers_of_a_single_tree(rows):
    given = Consensus(1, 12).learn(rows, 0).answers(rows.values)[1]
    assert (np.diff(given.sum(axis=1)) <= 0).all()


def test_when_all_must_be_sure_less_is_answered_than_when_one_must(rows):
    form = Consensus(3, 6)
    given = form.learn(rows, 0).answers(rows.values)[1]
    assert (given[: len(BARS)] <= given[len(BARS) :]).all()


def test_the_same_seed_grows_the_same_trees(rows):
    one, other = (Consensus(3, 6).learn(rows, 4).at(10) for _ in range(2))
    said = [[str(rule) for member in each.members for rule in member.explainer.rules()] for each in (one, other)]
    assert said[0] == said[1]


def test_leaves_are_spent_once():
    for form in make_consensus_forms(10, 40):
        assert form.n_trees * form.max_leaves <= 40
    assert [form.n_trees for form in make_consensus_forms(1, 40)] == [1, 1]
    assert all(form.max_leaves >= 2 for form in make_consensus_forms(10, 4))
