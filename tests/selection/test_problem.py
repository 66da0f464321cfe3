"""Statements of a problem: constraints that contradict each other are named, and no solver is loaded."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from oleander import arrays
from oleander.selection import SelectionProblem
from tests.selection.making import make_instance

EYE = np.eye(3, dtype=bool)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_explainers": 0}, "max_explainers=0 is not allowed"),
        ({"max_explainers": 1.5}, "max_explainers=1.5 is not allowed"),
        ({"min_fidelity": 0.0}, "min_fidelity=0.0 is not a share"),
        ({"min_fidelity": 1.01}, "min_fidelity=1.01 is not a share"),
        ({"min_fidelity": float("nan")}, "min_fidelity=nan is not a share"),
        ({"min_coverage": 1.2}, "min_coverage=1.2 is not a share"),
        ({"formulation": "loose"}, "formulation='loose' is not known"),
        ({"solver": "simplex"}, "solver='simplex' is not known"),
        ({"must_include": [5]}, "must_include names candidate 5, but there are 3"),
        ({"must_include": [0.5]}, "must_include has entries of type float64"),
        ({"must_exclude": [True]}, r"must_exclude is a mask of shape \(1,\)"),
        ({"must_include": [1], "must_exclude": [1]}, "candidate 1 is in must_include and in must_exclude"),
        ({"must_include": [0, 1], "max_explainers": 1}, "must_include takes 2 and max_explainers allows 1"),
        ({"budget": 2.0}, "budget needs a cost"),
        ({"min_group_coverage": 0.5}, "min_group_coverage needs groups"),
        ({"gap": -0.1}, "must not be negative"),
    ],
)
def test_invalid_constraints_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SelectionProblem(EYE, EYE).solve(**arguments)


def test_constraints_that_need_more_input_are_refused():
    problem = SelectionProblem(EYE, EYE, cost=[1, 2, 3], groups=["a", "a", "b"])
    with pytest.raises(ValueError, match="budget stands instead of max_explainers"):
        problem.solve(2, budget=2.0)
    with pytest.raises(ValueError, match="must_include takes 5 and budget allows 4"):
        problem.solve(budget=4.0, must_include=[1, 2])
    with pytest.raises(ValueError, match="budget=0 is not allowed"):
        problem.solve(budget=0)
    with pytest.raises(ValueError, match="names the group 'c', which has no point: groups are 'a', 'b'"):
        problem.solve(1, min_group_coverage={"c": 0.5})
    with pytest.raises(ValueError, match=r"min_group_coverage is 2\.0 for group 'a'"):
        problem.solve(1, min_group_coverage=2.0)
    with pytest.raises(ValueError, match="solver='greedy' cannot deal with groups"):
        problem.solve(1, min_group_coverage=0.1, solver="greedy")


def test_a_forced_candidate_under_the_floor_is_refused():
    problem = SelectionProblem(np.ones((2, 2), dtype=bool), [[True, True], [True, False]])
    with pytest.raises(ValueError, match=r"candidate 1, whose fidelity 0.5 is under min_fidelity=0.9"):
        problem.solve(1, 0.9, must_include=[1])


def test_the_caller_may_pass_the_fidelity():
    problem = SelectionProblem(EYE, EYE, fidelity=[0.8, 0.95, 0.2])
    assert problem.solve(3, 0.9).chosen.tolist() == [1]
    with pytest.raises(ValueError, match="fidelity stands for the strict formulation only"):
        problem.solve(3, 0.9, formulation="selective")


def test_points_without_weight_do_not_matter():
    for formulation in ("strict", "selective"):
        result = SelectionProblem(EYE, EYE, [0, 1, 2]).solve(1, formulation=formulation)
        assert (result.objective, result.chosen.tolist(), result.coverage) == (2.0, [2], 2 / 3)


def test_more_explainers_than_candidates_takes_them_all():
    assert SelectionProblem(EYE, EYE).solve(10).chosen.tolist() == [0, 1, 2]


@pytest.mark.slow
def test_stating_a_problem_loads_no_solver():
    code = (
        "import sys, numpy as np\n"
        "from oleander.selection import SelectionProblem\n"
        "SelectionProblem(np.eye(2), np.eye(2))\n"
        "print([m for m in sys.modules if m == 'highspy' or 'selection.solvers.' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "options",
    [
        {"max_explainers": 3},
        {"max_explainers": 3, "solver": "highs"},
        {"max_explainers": 4, "union_fidelity": 0.9, "min_fidelity": 0.5},
        {"budget": 7.0},
        {"max_explainers": 3, "formulation": "selective"},
        {"max_explainers": 3, "must_include": [0]},
        {"max_explainers": 3, "min_group_coverage": 0.1},
        {"min_coverage": 0.5},
    ],
    ids=str,
)
def test_packed_bits_give_the_same_answer(monkeypatch, seed, options):
    instance = make_instance(seed, n_candidates=20, n_points=150, max_weight=3)
    options = {"min_fidelity": 0.6, **options}
    results = []
    for many in (1_000_000, 0):
        monkeypatch.setattr(arrays, "MANY_ENTRIES", many)
        problem = SelectionProblem(
            instance.covers,
            instance.agrees,
            instance.weights,
            fidelity=None if "formulation" in options else np.linspace(0.6, 1.0, 20),
            cost=np.arange(1.0, 21.0) % 5 + 1.0,
            groups=np.arange(150) % 3,
        )
        assert hasattr(problem.covers, "words") == (many == 0)
        results.append(problem.solve(**options))
    listed, packed = results
    assert listed.status == packed.status in ("optimal", "infeasible")
    assert listed.objective == packed.objective
    assert listed.bound == packed.bound
    assert listed.union_fidelity == packed.union_fidelity
    assert len(listed.chosen) == len(packed.chosen)


def test_many_memberships_take_a_bit_each():
    rng = np.random.default_rng(0)
    covers = rng.random((300, 20_000)) < 0.3
    agrees = covers & (rng.random(covers.shape) < 0.99)
    tracemalloc.start()
    try:
        problem = SelectionProblem(covers, agrees, cost=np.ones(300))
        stated, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        problem.solve(budget=10.0, min_fidelity=0.9, union_fidelity=0.9, solver="quick")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    bits = covers.size / 8
    assert stated < 3 * bits
    assert peak < 12 * bits + 100e6
