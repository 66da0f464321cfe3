import json

import numpy as np
import pytest

from benchmarks.rivals.lime_linear import LimeLinear
from oleander.black_box.answers import read_labels
from oleander.data.schema import Feature, FeatureSchema, Kind
from oleander.rules import FilteredTree, UnfilteredTree
from oleander.rules.base import Explainer, Rule, encode_labels
from oleander.rules.conditions import Range

DOSE = Feature("dose", Kind.CONTINUOUS, "float64", upper=9, missing=True)
AGE = Feature("age", Kind.INTEGER, "int64", upper=90)


@pytest.mark.parametrize(
    ("terms", "premise"),
    [
        ((), ""),
        ((Range(0, DOSE, upper=2, missing=True),), "dose ≤ 2 or missing"),
        ((Range(0, DOSE, upper=2, missing=True), Range(1, AGE, lower=60)), "(dose ≤ 2 or missing) and age > 60"),
    ],
)
def test_a_rule_reads_as_a_sentence(terms, premise):
    rule = Rule(terms, "yes", 1200, 0.984)
    assert rule.premise == premise
    assert str(rule) == f"{premise or 'always'} → yes (98% of 1,200 draws)"


@pytest.mark.parametrize(
    "data",
    [
        {"dtype": "<M8", "values": [1]},
        {"dtype": "<U999999999", "values": ["a"]},
        {"dtype": "object", "values": [{"a": 1}]},
        {"dtype": "int64", "values": [[1]]},
        {"dtype": "O", "values": [None]},
        {"dtype": "i4,i4", "values": [1]},
    ],
)
def test_data_that_are_no_labels_are_refused(data):
    with pytest.raises(ValueError, match=r"cannot be read|is not the dtype"):
        read_labels(data)


def test_codes_are_positions_among_the_sorted_labels():
    classes, codes = encode_labels(np.array([7, 3, 7, 5]))
    assert (classes.tolist(), codes.tolist()) == ([3, 5, 7], [2, 0, 2, 1])


@pytest.mark.parametrize("local", [FilteredTree(), UnfilteredTree(), LimeLinear()], ids=repr)
def test_every_explainer_round_trips_through_json(mixed, mixed_schema, local):
    rows = mixed_schema.encode(mixed)
    fitted = local.fit(rows, np.where(rows[:, 0] > 70, "high", "low"), schema=mixed_schema, center=rows[0])
    again = Explainer.read(json.loads(json.dumps(fitted.write(), allow_nan=False)), mixed_schema)
    np.testing.assert_array_equal(again.predict(rows), fitted.predict(rows))
    assert [str(rule) for rule in again.rules()] == [str(rule) for rule in fitted.rules()]
    assert (again.features, again.complexity) == (fitted.features, fitted.complexity)


@pytest.mark.parametrize("kind", ["oracle", "", ["tree"], None])
def test_an_unknown_explainer_is_refused(kind):
    with pytest.raises(ValueError, match="is not known; the explainers are constant, line, linear"):
        Explainer.read({"explainer": kind}, FeatureSchema(()))
