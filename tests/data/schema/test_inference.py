from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from oleander.data.schema import Feature, FeatureSchema, Kind

NO_CATEGORY = pd.CategoricalDtype(pd.Index([], dtype=object))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0.1, 0.2, 0.4], Kind.CONTINUOUS),
        ([1.5, 1.5, 2.5], Kind.CONTINUOUS),
        ([1, 2, 3], Kind.INTEGER),
        ([1.0, 2.0, None], Kind.BINARY),
        ([1.0, 2.0, 4.0, None], Kind.INTEGER),
        ([7, 7, 7], Kind.INTEGER),
        ([0, 1, 1], Kind.BINARY),
        ([0.0, 1.0, 1.0], Kind.BINARY),
        ([True, False], Kind.BINARY),
        ([True, True], Kind.CATEGORICAL),
        (["a", "b", "c"], Kind.CATEGORICAL),
        (["a", "b", None], Kind.BINARY),
        (pd.Categorical([1, 2], categories=[1, 2, 3]), Kind.CATEGORICAL),
    ],
)
def test_kind_is_inferred(values, kind):
    assert FeatureSchema.infer(pd.DataFrame({"x": values}))[0].kind is kind


@pytest.mark.parametrize(("scale", "expected"), [("none", 1.0), ("std", np.std([0.5, 1, 2, 9]))])
def test_scale(scale, expected):
    assert FeatureSchema.infer(np.array([[0.5], [1], [2], [9]]), scale=scale)[0].scale == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": {"hight": "integer"}}, "kinds names column 'hight'"),
        ({"kinds": {"age": "numeric"}}, "column 'age' is declared as 'numeric'; the kinds are continuous, integer"),
        ({"kinds": {"age": "binary"}}, "column 'age' cannot be binary: it has"),
        ({"kinds": {"grade": "integer"}}, "column 'grade' has dtype category"),
        ({"kinds": {"colour": "integer"}}, "column 'colour' is integer, but row 0 holds"),
        ({"scale": "metres"}, "scale='metres' is not known; use 'std' or 'none'"),
    ],
)
def test_bad_declarations(mixed, options, message):
    with pytest.raises(ValueError, match=message):
        FeatureSchema.infer(mixed, **options)


class TestMissingEverywhere:
    @pytest.mark.parametrize("dtype", [float, object, "Int64", "boolean", "string", NO_CATEGORY])
    def test_the_black_box_gets_the_column_as_it_came(self, dtype):
        X = pd.DataFrame({"void": pd.Series([None] * 3, dtype=dtype), "x": [1.5, 2.0, 3.0]})
        schema = FeatureSchema.infer(X)
        assert schema[0].kind is Kind.CATEGORICAL
        assert schema[0].levels == ()
        assert schema[0].n_alternatives == 0
        pd.testing.assert_frame_equal(schema.decode(schema.encode(X)), X)
        assert FeatureSchema.from_dict(schema.to_dict()) == schema

    def test_a_kind_that_needs_values_is_refused(self):
        with pytest.raises(ValueError, match="column 'void' has no value that is not missing, so it cannot be integer"):
            FeatureSchema.infer(pd.DataFrame({"void": [None, None]}), kinds={"void": "integer"})


@pytest.mark.parametrize(
    "values",
    [
        [2**60 + 37 * number for number in range(9)],
        [2**53 + 2, 1, 5],
        np.array([2**63 + 1, 1, 5], dtype=np.uint64),
        pd.array([-(2**60), 7, 4], "Int64"),
    ],
)
def test_whole_numbers_that_a_float_would_round_are_refused(values):
    table = pd.DataFrame({"id": values})
    with pytest.raises(ValueError, match=r"column 'id' holds -?\d+ in row 0, a whole number beyond 2\^53"):
        FeatureSchema.infer(table)


@pytest.mark.parametrize("largest", [1e16, 1e100])
def test_floats_beyond_exact_whole_numbers_are_continuous(largest):
    X = np.linspace(0, largest, 50).round()[:, None]
    (feature,) = FeatureSchema.infer(X)
    assert (feature.kind, feature.lower, feature.upper) == (Kind.CONTINUOUS, 0, largest)
    (declared,) = FeatureSchema.infer(X, kinds={"x0": "integer"})
    assert declared.upper == largest


@pytest.mark.parametrize("values", [[1e-310, 3e-310], [0.0, 5e-324], [1e-200, 4e-200]])
def test_a_spread_that_floats_cannot_measure_is_refused_with_the_values(values):
    with pytest.raises(ValueError, match=r"column 'x0' has scale .* lie from .*: if they are right, .* another unit"):
        FeatureSchema.infer(np.array([[value] for value in values]))


@pytest.mark.parametrize("kind", ["decimal128", "dictionary", "duration"])
def test_dtypes_that_no_file_holds_are_refused_by_name(kind):
    pa = pytest.importorskip("pyarrow")
    arrays = {
        "decimal128": pa.array([Decimal("1.5"), Decimal("2.5")], pa.decimal128(20, 3)),
        "dictionary": pa.array(["a", "b"]).dictionary_encode(),
        "duration": pa.array([1, 2], pa.duration("s")),
    }
    table = pa.table({"a": arrays[kind]}).to_pandas(types_mapper=pd.ArrowDtype)
    with pytest.raises(ValueError, match=rf"column 'a' has dtype {kind}.*turn it into"):
        FeatureSchema.infer(table)


class TestBounds:
    """Bounds are rounded outward, so that they are no value of a row."""

    @pytest.mark.parametrize(
        ("values", "bounds"),
        [
            ([34.2, 50.1, 81.7], (34, 82)),
            ([0.3, 55.5, 104.37], (0, 110)),
            ([18, 40, 104], (15, 105)),
            ([1, 2, 3, 5], (1, 5)),
            ([-0.037, 0.4, 0.981], (-0.1, 1)),
            ([3.5, 3.5], (3.5, 3.5)),
            (np.array([1, 100, 255], dtype=np.uint8), (0, 255)),
            (np.array([0.5, 65504], dtype=np.float16), (0, 65504)),
            (pd.to_datetime(["2021-03-14", "2023-11-02"]), ("2021-03-01", "2023-12-01")),
            (pd.to_datetime(["2011-03-14", "2023-11-02"]), ("2011-01-01", "2024-01-01")),
            (pd.to_datetime(["2024-03-14", "2024-03-20"]), ("2024-03-01", "2024-04-01")),
            (pd.to_datetime(["2024-03-14 08:12", "2024-03-14 11:47"]), ("2024-03-14 08:00", "2024-03-14 12:00")),
        ],
    )
    def test_they_are_readable(self, values, bounds):
        (feature,) = FeatureSchema.infer(pd.DataFrame({"x": values}))
        shown = [feature.describe_value(end) for end in (feature.lower, feature.upper)]
        assert shown == [bound if isinstance(bound, str) else feature.describe_value(bound) for bound in bounds]
        assert feature.exact.lower >= feature.lower
        assert feature.exact.upper <= feature.upper
        assert Feature.from_dict(feature.to_dict()) == feature

    def test_a_value_that_few_rows_have_is_rounded_too(self):
        (feature,) = FeatureSchema.infer(pd.DataFrame({"x": [104.37] + [None] * 99}))
        assert (feature.lower, feature.upper) == (100, 110)


class TestRareLevels:
    """Levels that few rows hold are one level, whose names are not written."""

    X = pd.DataFrame({"colour": ["red"] * 40 + ["blue"] * 55 + ["mauve"] * 2 + ["grey"] * 3})

    def test_they_are_one_level(self):
        schema = FeatureSchema.infer(self.X)
        assert schema[0].levels == ("blue", "red", "rare")
        assert schema[0].named_levels == ("blue", "red")
        assert set(schema.encode(self.X)[-5:, 0]) == {2}
        assert "grey" not in repr(schema) + str(schema.to_dict()) + repr(schema[0])

    def test_the_black_box_gets_their_names(self):
        schema = FeatureSchema.infer(self.X)
        assert schema.decode(schema.exact.encode(self.X)).equals(self.X)
        # A draw with just any rare level has the most frequent one.
        assert schema.decode(np.array([[2.0]]))["colour"].tolist() == ["grey"]

    def test_a_loaded_schema_encodes_alike_and_knows_no_names(self):
        schema = FeatureSchema.infer(self.X)
        loaded = FeatureSchema.from_dict(schema.to_dict())
        new = pd.DataFrame({"colour": ["grey", "never seen", "red"]})
        assert loaded.encode(new)[:, 0].tolist() == schema.encode(new)[:, 0].tolist() == [2, 2, 1]
        with pytest.raises(ValueError, match="rare levels of unknown names: give rows"):
            loaded.decode(np.array([[2.0]]))
        assert loaded.knowing(new).decode(np.array([[3.0]]))["colour"].tolist() == ["never seen"]

    def test_a_value_of_another_kind_is_no_rare_level(self):
        schema = FeatureSchema.infer(self.X)
        given = pd.DataFrame({"colour": pd.Series(["grey", 7, np.inf, None], dtype=object)})
        assert schema.encode_readable(given)[1].tolist() == [True, False, False, False]

    def test_categories_keep_their_order_for_the_black_box(self):
        dtype = pd.CategoricalDtype(["mauve", "red", "none", "blue", "grey"], ordered=True)
        X = self.X.astype(dtype)
        schema = FeatureSchema.infer(X)
        assert schema[0].levels == ("red", "blue", "rare")
        decoded = schema.decode(schema.exact.encode(X))
        assert decoded.equals(X)
        assert decoded["colour"].dtype == dtype
        assert set(schema.encode(X)[-5:, 0]) == {2}

    def test_levels_that_a_user_declares_are_all_named(self):
        schema = FeatureSchema.infer(self.X).with_feature("colour", levels=("blue", "grey", "mauve", "red"))
        assert schema.decode(schema.encode(self.X)).equals(self.X)
        assert not schema[0].rare

    @pytest.mark.parametrize(
        ("values", "levels"),
        [
            (["F", "M", "F"], ("F", "M")),
            (["a"] * 6 + ["b"] * 5 + ["c"], ("a", "b", "rare")),
            ([0] * 99 + [1], (0, 1)),
            ([True] * 99 + [False], (False, True)),
            (["no"] * 99 + ["yes"], ("no", "rare")),
            ([7] * 99 + [104], (7, "rare")),
            (["rare"] * 99 + ["grey"], ("rare", "rare_")),
            ([f"person {i}" for i in range(200)], ("rare",)),
        ],
    )
    def test_which_are_rare(self, values, levels):
        (feature,) = FeatureSchema.infer(pd.DataFrame({"x": values}))
        assert feature.levels == levels
        assert Feature.from_dict(feature.to_dict()) == feature
