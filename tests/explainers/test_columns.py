import numpy as np
import pytest

from oleander.data.schema import Feature, FeatureSchema, Kind
from oleander.explainers.columns import make_columns, readable_edges

NUMBER = Feature("x", Kind.CONTINUOUS, "float64", upper=1.0)


def test_codes_are_bins_between_edges_and_missing_comes_last():
    X = np.column_stack([np.arange(40.0) / 4, np.resize([0.0, 1.0, 2.0], 40)])
    X[3, 0], X[5, 1] = np.nan, np.nan
    schema = FeatureSchema.infer(X, kinds={"x1": "categorical"})
    number, level = make_columns(schema.encode(X), schema, (0, 1))
    known = ~np.isnan(X[:, 0])
    np.testing.assert_array_equal(number.codes[known], np.searchsorted(number.edges, X[known, 0]))
    assert (number.codes[3], level.codes[5]) == (number.n_codes, 3)
    assert (number.is_number, level.is_number, level.n_codes, len(level.edges)) == (True, False, 3, 0)
    assert number.take(np.array([3, 0])).codes.tolist() == [number.n_codes, 0]


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e6, 1e200])
def test_edges_are_short_numbers_at_any_scale(scale):
    values = np.random.default_rng(0).uniform(0, scale, 5000)
    edges = readable_edges(np.sort(values), NUMBER)
    assert len(edges) > 40
    # At most three digits: a step of 1, 2 or 5 in the third digit at the finest.
    assert all(float(f"{edge:.3g}") == pytest.approx(edge, rel=1e-12) for edge in edges)
    assert edges.max() < values.max()


def test_edges_keep_values_apart_and_far_from_zero():
    for values in ([0.5, 1.25, 7.3], [1.6e9 + 1, 1.6e9 + 2, 1.6e9 + 50], [-1e-5, 0.0, 3.0]):
        edges = readable_edges(np.array(values), NUMBER)
        assert len(set(np.searchsorted(edges, values))) == 3


def test_edges_of_heavy_tails_and_constants():
    values = np.append(np.random.default_rng(0).normal(size=5000), 1e9)
    assert 40 < len(readable_edges(np.sort(values), NUMBER)) <= 65
    assert len(readable_edges(np.full(9, 3.5), NUMBER)) == 0
    assert len(readable_edges(np.append(np.zeros(5000), 1.0), NUMBER)) >= 1
    assert len(readable_edges(np.empty(0), NUMBER)) == 0


def test_no_edge_is_minus_zero():
    """A rule would say "up to -0"."""
    edges = readable_edges(np.linspace(-1.0, 1.0, 999), NUMBER)
    assert 0.0 in edges
    assert not np.signbit(edges[edges == 0.0]).any()


def test_whole_numbers_are_split_at_whole_numbers():
    feature = Feature("n", Kind.INTEGER, "int64", upper=9)
    assert readable_edges(np.arange(10.0), feature).tolist() == list(range(9))
