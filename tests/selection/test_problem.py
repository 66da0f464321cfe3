"""Statements of a problem: bad values are named, and no solver is loaded."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from oleander.selection import SelectionProblem
from oleander.selection.model import pack_matrix

EYE = np.eye(3, dtype=bool)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_explainers": 0}, "max_explainers=0 is not allowed"),
        ({"max_explainers": 1.5}, "max_explainers=1.5 is not allowed"),
        ({"min_fidelity": 0.0}, "min_fidelity=0.0 is not allowed"),
        ({"min_fidelity": 1.01}, "min_fidelity=1.01 is not allowed"),
        ({"min_fidelity": float("nan")}, "min_fidelity=nan is not allowed"),
        ({"formulation": "loose"}, "formulation='loose' is not known"),
        ({"solver": "simplex"}, "solver='simplex' is not known"),
        ({"start": [5]}, "start does not name candidates: give indices from 0 to 2"),
        ({"start": [0.5]}, "start does not name candidates"),
        ({"tentative": [True]}, "or a boolean mask with one entry for each of 3"),
        ({"gap": -0.1}, "must not be negative"),
    ],
)
def test_invalid_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SelectionProblem(EYE, EYE).solve(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"covers": EYE, "agrees": EYE[:2]}, r"covers has shape \(3, 3\) and agrees has shape \(2, 3\)"),
        ({"covers": EYE, "agrees": ~EYE}, "agrees has 6 entries outside covers, the first at candidate 0, point 1"),
        ({"covers": EYE[:0], "agrees": EYE[:0]}, "at least one candidate and one point"),
        ({"covers": EYE * 2, "agrees": EYE}, "covers has entries other than 0 and 1"),
        ({"covers": EYE, "agrees": EYE, "weights": [1, -1, 1]}, r"weights\[1\] is -1.0"),
        ({"covers": EYE, "agrees": EYE, "weights": [1, np.nan, 1]}, r"weights\[1\] is nan"),
        ({"covers": EYE, "agrees": EYE, "weights": [1, 0.5, 1]}, "need to be whole numbers"),
        ({"covers": EYE, "agrees": EYE, "weights": [0, 0, 0]}, "every weight is 0"),
        ({"covers": EYE, "agrees": EYE, "weights": [1, 2**31 - 2, 1]}, "weights add up to 2.15e\\+09"),
        ({"covers": EYE, "agrees": EYE, "weights": [1, 1]}, "one entry for each of 3 points"),
        ({"covers": EYE, "agrees": EYE, "fidelity": [1, 0, 2]}, r"fidelity\[2\] is 2.0"),
        ({"covers": EYE, "agrees": EYE, "fidelity": [1, 0]}, "one entry for each of 3 candidates"),
    ],
)
def test_invalid_problems_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SelectionProblem(**arguments)


def test_every_kind_of_matrix_is_taken():
    for kind in (
        np.asarray,
        sparse.csr_array,
        sparse.csc_matrix,
        sparse.coo_array,
        pack_matrix,
        lambda rows: rows.astype(int),
    ):
        assert SelectionProblem(kind(EYE), kind(EYE)).solve(2).objective == 2.0


def test_the_caller_may_pass_the_fidelity():
    problem = SelectionProblem(EYE, EYE, fidelity=[0.8, 0.95, 0.2])
    assert problem.solve(3, 0.9).chosen.tolist() == [1]
    with pytest.raises(ValueError, match="fidelity is for the strict formulation only"):
        problem.solve(3, 0.9, formulation="selective")


def test_points_without_weight_do_not_matter():
    for formulation in ("strict", "selective"):
        result = SelectionProblem(EYE, EYE, [0, 1, 2]).solve(1, formulation=formulation)
        assert (result.objective, result.chosen.tolist(), result.coverage) == (2.0, [2], 2 / 3)
    # One that a candidate may count, too.
    problem = SelectionProblem(np.ones((1, 10)), np.arange(10)[None, :] < 6, np.arange(10) != 9)
    for solver in ("auto", "highs"):
        result = problem.solve(1, 0.75, formulation="selective", solver=solver)
        assert (result.objective, result.status) == (8.0, "optimal")


def test_more_explainers_than_candidates_takes_them_all():
    assert SelectionProblem(EYE, EYE).solve(10).chosen.tolist() == [0, 1, 2]


def test_a_column_of_a_frame_may_have_any_name():
    covers = pd.DataFrame({"words": [1, 0], "entries_of": [1, 1]})
    assert SelectionProblem(covers, covers).solve(1).chosen == (0,)


def test_many_memberships_take_a_bit_each():
    rng = np.random.default_rng(0)
    covers = rng.random((300, 20_000)) < 0.3
    agrees = covers & (rng.random(covers.shape) < 0.99)
    tracemalloc.start()
    try:
        problem = SelectionProblem(covers, agrees)
        stated, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        problem.solve(10, 0.9, solver="quick")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    bits = covers.size / 8
    assert stated < 3 * bits
    assert peak < 12 * bits + 100e6
