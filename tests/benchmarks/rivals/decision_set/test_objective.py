import numpy as np
import pytest

from benchmarks.rivals.decision_set.objective import Choice, Terms
from tests.benchmarks.rivals.decision_set.making import every_set, make_candidates, random_objective


class TestTerms:
    # Five points of labels 0 0 0 1 1, the first of which stands for two rows: 6 rows, 3 candidates.
    candidates = make_candidates([[1, 1, 0, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 1, 1]], label=[0, 0, 1], length=[1, 2, 3])
    terms = Terms(candidates, np.array([0, 0, 0, 1, 1]), np.array([2, 1, 1, 1, 1]))

    def test_of_no_rules(self):
        # n = 3; 3 · 3; 6 · 3² twice; no label; 6 · 3; nothing right.
        assert self.terms.values(np.zeros(3, dtype=bool)).tolist() == [3, 9, 54, 54, 0, 18, 0]

    def test_of_all_rules(self):
        # Three rules; lengths 1 + 2 + 3; rules 0 and 1 share point 1 and a label, rules 1 and 2 share point 3 and do
        # not; both labels; rule 1 is wrong at point 3; every row is right by some rule.
        assert self.terms.values(np.ones(3, dtype=bool)).tolist() == [0, 3, 53, 53, 2, 17, 6]

    def test_of_two_rules(self):
        # Rules 0 and 2 share nothing and are right on 3 + 2 rows; point 2 is left.
        assert self.terms.values(np.array([True, False, True])).tolist() == [1, 5, 54, 54, 2, 18, 5]

    def test_wrong_rows_are_those_covered(self):
        assert self.terms.n_wrong.tolist() == [0, 1, 0]
        assert self.terms.n_right.tolist() == [3, 2, 2]


class TestChanges:
    @pytest.mark.parametrize("seed", range(5))
    def test_gains_are_differences_of_values(self, seed):
        objective = random_objective(seed)
        choice, rng = Choice(objective), np.random.default_rng(seed)
        for i in rng.integers(0, 9, 30):
            gains = choice.gains()
            for j in range(9):
                other = choice.chosen.copy()
                other[j] ^= True
                assert gains[j] == pytest.approx(objective.value(other) - objective.value(choice.chosen), abs=1e-3)
            choice.flip(int(i), gains[i])
            assert choice.value == pytest.approx(objective.value(choice.chosen), abs=1e-2)

    def test_no_set_exceeds_its_bound(self):
        objective = random_objective(3, n=7)
        assert all(objective.value(some) <= objective.bound(some) + 1e-6 for some in every_set(7))
