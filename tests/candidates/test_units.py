"""Groups behind the memberships of candidates, against a count candidate by candidate."""

import numpy as np
from scipy.sparse import csr_array

from oleander.candidates.units import GroupCounter
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema


def test_groups_count_by_their_share_of_rows():
    rng = np.random.default_rng(0)
    n_points, n_candidates = 60, 7
    X = rng.normal(size=(n_points, 2))
    weights, groups = rng.integers(1, 4, size=n_points), rng.choice(["a", "b", "c", "d", "e"], size=n_points)
    point_of_row = np.repeat(np.arange(n_points), weights)
    rows = Rows(FeatureSchema.infer(X), X, weights, point_of_row, np.zeros(n_points), groups)
    inside = rng.random((n_candidates, n_points)) < 0.2
    inside[3] = False
    covers = csr_array(inside)
    is_judged, is_right = rng.random((2, covers.nnz)) < 0.7
    expected_units, expected_right = [], []
    start = 0
    for line in inside:
        points = np.flatnonzero(line)
        judged, right = (mask[start : start + len(points)] for mask in (is_judged, is_right))
        start += len(points)
        shares = []
        for group in np.unique(groups[points[judged]]):
            own = judged & (groups[points] == group)
            shares.append(weights[points[own & right]].sum() / weights[points[own]].sum())
        expected_units.append(len(shares))
        expected_right.append(sum(shares))
    counter = GroupCounter(covers, rows, is_judged)
    np.testing.assert_allclose(counter.count(is_judged), expected_units)
    np.testing.assert_allclose(counter.count(is_right), expected_right)
