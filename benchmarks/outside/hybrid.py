"""The rules of hybrid models: optimal rule lists that answer at least a share of the rows, by HybridCORELS.

HybridCORELS is under the GPL: it is imported in the process of a worker only, never in ours.
"""

import numpy as np
from numpy.typing import NDArray

from benchmarks.outside.task import SILENT, Floats, Ints, Student, Task
from benchmarks.outside.trees import Questions

MIN_COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
# Questions, conditions of a rule, and the order of the search. More rules to choose from may leave too little time for
# the search, so that the best of these on held-back draws is taken for each coverage.
SETTINGS = ((20, 2, "lower_bound"), (40, 1, "lower_bound"), (10, 2, "dfs"))
# The cost of a rule, as a share of the draws.
RULE_COST = 0.001
# Seconds and nodes after which a search returns the best list so far.
TIME_LIMIT = 10.0
MOST_NODES = 10**7


def fit_rule_lists(task: Task) -> list[Student]:
    """Fit a list for each coverage: of several settings, the one whose answers on held-back draws agree most."""
    if task.n_classes != 2:
        raise NotImplementedError("it reads two labels only")
    coverages, settings = (MIN_COVERAGES[:1], SETTINGS[:1]) if task.is_tiny else (MIN_COVERAGES, SETTINGS)
    asked = [(Questions.guess(task, n_questions), *setting) for n_questions, *setting in settings]
    return [
        max((fit_rule_list(task, coverage, *setting) for setting in asked), key=lambda one: _agreement(one, task))
        for coverage in coverages
    ]


def fit_rule_list(task: Task, min_coverage: float, questions: Questions, max_conditions: int, policy: str) -> Student:
    """Fit one list that answers at least a share of the draws.

    The black box is never wrong about its own labels, so that only the rules' own errors count.
    """
    from HybridCORELS.PrefixCorels import PrefixCorelsPostClassifier

    n_questions = len(questions.columns)

    def ask(X: Floats) -> NDArray[np.uint8]:
        # Rules have no negation: each question stands beside its opposite.
        asked = questions.ask(X)
        return np.hstack([asked, 1 - asked])

    model = PrefixCorelsPostClassifier(
        c=RULE_COST, n_iter=MOST_NODES, policy=policy, max_card=max_conditions, min_coverage=min_coverage, verbosity=[]
    )
    model.fit(ask(task.X), task.y, np.zeros(len(task.y), dtype=np.uint8), time_limit=TIME_LIMIT)
    # The last rule is a default, which is not needed where the black box answers.
    rules = [rule["antecedents"] for rule in model.rl_.rules[:-1]]
    columns = [{int(questions.columns[(number - 1) % n_questions]) for number in rule} for rule in rules]

    def answer(X: Floats) -> tuple[Ints, Floats]:
        # Without a rule no list was found in time; its default would answer every row.
        said = np.asarray(model.predict(ask(X))).astype(np.intp) if rules else np.full(len(X), SILENT)
        # 2 stands for the black box.
        return np.where(said == 2, SILENT, said), np.ones(len(X))

    return Student(answer, np.array([len(used) for used in columns], dtype=np.intp), len(rules))


def _agreement(student: Student, task: Task) -> float:
    """Return the share of right answers among the held-back draws that are answered; 0 where none is."""
    said, _ = student.answer(task.held)
    answered = said != SILENT
    return float((said == task.held_codes)[answered].mean()) if answered.any() else 0.0
