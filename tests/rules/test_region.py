import json

import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.rules import Ball, Box, Region, membership
from oleander.rules.conditions import Levels, Range


def test_membership_is_contains_region_by_region(mixed, mixed_schema):
    rows = mixed_schema.encode(mixed)
    regions: list[Region] = [Ball(mixed_schema, row, r) for row in rows[:20] for r in (0.5, 1.0, 2.0)]
    # Two balls in a row around one center, which differ in units alone.
    center = rows[19]
    regions += [Ball(mixed_schema, center, 2.0, is_raw=is_raw) for is_raw in (True, False)]
    regions += [Box((Range(0, mixed_schema[0], lower=70), Levels(3, mixed_schema[3], frozenset({0, 2})))), Box(())]
    matrix = membership(regions, rows)
    np.testing.assert_array_equal(matrix.toarray(), [region.contains(rows) for region in regions])


def test_regions_round_trip_through_json(mixed, mixed_schema):
    rows = mixed_schema.encode(mixed)
    for region in (
        Ball(mixed_schema, rows[3], 1.25, 2),
        Ball(mixed_schema, rows[3], 1.25, 2, is_raw=True),
        Box((Range(5, mixed_schema[5], lower=1.0, missing=True),)),
    ):
        back = Region.read(json.loads(json.dumps(region.write(), allow_nan=False)), mixed_schema)
        np.testing.assert_array_equal(back.contains(rows), region.contains(rows))
        assert back.describe() == region.describe()


def test_an_unknown_region_is_refused(mixed_schema):
    with pytest.raises(ValueError, match="region 'blob' is not known"):
        Region.read({"region": "blob"}, mixed_schema)


def test_a_box_reads_as_its_conditions(mixed_schema):
    old, red = Range(1, mixed_schema[1], lower=60), Levels(3, mixed_schema[3], frozenset({2}), missing=True)
    assert Box((old, red)).describe() == "age > 60 and (colour is red or missing)"
    assert Box(()).describe() == "everywhere"


def distance_by_hand(schema, one, other, scales):
    """The metric written out cell by cell."""
    steps, flips = [], 0
    lengths = dict(zip(schema.numbers, scales, strict=True))
    for j, (feature, a, b) in enumerate(zip(schema, one, other, strict=True)):
        if np.isnan(a) and np.isnan(b):
            continue
        if np.isnan(a) or np.isnan(b):
            flips += 1
        elif feature.is_number:
            steps.append(abs(a - b) / lengths[j])
        else:
            flips += a != b
    steps = np.array(steps or [0.0])
    return steps.max(), flips


@pytest.mark.parametrize("is_raw", [False, True])
def test_distance_is_the_metric(mixed, mixed_schema, is_raw):
    rows = mixed_schema.encode(mixed)[:60]
    lengths = np.ones(4) if is_raw else mixed_schema.scales
    for center in rows[:10]:
        distances, flips = Ball(mixed_schema, center, 1.0, is_raw=is_raw).distances(rows)
        by_hand = [distance_by_hand(mixed_schema, center, row, lengths) for row in rows]
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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ", at most 1 of 6 levels or missing values differing"),
        ({"max_flips": 7, "is_raw": True}, " in their own units, at any level"),
    ],
)
def test_the_words_of_a_ball_leave_out_its_center(mixed, mixed_schema, options, words):
    ball = Ball(mixed_schema, mixed_schema.encode(mixed)[0], 1.5, **options)
    assert ball.describe() == f"within 1.5 of its center along 4 numbers{words}"


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"radius": -1.0}, "radius=-1.0 is not allowed"),
        ({"radius": np.nan}, "radius=nan is not allowed"),
        ({"radius": 1.0, "max_flips": -1}, "max_flips=-1 is not allowed"),
        ({"radius": 1.0, "center": np.zeros(3)}, r"the center has shape \(3,\), and the schema 9 columns"),
    ],
)
def test_balls_that_cannot_be(mixed_schema, about, message):
    with pytest.raises(ValueError, match=message):
        Ball(mixed_schema, **{"center": np.zeros(9), **about})
