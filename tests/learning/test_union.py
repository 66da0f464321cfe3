import numpy as np
import pytest

from oleander.learning import union as module
from oleander.learning.family import SILENT
from tests.learning.making import coin, make_learner


def test_rows_that_made_no_draw_certify():
    union = make_learner().choose(10, 0.9)
    assert union.is_certified
    assert union.claim.bound == 0.9
    assert union.claim.n_rows <= 200
    assert union.coverage > 0.9


def test_folds_judge_and_never_certify():
    union = make_learner(by_folds=True).choose(10, 0.9)
    assert not union.is_certified
    assert union.claim.bound >= 0.9


def test_a_draw_serves_only_where_no_parent_judges(monkeypatch):
    """Every sister family learns from draws without a parent in its fold."""
    learner = make_learner(by_folds=True, groups=np.repeat(np.arange(50), 4))
    seen = []
    judge = module._judge_fold

    def watch(learn, draws, rows, fold, seed, number):
        def learn_watched(usable, seed):
            seen.append((usable.parents, np.flatnonzero(fold == number)))
            return learn(usable, seed)

        return judge(learn_watched, draws, rows, fold, seed, number)

    monkeypatch.setattr(module, "_judge_fold", watch)
    learner.choose(3, 0.8)
    groups = learner.rows.groups
    assert sorted(np.concatenate([here for _, here in seen]).tolist()) == list(range(200))
    for parents, here in seen:
        assert len(parents) > 0
        assert not np.isin(parents, here).any()
        assert not np.isin(groups[np.unique(parents)], groups[here]).any()


def test_fourteen_groups_do_not_certify_nine_tenths():
    learner = make_learner(140, groups=np.repeat(np.arange(14), 10))
    assert learner.choose(10, 0.9) is None
    assert "14 groups" in learner.why_nothing(10, 0.9)
    certified = learner.choose(10, 0.7)
    assert certified.is_certified
    assert certified.claim.n_rows == 14


def test_a_coin_is_not_explained():
    learner = make_learner(labels=coin)
    assert learner.choose(10, 0.9) is None


def test_more_explainers_never_cost_the_reader_for_nothing():
    learner = make_learner()
    assert len(learner.choose(10, 0.9).step.keys) == len(learner.choose(2, 0.9).step.keys) == 2


def cover(union, values):
    return np.array([union.family.grid.to_box(key).contains(values) for key in union.step.keys])


def test_the_answer_is_that_of_the_delivered_boxes():
    learner = make_learner()
    union = learner.choose(5, 0.9)
    said = union.step.read(cover(union, learner.rows.values))
    answered = said != SILENT
    right = answered & (learner.draws.classes[said] == learner.rows.labels)
    assert (union.claim.n_right, union.claim.n_rows) == (right.sum(), answered.sum())


@pytest.mark.parametrize("seed", range(3))
def test_every_box_reaches_the_floor_where_that_is_asked(seed):
    def noisy(X):
        return ((X[:, 0] > 0.5) ^ (np.abs(np.sin(1e6 * X[:, 1])) > 0.995 - 0.03 * X[:, 2])).astype(int)

    learner = make_learner(600, labels=noisy, seed=seed)
    learner.asks_each = True
    union = learner.choose(10, 0.8)
    codes = learner.draws.codes
    # Held-back draws take part here too, so that a box may fall short by chance.
    for inside, label in zip(cover(union, learner.draws.values), union.step.labels, strict=True):
        assert (codes[inside] == label).mean() > 0.77
