from functools import partial

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

COUNT, SHARE = partial(check_count, "n"), partial(check_share, "s")
CHOICE = partial(check_choice, "solver", known=("quick", "exact"))
EACH = partial(check_each, "n", check=check_count)


@pytest.mark.parametrize(
    ("check", "values"),
    [
        (COUNT, [1, 7, np.int64(3), np.uint8(1)]),
        (partial(COUNT, or_none=True), [1, None]),
        (partial(COUNT, least=0), [0]),
        (SHARE, [0.5, 1e-9, np.float32(0.25)]),
        (partial(SHARE, with_zero=True), [0, 0.0, 0.5]),
        (partial(SHARE, with_one=True), [1, 0.5]),
        (CHOICE, ["quick", "exact"]),
        (EACH, [[1], (1, 2), np.array([3, 4])]),
        (partial(check_each, "s", check=check_share, with_one=True), [[1.0]]),
    ],
)
def test_values_that_are_allowed(check, values):
    for value in values:
        check(value)


@pytest.mark.parametrize(
    ("check", "values", "message"),
    [
        (COUNT, [0, -1, 1.0, True, "1", None, np.float64(2), [1]], r"^n=.* give a whole number, 1 or more\.$"),
        (partial(COUNT, least=2, or_none=True), [1], r"^n=1 is not .* give a whole number, 2 or more, or None\.$"),
        (SHARE, [-0.1, 1.1, np.nan, np.inf, "0.5", None, True, False, 0, 1], "^s=.* a number over 0 and under 1"),
        (partial(SHARE, with_zero=True), [1, True, -0.1], "a number of at least 0 and under 1"),
        (partial(SHARE, with_one=True), [0, np.nan], "a number over 0 and up to 1"),
        (CHOICE, ["Quick", "", None, 1, ["quick"]], r"^solver=.* is not known; use 'quick' or 'exact'\.$"),
    ],
)
def test_values_that_are_not_allowed(check, values, message):
    for value in values:
        with pytest.raises(ValueError, match=message):
            check(value)


@pytest.mark.parametrize("values", [[], (), 5, None, "12"])
def test_a_sequence_has_at_least_one_value(values):
    with pytest.raises(ValueError, match=r"^n=.* is not allowed: give a sequence of at least one value\.$"):
        EACH(values)


def test_one_entry_per_row():
    assert one_per_row(pd.Series([1, 2], index=[5, 6]), 2, "y").tolist() == [1, 2]
    for values in ([1], [[1], [2]], 3):
        with pytest.raises(ValueError, match=r"y has shape .*; one entry for each of 2 rows is expected"):
            one_per_row(values, 2, "y")


def test_names_of_columns():
    assert names_of_columns(y="diagnosis", groups=None) == ["diagnosis"]
    with pytest.raises(ValueError, match="groups is a ndarray; where rows are read block by block"):
        names_of_columns(y="diagnosis", groups=np.zeros(3))


def test_a_seed_is_the_given_one_or_a_new_one():
    assert make_seed(7) == make_seed(np.int64(7)) == 7
    assert make_seed(None) != make_seed(None)
