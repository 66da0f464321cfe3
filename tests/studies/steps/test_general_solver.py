import numpy as np
import pytest
from scipy import optimize

from oleander.selection import SelectionProblem
from oleander.selection.solvers import try_every_choice
from studies.steps import general_solver as step


@pytest.fixture(scope="module")
def instance():
    rng = np.random.default_rng(0)
    points = rng.uniform(size=(12, 2))
    distances = np.abs(points[:, None] - points).max(axis=2)
    return distances, rng.random(distances.shape) < 0.7


@pytest.mark.parametrize("floor", [0.5, 0.9])
@pytest.mark.parametrize("budget", [1, 3])
def test_the_printed_program_has_our_optimum(instance, floor, budget):
    distances, agrees = instance
    found = optimize.milp(**step.printed_program(distances, agrees, 0.3, floor, budget))
    covers = distances <= 0.3
    ours = SelectionProblem(covers, agrees & covers).solve(
        budget, floor, formulation="selective", solver=try_every_choice
    )
    assert -found.fun == pytest.approx(ours.objective)


def test_both_solvers_on_one_instance(instance):
    general, own = step.solve_both(*instance, 0.3, 0.8, max_nodes=1000)
    assert general["proven"]
    assert own["proven"]
    assert general["covered"] == own["covered"]


def test_the_papers_instance(small_work, explained):
    distances, agrees, radius = step.papers_instance(small_work, explained)
    assert distances.shape == agrees.shape == (12, 12)
    assert radius == 4.0
    assert (np.diag(distances) == 0).all()
    np.testing.assert_allclose(distances, distances.T)
    # The black box depends on one number, which the trees find; far away they may be wrong.
    assert agrees[distances <= radius].mean() > 0.8


def test_explainreduces_form(small_work, explained):
    distances, agrees, radius = step.spherical_instance(small_work, explained)
    n = len(explained.tables["learned"])
    assert distances.shape == agrees.shape == (n, n)
    assert radius == pytest.approx(2 * 0.75 * np.sqrt(4))
    assert agrees.mean() > 0.7
