import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit

from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.rows import Rows, assign_folds, merge_rows, split_off
from oleander.data.schema import FeatureSchema

# Few values, so that rows repeat; numbers with a fraction, so that the column is continuous.
TABLES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=25).map(
    lambda rows: np.array(rows, dtype=float) + 0.25
)
SCHEMA = FeatureSchema.infer(np.array([[0.25, 0.25], [3.25, 2.25], [1.5, 1.5]]))
GROUPS = st.lists(st.sampled_from("abcdefg"), min_size=2, max_size=40).map(np.array)
SEEDS = st.integers(0, 2**40)


def label(X):
    return (10 * X[:, 0] + X[:, 1]).astype(int)


def rows_of(X, groups=None):
    return label_rows(X, CountingBlackBox(BlackBox(label, SCHEMA)), groups=groups)


def check(rows, X):
    """Check that rows stand for the table, row by row."""
    np.testing.assert_array_equal(rows.values[rows.point_of_row], X)
    np.testing.assert_array_equal(rows.labels_of_rows, label(X))
    np.testing.assert_array_equal(rows.weights, np.bincount(rows.point_of_row, minlength=rows.n_points))
    assert len(np.unique(rows.values, axis=0)) == rows.n_points
    assert rows.n_rows == len(X)


@settings(deadline=None)
@given(TABLES, TABLES, st.data())
def test_rows_parts_and_joins_stand_for_their_tables(X, other, data):
    rows = rows_of(X, groups=X[:, 0])
    check(rows, X)
    check(rows_of(X).join(rows_of(other)), np.concatenate([X, other]))
    check(rows_of(X).join(Rows.empty(SCHEMA)), X)
    check(Rows.empty(SCHEMA).join(rows_of(X)), X)
    points = np.array(data.draw(st.lists(st.booleans(), min_size=rows.n_points, max_size=rows.n_points)), dtype=bool)
    part, kept = rows.part(points), points[rows.point_of_row]
    check(part, X[kept])
    np.testing.assert_array_equal(part.groups, rows.groups[points])
    both = rows_of(X).part(points).join(rows_of(X).part(~points))
    check(both, np.concatenate([X[kept], X[~kept]]))
    # Repeated points are the rows sorted by point.
    order = np.argsort(rows.point_of_row, kind="stable")
    for found, expected in zip(rows.repeated(), (X[order], label(X)[order]), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert len(rows.repeated(points)[0]) == kept.sum()


def test_rows_are_found_with_their_missing_values():
    values = np.array([[0.0, 1.0], [np.nan, 1.0], [2.0, 1.0], [0.0, 1.0]])
    ones = np.ones(4, dtype=np.intp)
    rows = Rows(FeatureSchema.infer(values), values, ones, np.arange(4), np.array(list("abcd")))
    wanted = np.array([[2.0, 1.0], [-0.0, 1.0], [5.0, 1.0], [np.nan, 1.0], [1.0, np.nan]])
    assert rows.find(wanted).tolist() == [2, 0, -1, 1, -1]
    assert rows.find(wanted[:0]).tolist() == []
    assert Rows.empty(rows.schema).find(wanted).tolist() == [-1] * 5


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(*[st.sampled_from([0.0, -0.0, 1.0, float("nan"), -float("nan")])] * 2), min_size=1, max_size=12)
)
def test_merging_keeps_every_row(records):
    rows = np.array(records)
    first, weights, point_of_row = merge_rows(rows)
    np.testing.assert_array_equal(rows[first][point_of_row], rows)
    np.testing.assert_array_equal(np.bincount(point_of_row), weights)
    assert len(first) == len({tuple("nan" if np.isnan(v) else v + 0.0 for v in row) for row in rows})
    assert (np.diff(first) > 0).all()


def test_merging_does_not_copy_the_rows():
    rows = np.random.default_rng(0).integers(0, 9, size=(20_000, 60)).astype(float)
    tracemalloc.start()
    try:
        merge_rows(rows)
        assert tracemalloc.get_traced_memory()[1] < 1.5 * rows.nbytes
    finally:
        tracemalloc.stop()


def is_whole(mask, groups):
    """Return whether the mask holds all rows of a group or none."""
    return all(len(set(mask[groups == group])) == 1 for group in np.unique(groups))


class TestSplitOff:
    @settings(deadline=None)
    @given(GROUPS, st.floats(0.05, 0.7), SEEDS)
    def test_groups_are_kept_whole_and_no_row_is_lost(self, groups, share, seed):
        n_groups = len(np.unique(groups))
        if np.ceil(share * n_groups) >= n_groups:
            with pytest.raises(ValueError, match="groups"):
                split_off(len(groups), share, groups, seed)
            return
        learned, held = split_off(len(groups), share, groups, seed)
        assert sorted([*learned, *held]) == list(range(len(groups)))
        assert len(learned)
        assert len(held)
        assert is_whole(np.isin(np.arange(len(groups)), held), groups)
        again = split_off(len(groups), share, groups, seed)
        np.testing.assert_array_equal(again[1], held)

    @given(GROUPS, st.floats(0.05, 0.4), SEEDS)
    def test_the_split_is_that_of_scikit_learn(self, groups, share, seed):
        for given_groups, splitter in ((None, ShuffleSplit), (groups, GroupShuffleSplit)):
            n_units = len(groups) if given_groups is None else len(np.unique(groups))
            if np.ceil(share * n_units) < n_units:
                parts = next(splitter(1, test_size=share, random_state=seed).split(groups, groups=given_groups))
                for part, expected in zip(split_off(len(groups), share, given_groups, seed), parts, strict=True):
                    np.testing.assert_array_equal(part, np.sort(expected))

    def test_groups_that_cannot_be_split_are_refused(self):
        with pytest.raises(ValueError, match="names one group only, so none can be held out: use holdout=None"):
            split_off(5, 0.2, np.zeros(5), 0)
        with pytest.raises(ValueError, match=r"holdout=0.9 of 3 groups leaves none to learn from: lower it"):
            split_off(6, 0.9, np.array([0, 0, 1, 1, 2, 2]), 0)

    @pytest.mark.parametrize(("n_rows", "share"), [(10, None), (10, 0.0), (1, 0.25)])
    def test_without_a_share_all_rows_are_learned_from(self, n_rows, share):
        learned, held = split_off(n_rows, share, None, 0)
        assert learned.tolist() == list(range(n_rows))
        assert len(held) == 0


class TestFolds:
    @given(GROUPS, st.integers(2, 6), SEEDS)
    def test_groups_are_in_one_fold_and_folds_are_even(self, groups, n_folds, seed):
        folds = assign_folds(len(groups), n_folds, groups, seed)
        assert is_whole(folds, groups)
        assert folds.min() >= 0
        assert folds.max() < n_folds
        # The number of groups in two folds differs by one at most.
        sizes = np.bincount([folds[groups == group][0] for group in np.unique(groups)], minlength=n_folds)
        assert np.ptp(sizes) <= 1
        # And so does the number of rows, without groups.
        sizes = np.bincount(assign_folds(len(groups), n_folds, None, seed), minlength=n_folds)
        assert sizes.sum() == len(groups)
        assert np.ptp(sizes) <= 1
