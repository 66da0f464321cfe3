"""Judging on cases whose answer is known, and against the law that the data come from."""

from dataclasses import dataclass

import numpy as np
import pytest
from oleander.forms import Consensus, Verdict, balance_classes, make_consensus_forms

from oleander.black_box.asking import BlackBox
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.judging.certificate import lower_bound
from oleander.judging.cross_fitting import Judged, cross_fit, design_effect


@dataclass(frozen=True)
class Parrot:
    """Says of every row what was most frequent among those it learned from; remembers how many these were."""

    kind: str = "parrot"
    n_explainers: int = 1
    n_settings: int = 2

    def learn(self, rows, seed):
        labels, counts = np.unique(rows.labels, return_counts=True)
        return Said(labels[counts.argmax()], set(rows.values[:, 0]))


@dataclass(frozen=True)
class Said:
    label: object
    seen: set

    def answers(self, rows):
        assert not self.seen & set(rows[:, 0]), "judged on a row that was learned from"
        given = np.array([np.ones(len(rows), dtype=bool), rows[:, 0] > 50])
        return np.full(given.shape, self.label), given


def make_rows(n_rows=100, groups=None, black_box=lambda X: X[:, 0] >= 30):
    X = np.arange(n_rows, dtype=float)[:, None] + 0.5
    return Rows.ask(X, BlackBox(black_box, FeatureSchema.infer(X)), groups=groups)


def test_every_row_is_judged_once_by_answers_that_did_not_learn_from_it():
    judged = cross_fit([Parrot()], make_rows(), 5, 0)[0]
    # 70 of 100 rows are true, so every fold says so.
    assert judged.coverage().tolist() == [1.0, 0.5]
    assert judged.agreement().tolist() == [0.7, 1.0]
    assert judged.bounds(0.05)[0] == pytest.approx(float(lower_bound(70, 100, 0.05)))


def test_groups_are_judged_whole():
    groups = np.repeat(np.arange(10), 10)
    seen = []

    class Spy(Parrot):
        def learn(self, rows, seed):
            seen.append(set(rows.groups))
            return super().learn(rows, seed)

    cross_fit([Spy()], make_rows(groups=groups), 3, 0)
    assert all(len(there) in (6, 7) for there in seen)


def test_rows_that_are_only_judged_are_not_learned_from():
    rows, extra = make_rows(40), make_rows(140).part(np.arange(140) >= 40)
    judged = cross_fit([Parrot()], rows, 4, 0, extra=extra)[0]
    assert judged.answered.shape == (2, 140)
    assert judged.answered[0].all()


def test_one_job_or_two_judge_alike():
    rows = make_rows()
    forms = make_consensus_forms(3, 12)
    one, two = (cross_fit(forms, rows, 5, 0, n_jobs=n) for n in (1, 2))
    for left, right in zip(one, two, strict=True):
        np.testing.assert_array_equal(left.right, right.right)


def test_the_widest_that_keeps_the_floor_is_chosen():
    answered = np.array([[True] * 100, [True] * 60 + [False] * 40, [True] * 30 + [False] * 70])
    right = answered & (np.arange(100) < 60)
    judged = Judged(Parrot(), answered, right, np.ones(100, dtype=int))
    assert judged.choose(0.9) == (1, 0.6)
    assert judged.choose(0.4) == (0, 1.0)
    assert judged.choose(0.999) is None
    # Under an importance that favours the first rows, nothing else is chosen, but coverage reads otherwise.
    assert judged.choose(0.9, np.where(np.arange(100) < 60, 2.0, 1.0)) == (1, 0.75)


class TestDesignEffect:
    def test_rows_of_a_group_that_are_all_alike_are_worth_one(self):
        groups = np.repeat(np.arange(40), 5)
        right = np.repeat(np.arange(40) % 4 > 0, 5)
        assert design_effect(np.ones(200), right, groups) == pytest.approx(5.0, rel=0.05)

    def test_independent_rows_are_worth_themselves(self):
        rng = np.random.default_rng(0)
        effects = [design_effect(np.ones(400), rng.random(400) < 0.9, np.arange(400) // 4) for _ in range(50)]
        assert np.mean(effects) < 1.2

    def test_one_group_is_worth_one_row(self):
        assert design_effect(np.ones(30), np.ones(30), np.zeros(30, dtype=int)) == 30.0

    def test_bounds_with_groups_hold_as_often_as_they_say(self):
        """Groups whose members err together: the bound is over the true share in at most 5% of 400 samples."""
        rng = np.random.default_rng(1)
        fails = 0
        for _ in range(400):
            quality = rng.beta(18, 2, size=30)
            right = rng.random((30, 10)) < quality[:, None]
            judged = Judged(
                Parrot(),
                np.ones((1, 300), dtype=bool),
                right.reshape(1, -1),
                np.ones(300, dtype=int),
                np.arange(300) // 10,
            )
            fails += judged.bounds(0.05)[0] > 0.9
        assert fails / 400 < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


class TestVerdict:
    def test_one_tree_is_enough_where_it_is(self):
        rows = make_rows(300)
        verdict = Verdict(cross_fit(make_consensus_forms(3, 20), rows, 5, 0), 0.9)
        assert verdict.one_tree_is_enough
        assert verdict.choose().judged.form.kind == "tree"
        table = verdict.table.set_index("form")
        assert list(table.index) == ["plain tree", "tree with abstention", "consensus"]
        assert table.loc["plain tree", "coverage"] == 1.0
        assert table.loc["plain tree", "agreement"] > 0.97

    def test_nothing_is_chosen_where_labels_are_noise(self):
        noise = np.random.default_rng(0).integers(0, 2, 300)
        rows = make_rows(300, black_box=lambda X: noise[X[:, 0].astype(int)])
        verdict = Verdict(cross_fit(make_consensus_forms(3, 20), rows, 5, 0), 0.9)
        assert verdict.choose() is None
        assert not verdict.one_tree_is_enough
        assert (verdict.table.loc[1:, "coverage"] == 0).all()

    def test_fewer_explainers_can_be_asked_for(self):
        verdict = Verdict(cross_fit([Consensus(2, 4), Consensus(5, 4)], make_rows(200), 5, 0), 0.8)
        assert verdict.choose(max_explainers=2).judged.form.n_explainers == 2
        assert verdict.choose(max_explainers=1) is None

    def test_every_class_counts_alike_when_balanced(self):
        labels = np.repeat(["common", "rare"], [90, 10])
        importance = balance_classes(labels, np.ones(100, dtype=int))
        assert importance[:90].sum() == pytest.approx(importance[90:].sum())
