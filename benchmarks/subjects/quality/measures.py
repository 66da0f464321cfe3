"""The measures of one run: a method fitted on a case, and its answers on new rows."""

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.journal import Row
from benchmarks.measuring import WatchedBlackBox
from benchmarks.rivals import NaiveTree, TreeWithAbstention
from benchmarks.rivals.tree_on_draws import TreeOnDraws
from benchmarks.subjects.quality.methods import Budget, Effort, Method
from oleander import NothingFoundError
from oleander.arrays import Floats, Labels
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import ChosenExplainer
from oleander.rules import Region
from oleander.rules.base import Explainer
from oleander.rules.conditions import Condition, Range

# A rule that is right on fewer of the new rows in its region misleads who reads it alone.
LOW = 0.8
ONE_TREE = (TreeOnDraws, TreeWithAbstention, NaiveTree)
# A run without an answer is wrong on no row, so its floor counts as reached.
NO_ANSWER: Row = {
    "coverage": 0.0,
    "agreement": None,
    "floor reached": True,
    "silent": True,
    "certified": False,
    "certified, missed": False,
    "rules": 0,
    "conditions": None,
    "conditions in all": None,
    "worst rule alone": None,
    "rules under .8 alone": 0,
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
    cost = {"queries": box.n_rows, "processor seconds": time.process_time() - start - box.cpu_seconds, "gap": None}
    if rival is None or not rival.explainers_:
        return {**NO_ANSWER, **cost}
    proof, certificate = (getattr(rival, name, None) for name in ("proof_", "certificate_"))
    found = measure_answers(
        rival.evaluate(case.test, truth),
        rival.explainers_,
        case.schema.encode(case.test),
        truth,
        budget.min_fidelity,
        is_certified=certificate is not None and certificate.answers.bound >= budget.min_fidelity,
        is_tree=isinstance(rival, ONE_TREE),
    )
    if isinstance(rival, TreeWithAbstention):
        # Its members are the leaves that speak; the text of the tree has the others too.
        found["lines"] = rival.n_nodes_
    return {**found, **cost, "gap": None if proof is None else proof.gap}


def measure_answers(
    result: Evaluation,
    members: Sequence[ChosenExplainer],
    rows: Floats,
    truth: Labels,
    floor: float,
    *,
    is_certified: bool,
    is_tree: bool = False,
) -> Row:
    """Return the measures of some explainers on new rows, all but the cost.

    ``result`` is their evaluation on these rows, of which the black box says ``truth``. With ``is_tree`` the explainers
    are leaves of one tree, whose questions are read once.
    """
    n_rules, n_conditions = count_rules(members, rows.shape[1])
    reached = not result.agreement < floor
    alone = [n_right / n_inside for n_right, n_inside in count_alone(members, rows, truth) if n_inside]
    return {
        "coverage": result.coverage,
        "agreement": result.agreement,
        "floor reached": reached,
        "silent": result.coverage == 0,
        "certified": is_certified,
        "certified, missed": is_certified and not reached,
        "rules": n_rules,
        "conditions": n_conditions / n_rules,
        "conditions in all": count_cuts(list_terms(members)) if is_tree else n_conditions,
        "worst rule alone": min(alone, default=None),
        "rules under .8 alone": sum(share < LOW for share in alone),
        "lines": sum(count_lines(member.explainer) for member in members),
        "minority right": minority_right(result),
    }


def count_alone(members: Sequence[ChosenExplainer], rows: Floats, truth: Labels) -> list[tuple[int, int]]:
    """Return, for each rule, the rows on which it is right and all rows where its conditions hold.

    The tree in a ball counts as one rule: the paper's fidelity is that of an explainer.
    """
    counts: list[tuple[int, int]] = []
    for member in members:
        inside = np.flatnonzero(member.region.contains(rows))
        right = member.explainer.predict(rows[inside]) == truth[inside]
        position = None if member.ball is not None else member.explainer.find_rules(rows[inside])
        if position is None:
            position = np.zeros(len(inside), dtype=np.intp)
        n_rules = 1 if member.ball is not None else len(member.explainer.rules())
        n_right, n_inside = (np.bincount(position[own], minlength=n_rules) for own in (right, slice(None)))
        counts += zip(n_right.tolist(), n_inside.tolist(), strict=True)
    return counts


def minority_right(result: Evaluation) -> float:
    """Return the share of rows outside the largest class that are answered correctly; NaN for one class."""
    classes = result.classes.drop(index=result.classes["rows"].idxmax())
    n_rows = classes["rows"].sum()
    return float((classes["answered_correctly"] * classes["rows"]).sum() / n_rows) if n_rows else math.nan


def count_rules(members: Sequence[ChosenExplainer], n_columns: int) -> tuple[int, int]:
    """Return the number of rules to read, and of their conditions together.

    A box is one rule; a tree has one for each leaf that speaks, a linear model one for each class, with its weights as
    conditions. The conditions of the region count in every rule inside it.
    """
    n_rules = n_conditions = 0
    for member in members:
        rules = member.explainer.rules()
        n_rules += len(rules)
        n_conditions += sum(count_conditions(member.region, n_columns) + len(rule.terms) for rule in rules)
    return n_rules, n_conditions


def list_terms(members: Sequence[ChosenExplainer]) -> Iterable[Any]:
    """Return the conditions of all rules."""
    return (term for member in members for rule in member.rules() for term in rule.terms)


def count_lines(explainer: Explainer) -> int:
    """Return the lines of an explainer as text: one for each node of a tree, or for each weight."""
    form = explainer.form()
    if form["kind"] == "tree":
        return len(form["column"])
    return sum(max(len(rule.terms), 1) for rule in explainer.rules())


def count_conditions(region: Region, n_columns: int) -> int:
    """Return the number of conditions of a region; a ball has one for each column."""
    if region.box is not None:
        return len(region.box.conditions)
    return 1 if region.ball is None else n_columns


def count_cuts(conditions: Iterable[Condition]) -> int:
    """Return the number of distinct cuts that some conditions make: what there is to ask above the leaves of a tree.

    A cut that only a narrower one of the same column hides is not counted, which is in favour of the tree.
    """
    cuts: set[tuple[int, Any]] = set()
    for one in conditions:
        if isinstance(one, Range):
            cuts |= {(one.column, end) for end in (one.lower, one.upper) if math.isfinite(end)}
        else:
            cuts.add((one.column, str(one)))
    return len(cuts)
