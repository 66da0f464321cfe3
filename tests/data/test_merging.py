import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

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
