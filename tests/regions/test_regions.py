import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.data.merging import merge_rows
from oleander.data.schema import FeatureSchema
from oleander.regions import Ball, Box, Region, membership, read_region
from oleander.regions.conditions import Levels, Range


def distance_by_hand(schema, one, other, norm):
    """The metric written out cell by cell."""
    steps, flips = [], 0
    for feature, a, b in zip(schema, one, other, strict=True):
        if np.isnan(a) and np.isnan(b):
            continue
        if np.isnan(a) or np.isnan(b):
            flips += 1
        elif feature.is_number:
            steps.append(abs(a - b) / feature.scale)
        else:
            flips += a != b
    steps = np.array(steps or [0.0])
    return (steps.max() if np.isinf(norm) else (steps**norm).sum() ** (1 / norm)), flips


@pytest.mark.parametrize("norm", [1, 2, 3.5, np.inf])
def test_distance_is_the_metric(mixed, mixed_schema, norm):
    rows = mixed_schema.encode(mixed)[:60]
    for center in rows[:10]:
        distances, flips = Ball(mixed_schema, center, 1.0, norm=norm).distances(rows)
        by_hand = [distance_by_hand(mixed_schema, center, row, norm) for row in rows]
        np.testing.assert_allclose(distances, [d for d, _ in by_hand])
        np.testing.assert_array_equal(flips, [f for _, f in by_hand])


def test_max_flips_defaults_to_the_whole_part_of_the_radius(mixed, mixed_schema):
    rows = mixed_schema.encode(mixed)
    inside = Ball(mixed_schema, rows[0], 2.7).contains(rows)
    np.testing.assert_array_equal(inside, Ball(mixed_schema, rows[0], 2.7, max_flips=2).contains(rows))
    assert inside.sum() > Ball(mixed_schema, rows[0], 2.7, max_flips=1).contains(rows).sum()


def test_a_row_on_the_border_is_inside():
    X = np.array([[0.1], [0.4], [0.7]])
    schema = FeatureSchema.infer(X, scale="none")
    # 0.4 - 0.1 is a little over 0.3 in floating point.
    assert Ball(schema, schema.encode(X)[0], 0.3).contains(schema.encode(X)).tolist() == [True, True, False]


def test_membership_is_contains_region_by_region(mixed, mixed_schema):
    rows = mixed_schema.encode(mixed)
    regions: list[Region] = [Ball(mixed_schema, row, r) for row in rows[:20] for r in (0.5, 1.0, 2.0)]
    regions += [Box((Range(0, mixed_schema[0], lower=70), Levels(3, mixed_schema[3], frozenset({0, 2})))), Box(())]
    matrix = membership(regions, rows)
    assert matrix.dtype == bool
    assert matrix.has_sorted_indices
    np.testing.assert_array_equal(matrix.toarray(), [region.contains(rows) for region in regions])


def test_membership_stays_small():
    """No array of regions × rows × features, nor of regions × rows."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(4000, 11)), rng.integers(0, 2, size=(4000, 20))])
    schema = FeatureSchema.infer(X)
    rows = schema.encode(X)
    balls = [Ball(schema, row, 1.0, 5) for row in rows[:400]]
    tracemalloc.start()
    matrix = membership(balls, rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    answer = matrix.nnz * 13 + 8 * 401
    assert peak < 3 * rows.nbytes + 3 * answer


def test_box_reads_as_a_sentence(mixed_schema):
    box = Box((Range(1, mixed_schema[1], lower=60), Levels(3, mixed_schema[3], frozenset({2}))))
    assert box.describe() == "age > 60 and colour is red"
    assert Box(()).describe() == "everywhere"


def test_a_balls_words_do_not_tell_its_center(mixed, mixed_schema):
    words = Ball(mixed_schema, mixed_schema.encode(mixed)[0], 1.5).describe()
    assert words == "within 1.5 of its center along 4 numbers, at most 1 of 5 levels differing"


@pytest.mark.parametrize("norm", [2.0, np.inf])
def test_regions_round_trip_through_json(mixed, mixed_schema, norm):
    rows = mixed_schema.encode(mixed)
    for region in (
        Ball(mixed_schema, rows[3], 1.25, 2, norm),
        Box((Range(5, mixed_schema[5], lower=1.0, missing=True),)),
    ):
        back = read_region(json.loads(json.dumps(region.to_dict(), allow_nan=False)), mixed_schema)
        np.testing.assert_array_equal(back.contains(rows), region.contains(rows))
    with pytest.raises(ValueError, match="region 'blob' is not known"):
        read_region({"region": "blob"}, mixed_schema)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"radius": -1.0}, "radius=-1.0 is not allowed"),
        ({"radius": np.nan}, "radius=nan is not allowed"),
        ({"radius": 1.0, "max_flips": -1}, "max_flips=-1 is not allowed"),
        ({"radius": 1.0, "norm": 0.5}, "norm=0.5 is not allowed"),
        ({"radius": 1.0, "center": np.zeros(3)}, r"the center has shape \(3,\), and the schema 9 columns"),
    ],
)
def test_balls_that_cannot_be(mixed_schema, about, message):
    with pytest.raises(ValueError, match=message):
        Ball(mixed_schema, **{"center": np.zeros(9), **about})


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([0.0, -0.0, 1.0, float("nan")])] * 2), min_size=1, max_size=12))
def test_merging_keeps_every_row(records):
    rows = np.array(records)
    first, weights, point_of_row = merge_rows(rows)
    np.testing.assert_array_equal(rows[first][point_of_row], rows)
    np.testing.assert_array_equal(np.bincount(point_of_row), weights)
    assert len(first) == len({tuple("nan" if np.isnan(v) else v + 0.0 for v in row) for row in rows})
    assert (np.diff(first) > 0).all()
