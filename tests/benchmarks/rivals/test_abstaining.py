import json

import numpy as np
import pytest

from benchmarks.rivals.abstaining import AbstainingTree
from oleander.data.schema import FeatureSchema
from oleander.rules import Box, Spoken, UnfilteredTree
from oleander.rules.base import read_explainer, write_explainer
from oleander.rules.conditions import Range
from oleander.rules.region import read_region, write_region


@pytest.fixture
def careful():
    X = np.random.default_rng(0).uniform(size=(500, 2))
    schema = FeatureSchema.infer(X)
    tree = UnfilteredTree(max_leaves=4).fit(X, np.select([X[:, 0] > 0.6, X[:, 1] > 0.5], [2, 1], 0), schema=schema)
    # Silent where the second column is low.
    speaking = tree.classes[tree.label] != 0
    return AbstainingTree(tree, speaking)


def test_speaks_in_its_leaves_only(careful):
    rows = np.array([[0.9, 0.1], [0.2, 0.9], [0.2, 0.1]])
    assert careful.speaks(rows).tolist() == [True, True, False]
    assert careful.predict(rows).tolist() == [2, 1, 0]
    assert {rule.label for rule in careful.rules()} == {1, 2}
    assert careful.complexity == len(careful.rules()) == 2
    assert careful.describe_silence() == "silent in 1 of 3 leaves"


def test_the_region_is_read_with_its_explainer(careful):
    rows, schema = np.random.default_rng(1).uniform(size=(300, 2)), careful.tree.schema
    region = Spoken(Box((Range(0, schema[0], upper=0.8),)), careful)
    again = read_explainer(json.loads(json.dumps(write_explainer(careful))), schema)
    data = json.loads(json.dumps(write_region(region)))
    back = read_region(data, schema, again)
    np.testing.assert_array_equal(back.contains(rows), region.contains(rows))
    assert back.describe() == region.describe()
    assert region.contains(rows).sum() == (careful.speaks(rows) & (rows[:, 0] <= 0.8)).sum()
    with pytest.raises(ValueError, match="never abstains"):
        read_region(data, schema, careful.tree)


def test_speaking_has_one_entry_per_node(careful):
    with pytest.raises(ValueError, match="nodes"):
        AbstainingTree(careful.tree, np.array([True]))
