import json
import tracemalloc

import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.rules import Ball, Box, Region, membership
from oleander.rules.conditions import Levels, Range


def test_membership_is_contains_region_by_region(mixed, mixed_schema):
    rows = mixed_schema.encode(mixed)
    regions: list[Region] = [Ball(mixed_schema, row, r) for row in rows[:20] for r in (0.5, 1.0, 2.0)]
    # Two balls in a row around one center, which differ in scales alone.
    regions += [Ball(mixed_schema, rows[19], 2.0, scales=np.full(4, length)) for length in (1.0, 3.0)]
    regions += [Box((Range(0, mixed_schema[0], lower=70), Levels(3, mixed_schema[3], frozenset({0, 2})))), Box(())]
    matrix = membership(regions, rows)
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
    answer = matrix.words.nbytes
    assert peak < 3 * rows.nbytes + 3 * answer


@pytest.mark.parametrize("norm", [2.0, np.inf])
def test_regions_round_trip_through_json(mixed, mixed_schema, norm):
    rows = mixed_schema.encode(mixed)
    for region in (
        Ball(mixed_schema, rows[3], 1.25, 2, norm),
        Ball(mixed_schema, rows[3], 1.25, 2, norm, np.array([0.5, 3.0, 20.0, 1.0])),
        Box((Range(5, mixed_schema[5], lower=1.0, missing=True),)),
    ):
        back = Region.read(json.loads(json.dumps(region.write(), allow_nan=False)), mixed_schema)
        np.testing.assert_array_equal(back.contains(rows), region.contains(rows))
        assert back.describe() == region.describe()


def test_an_unknown_region_is_refused(mixed_schema):
    with pytest.raises(ValueError, match="region 'blob' is not known"):
        Region.read({"region": "blob"}, mixed_schema)


@pytest.mark.parametrize("scales", [[1.0], [1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, float("nan")], [[1.0] * 4]])
def test_bad_scales_are_refused(mixed, mixed_schema, scales):
    data = Ball(mixed_schema, mixed_schema.encode(mixed)[3], 1.25).write()
    with pytest.raises(ValueError, match="scales"):
        Region.read({**data, "scales": scales}, mixed_schema)
