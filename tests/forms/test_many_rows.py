"""With more rows than a form learns from, what is taken is what was judged."""

import numpy as np
import pytest

from oleander.black_box.asking import BlackBox
from oleander.data.rows import MOST_LEARNED, Rows
from oleander.data.schema import FeatureSchema
from oleander.forms import Verdict, make_consensus_forms
from oleander.forms.consensus import Consensus
from oleander.judging.cross_fitting import cross_fit

X = np.random.default_rng(0).normal(size=(MOST_LEARNED + 5000, 6))
# The root of a tree is the weightiest feature that it sees.
WEIGHTS = np.array([3.0, 2.2, 1.6, 1.2, 0.9, 0.6])
ROWS = Rows.ask(X, BlackBox(lambda X: (X @ WEIGHTS > 0).astype(int), FeatureSchema.infer(X))).unmerged()


@pytest.mark.parametrize("form", make_consensus_forms(3, 20), ids=str)
def test_trees_of_many_rows_see_the_features_that_trees_of_fewer_rows_saw(form: Consensus) -> None:
    fewer = ROWS.at_most(MOST_LEARNED + 1000, seed=0)
    whole, part = form.learn(ROWS, 0), form.learn(fewer, 0)
    assert [tree.column[0] for tree in whole.trees] == [tree.column[0] for tree in part.trees]


def test_at_most_so_many_points_are_taken_at_random() -> None:
    some = ROWS.at_most(1000, seed=1)
    assert some.n_points == 1000
    assert ROWS.at_most(10**6, seed=1) is ROWS
    assert abs(some.values[:, 0].mean()) < 0.15
    assert (some.labels == (some.values @ WEIGHTS > 0)).all()


@pytest.mark.parametrize("groups", [None, np.arange(2 * MOST_LEARNED + 1000) // 50], ids=["rows", "groups"])
def test_what_is_taken_is_itself_judged_on_all_rows_that_it_did_not_learn_from(groups: np.ndarray | None) -> None:
    X = np.random.default_rng(1).normal(size=(2 * MOST_LEARNED + 1000, 6))
    box = BlackBox(lambda X: (X @ WEIGHTS > 0).astype(int), FeatureSchema.infer(X))
    rows = Rows.ask(X, box).unmerged(groups)
    form = Consensus(2, 8)
    (judged,) = cross_fit([form], rows, 5, 0)
    learned = rows.some(MOST_LEARNED, 0)
    assert (judged.weights == ~learned).all()
    if groups is not None:
        assert not set(groups[learned]) & set(groups[~learned])
    setting = 12
    said = form.learn(rows, 0).at(setting).answer(X[~learned])
    answered = ~np.ma.getmaskarray(said)
    assert judged.coverage()[setting] == answered.mean()
    assert judged.agreement()[setting] == (said == rows.labels[~learned])[answered].mean()
    assert Verdict([judged], 0.5).choose().evaluate(rows.labels, rows.point_of_row, 8).n_rows == (~learned).sum()
