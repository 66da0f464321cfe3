import numpy as np
import pytest

from oleander import kernels

LAWS = {
    "uniform": lambda rng, n: rng.uniform(size=n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n) ** 3,
    "few values": lambda rng, n: rng.integers(0, 12, n).astype(float),
    "one value": lambda rng, n: np.full(n, 3.0),
    "two clusters": lambda rng, n: rng.normal(size=n) * 1e-9 + rng.integers(0, 2, n),
    "one far value": lambda rng, n: np.append(rng.uniform(size=n - 1), 1e300),
    "infinite": lambda rng, n: np.append(rng.uniform(size=n - 1), np.inf),
}


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


@pytest.mark.parametrize("n_values", [1, 7, 511, 512, 700, 5000, 40_000])
@pytest.mark.parametrize("law", LAWS)
def test_values_are_those_that_sorting_brings_there(law, n_values):
    rng = np.random.default_rng(n_values)
    values = rng.permutation(LAWS[law](rng, n_values))
    for ranks in (np.linspace(0, n_values - 1, 65).astype(np.intp), np.arange(n_values), np.array([n_values // 2])):
        expected = np.sort(values)[ranks]
        assert np.array_equal(kernels.rank_values(values, ranks), expected)
        assert np.array_equal(kernels.rank_values(np.repeat(values, 2)[::2], ranks), expected)
