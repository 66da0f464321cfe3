"""The rows of the mixed-integer program."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from oleander.selection.formulations import plain_model
from oleander.selection.solvers.program import Cuts, points_with_mistakes


@pytest.mark.parametrize("seed", range(15))
def test_every_choice_keeps_every_cut(seed, instance):
    rows = instance(seed)
    wrong = rows.covers & ~rows.agrees
    model = replace(plain_model(rows.covers, 8), wrong=sparse.csr_array(wrong.astype(float)), union_fidelity=0.8)
    points = points_with_mistakes(model)
    cuts = Cuts(np.repeat(np.arange(12), len(points)), np.tile(points, 12))
    matrix = np.hstack([block.toarray() for block in cuts.rows(model)])
    for mask in product([False, True], repeat=8):
        chosen = np.array(mask)
        unions = rows.covers[chosen].any(axis=0), wrong[chosen].any(axis=0)[points]
        assert (matrix @ np.concatenate([chosen, *unions]) <= 0).all()
