"""The rows on the page: bounded in number, on a grid, and without the ends of columns."""

import numpy as np
import pytest

from oleander.data.schema import Feature, FeatureSchema, Kind
from oleander.data.tolerance import Tolerance
from oleander.report.columns import typical_row, usual_range
from oleander.report.rows import (
    FEWEST_IN_RANGE,
    GRID,
    MOST_POINTS,
    Shown,
    _left_out,
    describe_band,
    describe_map,
    describe_overlaps,
)

AGE = Feature("age", Kind.INTEGER, "int64", lower=0, upper=1000)


def make_map(values, labels=None, codes=None):
    schema = FeatureSchema.infer(values)
    return describe_map(schema, Shown(values, labels, {}), codes or {})


def test_the_map_has_a_bounded_number_of_points_on_a_grid():
    values = np.random.default_rng(0).normal(size=(MOST_POINTS + 100, 3))
    content = make_map(values)
    places = np.array(content["points"])
    assert content["n_rows"] == MOST_POINTS + 100
    assert places.shape == (MOST_POINTS, 2)
    assert places.dtype.kind == "i"
    assert (places >= 0).all()
    assert (places <= GRID).all()
    assert "rows" not in content


def test_directions_are_named_by_the_columns_that_change_along_them():
    rng = np.random.default_rng(0)
    steep = rng.normal(size=500)
    values = np.column_stack([steep, -steep + rng.normal(scale=0.05, size=500), rng.normal(size=500)])
    across, up = make_map(values)["axes"]
    assert {name.split()[1] for name in across} == {"x0", "x1"}
    assert {name.split()[0] for name in across} == {"more", "less"}
    assert [name.split()[1] for name in up] == ["x2"]


def test_labels_are_there():
    values = np.array([[0.5, 1.5], [1.5, 2.5], [2.5, 0.25]])
    assert make_map(values, np.array(["b", "a", "b"]), {"a": 0, "b": 1})["labels"] == [1, 0, 1]


def test_a_single_column_has_places():
    assert np.array(make_map(np.arange(20.0)[:, None])["points"]).shape == (20, 2)


def test_the_typical_row_is_rounded():
    values = np.array([[0.123456, 1.0], [0.123456, 0.0], [5.0, 1.0]])
    schema = FeatureSchema.infer(values)
    assert typical_row(schema, values).tolist() == [0.123, 1.0]
    # Without rows, the middle of the bounds, 0 and 5.
    assert typical_row(schema, None).tolist() == [2.5, 0.0]


@pytest.mark.parametrize(
    ("feature", "values", "expected"),
    [
        (AGE, np.arange(1001.0), "50 to 950"),
        # The tail of so few rows would be about single rows.
        (AGE, np.arange(99.0), ""),
        (AGE, np.where(np.arange(1001) < 300, np.nan, 40.0), "40 to 40"),
        (Feature("sex", Kind.BINARY, "str", levels=("F", "M")), np.ones(1000), ""),
        (
            Feature("seen", Kind.DATE, "datetime64[s]", upper=20000),
            18262 + np.arange(1001.0),
            "2020-03-01 to 2022-09-01",
        ),
    ],
)
def test_a_range_leaves_out_the_ends(feature, values, expected):
    assert usual_range(feature, values) == expected


def test_ranges_of_numbers_stand_in_the_order_of_the_numbers():
    values = np.random.default_rng(0).uniform(size=(300, 2))
    shown = Shown(values, 20 * values[:, 0] - 5, {}, tolerance=Tolerance(1.5))
    content = _left_out(FeatureSchema.infer(values), shown, np.ones(300, dtype=bool), None)
    names = [line["value"] for line in content["by"][0]["lines"]]
    assert names[0].startswith("up to ")
    assert names[-1].startswith("over ")
    starts = [float(name.split()[0]) for name in names[1:-1]]
    assert starts == sorted(starts)
    assert len(starts) >= 2


def test_ranges_hold_quantiles_of_many_rows():
    rng = np.random.default_rng(0)
    truth = rng.uniform(0, 100, 600)
    answers = truth + rng.normal(size=600)
    answered = truth > 10
    band = describe_band(answers, Shown(truth[:, None], truth, {}, tolerance=Tolerance(2.0)), answered)
    assert band["n"] == answered.sum()
    assert len(band["ranges"]) == 12
    models = [one[0] for one in band["ranges"]]
    assert models == sorted(models)
    for model, low, middle, high in band["ranges"]:
        assert low < middle < high
        assert abs(middle - model) < 5


@pytest.mark.parametrize("truth", [np.arange(2.0 * FEWEST_IN_RANGE - 1), np.full(100, 3.0)])
def test_few_rows_or_one_answer_have_no_band(truth):
    shown = Shown(truth[:, None], truth, {}, tolerance=Tolerance(1.0))
    assert describe_band(truth, shown, np.ones(len(truth), dtype=bool)) is None


def test_overlaps_are_counts_of_rows_and_hide_few():
    rng = np.random.default_rng(0)
    covers = rng.random((6, 200)) < np.array([0.6, 0.5, 0.3, 0.02, 0.01, 0.0])[:, None]
    for number, found in enumerate(describe_overlaps(covers)):
        others = np.delete(covers, number, axis=0)
        exact = {"n": covers[number].sum(), "alone": (covers[number] & ~others.any(axis=0)).sum()}
        for name, count in exact.items():
            assert found[name] == (None if 0 < count < 5 else count)
        for other, n_rows in found["with"]:
            assert n_rows == (covers[number] & covers[other]).sum() >= 5
        assert len(found["with"]) <= 3
