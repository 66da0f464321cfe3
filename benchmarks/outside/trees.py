"""Trees on binary questions: questions from a reference forest, leaves as paths, conditions without repetition."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.outside.task import SILENT, Floats, Ints, Student, Task

# Draws that the reference forest learns from, and its trees.
N_REFERENCE, N_TREES = 5_000, 30


@dataclass(frozen=True, eq=False)
class Questions:
    """Binary questions, each whether the value in a column is at most a threshold."""

    # Of shape (n_questions,).
    columns: Ints
    # Of shape (n_questions,).
    thresholds: Floats

    def ask(self, X: Floats) -> NDArray[np.uint8]:
        """Return 1 for yes and 0 for no, of shape (n_rows, n_questions)."""
        return (X[:, self.columns] <= self.thresholds).astype(np.uint8)

    @classmethod
    def guess(cls, task: Task, n_questions: int) -> "Questions":
        """Return the questions that a forest gains most from: programs for optimal trees want a few of them.

        Thresholds of one column within a twentieth of the draws of each other count as one question.
        """
        from sklearn.ensemble import RandomForestClassifier

        X, y = task.X[:N_REFERENCE], task.y[:N_REFERENCE]
        forest = RandomForestClassifier(N_TREES, max_leaf_nodes=20, max_features=0.5, random_state=task.seed)
        ranks = np.sort(X, axis=0)
        gains: dict[tuple[int, int], float] = {}
        thresholds: dict[tuple[int, int], float] = {}
        for tree in (one.tree_ for one in forest.fit(X, y).estimators_):
            worth = tree.weighted_n_node_samples * tree.impurity
            for node in np.flatnonzero(tree.feature >= 0):
                column, threshold = int(tree.feature[node]), float(tree.threshold[node])
                place = (column, round(20 * np.searchsorted(ranks[:, column], threshold) / len(X)))
                gain = worth[node] - worth[tree.children_left[node]] - worth[tree.children_right[node]]
                gains[place] = gains.get(place, 0.0) + gain
                thresholds.setdefault(place, threshold)
        best = sorted(gains, key=lambda place: -gains[place])[:n_questions]
        return cls(np.array([place[0] for place in best]), np.array([thresholds[place] for place in best]))


# A path to a leaf: each question on it with its answer.
Path = Sequence[tuple[int, bool]]


def make_path_student(task: Task, questions: Questions, paths: Sequence[Path], labels: Sequence[int]) -> Student:
    """Return a tree given by its leaves; a leaf with the label -1 abstains.

    The score of a leaf is the share of its draws with its label.
    """
    said = np.array(labels, dtype=np.intp)

    def find_leaf(X: Floats) -> Ints:
        answers = questions.ask(X).astype(bool)
        leaf = np.zeros(len(X), dtype=np.intp)
        for number, path in enumerate(paths):
            inside = np.ones(len(X), dtype=bool)
            for question, is_yes in path:
                inside &= answers[:, question] == is_yes
            leaf[inside] = number
        return leaf

    leaf = find_leaf(task.X)
    n_draws = np.bincount(leaf, minlength=len(paths))
    n_right = np.bincount(leaf[said[leaf] == task.y], minlength=len(paths))
    purity = n_right / np.maximum(n_draws, 1)
    speaks = said != SILENT
    columns = [{int(questions.columns[question]) for question, _ in path} for path in paths]
    conditions = np.array([len(asked) for asked in columns], dtype=np.intp)

    rule_of_leaf = np.where(speaks, np.cumsum(speaks) - 1, -1)

    def answer(X: Floats) -> tuple[Ints, Floats]:
        leaf = find_leaf(X)
        return said[leaf], purity[leaf]

    def find_rule(X: Floats) -> Ints:
        return rule_of_leaf[find_leaf(X)]

    return Student(answer, conditions[speaks], 2 * len(paths) - 1, find_rule, purity[speaks], n_draws[speaks])


def count_conditions(tree: Any) -> Ints:
    """Return the conditions on the way to each leaf of a tree of scikit-learn; a range of a column is one."""
    columns: dict[int, frozenset[int]] = {0: frozenset()}
    counts = []
    for node in range(tree.node_count):
        if tree.children_left[node] < 0:
            counts.append(len(columns[node]))
            continue
        for child in (tree.children_left[node], tree.children_right[node]):
            columns[int(child)] = columns[node] | {int(tree.feature[node])}
    return np.array(counts, dtype=np.intp)


def make_tree_student(model: Any) -> Student:
    """Return a fitted tree of scikit-learn as a student; the score of a leaf is the probability of its label.

    Its classes are 0, 1, and so on.
    """
    tree = model.tree_
    values = tree.value[:, 0, :]
    shares = values / values.sum(axis=1, keepdims=True)
    labels, scores = model.classes_[shares.argmax(axis=1)].astype(np.intp), shares.max(axis=1)
    leaves = np.flatnonzero(tree.children_left < 0)

    def answer(X: Floats) -> tuple[Ints, Floats]:
        leaf = model.apply(X)
        return labels[leaf], scores[leaf]

    def find_rule(X: Floats) -> Ints:
        return np.searchsorted(leaves, model.apply(X))

    mass = tree.n_node_samples[leaves]
    return Student(answer, count_conditions(tree), tree.node_count, find_rule, scores[leaves], mass)
