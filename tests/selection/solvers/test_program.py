"""The rows of the mixed-integer program."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from oleander.selection.formulations import plain_model
from oleander.selection.solvers.program import Cuts, linear_program, points_with_mistakes
from tests.selection.making import make_instance


@pytest.mark.parametrize("seed", range(15))
def test_every_choice_keeps_every_cut(seed):
    rows = make_instance(seed)
    wrong = rows.covers & ~rows.agrees
    model = replace(plain_model(rows.covers, 8), wrong=sparse.csr_array(wrong.astype(float)), union_fidelity=0.8)
    points = points_with_mistakes(model)
    cuts = Cuts(np.repeat(np.arange(12), len(points)), np.tile(points, 12))
    matrix = np.hstack([block.toarray() for block in cuts.rows(model)])
    for mask in product([False, True], repeat=8):
        chosen = np.array(mask)
        unions = rows.covers[chosen].any(axis=0), wrong[chosen].any(axis=0)[points]
        assert (matrix @ np.concatenate([chosen, *unions]) <= 0).all()


@pytest.mark.parametrize(
    ("weights", "unit", "is_whole"),
    [([1, 2, 3], 1.0, True), ([4, 6, 8], 0.5, True), ([1e6, 1, 1], None, False), ([1e-9, 2e-9, 1e-3], None, False)],
)
def test_weights_are_brought_to_the_scale_of_the_solver(weights, unit, is_whole):
    model = plain_model(np.eye(3), 2, weights)
    program = linear_program(model, cutoff=float(sum(weights)))
    total = program.cost.sum()
    assert program.is_whole == is_whole
    assert program.unit == unit or (unit is None and 2**20 <= total < 2**21)
    # A power of two, or a whole divisor, changes no digit of a weight.
    assert (program.cost[3:] / program.unit).tolist() == [float(weight) for weight in weights]
    assert program.row_lower[-1] == pytest.approx(total)
