"""Copies and leaks are noticed, and rows that coincide by chance are not taken for them."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.laws import LAWS
from oleander.data.copies import FEWEST, count_known, find_copies
from oleander.data.reading import read
from oleander.data.schema import FeatureSchema

SEEDS = range(5)


def copies_of(X, groups=None, background=None):
    clusters = find_copies(X, FeatureSchema.infer(X), groups, background)
    return 0 if clusters is None else len(X) - len(np.unique(clusters))


def known_of(X, background):
    return count_known(X, background, FeatureSchema.infer(np.concatenate([X, background])))


def measured(n_rows, rng):
    return rng.normal(size=(n_rows, 4))


def few_levels(n_rows, rng):
    return rng.integers([2, 3, 2], size=(n_rows, 3)).astype(float)


def draw(law, sizes, seed):
    """Return samples of one population of a law of the benchmarks, or of a function."""
    rng = np.random.default_rng(seed)
    if callable(law):
        return [law(size, rng) for size in sizes]
    population = LAWS[law].make(rng)
    return [population.draw(size)[0] for size in sizes]


def name_of(law):
    return law if isinstance(law, str) else law.__name__


CHANCE = [measured, few_levels, "detection limit, function", "30% zero rows", "grid of whole numbers", "questionnaire"]


class TestChance:
    """Rows that are drawn independently, whatever their law."""

    @pytest.mark.parametrize("n_rows", [40, 400, 3000])
    @pytest.mark.parametrize("law", CHANCE, ids=name_of)
    def test_rows_that_coincide_by_chance_are_no_copies(self, law, n_rows):
        assert [copies_of(*draw(law, [n_rows], seed)) for seed in SEEDS] == [0] * len(SEEDS)

    @pytest.mark.parametrize("sizes", [(400, 600), (100, 5000), (3000, 200)])
    @pytest.mark.parametrize("law", [*CHANCE, "Zipf"], ids=name_of)
    def test_a_background_of_the_same_law_explains_them(self, law, sizes):
        for seed in SEEDS:
            X, background = draw(law, sizes, seed)
            assert copies_of(X, background=background) == 0
            assert known_of(X, background) == 0

    @pytest.mark.parametrize("law", CHANCE[1:5], ids=name_of)
    def test_a_background_without_repeats_does_not_make_them_leaks(self, law):
        """Training rows are often given without duplicates."""
        for seed in SEEDS:
            X, background = draw(law, [400, 600], seed)
            background = np.unique(background, axis=0)
            assert (copies_of(X, background=background), known_of(X, background)) == (0, 0)


@pytest.mark.parametrize("jitter", [0.0, 1e-9])
class TestCopies:
    @pytest.mark.parametrize(("n_rows", "n_copies"), [(60, 8), (20, 100), (1500, 2)])
    def test_oversampled_measurements_are_noticed(self, n_rows, n_copies, jitter):
        rng = np.random.default_rng(0)
        X = np.repeat(measured(n_rows, rng), n_copies, axis=0)
        X = rng.permutation(X + jitter * rng.normal(size=X.shape))
        assert copies_of(X) == len(X) - n_rows
        assert copies_of(X, background=measured(600, rng)) == len(X) - n_rows

    @pytest.mark.parametrize(("law", "share"), [(measured, 0.15), (measured, 1.0), (CHANCE[3], 0.15), (CHANCE[2], 1.0)])
    def test_rows_of_the_background_are_noticed(self, law, share, jitter):
        rng = np.random.default_rng(0)
        background, X = draw(law, [600, 400], 0)
        n_known = int(share * 400)
        X[:n_known] = background[:n_known]
        X += jitter * rng.normal(size=X.shape) * (X != 0)
        # Records that occur often tell nothing.
        assert 0.2 * n_known < known_of(X, background) <= n_known

    def test_copies_in_one_group_are_the_users_and_those_between_groups_are_not(self, jitter):
        rng = np.random.default_rng(0)
        X = np.repeat(measured(100, rng), 3, axis=0)
        X += jitter * rng.normal(size=X.shape)
        assert copies_of(X, groups=np.repeat(np.arange(100), 3)) == 0
        assert copies_of(X, groups=np.arange(300)) == 200


def test_a_few_copies_are_let_pass():
    X = measured(400, np.random.default_rng(0))
    assert copies_of(np.concatenate([X, X[: FEWEST - 1]])) == 0


def test_missing_values_are_equal():
    X = measured(100, np.random.default_rng(0))
    X[::3, 0] = np.nan
    assert copies_of(np.concatenate([X, X])) == 100


class TestNotice:
    X = measured(100, np.random.default_rng(0))

    def test_the_user_is_asked_for_groups(self):
        reading = read(np.concatenate([self.X, self.X]))
        with pytest.warns(UserWarning, match=r"100 of 200 rows repeat an earlier row.*judged, not certified.*groups="):
            found = reading.notice_copies()
        assert not found.can_certify
        assert found.clusters.tolist() == [*range(100), *range(100)]

    def test_the_user_is_asked_for_new_rows(self):
        with pytest.warns(UserWarning, match=r"100 of 100 rows of X are in the background too.*judged, not certified"):
            assert not read(self.X, background=self.X).notice_copies().can_certify


class TestContent:
    def test_the_order_of_rows_and_the_levels_of_a_background_do_not_count(self):
        X = pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": ["x", "z", None]})
        background = pd.DataFrame({"a": [0.0], "b": ["y"]})
        contents = [read(X).content, read(X.iloc[::-1]).content, read(X, background=background).content]
        assert len(set(contents)) == 1
        assert read(X.assign(a=[1.5, 2.5, 4.5])).content != contents[0]
