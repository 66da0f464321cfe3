import subprocess
import sys

import pytest

import oleander


def test_every_public_name_is_found():
    for name in oleander.__all__:
        assert getattr(oleander, name).__name__ == name
        assert name in dir(oleander)


def test_an_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="module 'oleander' has no attribute 'Aggregate'"):
        oleander.Aggregate  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'Aggregate'"):
        from oleander import Aggregate  # noqa: F401


@pytest.mark.slow
def test_nothing_is_loaded_before_it_is_used():
    """In one process of its own, step by step."""
    code = """
import sys
def find(*names):
    return sorted(name for name in sys.modules if name.startswith(names))

import oleander
print("the package:", find("numpy", "sklearn", "numba"))
from oleander.selection import SelectionProblem
print("selection:", find("numba", "highspy", "oleander.selection.solvers", "oleander.selection.highs"))
import oleander.explainer, oleander.cli.app
print("the estimator:", find("numba", "highspy"))
import numpy as np
covers = np.random.default_rng(0).random((60, 80)) < 0.2
problem = SelectionProblem(covers, covers & (np.random.default_rng(1).random((60, 80)) < 0.9))
print("a problem that is stated:", find("highspy"))
before = find("oleander.kernels", "numba")
for formulation in ("strict", "selective"):
    problem.solve(8, 0.8, formulation=formulation)
# Loading a kernel takes longer than a short time limit.
print("a solve:", sorted({*find("oleander.kernels", "numba")} - {*before}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    steps = ("the package", "selection", "the estimator", "a problem that is stated", "a solve")
    assert done.stdout.splitlines() == [f"{step}: []" for step in steps]
