"""Quick choices: the same steps on every machine, a bound that holds, nearly as good as the best."""

import numpy as np
import pytest

from oleander.selection import SelectionProblem
from tests.selection.making import make_instance


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("together", [None, 0.5])
def test_a_quick_choice_is_nearly_the_best_and_bounded(seed: int, together: float | None) -> None:
    case = make_instance(seed, n_candidates=25, n_points=60, max_weight=3)
    problem = SelectionProblem(case.covers, case.agrees, case.weights)
    asked = {"max_explainers": 4, "min_fidelity": 0.4, "union_fidelity": together}
    quick, best = problem.solve(**asked, solver="quick"), problem.solve(**asked)
    assert quick.objective <= best.objective + 1e-9 <= quick.bound + 2e-9
    assert quick.objective >= 0.95 * best.objective
    again = problem.solve(**asked, solver="quick")
    assert np.array_equal(quick.chosen, again.chosen)
