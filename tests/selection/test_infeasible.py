"""Infeasible problems are explained by how far a choice could get."""

import numpy as np

from oleander.selection import SelectionProblem
from tests.selection.making import overlapping


def test_an_unreachable_group_is_named():
    covers = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0]], dtype=bool)
    problem = SelectionProblem(covers, covers, groups=["a", "a", "b", "b", "b"])
    result = problem.solve(1, min_group_coverage={"b": 0.6})
    assert result.status == "infeasible"
    assert "0.6 of group 'b', 1.8 of 3" in result.message
    assert "at most 1 (0.333) can be reached" in result.message


def test_groups_that_exclude_each_other_are_named():
    covers = np.eye(2, dtype=bool)
    result = SelectionProblem(covers, covers, groups=["a", "b"]).solve(1, min_group_coverage=1.0)
    assert result.status == "infeasible"
    assert "not for all groups at once" in result.message


EYE = np.eye(3, dtype=bool)


def test_a_floor_out_of_reach_names_the_best_fidelity():
    covers = np.ones((2, 8), dtype=bool)
    agrees = np.vstack([np.arange(8) < 4, np.arange(8) < 7])
    result = SelectionProblem(covers, agrees).solve(1, 0.95)
    assert result.status == "infeasible"
    assert result.message.startswith("min_fidelity=0.95 leaves no candidate: the best of 2 reaches 0.875.")
    assert (result.objective, result.bound, len(result.chosen), result.covered.any()) == (0.0, 0.0, 0, False)


def test_excluding_every_candidate_is_named():
    result = SelectionProblem(EYE, EYE).solve(1, must_exclude=[0, 1, 2])
    assert result.message == "must_exclude leaves no candidate: it names all 3 that reach the floor."


def test_a_floor_over_the_union_out_of_reach_names_the_best():
    covers = np.ones((1, 8), dtype=bool)
    result = SelectionProblem(covers, np.arange(8)[None, :] < 6).solve(1, 0.5, union_fidelity=0.95)
    assert result.status == "infeasible"
    assert result.message.startswith(
        "union_fidelity=0.95 leaves no choice: the best of 1 candidates reaches 0.75 alone"
    )
    assert (result.objective, result.bound, len(result.chosen)) == (0.0, 0.0, 0)


def test_must_include_can_make_the_floor_impossible():
    covers, agrees = overlapping()
    problem = SelectionProblem(covers, agrees, groups=np.arange(16) < 12)
    for solver in ("auto", "highs", "exhaustive"):
        result = problem.solve(2, 0.9, union_fidelity=0.9, must_include=[0, 1], solver=solver)
        assert result.status == "infeasible"
        assert "must_include is wrong on 2 by itself" in result.message
    minima = problem.solve(3, 0.9, union_fidelity=0.9, min_group_coverage={True: 0.9})
    assert "min_group_coverage can be met without it" in minima.message
    unreachable = problem.solve(3, 0.9, union_fidelity=0.9, min_group_coverage={False: 0.9})
    assert "at most 3 (0.75) can be reached" in unreachable.message
