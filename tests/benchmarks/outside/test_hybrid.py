"""HybridCORELS itself is tested with the other programs, where it is installed; here a fake stands for it."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.outside.hybrid import fit_rule_list, fit_rule_lists
from benchmarks.outside.task import SILENT, Task
from benchmarks.outside.trees import Questions

X = np.array([[0.1, 0.0], [0.4, 0.0], [0.6, 0.0], [0.9, 0.0]])
TASK = Task(X, np.array([0, 0, 1, 1]), X, np.array([0, 0, 1, 1]))
# At most 0.25 or 0.5 in the first column, at most 0.5 in the second; numbers 4 to 6 are the opposites.
QUESTIONS = Questions(np.array([0, 0, 1]), np.array([0.25, 0.5, 0.5]))


@pytest.fixture
def make_list(monkeypatch):
    """A fake module whose classifier has the given rules, each with its label; 2 where no rule holds."""

    def make(*rules):
        class Fake:
            def __init__(self, **options):
                self.options = options

            def fit(self, X, y, bb_errors, time_limit):
                assert not bb_errors.any()
                default = {"antecedents": [0], "prediction": True}
                self.rl_ = SimpleNamespace(rules=[*({"antecedents": rule} for rule, _ in rules), default])

            def predict(self, X):
                said = np.full(len(X), 2, dtype=np.uint8)
                for rule, label in reversed(rules):
                    said[(X[:, np.array(rule) - 1] == 1).all(axis=1)] = label
                return said

        monkeypatch.setitem(sys.modules, "HybridCORELS", SimpleNamespace())
        monkeypatch.setitem(sys.modules, "HybridCORELS.PrefixCorels", SimpleNamespace(PrefixCorelsPostClassifier=Fake))

    return make


@pytest.mark.parametrize(
    ("rules", "answers", "conditions"),
    [
        ([([1], 0), ([5], 1)], [0, SILENT, 1, 1], [1, 1]),
        # A range of a column is one condition.
        ([([2, 4], 0), ([3, 5], 1)], [SILENT, 0, 1, 1], [1, 2]),
        # A list that was not found is silent.
        ([], [SILENT] * 4, []),
    ],
)
def test_rows_without_a_rule_are_left_to_the_black_box(make_list, rules, answers, conditions):
    make_list(*rules)
    student = fit_rule_list(TASK, 0.5, QUESTIONS, 2, "dfs")
    assert student.answer(X)[0].tolist() == answers
    assert student.conditions.tolist() == conditions
    assert student.n_lines == len(rules)


def test_three_labels_are_refused():
    three = Task(X, np.array([0, 1, 2, 2]), X, np.array([0, 1, 2, 2]))
    with pytest.raises(NotImplementedError, match="two labels only"):
        fit_rule_lists(three)
