import numpy as np

from benchmarks.outside.task import SILENT, Student, Task, make_plain_step, make_steps


def make_student(find_rule=None):
    """A student that says whether the only column is over 0 and is surer the farther it is."""

    def answer(X):
        return (X[:, 0] > 0).astype(int), np.abs(X[:, 0])

    return Student(answer, np.array([1, 2]), 3, find_rule, np.array([1.0, 3.0]), np.array([80, 20]))


ROWS = np.array([[-3.0], [-1.0], [2.0], [4.0]])


def test_the_plain_step_answers_all():
    assert make_student().agreement(Task(ROWS, np.array([0, 0, 1, 1]), ROWS, np.array([0, 1, 1, 1]))) == 0.75
    steps = make_plain_step(make_student(), [ROWS, ROWS[:1], ROWS[2:]])
    assert steps.held.tolist() == [[0, 0, 1, 1]]
    assert (steps.judged.tolist(), steps.new.tolist()) == ([[0]], [[1, 1]])
    assert (steps.rules[0], steps.conditions[0], steps.lines[0]) == (2, 3, 3)


def test_thresholds_of_held_back_draws_silence_all_parts():
    steps = make_steps([make_student()], [ROWS, ROWS[:1], ROWS[2:]], 2)
    assert steps.held.tolist() == [[0, 0, 1, 1], [0, SILENT, 1, 1], [0, SILENT, SILENT, 1]]
    assert steps.judged.tolist() == [[0], [0], [0]]
    assert steps.new.tolist() == [[1, 1], [1, 1], [SILENT, 1]]
    assert steps.rules.tolist() == [2, 2, 2]


def test_rules_that_answer_alone_are_silenced_one_by_one():
    student = make_student(lambda X: np.where(X[:, 0] > 0, 1, 0))
    steps = make_steps([student], [ROWS, ROWS[:1], ROWS[2:]], 2)
    # From the second threshold on the first rule is silent and need not be read.
    assert steps.held.tolist() == [[0, 0, 1, 1], [SILENT, SILENT, 1, 1], [SILENT, SILENT, 1, 1]]
    assert steps.rules.tolist() == [2, 1, 1]
    assert steps.conditions.tolist() == [3, 2, 2]


def test_where_too_many_rules_may_speak_the_largest_do():
    student = make_student(lambda X: np.where(X[:, 0] > 0, 1, 0))
    assert student.choose_rules(0.0, 1).tolist() == [True, False]
    assert student.choose_rules(2.0, 1).tolist() == [False, True]


def test_a_student_that_never_speaks_gives_one_silent_step():
    mute = Student(lambda X: (np.full(len(X), SILENT), np.ones(len(X))), np.array([], dtype=int), 1)
    steps = make_steps([mute], [ROWS, ROWS, ROWS], 2)
    assert (steps.new == SILENT).all()
    assert steps.rules.tolist() == [0]
