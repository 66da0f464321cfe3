import numpy as np
import pandas as pd
import pytest

from benchmarks.rivals.anchors.predicates import Grid, extend, quantile_edges
from oleander.data.schema import Feature, Kind
from tests.making import label


def grid_of(X, n_bins=4):
    rows = label(X, lambda X: np.zeros(len(X), dtype=int))
    return Grid.cut(rows, n_bins), rows


def words_at(grid, point):
    return [grid.box((grid.predicates[i],)).describe() for i in grid.predicates_of(point)]


def test_quartiles_levels_and_missing_in_words():
    X = pd.DataFrame(
        {
            "dose": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, np.nan],
            "colour": ["red", "red", "blue", "blue", "green", "green", None, "red"],
            "site": "north",
        }
    )
    grid, _ = grid_of(X)
    # Seven doses are known; the quartiles are those at positions 6/4, 12/4 and 18/4, rounded down: 2, 4 and 5.
    assert words_at(grid, 2) == [
        "dose is known",
        "dose > 2",
        "dose ≤ 4",
        "dose ≤ 5",
        "colour is known",
        "colour is blue",
    ]
    assert words_at(grid, 7) == ["dose is missing", "colour is known", "colour is red"]
    assert "colour is missing" in words_at(grid, 6)
    # A constant column tells no row from another, so no predicate is about it.
    assert not any("site" in word for point in range(8) for word in words_at(grid, point))


def test_every_predicate_is_what_its_box_says(mixed):
    grid, rows = grid_of(mixed)
    for predicate, fulfils in zip(grid.predicates, grid.fulfils, strict=True):
        np.testing.assert_array_equal(grid.box((predicate,)).contains(rows.values), fulfils)
        assert 0 < fulfils.sum() < len(fulfils)


def test_joined_predicates_are_what_their_box_says(mixed):
    grid, rows = grid_of(mixed)
    for point in range(20):
        lines = grid.predicates_of(point)
        rule = ()
        for line in lines:
            rule = extend(rule, grid.predicates[line]) or rule
        np.testing.assert_array_equal(grid.box(rule).contains(rows.values), grid.fulfils[lines].all(axis=0))


def test_equal_rules_have_equal_keys():
    over, under, all_over = (0, 0b1110), (1, 0b0011), (0, 0b1100)
    assert extend(extend((), over), under) == extend(extend((), under), over)
    assert extend(extend((), over), all_over) == extend((), all_over)
    assert extend(extend((), all_over), over) is None


@pytest.mark.parametrize(
    ("values", "n_bins", "expected"),
    [
        (np.arange(100.0), 4, [24, 49, 74]),
        (np.arange(100.0), 2, [49]),
        (np.array([5.0] * 10), 4, []),
        (np.array([0.0] * 9 + [1.0]), 4, [0.0]),
        (np.array([np.nan] * 3), 4, []),
    ],
)
def test_edges(values, n_bins, expected):
    feature = Feature("x", Kind.INTEGER, "int64", lower=0, upper=100, missing=True)
    assert quantile_edges(values, n_bins, feature).tolist() == expected
