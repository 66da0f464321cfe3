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
