"""What only Python has: an interpreter without Oleander, values of other libraries, and names of variables."""

import ast

import numpy as np
import pandas as pd
import pytest

from oleander.data.schema import FeatureSchema
from oleander.export.python import name_variables
from oleander.rules import Ball, Box, Constant
from oleander.rules.conditions import Levels
from tests.export.judges import DATA, answers_of, fitted, run_python, with_members


@pytest.mark.parametrize("fit", ["default", "balls"])
def test_the_module_imports_one_module_and_runs_no_text(fit):
    tree = ast.parse(fitted("strange", fit).to_python(include_rows=True))
    imported = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [alias.name for node in imported for alias in node.names] == ["math"]
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"eval", "exec", "compile", "open", "getattr", "globals"}


def test_values_of_other_libraries_are_read():
    X = DATA["mixed"][0]()
    atlas = fitted("mixed", "default")
    space = {}
    exec(atlas.to_python(), space)
    # Series hold numpy's scalars, pandas.NA and NaN.
    assert [space["predict"](row) for _, row in X.iterrows()] == answers_of(atlas, X)


def test_a_row_without_a_column_is_an_error_that_names_it():
    space = {}
    exec(fitted("mixed", "default").to_python(), space)
    with pytest.raises(KeyError, match="the row lacks the column 'weight'"):
        space["predict"]({})


def test_one_and_true_are_two_levels():
    X = pd.DataFrame({"flag": [True, False] * 5, "code": [0, 1] * 5, "both": pd.Series(["a", 1] * 5, dtype=object)})
    schema = FeatureSchema.infer(X)
    atlas = with_members(schema, [(Box((Levels(1, schema[1], frozenset({1})),)), Constant(1))])
    space = {}
    exec(atlas.to_python(), space)
    assert space["predict"]({"flag": True, "code": 1, "both": 1}) == 1
    assert space["predict"]({"flag": True, "code": 0, "both": "a"}) is None
    for odd in (True, "1", [1]):
        assert space["predict"]({"flag": True, "code": odd, "both": 1}) is None, odd
    # No rule reads the others.
    assert space["predict"]({"flag": 1, "code": 1, "both": "1"}) == 1
    rule = Box((Levels(0, schema[0], frozenset({1})), Levels(2, schema[2], frozenset({0, 1}))))
    exec(with_members(schema, [(rule, Constant(1))]).to_python(), space)
    assert space["predict"]({"flag": True, "code": 1, "both": 1}) == 1
    for odd in ({"flag": 1}, {"both": "1"}, {"flag": "True"}):
        assert space["predict"]({"flag": True, "code": 1, "both": 1, **odd}) is None, odd


def test_a_column_of_numbers_that_has_levels_in_a_file():
    X = pd.DataFrame({"dose": [1.5, np.nan, 3.5]})
    schema = FeatureSchema.infer(X).with_feature("dose", levels=(1,))
    atlas = with_members(schema, [(Ball(schema, np.array([3.5]), 1.0), Constant("near"))])
    assert run_python(atlas.to_python(), X) == answers_of(atlas, X)


def test_variables_are_distinct_and_near_the_names():
    X = pd.DataFrame({name: [1, 2, 3] for name in ("a b", "a_b", "a-b", "for", "values", "1st", "", "é")})
    names = name_variables(FeatureSchema.infer(X))
    assert names == ["a_b", "a_b_", "a_b__", "for_", "values_", "column_5", "column_6", "column_7"]
