import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.data.schema import FeatureSchema, Kind
from oleander.rules.conditions import Range


def test_mixed_columns_round_trip(mixed, mixed_schema):
    back = mixed_schema.decode(mixed_schema.encode(mixed))
    pd.testing.assert_frame_equal(back, mixed)


def test_columns_are_found_by_name_in_any_order(mixed, mixed_schema):
    np.testing.assert_array_equal(mixed_schema.encode(mixed[mixed.columns[::-1]]), mixed_schema.encode(mixed))


def test_a_frame_may_lack_columns_that_are_not_needed(mixed, mixed_schema):
    there = list(mixed.columns[1:3])
    rows, readable = mixed_schema.encode_readable(mixed[there], [1])
    np.testing.assert_array_equal(rows[:, 1:3], mixed_schema.encode(mixed)[:, 1:3])
    assert (np.isnan(np.delete(rows, [1, 2], axis=1)).all(), readable) == (True, None)
    for needed in ([0, 1], None):
        with pytest.raises(ValueError, match=f"the data lack columns? {mixed.columns[0]!r}"):
            mixed_schema.encode_readable(mixed[there], needed)


@pytest.mark.parametrize(
    "X",
    [
        np.arange(12).reshape(4, 3),
        np.array([[0.0, 1.5], [1.0, 2.5], [1.0, 2.5]], dtype=np.float32),
        np.array([[True, False], [False, True]]),
        np.array([["a", 1, 0.5], ["b", 2, 0.25], ["a", 3, 0.125]], dtype=object),
        np.array([["a", "x"], ["b", "y"]]),
        np.array([[1, 7], [2, 7], [1, 7]]),
        np.array([[np.nan, 1.0], [0.5, np.nan], [0.25, 2.0]]),
    ],
    ids=lambda X: str(X.dtype),
)
def test_arrays_round_trip(X):
    schema = FeatureSchema.infer(X)
    back = schema.decode(schema.encode(X))
    assert back.dtype == X.dtype
    np.testing.assert_array_equal(back, X)


def test_a_column_can_be_overridden(mixed):
    schema = FeatureSchema.infer(mixed, kinds={"age": "categorical"}).with_feature("weight", lower=0.0, missing=True)
    assert schema[schema.position("age")].kind is Kind.CATEGORICAL
    assert schema[0].lower == 0.0
    assert schema[0].missing
    with pytest.raises(ValueError, match="there is no column 'hight'"):
        schema.with_feature("hight", lower=0.0)


def change(**columns):
    return lambda table: table.assign(**columns)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (change(age=[18, None, *[20] * 298]), "column 'age' has a missing value in row 1"),
        (change(weight=[1.0, 2.0, np.inf, *[3.0] * 297]), "column 'weight' holds inf in row 2"),
        (change(weight=[1.0, -np.inf, *[3.0] * 298]), "column 'weight' holds -inf in row 1"),
        (change(colour="mauve"), "column 'colour' holds 'mauve' in row 0, which is not one of its levels: 'blue'"),
        (change(grade=pd.Categorical(["top"] * 300)), "column 'grade' holds 'top' in row 0"),
        (change(weight="heavy"), "column 'weight' is continuous, but row 0 holds 'heavy'"),
        (lambda table: table.iloc[:0], "the data have 0 rows"),
        (lambda table: table.drop(columns="age"), "the data lack column 'age'"),
        (lambda table: table.drop(columns=["age", "weight"]), "the data lack columns 'weight', 'age'"),
        (lambda table: pd.concat([table, table[["age"]]], axis=1), "column 'age' occurs more than once"),
        (lambda table: table.to_numpy()[:, :4], "the data have 4 columns, and the schema 9"),
        (lambda table: np.zeros(9), "the data have 1 dimensions"),
    ],
)
def test_bad_rows_are_refused(mixed, mixed_schema, spoil, message):
    with pytest.raises(ValueError, match=message):
        mixed_schema.encode(spoil(mixed))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame({"span": pd.to_timedelta(["1 day"])}), "column 'span' has dtype timedelta64"),
        (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"], utc=True)}), "column 'day' holds dates with a time zone"),
        (pd.DataFrame({"band": pd.cut([1, 2, 3], 2)}), "column 'band' holds Interval"),
        (pd.DataFrame({"x": [1.0, np.inf]}), "column 'x' holds inf in row 1"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "column 'a' occurs more than once"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "column '1' occurs more than once"),
        (pd.DataFrame([[1, 2]], columns=[True, False]), "column True is named by a bool; use strings"),
        (pd.DataFrame([[1, 2]], columns=[("a", 1), ("a", 2)]), "named by a tuple"),
        (np.empty((0, 3)), "the data have 0 rows and 3 columns"),
        (np.empty((3, 0)), "the data have 3 rows and 0 columns"),
        (np.array([[1j]]), "the data have dtype complex128"),
    ],
)
def test_data_that_cannot_be_read(X, message):
    with pytest.raises(ValueError, match=message):
        FeatureSchema.infer(X)


DICTIONARY = pd.DataFrame(
    {"name": ["bmi", "sex", "target"], "description": ["body mass index", None, "sent to"], "unit": ["kg/m²", None, ""]}
)


@pytest.mark.parametrize("columns", [{"bmi": ("body mass index", "kg/m²")}, DICTIONARY])
def test_a_data_dictionary_gives_words_and_units(columns):
    schema = FeatureSchema.infer(pd.DataFrame({"bmi": [21.5, 30.25, 33.0], "sex": ["F", "M", "F"]})).describing(columns)
    assert str(Range(0, schema[0], 21.5, 30.25)) == "21.5 < body mass index ≤ 30.25 kg/m²"
    assert [feature.shown for feature in schema] == ["body mass index", "sex"]
    # The data are still found by the names that they have.
    assert schema.names == ("bmi", "sex")
    assert FeatureSchema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"BMI": "body mass index"}, "columns describes 'BMI', which the data do not have; they have 'bmi', 'sex'"),
        ({"sex": ("sex", "kg")}, "column 'sex' holds no numbers, so it cannot have the unit 'kg'"),
        ({"bmi": "sex"}, "two columns would be printed as 'sex'"),
        (DICTIONARY.rename(columns={"name": "column"}), "columns has .*: give a mapping of names"),
        (DICTIONARY.iloc[2:], "columns describes 'target', which the data do not have"),
        (3, "columns has a int: give a mapping of names"),
    ],
)
def test_a_data_dictionary_that_cannot_be_used(columns, sentence):
    schema = FeatureSchema.infer(pd.DataFrame({"bmi": [21.5, 30.25, 33.0], "sex": ["F", "M", "F"]}))
    with pytest.raises(ValueError, match=sentence):
        schema.describing(columns)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            # Columns with a tiny spread are refused.
            st.one_of(st.none(), st.floats(-1e6, 1e6).map(lambda number: number if abs(number) > 1e-100 else 0.0)),
            st.one_of(st.none(), st.text(max_size=3)),
            st.integers(-5, 5),
            st.booleans(),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_every_inferred_schema_round_trips(records):
    X = pd.DataFrame(records, columns=["number", "text", "whole", "flag"])
    X["number"] = X["number"].astype(float)
    schema = FeatureSchema.infer(X)
    exact = schema.exact.encode(X)
    pd.testing.assert_frame_equal(schema.decode(exact), X)
    np.testing.assert_array_equal(schema.fold(exact), schema.encode(X))
    assert FeatureSchema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, pd.DataFrame, lambda X: pd.DataFrame(X.copy("F"))])
@pytest.mark.parametrize("n_missing", [0, 3])
def test_blocks_are_the_rows_whatever_holds_them(monkeypatch, make, n_missing):
    monkeypatch.setattr("oleander.data.schema.schema.MOST_CELLS", 35)
    X = np.random.default_rng(0).normal(size=(50, 5))
    X[:n_missing, 0] = np.nan
    schema = FeatureSchema.infer(make(X)).with_feature("0" if isinstance(make(X), pd.DataFrame) else "x0", missing=True)
    # A missing value that no row of the schema's own data has makes a row unreadable, in one block only.
    X[20, 3], X[21, 0], X[22, 1] = np.nan, np.inf, np.nan
    blocks = list(schema.encode_blocks(make(X), {0, 3}))
    rows = np.concatenate([block for block, _ in blocks])
    readable = np.concatenate([np.ones(len(block), bool) if mask is None else mask for block, mask in blocks])
    assert len(blocks) == 8
    assert np.flatnonzero(~readable).tolist() == [20, 21]
    coded = X.copy()
    coded[20, 3] = coded[21, 0] = coded[22, 1] = np.inf
    np.testing.assert_array_equal(rows[:, [0, 3]], coded[:, [0, 3]])
    whole, mask = schema.encode_readable(make(X))
    np.testing.assert_array_equal(whole, coded)
    # A column that is not read makes no row unreadable.
    assert np.flatnonzero(~mask).tolist() == [20, 21, 22]


@pytest.mark.parametrize("give", [lambda X, i: X.iloc[[i]], lambda X, i: X.iloc[i], lambda X, i: dict(X.iloc[i])])
def test_one_plain_row_is_encoded_as_in_a_table(give):
    X = pd.DataFrame(
        {
            "age": [61, 58, 70],
            "dose": [0.5, np.nan, 2.0],
            "sex": ["F", "M", "F"],
            "ill": [True, False, True],
            "k": [0, 1, 1],
        }
    )
    schema = FeatureSchema.infer(X)
    for i in range(len(X)):
        np.testing.assert_array_equal(schema.encode_plain(give(X, i)), schema.encode(X)[[i]])


@pytest.mark.parametrize(
    "changes", [{"age": "old"}, {"age": None}, {"age": 1e300}, {"age": True}, {"sex": "X"}, {"sex": 1}, {"more": 1}]
)
def test_a_row_that_is_not_plain_is_left_to_pandas(changes):
    X = pd.DataFrame({"age": [61, 58, 70], "sex": ["F", "M", "F"]})
    assert FeatureSchema.infer(X).encode_plain({"age": 61, "sex": "F", **changes}) is None
    assert FeatureSchema.infer(X).encode_plain(X) is None
    # Without names, an array is no row of a frame.
    assert FeatureSchema.infer(X).encode_plain(np.array([61, 0])) is None
