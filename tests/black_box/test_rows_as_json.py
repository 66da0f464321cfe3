import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oleander.black_box.rows_as_json import read_answer, write_rows


def sent(X):
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(write_rows(X), parse_constant=refuse)


def test_values_keep_their_kind():
    table = pd.DataFrame(
        {
            "age": [61, 58],
            "dose": [0.5, np.nan],
            "sex": pd.Categorical(["F", None]),
            "smokes": [True, False],
            "visits": pd.array([1, None], dtype="Int64"),
            "any": np.array([np.int64(3), "a"], dtype=object),
            7: ["ü", None],
        }
    )
    assert sent(table) == {
        "columns": ["age", "dose", "sex", "smokes", "visits", "any", "7"],
        "rows": [[61, 0.5, "F", True, 1, 3, "ü"], [58, None, None, False, None, "a", None]],
    }


def test_columns_of_an_array_are_numbered():
    assert sent(np.array([[0.5, 2.0]])) == {"columns": ["x0", "x1"], "rows": [[0.5, 2.0]]}


@pytest.mark.parametrize(
    ("value", "error", "sentence"),
    [
        (np.inf, ValueError, "column 'a' holds inf in row 1, which cannot be sent as JSON"),
        (pd.Timestamp("2020-01-01"), TypeError, "column 'a' holds a Timestamp in row 1"),
        (b"bytes", TypeError, "column 'a' holds a bytes in row 1"),
    ],
)
def test_values_that_cannot_be_sent(value, error, sentence):
    with pytest.raises(error, match=sentence):
        write_rows(pd.DataFrame({"a": [0.5, value]}, dtype=object))


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        (["no", "yes"], object),
        ([True, False], bool),
        ([1, 0], np.int64),
        ([1.0, 0], np.float64),
    ],
)
def test_labels_keep_their_kind(labels, dtype):
    found = read_answer(json.dumps({"labels": labels}).encode(), n_rows=2)
    assert found.tolist() == labels
    assert found.dtype == dtype


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b'{"labels": [1]}', "it answered 1 labels for 2 rows; one per row is expected"),
        (b'{"labels": {"a": 1, "b": 2}}', "its answer is not"),
        (b'{"labels": [null, 1]}', "labels of the kinds null, number"),
        (b'{"labels": [true, 1]}', "labels of the kinds boolean, number"),
        (b'{"labels": [Infinity, 1]}', "not JSON"),
    ],
)
def test_answers_without_one_label_per_row(body, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_answer(body, n_rows=2)


@given(st.binary(max_size=200))
def test_any_bytes_are_labels_or_a_value_error(body):
    try:
        sentence = f"{len(read_answer(body, n_rows=1))} label"
    except ValueError as error:
        sentence = str(error)
    assert sentence
    assert "\n" not in sentence
