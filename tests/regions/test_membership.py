import tracemalloc

import numpy as np

from oleander.data.schema import FeatureSchema
from oleander.regions import Ball, Box, Region, membership
from oleander.regions.conditions import Levels, Range


def test_membership_is_contains_region_by_region(mixed, mixed_schema):
    rows = mixed_schema.encode(mixed)
    regions: list[Region] = [Ball(mixed_schema, row, r) for row in rows[:20] for r in (0.5, 1.0, 2.0)]
    # Two balls in a row around one center, which differ in scales alone.
    regions += [Ball(mixed_schema, rows[19], 2.0, scales=np.full(4, length)) for length in (1.0, 3.0)]
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
