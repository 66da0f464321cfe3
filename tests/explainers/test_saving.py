import json

import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.explainers import AbstainingTree, Constant, FilteredTree, LimeLinear, Spoken, UnfilteredTree
from oleander.explainers.saving import read_explainer, read_region_of, write_explainer
from oleander.regions import Box
from oleander.regions.conditions import Range


@pytest.fixture
def data(mixed, mixed_schema):
    rows = mixed_schema.encode(mixed)
    return rows, np.where(rows[:, 0] > 70, "high", "low"), mixed_schema


@pytest.mark.parametrize("local", [FilteredTree(), UnfilteredTree(), LimeLinear(), Constant()], ids=repr)
def test_every_explainer_round_trips_through_json(data, local):
    rows, labels, schema = data
    fitted = local.fit(rows, labels, schema=schema, center=rows[0])
    again = read_explainer(json.loads(json.dumps(write_explainer(fitted), allow_nan=False)), schema)
    np.testing.assert_array_equal(again.predict(rows), fitted.predict(rows))
    assert [str(rule) for rule in again.rules()] == [str(rule) for rule in fitted.rules()]
    assert (again.features, again.complexity) == (fitted.features, fitted.complexity)


def test_the_region_of_an_abstaining_explainer_is_read_with_it(data):
    rows, labels, schema = data
    tree = UnfilteredTree().fit(rows, labels, schema=schema).tree_
    careful = AbstainingTree(tree, tree.classes[tree.label] == "high")
    region = Spoken(Box((Range(0, schema[0], upper=80.0),)), careful)
    again = read_explainer(json.loads(json.dumps(write_explainer(careful))), schema)
    back = read_region_of(json.loads(json.dumps(region.to_dict())), schema, again)
    np.testing.assert_array_equal(back.contains(rows), region.contains(rows))
    assert back.describe() == region.describe()


def test_an_explainer_without_to_dict_is_refused():
    class Own:
        pass

    with pytest.raises(TypeError, match="a Own cannot be saved: it has no to_dict"):
        write_explainer(Own())


def test_an_unknown_explainer_is_refused():
    with pytest.raises(ValueError, match="explainer 'oracle' is not known; the explainers are tree"):
        read_explainer({"explainer": "oracle"}, FeatureSchema(()))
