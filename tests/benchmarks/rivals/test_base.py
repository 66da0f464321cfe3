"""The contract of rivals, which every method must pass."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.rivals import (
    ActiveTree,
    AnchorPick,
    DecisionSet,
    NaiveTree,
    Proxies,
    SubmodularPick,
    TreeWithAbstention,
)
from benchmarks.rivals.base import spread_points
from tests.making import label

# One entry per rival, with settings small enough for a test.
RIVALS = {
    "active tree": lambda black_box: ActiveTree(black_box, max_leaves=8, n_components=8, n_draws=300, random_state=0),
    "anchors": lambda black_box: AnchorPick(black_box, max_anchors=6, max_conditions=3),
    "decision set": lambda black_box: DecisionSet(black_box, n_bins=5, max_candidates=20, random_state=0),
    "naive tree": lambda black_box: NaiveTree(black_box, max_leaves=8),
    "tree with abstention": lambda black_box: TreeWithAbstention(black_box, max_leaves=8),
    "submodular pick": lambda black_box: SubmodularPick(black_box, max_candidates=20, n_draws=200),
    "proxies": lambda black_box: Proxies(black_box, max_candidates=20, n_draws=200),
}


def three_bands(X):
    first = np.asarray(X)[:, 0].astype(float)
    return np.select([first > 0.7, first > 0.4], ["high", "mid"], "low")


@pytest.fixture
def rows():
    return np.random.default_rng(0).uniform(size=(240, 4))


@pytest.mark.parametrize("make", RIVALS.values(), ids=RIVALS)
class TestContract:
    def test_answers_have_the_users_labels(self, make, rows):
        rival = make(three_bands).fit(rows)
        answers = rival.predict(rows)
        covers = rival.covers(rows)
        assert covers.shape == (len(rival.explainers_), len(rows))
        np.testing.assert_array_equal(np.ma.getmaskarray(answers), ~covers.any(axis=0))
        assert covers.any()
        assert set(answers.compressed()) <= {"high", "mid", "low"}
        assert (answers.compressed() == three_bands(rows)[covers.any(axis=0)]).mean() > 0.8
        assert rival.complexity >= 1

    def test_mixed_and_missing_columns_reach_the_black_box_as_they_came(self, make, mixed, mixed_black_box):
        rival = make(mixed_black_box).fit(mixed)
        result = rival.evaluate(mixed)
        assert result.coverage > 0
        assert set(rival.predict(mixed).compressed()) <= {"no dose", "heavy and red", "heavy", "light"}

    def test_string_bool_and_int_labels(self, make, rows):
        for labels in (np.array(["no", "yes"], dtype=object), np.array([False, True]), np.array([3, 7])):
            rival = make(lambda X, labels=labels: labels[(X[:, 0] > 0.5).astype(int)]).fit(rows)
            assert set(rival.predict(rows).compressed().tolist()) <= set(labels.tolist())

    def test_one_class_only(self, make, rows):
        rival = make(lambda X: np.zeros(len(X), dtype=int)).fit(rows)
        assert rival.evaluate(rows).coverage > 0
        assert set(rival.predict(rows).compressed().tolist()) == {0}

    def test_the_same_seed_gives_the_same_answers(self, make, rows):
        one, other = (replace(make(three_bands), random_state=5).fit(rows) for _ in range(2))
        new = np.random.default_rng(1).uniform(size=(200, 4))
        np.testing.assert_array_equal(one.covers(new), other.covers(new))
        assert one.predict(new).tolist() == other.predict(new).tolist()

    def test_every_row_sent_to_the_black_box_is_counted(self, make, rows):
        asked = []

        def counting(X):
            asked.append(len(X))
            return three_bands(X)

        assert make(counting).fit(rows).n_queries_ == sum(asked)


def test_points_are_spread_over_the_data_whatever_their_order():
    rng = np.random.default_rng(0)
    line = rng.permutation(1_024)[:, None] / 100
    # One point from each of 16 equally full parts of the line.
    assert sorted(line[spread_points(label(line, three_bands), 16), 0] * 100 // 64) == list(range(16))
    # Rows that are equal along the widest column.
    X = np.column_stack([rng.integers(0, 3, 500) * 5.0, rng.normal(size=500)])
    order = rng.permutation(500)
    one, other = (rows[spread_points(label(rows, three_bands), 20)] for rows in (X, X[order]))
    assert {tuple(row) for row in one} == {tuple(row) for row in other}
    assert len(spread_points(label(X, three_bands), None)) == 500
