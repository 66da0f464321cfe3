import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.black_box.asking import BlackBox
from oleander.black_box.labelling import label_rows, split_rows, warn_of_truth
from oleander.data.reading import read
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from tests.making import Recording, count, halves

X = np.arange(12.0).reshape(6, 2) + 0.5
SCHEMA = FeatureSchema.infer(X)


@pytest.fixture
def model():
    return Recording(lambda rows: rows[:, 0] > 5)


@pytest.fixture
def black_box(model):
    return count(model, SCHEMA)


def test_rows_are_merged_and_asked_about_in_batches(monkeypatch, black_box, model):
    monkeypatch.setattr(BlackBox, "batch_size", 4)
    rows = label_rows(np.vstack([X, X[:2]]), black_box)
    assert rows.n_points == 6
    assert rows.weights.tolist() == [2, 2, 1, 1, 1, 1]
    assert rows.labels.tolist() == [False, False, False, True, True, True]
    # Six points in two batches, and all again in two others.
    assert model.calls == [4, 2, 3, 3]
    assert black_box.n_queries == 12


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=8), st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_labels_are_those_of_the_black_box_whatever_is_known(known, asked):
    """Against the model itself, row by row; of the rows only those that are new are sent."""
    sent = []

    def model(rows):
        sent.extend(rows[:, 0].tolist())
        return rows[:, 0] > 5

    black_box = count(model, SCHEMA)
    before = label_rows(X[known], black_box) if known else Rows.empty(SCHEMA)
    sent.clear()
    rows = label_rows(X[asked], black_box, known=before)
    np.testing.assert_array_equal(rows.values[rows.point_of_row], X[asked])
    np.testing.assert_array_equal(rows.labels_of_rows, X[asked][:, 0] > 5)
    assert sorted(sent) == sorted(X[list(set(asked) - set(known)), 0].tolist())
    assert rows.n_rows == len(asked)


def test_equal_rows_of_two_groups_are_two_points_and_asked_about_once(black_box):
    """Merged, they would all count to the first group, and the others would lose rows on which an answer is wrong."""
    rows = label_rows(np.vstack([X, X[:2]]), black_box, groups=np.arange(8) // 2)
    assert rows.groups.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert rows.labels[[6, 7]].tolist() == rows.labels[[0, 1]].tolist()
    assert black_box.n_queries == 2 * len(X)
    again = label_rows(X, black_box, known=rows)
    assert again.labels.tolist() == rows.labels[:6].tolist()
    assert black_box.n_queries == 2 * len(X)


class TestSplit:
    def test_copies_are_held_out_together(self):
        X = np.repeat(np.random.default_rng(0).normal(size=(50, 3)), 4, axis=0)
        with pytest.warns(UserWarning, match="150 of 200 rows repeat an earlier row"):
            reading = read(X).notice_copies()
        parts = split_rows(reading, 0.5, 0, count(halves, reading.schema))
        assert not np.isin(X[parts.held, 0], X[parts.learned, 0]).any()

    @pytest.mark.parametrize("most", [None, 400])
    def test_enough_queries_pay_for_all_rows(self, most):
        reading = read(np.random.default_rng(0).uniform(size=(300, 2)))
        parts = split_rows(reading, 0.25, 0, count(halves, reading.schema, most))
        assert (len(parts.learned), len(parts.held)) == (225, 75)
        assert sorted([*parts.learned, *parts.held]) == list(range(300))
        with pytest.raises(ValueError, match="max_queries=399 does not pay for 300 rows, of which 100 are asked about"):
            split_rows(reading, 0.25, 0, count(halves, reading.schema, 399))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({}, r"correct on 100\.0% of the rows, so it was probably trained on them"),
        ({False: "no", True: "yes"}, "y holds 'no', 'yes', and the black box answers False, True: no label is in both"),
    ],
)
def test_truth_that_is_always_or_never_the_answer_gets_a_warning(black_box, answers, message):
    rows = label_rows(X, black_box)
    truth = rows.labels_of_rows
    with pytest.warns(UserWarning, match=message):
        warn_of_truth(rows, np.array([answers.get(one, one) for one in truth.tolist()]))
    # One wrong answer is enough.
    warn_of_truth(rows, np.append(~truth[:1], truth[1:]))


class TestRareLevels:
    """Rows that differ in a rare level only have equal values, and each its own answer."""

    X = pd.DataFrame({"drug": ["a"] * 60 + ["b"] * 33 + ["p"] * 4 + ["q"] * 3})
    TRUTH = (X["drug"] == "p").to_numpy()

    @pytest.fixture
    def black_box(self):
        return count(lambda X: (X["drug"] == "p").to_numpy(), self.X)

    def test_each_is_asked_about_by_its_name(self, black_box):
        rows = label_rows(black_box.schema.exact.encode(self.X), black_box)
        assert rows.labels_of_rows.tolist() == self.TRUTH.tolist()
        assert rows.values.ravel().tolist() == [0, 1, 2, 2]
        assert rows.weights.tolist() == [60, 33, 4, 3]

    def test_known_answers_are_those_of_the_same_level(self, black_box):
        values = black_box.schema.exact.encode(self.X)
        known = label_rows(values[:97], black_box)
        n_asked = black_box.n_queries
        rows = label_rows(values, black_box, known=known)
        assert rows.labels_of_rows.tolist() == self.TRUTH.tolist()
        assert black_box.n_queries == n_asked + 1
        assert known.join(rows.part(rows.values[:, 0] == 2)).labels_of_rows[-7:].tolist() == self.TRUTH[-7:].tolist()
