import numpy as np
import pytest

from benchmarks.cases import Case
from benchmarks.subjects.field.stability import METHODS, halve, measure_stability
from benchmarks.subjects.quality.methods import Effort
from tests.benchmarks.making import make_case


class Half:
    """A black box that one rule explains."""

    def predict(self, X):
        return (np.asarray(X)[:, 0] > 0.53).astype(int)


@pytest.fixture
def case():
    return make_case(Half(), 3)


def test_halves_are_disjoint_and_share_the_new_rows(case):
    first, second = halve(case)
    for number in (0, 1):
        assert not set(first.parts[number]) & set(second.parts[number])
        assert len(first.parts[number]) + len(second.parts[number]) == 300
    assert (first.parts[2] == second.parts[2]).all()


@pytest.mark.parametrize("method", METHODS)
def test_one_clear_rule_is_found_twice(method, case):
    found = measure_stability(method, case, Effort(n_learned_from=2_000))
    assert found["same answers"] > 0.9
    assert found["answered by both"] > 0.9
    assert found["columns in common"] > 0.5
    if method == "scikit-learn tree":
        assert found["rules in common"] == 1.0


def test_two_silent_halves_have_nothing_in_common(case):
    few = Case(case.data, case.black_box, (case.parts[0], case.parts[1][:10], case.parts[2]), seed=0)
    assert measure_stability("default", few, Effort(n_learned_from=500)) == {"absent": "both halves are silent"}
