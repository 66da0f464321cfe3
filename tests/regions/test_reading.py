import json

import numpy as np
import pytest

from oleander.regions import Ball, Box, read_region
from oleander.regions.conditions import Range


@pytest.mark.parametrize("norm", [2.0, np.inf])
def test_regions_round_trip_through_json(mixed, mixed_schema, norm):
    rows = mixed_schema.encode(mixed)
    for region in (
        Ball(mixed_schema, rows[3], 1.25, 2, norm),
        Ball(mixed_schema, rows[3], 1.25, 2, norm, np.array([0.5, 3.0, 20.0, 1.0])),
        Box((Range(5, mixed_schema[5], lower=1.0, missing=True),)),
    ):
        back = read_region(json.loads(json.dumps(region.to_dict(), allow_nan=False)), mixed_schema)
        np.testing.assert_array_equal(back.contains(rows), region.contains(rows))
        assert back.describe() == region.describe()


def test_an_unknown_region_is_refused(mixed_schema):
    with pytest.raises(ValueError, match="region 'blob' is not known"):
        read_region({"region": "blob"}, mixed_schema)


@pytest.mark.parametrize("scales", [[1.0], [1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, float("nan")], [[1.0] * 4]])
def test_bad_scales_are_refused(mixed, mixed_schema, scales):
    data = Ball(mixed_schema, mixed_schema.encode(mixed)[3], 1.25).to_dict()
    with pytest.raises(ValueError, match="scales"):
        read_region({**data, "scales": scales}, mixed_schema)
