"""Groups behind the memberships of candidates, against a count candidate by candidate."""

import numpy as np
import pytest

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
    counter = GroupCounter(rows)
    for line in inside:
        points = np.flatnonzero(line)
        right = rng.random(len(points)) < 0.7
        shares = []
        for group in np.unique(groups[points]):
            own = groups[points] == group
            shares.append(weights[points[own & right]].sum() / weights[points[own]].sum())
        assert counter.count(points, np.ones(len(points), dtype=bool)) == len(shares)
        assert counter.count(points, right) == pytest.approx(sum(shares))
