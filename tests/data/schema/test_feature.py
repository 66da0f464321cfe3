import numpy as np
import pandas as pd
import pytest

from oleander.data.schema import Feature, FeatureSchema, Kind, read_dtype_name


def test_an_integer_column_declared_continuous_can_hold_fractions():
    X = pd.DataFrame({"age": [20, 30, 41]})
    schema = FeatureSchema.infer(X, kinds={"age": "continuous"})
    assert schema.decode(np.array([[20.5]]))["age"].tolist() == [20.5]


@pytest.mark.parametrize(
    ("kind", "about"),
    [
        *((Kind.CONTINUOUS, about) for about in ({"lower": 2.0, "upper": 1.0}, {"lower": -np.inf})),
        *((Kind.CONTINUOUS, {"scale": scale}) for scale in (0.0, np.nan)),
        (Kind.BINARY, {"levels": ("F",)}),
        *((Kind.CATEGORICAL, {"levels": levels}) for levels in ((), ("F", "F"))),
    ],
)
def test_bounds_scales_and_levels_that_cannot_be(kind, about):
    with pytest.raises(ValueError, match=r"column 'x' (has|needs|cannot be)"):
        Feature("x", kind, "float64", **about)


def test_names_of_dtypes():
    for name in ("<U7", "Int64", "string", "category", "double[pyarrow]"):
        assert read_dtype_name(name) == name
    for name in ("i4,i4", "(2,3)f8", "<U99999", "", 7, "x" * 500):
        with pytest.raises(ValueError, match="is not the dtype of a column") as caught:
            read_dtype_name(name)
        assert len(str(caught.value)) < 100


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2020-01-01"]),
        pd.to_datetime(["2020-01-01"]).tz_localize("UTC"),
        pd.to_timedelta(["1 day"]),
        np.array([1 + 2j]),
    ],
)
def test_dates_and_complex_numbers_are_not_read_as_numbers(values):
    age = Feature("age", Kind.CONTINUOUS, "float64", 0.0, 90.0)
    for read in (age.encode, age.read):
        with pytest.raises(ValueError, match=r"column 'age' holds numbers, but row 0 holds .*: turn the column into"):
            read(values)


def test_later_rows_are_not_rounded():
    age = Feature("age", Kind.INTEGER, "int64", 0.0, 90.0)
    assert age.read([7, 2**53 + 1, 2**53 - 1])[1].tolist() == [True, False, True]
    with pytest.raises(ValueError, match="holds 9007199254740993 in row 1"):
        age.encode([7, 2**53 + 1])
    schema = FeatureSchema.infer(np.array([[1], [2], [3]]))
    with pytest.raises(ValueError, match="holds 9007199254740993 in row 0"):
        schema.encode(np.array([[2**53 + 1]]))


def test_objects_are_read_as_exported_python_reads_them():
    values = [1e100, 2.0**60, 2**60, 10**400, True, "1_000", None, float("inf")]
    for missing in (False, True):
        number = Feature("x", Kind.CONTINUOUS, "object", 0.0, 90.0, missing=missing)
        codes, allowed = number.read(pd.Series(values, dtype=object))
        assert allowed.tolist() == [True, True, False, False, True, True, missing, False]
        assert codes[[0, 1, 4, 5]].tolist() == [1e100, 2.0**60, 1.0, 1000.0]
        assert number.read_plain(10**400) is None


@pytest.mark.parametrize(("levels", "value"), [((1, 2, 7), True), ((False, True), 1)])
def test_truth_values_are_no_numbers_among_objects(levels, value):
    code = Feature("code", Kind.CATEGORICAL, "object", levels=levels)
    column = pd.Series([levels[0], value, 10**400], dtype=object)
    assert code.read(column)[1].tolist() == [True, False, False]
    assert [code.read_plain(one) for one in column] == [0.0, None, None]
