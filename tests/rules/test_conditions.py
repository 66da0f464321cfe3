import json
import math

import numpy as np
import pytest

from oleander.data.schema import Feature, FeatureSchema, Kind
from oleander.rules.conditions import Levels, Range, clauses, conjoin, read_condition

AGE = Feature("age", Kind.INTEGER, "int64", lower=0, upper=90, missing=True)
DOSE = Feature("dose", Kind.CONTINUOUS, "float64", lower=0, upper=1)
COLOUR = Feature("colour", Kind.CATEGORICAL, "str", levels=("blue", "green", "red", "teal"), missing=True)
SEX = Feature("sex", Kind.BINARY, "str", levels=("F", "M"))
SCHEMA = FeatureSchema((AGE, DOSE, COLOUR, SEX), ("age", "dose", "colour", "sex"))
ROWS = np.array([[60, 0.5, 0, 0], [61, 0.25, 2, 1], [np.nan, 1.0, np.nan, 0]])


@pytest.mark.parametrize(
    ("condition", "words", "inside"),
    [
        (Range(0, AGE, lower=60), "age > 60", [False, True, False]),
        (Range(0, AGE, upper=60), "age ≤ 60", [True, False, False]),
        (Range(0, AGE, upper=60, missing=True), "age ≤ 60 or missing", [True, False, True]),
        (Range(0, AGE, lower=59, upper=60), "age = 60", [True, False, False]),
        (Range(0, AGE, lower=40, upper=60), "40 < age ≤ 60", [True, False, False]),
        (Range(0, AGE), "age is known", [True, True, False]),
        (Range(0, AGE, lower=math.inf, missing=True), "age is missing", [False, False, True]),
        (Range(1, DOSE, lower=0.25, upper=0.5), "0.25 < dose ≤ 0.5", [True, False, False]),
        (Levels(2, COLOUR, frozenset({0})), "colour is blue", [True, False, False]),
        (Levels(2, COLOUR, frozenset({0, 2})), "colour is one of blue, red", [True, True, False]),
        (Levels(2, COLOUR, frozenset({0, 1, 3})), "colour is not red", [True, False, False]),
        (Levels(2, COLOUR, frozenset({0}), missing=True), "colour is blue or missing", [True, False, True]),
        (Levels(2, COLOUR, frozenset(), missing=True), "colour is missing", [False, False, True]),
        (Levels(2, COLOUR, frozenset({0, 1, 2, 3})), "colour is known", [True, True, False]),
        (Levels(3, SEX, frozenset({1})), "sex is M", [False, True, False]),
    ],
)
def test_words_membership_and_json(condition, words, inside):
    assert str(condition) == words
    assert condition.contains(ROWS).tolist() == inside
    assert read_condition(json.loads(json.dumps(condition.to_dict(), allow_nan=False)), SCHEMA) == condition


def test_conditions_on_one_column_become_one():
    joined = conjoin(
        [
            Range(0, AGE, lower=10, missing=True),
            Levels(2, COLOUR, frozenset({0, 1, 2})),
            Range(0, AGE, upper=60),
            Range(0, AGE, lower=20, upper=80),
            Levels(2, COLOUR, frozenset({1, 2, 3})),
        ]
    )
    assert [str(condition) for condition in joined] == ["20 < age ≤ 60", "colour is one of green, red"]


def test_only_an_or_beside_others_stands_in_brackets():
    known, either, absent = Range(0, AGE), Range(0, AGE, upper=60, missing=True), Levels(2, COLOUR, frozenset(), True)
    assert clauses([either]) == ["age ≤ 60 or missing"]
    assert clauses([either, known, absent]) == ["(age ≤ 60 or missing)", "age is known", "colour is missing"]
    assert clauses(["a or missing", "b"]) == ["a or missing", "b"]
    assert clauses([]) == []


def test_unknown_level_code_is_refused():
    with pytest.raises(ValueError, match="column 'sex' has 2 levels"):
        read_condition({"column": 3, "codes": [2], "missing": False}, SCHEMA)
