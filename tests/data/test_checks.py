import numpy as np
import pandas as pd
import pytest

from oleander.data.checks import (
    check_choice,
    check_count,
    check_each,
    check_share,
    make_seed,
    names_of_columns,
    one_per_row,
)


class TestCount:
    @pytest.mark.parametrize("value", [1, 7, np.int64(3), np.uint8(1)])
    def test_whole_numbers_are_allowed(self, value):
        check_count("n", value)

    @pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", None, np.float64(2), [1]])
    def test_anything_else_is_not(self, value):
        with pytest.raises(ValueError, match=r"^n=.* is not allowed: give a whole number, 1 or more\.$"):
            check_count("n", value)

    def test_least_and_none(self):
        check_count("n", None, or_none=True)
        check_count("n", 0, 0)
        with pytest.raises(ValueError, match=r"n=1 is not allowed: give a whole number, 2 or more, or None\.$"):
            check_count("n", 1, 2, or_none=True)


class TestShare:
    @pytest.mark.parametrize("value", [0.5, 1e-9, np.float32(0.25)])
    def test_numbers_between_are_allowed(self, value):
        check_share("s", value)

    @pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, np.inf, "0.5", None, True, False])
    @pytest.mark.parametrize("ends", [{}, {"with_zero": True, "with_one": True}])
    def test_anything_else_is_not(self, value, ends):
        with pytest.raises(ValueError, match=r"^s=.* is not allowed: give a number"):
            check_share("s", value, **ends)

    @pytest.mark.parametrize(
        ("value", "option", "words"),
        [(0, "with_zero", "over 0 and under 1"), (0.0, "with_zero", "over 0"), (1, "with_one", "under 1")],
    )
    def test_ends_are_allowed_where_stated(self, value, option, words):
        check_share("s", value, **{option: True})
        with pytest.raises(ValueError, match=words):
            check_share("s", value)


class TestChoice:
    def test_known_words_are_allowed(self):
        check_choice("solver", "quick", ("quick", "exact"))

    @pytest.mark.parametrize("value", ["Quick", "", None, 1, ["quick"]])
    def test_anything_else_is_not(self, value):
        with pytest.raises(ValueError, match=r"^solver=.* is not known; use 'quick' or 'exact'\.$"):
            check_choice("solver", value, ("quick", "exact"))


class TestEach:
    @pytest.mark.parametrize("values", [[1], (1, 2), np.array([3, 4])])
    def test_every_value_is_checked(self, values):
        check_each("n", values, check_count)

    @pytest.mark.parametrize("values", [[], (), 5, None, "12"])
    def test_one_value_is_needed(self, values):
        with pytest.raises(ValueError, match=r"^n=.* is not allowed: give a sequence of at least one value\.$"):
            check_each("n", values, check_count)

    def test_the_bad_value_is_named(self):
        with pytest.raises(ValueError, match="n=0 is not allowed"):
            check_each("n", [3, 0], check_count)
        with pytest.raises(ValueError, match=r"s=1\.0 is not allowed"):
            check_each("s", [1.0], check_share)
        check_each("s", [1.0], check_share, with_one=True)


class TestTables:
    def test_one_entry_per_row(self):
        assert one_per_row(pd.Series([1, 2], index=[5, 6]), 2, "y").tolist() == [1, 2]
        for values in ([1], [[1], [2]], 3):
            with pytest.raises(ValueError, match=r"y has shape .*; one entry for each of 2 rows is expected"):
                one_per_row(values, 2, "y")

    def test_names_of_columns(self):
        assert names_of_columns(y="diagnosis", groups="patient") == ["diagnosis", "patient"]
        assert names_of_columns(y=None, groups=None) == []
        with pytest.raises(ValueError, match="groups is a ndarray; where rows are read block by block"):
            names_of_columns(y="diagnosis", groups=np.zeros(3))


def test_a_seed_is_the_given_one_or_a_new_one():
    assert make_seed(7) == make_seed(np.int64(7)) == 7
    assert make_seed(None) != make_seed(None)
