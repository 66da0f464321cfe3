"""The rivals by name. Each learns from the same draws; settings are tuned on held-back draws.

Packages are imported where they are used: a rival whose package is absent is a line that says so.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.outside.task import SILENT, Floats, Ints, Student, Task
from benchmarks.outside.trees import Questions, make_path_student, make_tree_student

# Seconds after which a search for an optimal tree returns the best tree so far.
TIME_LIMIT = 10.0
# The cost of a wrong answer beyond that of an abstention.
PRICES = (4.0, 10.0, 25.0)
# The cost of a deferred row, beside that of a wrong one.
DEFERRALS = (0.05, 0.1, 0.15, 0.2, 0.3)
# Trees that may fall silent are also tried this much larger: silent leaves need not be read.
LARGER = (1, 2, 4)
LEAF_COSTS = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016)


@dataclass(frozen=True)
class Program:
    """A rival of another package."""

    # A task in; students out. The first is the rival where it answers every row.
    fit: Callable[[Task], Sequence[Student]]
    # The package that it comes from, as pip knows it.
    package: str
    # The module that it imports.
    module: str
    # Whether it abstains by itself; then it has no form that answers every row.
    abstains: bool = False


def fit_tree(task: Task) -> list[Student]:
    """Fit one tree of scikit-learn, and larger ones of which only some leaves may speak."""
    from sklearn.tree import DecisionTreeClassifier

    def fit(n_leaves: int, criterion: str, min_leaf: int) -> Student:
        model = DecisionTreeClassifier(
            criterion=criterion, max_leaf_nodes=n_leaves, min_samples_leaf=min_leaf, random_state=task.seed
        )
        return make_tree_student(model.fit(task.X, task.y))

    criteria = ("gini", "entropy")
    return [
        _best(task, (fit(times * task.max_rules, criterion, size) for criterion in criteria for size in (5, 20)))
        for times in LARGER
    ]


def fit_hs_tree(task: Task) -> list[Student]:
    """Fit a tree with hierarchical shrinkage, as strong as its own cross-validation says, and larger ones."""
    from imodels import HSTreeClassifierCV

    models = (HSTreeClassifierCV(max_leaf_nodes=times * task.max_rules, random_state=task.seed) for times in LARGER)
    return [make_tree_student(model.fit(task.X, task.y).estimator_) for model in models]


def fit_figs(task: Task) -> list[Student]:
    """Fit a sum of small trees with as many splits in all as there may be rules."""
    from imodels import FIGSClassifier

    model = FIGSClassifier(max_rules=task.max_rules, random_state=task.seed).fit(task.X, task.y)
    conditions: list[int] = []

    def walk(node: Any, columns: frozenset[int]) -> int:
        if node.left is None:
            conditions.append(len(columns))
            return 1
        return 1 + sum(walk(child, columns | {node.feature}) for child in (node.left, node.right))

    n_lines = sum(walk(tree, frozenset()) for tree in model.trees_)
    return [Student(_by_probability(model.predict_proba), np.array(conditions), n_lines)]


def fit_optimal_tree(task: Task) -> list[Student]:
    """Fit the most accurate tree of depth 4, on 30 questions of a reference forest."""
    from pystreed import STreeDClassifier

    questions = Questions.guess(task, 30)
    model = STreeDClassifier(max_depth=4, max_num_nodes=min(15, task.max_rules - 1), time_limit=TIME_LIMIT)
    model.fit(questions.ask(task.X), task.y)
    return [make_path_student(task, questions, *_paths(model.get_tree()))]


def fit_optimal_abstaining_tree(task: Task) -> list[Student]:
    """Fit the trees of depth 4 that lose least where abstaining is one more label, with a cost; 20 questions."""
    from pystreed import STreeDInstanceCostSensitiveClassifier

    questions = Questions.guess(task, 20)
    asked = questions.ask(task.X)
    students = []
    for price in PRICES[:1] if task.is_tiny else PRICES:
        model = STreeDInstanceCostSensitiveClassifier(
            max_depth=4, max_num_nodes=min(15, task.max_rules - 1), time_limit=TIME_LIMIT
        ).fit(asked, make_costs(task.y, task.n_classes, price))
        paths, labels = _paths(model.get_tree())
        said = [SILENT if label == task.n_classes else label for label in labels]
        students.append(make_path_student(task, questions, paths, said))
    return students


def make_costs(y: Ints, n_classes: int, price: float) -> Floats:
    """Return the cost of each label for each draw; the last label is silence.

    >>> make_costs(np.array([1]), 2, 4.0).tolist()
    [[5.0, 0.0, 1.0]]
    """
    costs = np.full((len(y), n_classes + 1), 1 + price)
    costs[np.arange(len(y)), y] = 0.0
    costs[:, n_classes] = 1.0
    return costs


def _paths(tree: Any) -> tuple[list[tuple[tuple[int, bool], ...]], list[int]]:
    """Return the paths and labels of the leaves of a tree of pystreed."""
    paths, labels = [], []

    def walk(node: Any, path: tuple[tuple[int, bool], ...]) -> None:
        if node.is_leaf_node():
            paths.append(path)
            labels.append(int(node.label))
            return
        walk(node.left_child, (*path, (node.feature, False)))
        walk(node.right_child, (*path, (node.feature, True)))

    walk(tree, ())
    return paths, labels


def fit_near_optimal_tree(task: Task) -> list[Student]:
    """Fit a near-optimal tree on 50 questions, at the least cost of a leaf that leaves few enough; and larger ones."""
    questions = Questions.guess(task, 50)
    asked = questions.ask(task.X)
    return [_split_second(task, questions, asked, times * task.max_rules) for times in LARGER]


def fit_deferring_tree(task: Task) -> list[Student]:
    """Fit near-optimal trees whose leaves may defer to the black box, at several costs of deferring."""
    questions = Questions.guess(task, 50)
    asked = questions.ask(task.X)
    return [
        _split_second(task, questions, asked, times * task.max_rules, deferral)
        for deferral in (DEFERRALS[:1] if task.is_tiny else DEFERRALS)
        for times in LARGER[:2]
    ]


def _split_second(
    task: Task, questions: Questions, asked: Any, max_leaves: int, deferral: float | None = None
) -> Student:
    from licketysplit import LicketySPLITClassifier

    for leaf_cost in LEAF_COSTS:
        model = LicketySPLITClassifier(lambda_leaf=leaf_cost, depth_budget=7, eta_defer=deferral)
        model.fit(asked, task.y, bb_pred=None if deferral is None else task.y)
        paths, actions = model.get_tree_paths()
        # A leaf that defers has an action that is no label.
        labels = [int(action) if 0 <= int(action) < task.n_classes else SILENT for action in actions]
        if sum(label != SILENT for label in labels) <= max_leaves:
            break
    steps = [tuple((abs(int(question)) - 1, int(question) > 0) for question in path) for path in paths]
    return make_path_student(task, questions, steps, labels)


def fit_rules(task: Task, max_rules: int | None = None) -> list[Student]:
    """Fit weighted rules by linear programming, from trees of the depth that does best; the heaviest may be kept."""
    from ruleopt import RUGClassifier

    def fit(depth: int) -> Student:
        model = RUGClassifier(max_depth=depth, random_state=task.seed).fit(task.X, task.y)
        kept = list(model.decision_rules_)[:max_rules]
        conditions = np.array([len(model.decision_rules_[number]) for number in kept])
        return Student(_by_probability(lambda X: model.predict_proba(X, indices=kept)), conditions, len(kept))

    return [_best(task, (fit(depth) for depth in ((3,) if task.is_tiny else (3, 5))))]


def fit_heaviest_rules(task: Task) -> list[Student]:
    """Fit weighted rules and keep the heaviest, as many as there may be rules."""
    return fit_rules(task, task.max_rules)


def fit_boosting_machine(task: Task) -> list[Student]:
    """Fit an explainable boosting machine: a curve for each column, added up. It is read as curves, not as rules."""
    from interpret.glassbox import ExplainableBoostingClassifier

    model = ExplainableBoostingClassifier(
        interactions=0, outer_bags=1, max_rounds=20 if task.is_tiny else 5_000, n_jobs=1, random_state=task.seed
    ).fit(task.X, task.y)
    # A curve is one rule; it has a condition for each of its bins, the bin of missing values and the unknown left out.
    bins = np.array([len(scores) - 2 for scores in model.term_scores_])
    return [Student(_by_probability(model.predict_proba), bins, int(bins.sum()))]


def fit_stages(task: Task) -> list[Student]:
    """Fit a sequence of small trees: each answers in its pure leaves and defers the other rows to the next.

    Written from the idea of multistage defer trees (Heile, McTavish, Seltzer and Rudin), with greedy trees of
    scikit-learn in each stage. The last stage defers to the black box.
    """
    return [_stages(task, purity, n_leaves) for purity in (0.85, 0.9, 0.95, 0.99) for n_leaves in (6, 12, 40)]


def _stages(task: Task, purity: float, n_leaves: int, n_stages: int = 4, min_leaf: int = 20) -> Student:
    from sklearn.tree import DecisionTreeClassifier

    left = np.ones(len(task.y), dtype=bool)
    stages: list[tuple[Any, Ints, Any]] = []
    conditions: list[int] = []
    n_lines = 0
    while len(stages) < n_stages and len(conditions) < task.max_rules and left.sum() >= 2 * min_leaf:
        model = DecisionTreeClassifier(max_leaf_nodes=n_leaves, min_samples_leaf=min_leaf, random_state=task.seed)
        student = make_tree_student(model.fit(task.X[left], task.y[left]))
        leaves = np.flatnonzero(model.tree_.children_left < 0)
        chosen = np.flatnonzero(student.choose_rules(purity, task.max_rules - len(conditions)))
        speaks = np.isin(np.arange(model.tree_.node_count), leaves[chosen])
        if not speaks.any():
            break
        labels = model.classes_[model.tree_.value[:, 0, :].argmax(axis=1)].astype(np.intp)
        stages.append((model, labels, speaks))
        conditions += student.conditions[chosen].tolist()
        n_lines += model.tree_.node_count
        left &= ~speaks[model.apply(task.X)]

    def answer(X: Floats) -> tuple[Ints, Floats]:
        said = np.full(len(X), SILENT)
        for model, labels, speaks in stages:
            leaf = model.apply(X)
            said = np.where((said == SILENT) & speaks[leaf], labels[leaf], said)
        return said, np.ones(len(X))

    return Student(answer, np.array(conditions, dtype=np.intp), n_lines)


def _by_probability(predict: Callable[[Floats], Floats]) -> Callable[[Floats], tuple[Ints, Floats]]:
    def answer(X: Floats) -> tuple[Ints, Floats]:
        shares = np.asarray(predict(X))
        return shares.argmax(axis=1), shares.max(axis=1)

    return answer


def _best(task: Task, students: Iterator[Student]) -> Student:
    return max(students, key=lambda student: student.agreement(task))


PROGRAMS: dict[str, Program] = {
    "scikit-learn tree": Program(fit_tree, "scikit-learn", "sklearn.tree"),
    "pystreed": Program(fit_optimal_tree, "pystreed", "pystreed"),
    "pystreed, abstention as a label": Program(fit_optimal_abstaining_tree, "pystreed", "pystreed", abstains=True),
    "licketysplit": Program(fit_near_optimal_tree, "licketysplit", "licketysplit"),
    "licketysplit, deferring": Program(fit_deferring_tree, "licketysplit", "licketysplit", abstains=True),
    "FIGS": Program(fit_figs, "imodels", "imodels"),
    "HSTree": Program(fit_hs_tree, "imodels", "imodels"),
    "ruleopt": Program(fit_rules, "ruleopt", "ruleopt.estimator"),
    "ruleopt, heaviest rules": Program(fit_heaviest_rules, "ruleopt", "ruleopt.estimator"),
    "EBM": Program(fit_boosting_machine, "interpret-core", "interpret.glassbox"),
    "defer trees in stages": Program(fit_stages, "scikit-learn", "sklearn.tree", abstains=True),
}
