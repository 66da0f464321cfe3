"""The measures of one run: a method fitted on a case, and its answers on new rows."""

import math
import time
from dataclasses import replace

from benchmarks.cases import Case
from benchmarks.journal import Row
from benchmarks.measuring import WatchedBlackBox
from benchmarks.subjects.quality.methods import Budget, Effort, Method
from oleander.baselines import Rival
from oleander.explainers import Spoken
from oleander.explainers.base import Explainer
from oleander.fitting.nothing_found import NothingFoundError
from oleander.regions import Ball, Box, Region
from oleander.results.evaluation import Evaluation

# A run without an answer is wrong on no row, so its floor counts as reached.
NO_ANSWER: Row = {
    "coverage": 0.0,
    "agreement": None,
    "floor reached": True,
    "certified": False,
    "rules": 0,
    "conditions": None,
    "lines": 0,
    "minority right": 0.0,
}


def measure_run(method: Method, case: Case, budget: Budget, effort: Effort) -> Row:
    """Fit a method and return its measures; queries are counted at the black box."""
    truth = case.black_box.predict(case.test)
    box = WatchedBlackBox(case.black_box)
    start = time.process_time()
    try:
        rival = method(replace(case, black_box=box), budget, effort)
    except NothingFoundError:
        rival = None
    cost = {"queries": box.n_rows, "processor seconds": time.process_time() - start - box.cpu_seconds}
    if rival is None or not rival.explainers:
        return {**NO_ANSWER, **cost}
    result = rival.evaluate(case.test, truth)
    certificate = getattr(rival, "certificate_", None)
    n_rules, n_conditions = count_rules(rival, case.data.X.shape[1])
    return {
        "coverage": result.coverage,
        "agreement": result.agreement,
        "floor reached": not result.agreement < budget.min_fidelity,
        "certified": certificate is not None and certificate.answers.bound >= budget.min_fidelity,
        "rules": n_rules,
        "conditions": n_conditions / n_rules,
        "lines": sum(count_lines(member.explainer) for member in rival.explainers),
        "minority right": minority_right(result),
        **cost,
    }


def minority_right(result: Evaluation) -> float:
    """Return the share of rows outside the largest class that are answered rightly; NaN for one class."""
    classes = result.classes.drop(index=result.classes["rows"].idxmax())
    n_rows = classes["rows"].sum()
    return float((classes["answered_rightly"] * classes["rows"]).sum() / n_rows) if n_rows else math.nan


def count_rules(rival: Rival, n_columns: int) -> tuple[int, int]:
    """Return the number of rules to read, and of their conditions together.

    A box is one rule; a tree has one for each leaf that speaks, a linear model one for each class, with its weights as
    conditions. The conditions of the region count in every rule inside it.
    """
    n_rules = n_conditions = 0
    for member in rival.explainers:
        rules = member.explainer.rules()
        n_rules += len(rules)
        n_conditions += sum(count_conditions(member.region, n_columns) + len(rule.terms) for rule in rules)
    return n_rules, n_conditions


def count_lines(explainer: Explainer) -> int:
    """Return the lines of an explainer as text: one for each node of a tree, silent leaves too, or for each weight."""
    tree = getattr(explainer, "tree", None) or getattr(explainer, "tree_", None)
    if tree is not None:
        return len(tree.column)
    return sum(max(len(rule.terms), 1) for rule in explainer.rules())


def count_conditions(region: Region, n_columns: int) -> int:
    """Return the number of conditions of a region; a ball has one for each column."""
    if isinstance(region, Spoken):
        return count_conditions(region.outer, n_columns)
    if isinstance(region, Box):
        return len(region.conditions)
    return n_columns if isinstance(region, Ball) else 1
