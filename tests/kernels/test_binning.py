import numpy as np
import pytest

from oleander import kernels


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
