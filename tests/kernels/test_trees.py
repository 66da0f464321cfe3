import numpy as np
import pytest

from oleander import kernels
from oleander.data.schema import FeatureSchema
from oleander.rules.growth import grow_tree
from oleander.rules.tree import LEAF
from tests.conftest import make_mixed


def walk(tree, row):
    """Return the leaf of a row by the conditions that a reader sees."""
    node = 0
    while tree.column[node] != LEAF:
        goes_left = tree.conditions(node)[0].contains(row[None, :])[0]
        node = int(tree.left[node] if goes_left else tree.right[node])
    return node


@pytest.mark.parametrize("seed", range(5))
def test_rows_end_where_the_conditions_lead(seed):
    table = make_mixed(600, seed)
    schema = FeatureSchema.infer(table)
    rows = schema.encode(table)
    labels = np.random.default_rng(seed).integers(0, 3, len(rows))
    tree = grow_tree(rows[:300], labels[:300], np.arange(3), schema, tuple(range(len(schema))), 40)
    expected = [walk(tree, row) for row in rows]
    assert tree.apply(rows).tolist() == expected
    assert tree.apply(np.asfortranarray(rows)).tolist() == expected
    rows.setflags(write=False)
    assert tree.apply(rows[::2]).tolist() == expected[::2]
    assert tree.apply(rows[:0]).tolist() == []


def test_one_leaf_takes_every_row():
    nothing, nowhere = np.array([np.nan]), np.array([-1])
    leaves = kernels.find_leaves(np.ones((3, 2)), nowhere, nothing, nothing, np.array([False]), nowhere, nowhere)
    assert leaves.tolist() == [0, 0, 0]


def test_rows_with_too_few_columns_are_refused():
    nothing, child = np.full(3, np.nan), np.array([1, -1, -1])
    with pytest.raises(ValueError, match="splits on column 5, and rows have 2 columns"):
        kernels.find_leaves(np.ones((3, 2)), np.array([5, -1, -1]), nothing, nothing, nothing > 0, child, child + 1)


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


@pytest.mark.parametrize("seed", range(40))
def test_the_cut_is_the_best_of_all_cuts(seed):
    """With whole values, of which many are equal or negative."""
    rng = np.random.default_rng(seed)
    left, right = random_tree(rng, int(rng.integers(1, 9)))
    value = rng.integers(-4, 5, len(left)) if seed % 2 else rng.normal(size=len(left))
    cuts = every_cut(left, right)
    for most in (1, 2, 3, 8, 50):
        best = max(sum(value[list(cut)]) for cut in cuts if len(cut) <= most)
        found = kernels.find_best_cut(left, right, value, most).tolist()
        assert len(found) <= most
        assert frozenset(found) in cuts
        assert sum(value[found]) == pytest.approx(best)
