"""A pruned tree keeps its budget, and its speaking nodes are the best that it has."""

import numpy as np
import pandas as pd
import pytest

from oleander.candidates.grid import Grid, Memberships
from oleander.candidates.proposing import list_nodes
from oleander.data.schema import FeatureSchema
from oleander.draws.labelled import LabelledDraws
from oleander.fitting.rule_sequence import PRICES, grow_large_trees, prune_tree


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


def prune(draws, max_leaves):
    grid = Grid.learn(draws.values, draws.schema)
    tree = grow_large_trees(draws, grid, np.arange(len(draws.values)))[0]
    right = draws.find_right(np.arange(len(draws.values)))
    return grid, tree, prune_tree(tree, Memberships(grid, grid.codes), right, PRICES, max_leaves)


@pytest.mark.parametrize("max_leaves", [1, 4, 12])
def test_speaking_nodes_lie_apart_and_count_all_draws_inside(draws, max_leaves):
    grid, _, found = prune(draws, max_leaves)
    assert len(found) == len(PRICES)
    for rules in found:
        assert 0 < len(rules) <= max_leaves
        inside = np.array([grid.to_box(rule.key).contains(draws.values) for rule in rules])
        assert inside.sum(axis=0).max() == 1
        for rule, own in zip(rules, inside, strict=True):
            assert (rule.n_draws, rule.n_right) == (own.sum(), (draws.codes[own] == rule.label).sum())


def test_a_higher_price_answers_fewer_draws_and_more_of_them_correctly(draws):
    _, _, found = prune(draws, 12)
    mass = [sum(rule.n_draws for rule in rules) for rules in found]
    share = [sum(rule.n_right for rule in rules) / total for rules, total in zip(found, mass, strict=True)]
    assert mass == sorted(mass, reverse=True)
    assert share == sorted(share)


def test_a_pruning_is_worth_no_less_than_the_root_or_any_other_node(draws):
    _, tree, found = prune(draws, 3)
    for price, rules in zip(PRICES, found, strict=True):
        worth = sum(rule.n_right - price * (rule.n_draws - rule.n_right) for rule in rules)
        alone = [
            counts.max() - price * (counts.sum() - counts.max())
            for counts in (np.bincount(draws.codes[own], minlength=3) for own in list_nodes(tree, draws.values))
        ]
        assert worth >= max(alone) - 1e-9
