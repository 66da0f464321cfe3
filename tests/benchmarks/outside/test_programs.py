"""Rivals of packages that are not installed here are skipped; the worker says that they are absent."""

import importlib

import numpy as np
import pytest

from benchmarks.measuring import is_installed
from benchmarks.outside.programs import PROGRAMS, make_costs
from benchmarks.outside.task import SILENT, Task
from benchmarks.outside.trees import Questions
from benchmarks.outside.worker import learn

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(1_500, 3))
# The third column makes labels of chance in a band of the first.
Y = np.where(X[:, 0] < 0.2, X[:, 2] * 997 % 1 > 0.5, X[:, 0] > 0.6).astype(int)
TASK = Task(X[:1_200], Y[:1_200], X[1_200:], Y[1_200:], is_tiny=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_rival_learns_what_can_be_learned(name):
    program = PROGRAMS[name]
    if not is_installed(program.module.split(".")[0]):
        pytest.skip(f"{program.package} is not installed")
    importlib.import_module(program.module)
    students = program.fit(TASK)
    for student in students:
        said, score = student.answer(TASK.held)
        clear = (TASK.held[:, 0] > 0.25) & (said != SILENT)
        assert (said[clear] == TASK.held_codes[clear]).mean() > 0.9
        assert len(said) == len(score)
    if program.abstains:
        assert any((student.answer(TASK.held)[0] == SILENT).any() for student in students)
    if name not in ("ruleopt", "EBM", "FIGS"):
        assert len(students[0].conditions) <= TASK.max_rules


def test_costs_make_silence_worth_it_under_the_price():
    costs = make_costs(np.array([0, 1]), 2, 9.0)
    assert costs.tolist() == [[0.0, 10.0, 1.0], [10.0, 0.0, 1.0]]


@pytest.mark.parametrize("price", [4.0, 10.0])
def test_no_abstaining_tree_of_few_questions_costs_less_than_the_exact_one(price):
    """The instance costs of pystreed against every tree of depth 2 on the same questions."""
    streed = pytest.importorskip("pystreed")
    questions = Questions.guess(TASK, 6)
    asked = questions.ask(TASK.X)
    costs = make_costs(TASK.y, TASK.n_classes, price)
    model = streed.STreeDInstanceCostSensitiveClassifier(max_depth=2, max_num_nodes=3).fit(asked, costs)
    found = costs[np.arange(len(asked)), np.asarray(model.predict(asked), dtype=int)].sum()

    def best(rows, depth):
        leaf = costs[rows].sum(axis=0).min()
        if not depth:
            return leaf
        sides = [[rows & (asked[:, q] == side) for side in (0, 1)] for q in range(6)]
        return min(leaf, *(sum(best(side, depth - 1) for side in pair) for pair in sides))

    assert found == pytest.approx(best(np.ones(len(asked), dtype=bool), 2))


@pytest.mark.parametrize(
    ("module", "error", "line"),
    [
        ("no_such_module", None, "no_such_module is not installed"),
        ("numpy", ValueError("too wide"), "failed: ValueError: too wide"),
    ],
)
def test_a_rival_that_learns_nothing_is_a_line_that_says_why(monkeypatch, tmp_path, module, error, line):
    def fail(task):
        raise error

    monkeypatch.setitem(PROGRAMS, "EBM", PROGRAMS["EBM"].__class__(fail, module, module))
    assert line in learn("EBM", TASK, [], tmp_path / "out.npz")["absent"]
