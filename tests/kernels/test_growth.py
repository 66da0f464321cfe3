from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from oleander import kernels
from oleander.data.schema import FeatureSchema
from oleander.rules.growth import Column, make_columns
from tests.conftest import make_mixed
from tests.kernels.numpy_growth import collect, grow


@pytest.mark.parametrize("n_edges", [0, 1, 2, 7, 64])
def test_codes_count_the_edges_under_a_value(n_edges):
    rng = np.random.default_rng(n_edges)
    edges = np.unique(rng.integers(-50, 50, n_edges).astype(float))
    values = np.concatenate([rng.uniform(-60, 60, 300), edges, [np.inf, -np.inf, np.nan]])
    expected = np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values))
    assert kernels.bin_numbers(values, edges).tolist() == expected.tolist()
    assert kernels.bin_numbers(values[::-2], edges).tolist() == expected[::-2].tolist()


def test_of_no_values_there_are_no_codes():
    assert kernels.bin_numbers(np.empty(0), np.arange(3.0)).shape == (0,)


def grow_nodes(columns, labels, n_labels, max_leaves, min_leaf, simplify):
    """Return the nodes of the kernel, one line per node."""
    codes = np.stack([column.codes for column in columns]) if columns else np.empty((0, len(labels)), np.int32)
    n_codes = np.array([column.n_codes for column in columns], dtype=np.intp)
    is_number = np.array([column.is_number for column in columns], dtype=bool)
    return kernels.grow_nodes(
        codes, n_codes, is_number, labels, n_labels, max_leaves, min_leaf=min_leaf, simplify=simplify
    ).T.tolist()


def grow_slowly(columns, labels, n_labels, max_leaves, min_leaf, simplify):
    """Return the nodes of the oracle."""
    return collect(grow(columns, labels, n_labels, max_leaves, min_leaf), labels, n_labels, simplify)


def random_columns(rng, n_draws):
    """Numbers and levels with few and many codes, missing values in some, constants among them."""
    columns = []
    for position in range(rng.integers(1, 7)):
        n_codes, is_number = int(rng.choice([1, 2, 3, 8, 40])), bool(rng.random() < 0.6)
        codes = rng.integers(0, n_codes + (rng.random() < 0.5), n_draws).astype(np.int32)
        columns.append(Column(position, is_number, np.arange(n_codes - 1.0), n_codes, codes))
    return columns


@pytest.mark.parametrize("seed", range(60))
def test_same_tree_as_in_numpy(seed):
    """Split by split, with ties: few codes and labels that depend on two columns make many equal gains."""
    rng = np.random.default_rng(seed)
    n_draws, n_labels = int(rng.choice([1, 2, 5, 40, 300])), int(rng.integers(1, 5))
    columns = random_columns(rng, n_draws)
    labels = (columns[0].codes + columns[-1].codes + (rng.random(n_draws) < 0.3)).astype(np.intp) % n_labels
    for max_leaves in (1, 2, 5, 30, None):
        for min_leaf in (1, 4):
            case = columns, labels, n_labels, max_leaves, min_leaf, bool(seed % 2)
            assert grow_nodes(*case) == grow_slowly(*case)


@pytest.mark.parametrize("max_leaves", [12, None])
def test_same_tree_on_mixed_columns(max_leaves):
    table = make_mixed(2000, seed=1)
    schema = FeatureSchema.infer(table)
    rows = schema.encode(table)
    columns = make_columns(rows, schema, tuple(range(len(schema))))
    labels = (np.nan_to_num(rows[:, 5]) > 2) * 1 + (rows[:, 0] > 70)
    case = columns, labels, 3, max_leaves, 1, False
    assert grow_nodes(*case) == grow_slowly(*case)


def test_without_columns_the_tree_is_one_leaf():
    assert grow_nodes([], np.array([0, 1, 1]), 2, None, 1, True) == [[-1, 0, 0, -1, -1, 1, 3, 2]]


def test_same_tree_in_every_thread():
    rng = np.random.default_rng(0)
    columns = random_columns(rng, 3000)
    labels = (columns[0].codes + rng.integers(0, 2, 3000)) % 3
    expected = grow_slowly(columns, labels, 3, None, 1, False)
    with ThreadPoolExecutor(8) as threads:
        trees = list(threads.map(lambda _: grow_nodes(columns, labels, 3, None, 1, False), range(16)))
    assert all(tree == expected for tree in trees)


def test_labels_that_are_none_are_refused():
    codes = np.zeros((1, 3), dtype=np.int32)
    with pytest.raises(ValueError, match="labels lie between -1 and 1, and there are 2"):
        kernels.grow_nodes(codes, np.array([1]), np.array([True]), np.array([-1, 0, 1]), 2, None)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("max_leaves", [2, 7, 25])
def test_with_amounts_the_variance_falls_as_in_scikit_learn(seed, max_leaves):
    """Whole amounts of one label: each leaf of both trees has the same draws, whatever the names of the leaves."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 12, (4, 500)).astype(np.int32)
    amounts = 2 + (9 * codes[0] + 5 * codes[1] * (codes[2] > 5) + rng.integers(0, 20, 500)).astype(np.intp)
    nodes = kernels.grow_nodes(
        codes,
        np.full(4, 12),
        np.ones(4, dtype=bool),
        np.zeros(500, dtype=np.intp),
        1,
        max_leaves,
        min_leaf=5,
        simplify=False,
        amounts=amounts,
    )
    rival = DecisionTreeRegressor(max_leaf_nodes=max_leaves, min_samples_leaf=5, random_state=0).fit(codes.T, amounts)
    column, code, _, left, right, _, n_draws, total = nodes
    leaf = np.zeros(500, dtype=np.intp)
    for node in np.flatnonzero(column >= 0).tolist():
        inside = leaf == node
        goes_left = codes[column[node]] <= code[node]
        leaf[inside & goes_left], leaf[inside & ~goes_left] = left[node], right[node]
    ends = np.flatnonzero(column < 0)
    assert np.bincount(leaf, minlength=len(column))[ends].tolist() == n_draws[ends].tolist()
    assert np.bincount(leaf, weights=amounts, minlength=len(column))[ends].tolist() == total[ends].tolist()
    mean = total / n_draws
    found, expected = ((amounts - answer) ** 2 for answer in (mean[leaf], rival.predict(codes.T)))
    assert found.sum() == pytest.approx(expected.sum())
