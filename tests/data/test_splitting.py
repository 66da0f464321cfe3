import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.data.splitting import assign_folds, count_units, draw_part, split_off

GROUPS = st.lists(st.sampled_from("abcdefg"), min_size=2, max_size=40).map(np.array)
SEEDS = st.integers(0, 2**40)


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

    @given(st.integers(2, 200), SEEDS)
    def test_the_share_of_rows_is_held_out(self, n_rows, seed):
        learned, held = split_off(n_rows, 0.25, None, seed)
        assert len(held) == np.ceil(0.25 * n_rows)
        assert (np.diff(learned) > 0).all()
        assert (np.diff(held) > 0).all()

    @pytest.mark.parametrize(("n_rows", "share"), [(10, None), (10, 0.0), (1, 0.25)])
    def test_without_a_share_all_rows_are_learned_from(self, n_rows, share):
        learned, held = split_off(n_rows, share, None, 0)
        assert learned.tolist() == list(range(n_rows))
        assert len(held) == 0

    def test_seeds_differ(self):
        parts = {tuple(split_off(50, 0.2, None, seed)[1]) for seed in range(20)}
        assert len(parts) == 20

    def test_one_group_cannot_be_split(self):
        with pytest.raises(ValueError, match="names one group only, so none can be held out: use holdout=None"):
            split_off(5, 0.2, np.zeros(5), 0)

    def test_too_large_a_share_leaves_nothing(self):
        with pytest.raises(ValueError, match=r"holdout=0.9 of 3 groups leaves none to learn from: lower it"):
            split_off(6, 0.9, np.array([0, 0, 1, 1, 2, 2]), 0)


class TestDrawPart:
    @given(GROUPS, st.integers(0, 45), SEEDS)
    def test_at_most_that_many_rows_and_whole_groups(self, groups, most, seed):
        mask = draw_part(len(groups), most, groups, seed)
        assert mask.shape == groups.shape
        assert mask.sum() <= most
        assert is_whole(mask, groups)
        if most >= len(groups):
            assert mask.all()

    @given(st.integers(1, 100), st.integers(0, 120), SEEDS)
    def test_exactly_that_many_rows_without_groups(self, n_rows, most, seed):
        assert draw_part(n_rows, most, None, seed).sum() == min(n_rows, most)

    def test_every_row_is_drawn_alike(self):
        shares = np.mean([draw_part(10, 3, None, seed) for seed in range(3000)], axis=0)
        np.testing.assert_allclose(shares, 0.3, atol=0.05)


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

    @given(st.integers(1, 60), st.integers(2, 6), SEEDS)
    def test_rows_are_spread_evenly_without_groups(self, n_rows, n_folds, seed):
        sizes = np.bincount(assign_folds(n_rows, n_folds, None, seed), minlength=n_folds)
        assert sizes.sum() == n_rows
        assert np.ptp(sizes) <= 1


def test_units_are_groups_or_rows():
    assert count_units(6, None) == 6
    assert count_units(6, np.array(["b", "a", "b", "a", "c", "c"])) == 3
