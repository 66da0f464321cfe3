import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.outside.task import SILENT, Task
from benchmarks.outside.trees import Questions, count_conditions, make_path_student, make_tree_student

X = np.random.default_rng(0).uniform(size=(2_000, 3))
Y = np.digitize(X[:, 0], [0.3, 0.7])
TASK = Task(X, Y, X[:200], Y[:200])


def test_questions_of_the_forest_are_where_the_labels_change():
    questions = Questions.guess(TASK, 4)
    found = questions.thresholds[questions.columns == 0]
    assert {round(float(threshold), 1) for threshold in found} >= {0.3, 0.7}
    assert questions.ask(X).shape == (2_000, 4)
    assert (questions.ask(X)[:, 0] == (X[:, questions.columns[0]] <= questions.thresholds[0])).all()


def test_paths_answer_as_they_read():
    questions = Questions(np.array([0, 0, 1]), np.array([0.3, 0.7, 0.5]))
    paths = [((0, True),), ((0, False), (1, True)), ((0, False), (1, False))]
    student = make_path_student(TASK, questions, paths, [0, 1, SILENT])
    said, score = student.answer(X)
    assert (said == np.where(Y == 2, SILENT, Y)).all()
    assert (score[Y < 2] == 1).all()
    assert student.conditions.tolist() == [1, 1]
    assert student.n_lines == 5


def test_a_range_of_a_column_is_one_condition():
    questions = Questions(np.array([0, 0, 1]), np.array([0.7, 0.3, 0.5]))
    paths = [((0, True), (1, True)), ((0, True), (1, False)), ((0, False), (2, True)), ((0, False), (2, False))]
    assert make_path_student(TASK, questions, paths, [0, 1, 2, 2]).conditions.tolist() == [1, 1, 2, 2]


def test_a_tree_of_scikit_learn_answers_as_itself():
    model = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, Y)
    student = make_tree_student(model)
    said, score = student.answer(X)
    assert (said == model.predict(X)).all()
    assert np.allclose(score, model.predict_proba(X).max(axis=1))
    assert sorted(count_conditions(model.tree_)) == [1, 1, 1]
    assert student.n_lines == 5
