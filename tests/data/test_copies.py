"""Copies of rows are found, and rows that are equal by chance are not taken for copies."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.data.copies import count_copies, count_odd_repeats, find_copies, find_known, link_rows
from oleander.data.reading import read
from oleander.data.schema import FeatureSchema


def rng():
    return np.random.default_rng(0)


def clusters_of(X):
    schema = FeatureSchema.infer(X)
    return find_copies(link_rows(X, schema), schema)


def copies_of(X):
    clusters = clusters_of(X)
    return 0 if clusters is None else count_copies(clusters)


@pytest.mark.parametrize("jitter", [0.0, 1e-9])
@pytest.mark.parametrize(("n_rows", "n_copies"), [(60, 8), (20, 100), (3000, 2)])
def test_copies_are_one_cluster(n_rows, n_copies, jitter):
    X = rng().normal(size=(n_rows, 5))
    copied = np.repeat(X, n_copies, axis=0) + jitter * rng().normal(size=(n_rows * n_copies, 5))
    order = rng().permutation(len(copied))
    clusters = clusters_of(copied[order])
    expected = pd.factorize((np.arange(len(copied)) // n_copies)[order])[0]
    np.testing.assert_array_equal(clusters, expected)


@pytest.mark.parametrize(
    "X",
    [
        pytest.param(rng().normal(size=(10_000, 3)), id="measurements"),
        pytest.param(rng().normal(size=(3_000, 1)), id="one measurement"),
        pytest.param(rng().integers(2, size=(2_000, 6)).astype(float), id="levels"),
        pytest.param(rng().integers(2, size=(2_000, 6)) / 3 + 0.1, id="levels that were scaled"),
        pytest.param(
            np.column_stack([rng().integers(20, 80, size=2_000), *rng().integers(2, size=(4, 2_000))]), id="age"
        ),
        pytest.param(
            np.column_stack([rng().exponential(size=1_000) * (np.arange(1_000) % 10 == 0), np.arange(1_000) % 8]),
            id="mostly zero",
        ),
    ],
)
def test_rows_that_are_equal_by_chance_are_no_copies(X):
    assert copies_of(X.astype(float)) <= 0.001 * len(X)


class TestOddRepeats:
    """Records of ten columns of levels."""

    @pytest.fixture
    def records(self):
        return rng().integers(4, size=(60, 10)).astype(float)

    def test_copies_of_few_records_are_odd(self, records):
        X = records[rng().integers(60, size=300)]
        assert count_odd_repeats(link_rows(X, FeatureSchema.infer(X))) == 300 - len(np.unique(X, axis=0))

    @pytest.mark.parametrize("n_columns", [1, 3, 5])
    def test_rows_that_are_equal_by_chance_are_not(self, n_columns):
        X = rng().integers(4, size=(3_000, n_columns)).astype(float)
        assert count_odd_repeats(link_rows(X, FeatureSchema.infer(X))) == 0

    def test_a_few_copies_are_not(self, records):
        X = np.concatenate([records, records[:20]])
        assert count_odd_repeats(link_rows(X, FeatureSchema.infer(X))) == 0

    def test_the_user_is_asked_for_groups(self, records):
        X = records[rng().integers(60, size=300)]
        with pytest.warns(UserWarning, match=r"rows equal an earlier row, far more than by chance\..* give groups="):
            assert read(X, None, None, None).with_copies().groups is None


def test_missing_values_are_equal():
    X = np.array([[np.nan, 1.5, 0.5], [2.5, 0.25, np.nan], [np.nan, 1.5, 0.5], [2.5, 0.25, 7.5], [3.5, 0.75, 1.25]])
    assert clusters_of(X).tolist() == [0, 1, 0, 2, 3]


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 40))
def test_clusters_are_those_of_all_pairs(seed, n_columns, n_rows):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, n_columns))
    rows = X[random.integers(n_rows, size=3 * n_rows)] + 1e-9 * random.normal(size=(3 * n_rows, n_columns))
    is_near = (np.abs(rows[:, None] - rows) < 1e-7).all(axis=2)
    schema = FeatureSchema.infer(X)
    clusters = find_copies(link_rows(rows, schema), schema)
    if len(np.unique(is_near.argmax(axis=0))) > 2:
        np.testing.assert_array_equal(clusters[:, None] == clusters, is_near)


def test_known_rows_are_found():
    known = rng().normal(size=(50, 3))
    rows = np.concatenate([known[7:9] + 1e-9, rng().normal(size=(4, 3)) + 9])
    assert find_known(rows, known, FeatureSchema.infer(known)).tolist() == [True, True, False, False, False, False]
