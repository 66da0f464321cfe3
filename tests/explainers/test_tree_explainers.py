import re

import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.explainers import FilteredTree, UnfilteredTree
from oleander.filters import StopReason


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(5000, 12))
    labels = np.where(X[:, 3] > 0.66, "high", np.where(X[:, 8] > 0.33, "mid", "low"))
    return X, labels, FeatureSchema.infer(X)


def test_the_filter_selects_what_matters_and_gives_a_reason_to_stop(data):
    X, labels, schema = data
    tree = FilteredTree(max_leaves=4).fit(X, labels, schema=schema)
    assert set(tree.filter_.features) == {3, 8}
    assert isinstance(tree.filter_.stopped, StopReason)
    assert (tree.predict(X) == labels).mean() > 0.97


def test_the_filter_drops_noise_that_a_tree_would_split_on(data):
    X, labels, schema = data
    noisy = np.where(np.random.default_rng(1).random(5000) < 0.3, "low", labels)
    assert set(FilteredTree(max_leaves=40).fit(X, noisy, schema=schema).features) <= {3, 8}
    assert len(UnfilteredTree(max_leaves=40).fit(X, noisy, schema=schema).features) > 2


def test_rules_are_sentences(data):
    X, labels, schema = data
    rules = [str(rule) for rule in FilteredTree(max_leaves=3).fit(X, labels, schema=schema).rules()]
    assert len(rules) == 3
    assert any(re.fullmatch(r"x3 > 0\.6\d* → high \(\d+% of [\d,]+ draws\)", rule) for rule in rules)


def test_max_leaves_bounds_the_complexity(data):
    X, labels, schema = data
    for most in (1, 2, 3):
        assert UnfilteredTree(max_leaves=most).fit(X, labels, schema=schema).complexity <= most
    assert UnfilteredTree(max_leaves=None).fit(X, labels, schema=schema).predict(X).tolist() == labels.tolist()
