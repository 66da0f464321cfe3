from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from oleander.black_box.answers import BlackBoxError, check_given, check_labels, check_numbers, join


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ([0, 1], [0, 1]),
        (["a", "b"], ["a", "b"]),
        ([True, False], [True, False]),
        (np.array([[0], [1]]), [0, 1]),
        (pd.Series(["a", "b"], index=[7, 9]), ["a", "b"]),
        (pd.Categorical(["a", "b"]), ["a", "b"]),
        (np.array(["a", "b"], dtype=object), ["a", "b"]),
        (np.array([1.0, 2.0]), [1.0, 2.0]),
        (np.ma.masked_array([1, 2]), [1, 2]),
    ],
)
def test_labels_of_many_kinds(answer, expected):
    assert check_labels(answer, 2).tolist() == expected


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([0, 1, 2], "answered 3 labels for 2 rows"),
        ([], "answered 0 labels for 2 rows"),
        ("yes", "answered 1 labels for 2 rows"),
        ([[0.2, 0.8], [0.5, 0.5]], "2 columns, which look like probabilities"),
        ([0.2, 0.8], "answered 0.2 for row 0, which looks like a probability"),
        ([1.0, np.nan], "answered nan for row 1, which is no answer"),
        (["a", None], "answered None for row 1, which is no answer"),
        (np.array(["a", 1], dtype=object), "labels of type int, str; all numbers or all text is expected"),
        (["one", 1], "labels of type int, str"),
        (["a", np.nan], "answered nan for row 1, which is no answer"),
        (np.array([1j, 2j]), "labels of dtype complex128"),
        ([b"a", b"b"], "labels of dtype .S1"),
        ([1.0, np.inf], "answered inf for row 1, which is no answer"),
        # No file could hold these.
        (pd.Series([(1, 2), (3, 4)]), "labels of type tuple"),
        (pd.Series([Decimal(1), Decimal(2)]), "labels of type Decimal"),
        (pd.Series([0.5, float("inf")], dtype=object), "answered inf for row 1"),
        (np.ma.masked_array([1, 2], mask=[False, True]), "answered row 1 with a masked value"),
    ],
)
def test_answers_that_are_no_labels(answer, message):
    with pytest.raises(BlackBoxError, match=message):
        check_labels(answer, 2)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (["a", "b"], "answered 'a' for row 0, a label, and tolerance= is for numbers: leave it out"),
        ([True, False], "answered True for row 0, a label, and tolerance= is for numbers"),
        ([1.0, np.inf], "answered inf for row 1, which is no answer"),
        ([1.0, np.nan], "answered nan for row 1, which is no answer"),
        ([1.0, 2.0, 3.0], "answered 3 labels for 2 rows"),
        ([1, 10**400], "a whole number that is too large for a float"),
    ],
)
def test_answers_that_are_no_numbers(answer, message):
    with pytest.raises(BlackBoxError, match=message):
        check_numbers(answer, 2)


def test_an_answer_that_a_user_leaves_out_is_named():
    with pytest.raises(ValueError, match="labels has no value in row 1, and the black box answers every row: give its"):
        check_given(["a", None], 2, is_number=False)


@pytest.mark.parametrize(
    ("first", "later", "message"),
    [
        ([1, 0], ["1", "0"], "numbers such as 1 and text such as '1'"),
        (["yes"], [True], "text such as 'yes' and truth values such as True"),
    ],
)
def test_batches_of_another_kind_are_refused(first, later, message):
    with pytest.raises(BlackBoxError, match=message):
        join([np.array(first), np.empty(0), np.array(later)])


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, bool, str])
def test_given_labels_have_one_dtype_in_an_array_and_in_a_column(dtype):
    labels = np.array([1, 0, 1]).astype(dtype)
    assert check_given(pd.Series(labels), 3, is_number=False).dtype == check_given(labels, 3, is_number=False).dtype
