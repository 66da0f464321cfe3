"""Groups of candidates that overlap."""

import numpy as np

from oleander.selection.formulations import plain_model
from oleander.selection.grouping import group_candidates


def test_groups_hold_what_overlaps():
    covers = np.kron(np.eye(3), np.ones((4, 10))) * (np.random.default_rng(1).random((12, 30)) < 0.6)
    label = group_candidates(plain_model(covers, 3), np.array([0, 4, 8]), max_chosen=1)
    assert label.tolist() == np.repeat(np.arange(3), 4).tolist()
