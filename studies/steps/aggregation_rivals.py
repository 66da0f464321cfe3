"""The rivals of the paper's program at every budget: each is fitted once and cut to the budget where possible."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.rivals import ActiveTree, AnchorPick, DecisionSet, NaiveTree
from benchmarks.rivals.anchors import pick_greedily
from benchmarks.rivals.base import choose
from benchmarks.rivals.lime_linear import Linear
from benchmarks.rivals.submodular_pick import pick_by_features
from oleander.candidates.pool import CandidatePool
from oleander.results.explainer_set import ExplainerSet
from studies.step import Work
from studies.steps.explained_rows import LEARNED, ExplainedRows
from studies.steps.paper_program import train_pool

# Of the trees that answer every row.
MAX_LEAVES = 40
AtBudget = Callable[[int], ExplainerSet]


def submodular_pick(explained: ExplainedRows, pool: CandidatePool, max_budget: int) -> AtBudget:
    """Pick among LIME's explanations in the same balls from which the program chooses.

    As in the program's choice, the most faithful of the picks answers first.
    """
    members = [
        choose(explained.rows, candidate.region, explainer, "lime")
        for candidate, explainer in zip(pool.candidates, pool.explainers, strict=True)
        if explainer is not None
    ]
    models = [member.explainer for member in members if isinstance(member.explainer, Linear)]
    weights = np.array([np.abs(model.weights).sum(axis=1) for model in models])
    picked = pick_by_features(weights, max_budget, np.array([member.support for member in members]))

    def at(budget: int) -> ExplainerSet:
        order = sorted(picked[:budget], key=lambda i: -members[i].fidelity)
        return ExplainerSet(pool.rows.schema, tuple(members[i] for i in order))

    return at


def anchors(explained: ExplainedRows, max_budget: int, n_anchors: int, random_state: int) -> AtBudget:
    """Find anchors once; the picks of a smaller budget come first in the greedy order."""
    rival = AnchorPick(
        explained.model,
        max_explainers=max_budget,
        max_anchors=n_anchors,
        schema=explained.schema,
        random_state=random_state,
    )
    learned = explained.tables[LEARNED]
    with warnings.catch_warnings():
        # The warning says that no rule is precise enough; the curve shows it as a coverage of 0.
        warnings.simplefilter("ignore", UserWarning)
        rival.fit(learned)
    members = rival.explainers_
    order = pick_greedily(rival.covers(learned), np.ones(len(learned)), max_budget) if members else []

    def at(budget: int) -> ExplainerSet:
        # As in the whole pick, the most precise anchor answers first.
        first = sorted(order[:budget])
        return ExplainerSet(rival.schema_, tuple(members[i] for i in first))

    return at


def decision_set(explained: ExplainedRows, random_state: int) -> AtBudget:
    """Tune the weights of the objective once; for each budget, search for the best set with these weights."""
    options: dict[str, Any] = {"schema": explained.schema, "random_state": random_state}
    learned = explained.tables[LEARNED]
    tuned = DecisionSet(explained.model, **options).fit(learned)

    def at(budget: int) -> ExplainerSet:
        if tuned.n_rules_ <= budget:
            return tuned.set_
        return DecisionSet(explained.model, max_rules=budget, lambdas=tuned.lambdas_, **options).fit(learned).set_

    return at


def whole_model(rival: Any, explained: ExplainedRows) -> AtBudget:
    """Fit one model of all rows, which has no budget."""
    fitted = rival.fit(explained.tables[LEARNED])
    return lambda budget: fitted.set_


def measure_rivals(work: Work, explained: ExplainedRows) -> pd.DataFrame:
    """Return the two lines of ``ExplainedRows.measure`` per rival and budget."""
    settings, model = work.settings, explained.model
    max_budget, seed = max(settings.budgets), settings.random_state
    tree: dict[str, Any] = {"max_leaves": MAX_LEAVES, "schema": explained.schema, "random_state": seed}
    makers: dict[str, Callable[[], AtBudget]] = {
        "submodular pick": lambda: submodular_pick(explained, train_pool(work, explained, "lime"), max_budget),
        "anchors": lambda: anchors(explained, max_budget, settings.n_anchors, seed),
        "decision set": lambda: decision_set(explained, seed),
        "active tree": lambda: whole_model(ActiveTree(model, **tree), explained),
        "naive tree": lambda: whole_model(NaiveTree(model, **tree), explained),
    }
    lines = []
    for name, make in makers.items():
        work.log(f"{explained.task.title}: {name}")
        at = make()
        measured: dict[tuple[int, ...], list[dict[str, Any]]] = {}
        for budget in settings.budgets:
            chosen = at(budget)
            key = tuple(id(member) for member in chosen.members)
            if key not in measured:
                measured[key] = explained.measure(chosen)
            lines += [{"method": name, "budget": budget, **line} for line in measured[key]]
    return pd.DataFrame(lines)
