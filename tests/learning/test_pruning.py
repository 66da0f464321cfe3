"""A pruned tree says what its speaking nodes say, and keeps its budget and its least support."""

import numpy as np
import pandas as pd
import pytest

from oleander.data.schema import FeatureSchema
from oleander.draws.labelled import LabelledDraws
from oleander.learning.choosing import PRICES
from oleander.learning.family import SILENT, Family, Step, learn_family
from oleander.learning.grid import Grid, Memberships
from oleander.learning.pruning import grow_large_trees, prune_tree


@pytest.fixture
def draws():
    """Numbers with missing values and words, three classes."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "dose": np.where(rng.random(3000) < 0.2, np.nan, rng.normal(size=3000)),
            "age": rng.integers(20, 90, 3000),
            "ward": rng.choice(["north", "south", "west"], 3000),
        }
    )
    schema = FeatureSchema.infer(table)
    codes = np.select([table["dose"].isna(), (table["age"] > 60) & (table["ward"] != "west")], [2, 1], 0)
    noisy = np.where(rng.random(3000) < 0.1, rng.integers(0, 3, 3000), codes)
    return LabelledDraws(schema, schema.encode(table), np.array(["a", "b", "c"]), noisy.astype(np.intp), None)


def prune(draws, prices, max_leaves, min_support=1):
    grid = Grid.learn(draws.values, draws.schema)
    tree = grow_large_trees(draws, grid, np.arange(len(draws.values)))[0]
    members = Memberships(grid, grid.codes)
    right = draws.find_right(np.arange(len(draws.values)))
    return grid, prune_tree(tree, grid, members, right, np.ones(3), prices, max_leaves, min_support)


@pytest.mark.parametrize("n_leaves", [1, 4, 12])
def test_the_explainer_answers_as_the_boxes_of_its_leaves(draws, n_leaves):
    grid, (pruned,) = prune(draws, PRICES, [n_leaves])
    for price, one in zip(PRICES, pruned, strict=True):
        step = Step.of_tree(one, price)
        said = Family(grid, draws, (step,)).answer(draws.values)[0]
        explainer = one.to_explainer(draws)
        assert len(one.keys) <= n_leaves
        assert 0 < explainer.complexity <= len(one.keys)
        np.testing.assert_array_equal(explainer.speaks(draws.values), said != SILENT)
        answered = said != SILENT
        np.testing.assert_array_equal(explainer.predict(draws.values)[answered], draws.classes[said[answered]])


def test_rules_count_all_draws(draws):
    _, ((one,),) = prune(draws, [2.0], [6])
    explainer = one.to_explainer(draws)
    for rule, leaf in zip(explainer.rules(), explainer.spoken_leaves, strict=True):
        own = explainer.tree.apply(draws.values) == leaf
        assert rule.n_draws == own.sum()
        assert rule.share == pytest.approx((draws.classes[draws.codes[own]] == rule.label).mean())
        assert rule.unit == "draws"


def test_no_leaf_speaks_for_too_few_draws(draws):
    _, ((one,),) = prune(draws, [1.0], [50], min_support=200)
    assert all(rule.n_draws >= 200 for rule in one.to_explainer(draws).rules())


def test_a_family_has_trees_where_rules_are_limited(draws):
    with_trees = learn_family(draws, np.random.default_rng(0), max_boxes=1, max_leaves=8)
    trees = [step for step in with_trees.steps if step.tree is not None]
    assert {len(step.keys) for step in trees} >= {5}
    assert all(len(step.keys) <= 8 for step in trees)
    assert all(len(step.keys) <= 1 for step in with_trees.steps if step.tree is None)
    assert not any(step.tree for step in learn_family(draws, np.random.default_rng(0), max_boxes=1).steps)
