import tracemalloc

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.data import merging
from oleander.data.merging import merge_rows


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([0.0, -0.0, 1.0, float("nan")])] * 2), min_size=1, max_size=12))
def test_merging_keeps_every_row(records):
    rows = np.array(records)
    first, weights, point_of_row = merge_rows(rows)
    np.testing.assert_array_equal(rows[first][point_of_row], rows)
    np.testing.assert_array_equal(np.bincount(point_of_row), weights)
    assert len(first) == len({tuple("nan" if np.isnan(v) else v + 0.0 for v in row) for row in rows})
    assert (np.diff(first) > 0).all()


def test_rows_whose_hashes_collide_stay_apart(monkeypatch):
    monkeypatch.setattr(merging, "FACTOR", np.uint64(0))
    first, weights, point_of_row = merge_rows(np.array([[2.0, 1.0], [0.0, 1.0], [2.0, 1.0]]))
    assert (first.tolist(), weights.tolist(), point_of_row.tolist()) == ([0, 1], [2, 1], [0, 1, 0])


def test_merging_does_not_copy_the_rows():
    rows = np.random.default_rng(0).integers(0, 9, size=(20_000, 60)).astype(float)
    tracemalloc.start()
    try:
        merge_rows(rows)
        assert tracemalloc.get_traced_memory()[1] < 1.5 * rows.nbytes
    finally:
        tracemalloc.stop()
