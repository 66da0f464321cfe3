"""A pruned tree keeps its budget, and its speaking nodes are the best that it has."""

import numpy as np
import pytest

from benchmarks.rivals.abstaining_tree import PRICES, choose_tree, find_best_cut, prune_tree
from oleander.candidates.grid import Grid, Memberships
from oleander.candidates.nodes import grow_on_answers
from tests.candidates.making_boxes import coin, make_learner


@pytest.mark.parametrize("max_leaves", [1, 4, 12])
def test_speaking_nodes_lie_apart_and_count_all_draws_inside(label_draws, max_leaves):
    rng = np.random.default_rng(0)
    values = rng.uniform(size=(3000, 3))
    values[rng.random(3000) < 0.2, 0] = np.nan
    codes = np.select([np.isnan(values[:, 0]), (values[:, 1] > 0.6) & (values[:, 2] < 0.7)], [2, 1], 0)
    draws = label_draws(values, np.where(rng.random(3000) < 0.1, rng.integers(0, 3, 3000), codes))
    everywhere, grid = np.arange(3000), Grid.learn(draws.values, draws.schema)
    (tree,) = grow_on_answers(draws, everywhere, grid.columns, 300, 5)
    found = prune_tree(tree, Memberships(grid, grid.codes), draws.find_right(everywhere), PRICES, max_leaves)
    assert len(found) == len(PRICES)
    for rules in found:
        assert 0 < len(rules) <= max_leaves
        inside = np.array([grid.to_box(rule.key).contains(draws.values) for rule in rules])
        assert inside.sum(axis=0).max() == 1
        for rule, own in zip(rules, inside, strict=True):
            assert (rule.n_draws, rule.n_right) == (own.sum(), (draws.codes[own] == rule.label).sum())


def half_a_coin(X):
    return np.where(X[:, 0] < 0.5, X[:, 2] < 0.5, coin(X)).astype(int)


@pytest.mark.parametrize("by_folds", [False, True], ids=["rows apart", "folds"])
def test_a_tree_answers_a_plain_law(by_folds):
    tree = choose_tree(make_learner(by_folds=by_folds), 4, 0.9)
    assert len(tree.step.rules) <= 4
    assert tree.coverage > 0.9
    assert tree.certificate.answers.bound >= 0.9


def test_a_higher_floor_never_widens_a_tree_and_nothing_answers_a_coin():
    learner = make_learner(400, labels=half_a_coin)
    widths = [choose_tree(learner, 10, floor).coverage for floor in (0.5, 0.6, 0.7, 0.8, 0.9)]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.8
    assert choose_tree(make_learner(labels=coin), 4, 0.9) is None


def random_tree(rng, n_leaves):
    """Return the children of the nodes of a random tree, parents before their children."""
    left, right, leaves = [-1], [-1], [0]
    while len(leaves) < n_leaves:
        node = leaves.pop(int(rng.integers(len(leaves))))
        left[node], right[node] = len(left), len(left) + 1
        leaves += [left[node], right[node]]
        left += [-1, -1]
        right += [-1, -1]
    return np.array(left), np.array(right)


def every_cut(left, right, node=0):
    """Return every set of nodes that may speak together."""
    if left[node] < 0:
        return [frozenset(), frozenset([node])]
    sides = every_cut(left, right, int(left[node])), every_cut(left, right, int(right[node]))
    return [frozenset([node]), *(one | other for one in sides[0] for other in sides[1])]


@pytest.mark.parametrize("seed", range(20))
def test_the_cut_is_the_best_of_all_cuts(seed):
    """With whole values, of which many are equal or negative."""
    rng = np.random.default_rng(seed)
    left, right = random_tree(rng, int(rng.integers(1, 9)))
    value = rng.integers(-4, 5, len(left)) if seed % 2 else rng.normal(size=len(left))
    cuts = every_cut(left, right)
    for most in (1, 2, 3, 8, 50):
        best = max(sum(value[list(cut)]) for cut in cuts if len(cut) <= most)
        found = find_best_cut(left, right, value, most)
        assert len(found) <= most
        assert frozenset(found) in cuts
        assert sum(value[found]) == pytest.approx(best)
