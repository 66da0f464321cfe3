import numpy as np
import pandas as pd
import pytest

from oleander.data.reading import check_groups, read, stack_tables
from oleander.data.schema import FeatureSchema


class TestRead:
    def test_the_table_is_encoded_by_its_own_schema_or_by_the_given_one(self, mixed):
        own = read(mixed)
        assert own.schema == FeatureSchema.infer(mixed)
        np.testing.assert_array_equal(own.values, own.schema.encode(mixed))
        assert (own.truth, own.groups) == (None, None)
        given = own.schema.with_feature("weight", scale=3.0)
        assert read(mixed, schema=given).schema is given

    def test_labels_and_groups_are_taken_row_by_row(self):
        X = np.arange(6.0).reshape(3, 2) / 4
        reading = read(X, pd.Series([1, 0, 1], index=[7, 8, 9]), ["a", "b", "a"])
        assert reading.truth.tolist() == [1, 0, 1]
        assert reading.groups.tolist() == ["a", "b", "a"]
        part = reading.take(np.array([2, 1])).take(np.array([1]))
        assert (part.values.tolist(), part.truth, part.groups, part.positions) == (X[[1]].tolist(), [0], ["b"], [1])
        assert part.labels is None

    def test_a_sampled_row_without_a_group_is_named_by_its_position(self):
        with pytest.raises(ValueError, match="for row 70"):
            check_groups(np.array([1.0, np.nan]), np.array([5, 70]))

    def test_levels_and_bounds_of_a_background_are_known(self):
        X = pd.DataFrame({"age": [30.5, 40.5, 50.5], "colour": ["red", "blue", "green"]})
        background = pd.DataFrame({"colour": ["grey", "red"], "age": [20.5, 45.5]})
        schema = read(X, background=background).schema
        assert schema[0].exact.lower == 20.5
        assert "grey" in schema[1].levels


class TestStackTables:
    def test_tables_of_one_kind_are_stacked_in_the_columns_of_the_first(self):
        X, background = pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"b": [4], "a": [3]})
        assert stack_tables(X, background).to_dict("list") == {"a": [1, 3], "b": [2, 4]}
        assert stack_tables(np.zeros((2, 3)), np.ones((1, 3))).shape == (3, 3)

    def test_another_kind_is_left_alone(self):
        X = np.zeros((2, 3))
        assert stack_tables(X, None) is X
        assert stack_tables(X, "rows.parquet") is X

    def test_other_columns_are_refused(self):
        with pytest.raises(ValueError, match="give the same columns"):
            stack_tables(pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]}))
        with pytest.raises(ValueError, match="background has 2 columns, and X has 3"):
            stack_tables(np.zeros((2, 3)), np.zeros((2, 2)))


class TestGroups:
    X = np.array([[0.5], [1.5], [2.5]])

    @pytest.mark.parametrize(
        ("groups", "message"),
        [
            (["a", 1, "b"], "groups mixes int, str: write all groups as text, or all as numbers"),
            (np.array([1.5, "b", 2], dtype=object), "groups mixes float, int, str"),
            ([0.0, float("nan"), 1.0], "groups has no value for row 1: give every row a group"),
            (pd.array([0, None, 1], dtype="Int64"), "groups has no value for row 1"),
            (["a", "b", None], "groups has no value for row 2"),
        ],
    )
    def test_groups_that_are_missing_or_mixed(self, groups, message):
        with pytest.raises(ValueError, match=message):
            read(self.X, None, groups, None)

    @pytest.mark.parametrize(
        "groups", [[1, 2.5, np.int64(3)], ("a", "b", "a"), np.array(["a", "b", "c"], dtype=object), [True, False, True]]
    )
    def test_groups_of_one_kind(self, groups):
        assert read(self.X, None, groups, None).groups.tolist() == list(groups)
