from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchmarks.subjects.quality import resplits
from benchmarks.subjects.quality.measures import NO_ANSWER
from benchmarks.subjects.quality.methods import TINY, Budget
from benchmarks.subjects.quality.resplits import (
    LEARNED,
    count_tree_questions,
    judge_by,
    make_learner,
    measure_choice,
    measure_resplits,
    measure_sweep,
    pool_rows,
    split_again,
)
from oleander.fitting.rule_learner import RuleLearner
from oleander.fitting.rule_sequence import MIN_GAIN
from tests.benchmarks.making import make_case

EFFORT = replace(TINY, n_learned_from=2_000)


class Corners:
    """A black box of three classes: two corners of a square, and the rest."""

    def predict(self, X):
        X = np.asarray(X)
        return (X[:, :2] > 0.7).all(axis=1) + 2 * (X[:, 1:3] < 0.4).all(axis=1)


@pytest.fixture(scope="module")
def case():
    return make_case(Corners(), 4)


@pytest.fixture(scope="module")
def lesson(case):
    return pool_rows(case, EFFORT)


def test_groups_are_never_split():
    groups = pd.Series(np.repeat(np.arange(90), 10))
    case = make_case(Corners(), 4, groups=groups)
    rows = pool_rows(case, EFFORT).rows
    for mask in split_again(case, rows, 3):
        assert not set(rows.groups[mask]) & set(rows.groups[~mask])
        assert len(set(rows.groups[mask])) == 30


def test_judges_change_what_is_chosen_and_not_what_was_learned(case, lesson):
    learner = make_learner(lesson)
    learner.choose(5, 0.9)
    for mask in split_again(case, lesson.rows, 2):
        rows = lesson.rows.part(mask)
        fresh = RuleLearner(lesson.draws, rows, by_folds=False, seed=lesson.seed)
        found, expected = judge_by(learner, rows).choose(5, 0.9), fresh.choose(5, 0.9)
        assert found.step == expected.step
        assert found.certificate.answers == expected.certificate.answers


@pytest.mark.parametrize("method", LEARNED)
def test_every_learned_method_has_every_measure(method, case):
    found = measure_resplits(method, case, Budget(), EFFORT, 2)
    assert set(found) == {*NO_ANSWER, "splits", "processor seconds"}
    assert found["coverage"] > 0.5
    assert found["floor reached"] == 1


def test_a_tree_at_equal_reading_asks_no_more_than_the_rules(case, lesson, monkeypatch):
    seen = []

    def measure_each(learner, choose, budget, *, is_tree):
        rules = learner.choose(learner.default_number, budget.min_fidelity)
        seen.append((rules.step.size, count_tree_questions(choose(learner)), choose(learner).is_certified))

    monkeypatch.setattr(resplits, "measure_each", measure_each)
    LEARNED["abstaining tree on draws, equal reading"](lesson, Budget(min_fidelity=0.8))
    ((size, n_questions, is_certified),) = seen
    assert 0 < n_questions <= size
    assert not is_certified


def test_the_program_is_never_narrower_than_greedy_and_never_wider_than_its_bound(case):
    found = measure_choice(case, Budget(), EFFORT, 3)
    # Rules that add too little are left out of both.
    assert found["greedy"] <= found["program"] + 3 * MIN_GAIN
    assert found["program"] <= found["bound"]
    assert found["gap"] == pytest.approx(found["bound"] / found["program"] - 1)


def test_the_trade_off_is_monotone_on_draws(case):
    found = measure_sweep("trade-off", case, EFFORT, 2)
    assert len(found["cells"]) == 24
    # 15 pairs of numbers for each of 4 floors, and 6 pairs of floors for each of 6 numbers.
    assert found["pairs"] == 2 * (15 * 4 + 6 * 6)
    assert (found["violations"], found["largest"]) == (0, 0.0)
