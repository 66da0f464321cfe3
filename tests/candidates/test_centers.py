import numpy as np
import pytest

from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.candidates.centers import choose_centers, round_numbers
from oleander.data.schema import FeatureSchema


def rows_of(X, **options):
    box = BlackBox(lambda X: np.zeros(len(X), dtype=int), FeatureSchema.infer(X))
    return label_rows(box.schema.encode(X), CountingBlackBox(box), **options)


class TestCenters:
    def test_centers_are_spread_and_do_not_depend_on_the_order(self):
        rng = np.random.default_rng(0)
        X = np.vstack([rng.normal(size=(900, 4)), rng.normal(size=(100, 4)) + 50])
        chosen = choose_centers(rows_of(X), 50)
        assert len(chosen) == len(set(chosen)) == 50
        # Dense places get more centers, and none is left out: one tenth of the rows, about one tenth of the centers.
        assert 3 <= (chosen >= 900).sum() <= 8
        order = rng.permutation(1000)
        assert {*order[choose_centers(rows_of(X[order]), 50)]} == {*chosen}

    @pytest.mark.parametrize("most", [1, 2, 3, 7, 299])
    def test_exactly_as_many_centers_as_asked_for(self, mixed, most):
        assert len(choose_centers(rows_of(mixed), most)) == most

    def test_all_rows_where_there_are_few(self, mixed):
        assert len(choose_centers(rows_of(mixed), None)) == len(choose_centers(rows_of(mixed), 5000)) == 300


def test_whole_numbers_levels_and_missing_values_stay(mixed):
    rows = rows_of(mixed)
    rounded = round_numbers(rows.values, rows.schema)
    named = rows.schema.named
    np.testing.assert_array_equal(rounded[:, named], rows.values[:, named])
    np.testing.assert_array_equal(np.isnan(rounded), np.isnan(rows.values))
    age = rounded[:, rows.schema.position("age")]
    np.testing.assert_array_equal(age, np.round(age))
