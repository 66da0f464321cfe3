"""The rivals of the aggregation study at every budget: each is found once, and cut to the budget where it can be."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from oleander.baselines import ActiveTree, AnchorPick, DecisionSet, NaiveTree
from oleander.baselines.anchors import pick_greedily
from oleander.baselines.base import choose
from oleander.baselines.submodular_pick import pick_by_features
from oleander.candidates.pool import CandidatePool
from oleander.explainers import LimeLinear
from oleander.results.explanation import ExplainerSet
from studies.explaining import Explained, trained_pool
from studies.steps import Work

# Of trees that mimic the black box everywhere; as many as our own answers may have in all.
MAX_LEAVES = 40
AtBudget = Callable[[int], ExplainerSet]


def submodular_pick(explained: Explained, pool: CandidatePool, most: int) -> AtBudget:
    """Pick among LIME's explanations of all centers, in the same balls as the program chooses from."""
    members = [
        choose(explained.rows, candidate.region, explainer, "lime")
        for candidate, explainer in zip(pool.candidates, pool.explainers, strict=True)
        if explainer is not None
    ]
    models = [member.explainer for member in members if isinstance(member.explainer, LimeLinear)]
    weights = np.array([np.abs(model.weights).sum(axis=1) for model in models])
    picked = pick_by_features(weights, most, np.array([member.support for member in members]))
    return lambda budget: ExplainerSet(pool.rows.schema, tuple(members[i] for i in picked[:budget]))


def anchors(explained: Explained, most: int, n_anchors: int, random_state: int) -> AtBudget:
    """Find anchors once; what is picked for a smaller budget comes first in the greedy order."""
    rival = AnchorPick(
        explained.forest,
        max_explainers=most,
        max_anchors=n_anchors,
        schema=explained.schema,
        random_state=random_state,
    )
    learned = next(iter(explained.tables.values()))
    with warnings.catch_warnings():
        # Where no rule is precise enough nothing is covered, which the curve shows.
        warnings.simplefilter("ignore", UserWarning)
        rival.fit(learned)
    members = rival.explainers
    order = pick_greedily(rival.covers(learned), np.ones(len(learned)), most) if members else []

    def at(budget: int) -> ExplainerSet:
        # As in the whole pick, the most precise answers first.
        first = sorted(order[:budget])
        return ExplainerSet(rival.schema_, tuple(members[i] for i in first))

    return at


def decision_set(explained: Explained, random_state: int) -> AtBudget:
    """Tune the weights of the objective once; with these, find the best set of at most so many rules."""
    options: dict[str, Any] = {"schema": explained.schema, "random_state": random_state}
    learned = next(iter(explained.tables.values()))
    tuned = DecisionSet(explained.forest, **options).fit(learned)

    def at(budget: int) -> ExplainerSet:
        if tuned.n_rules_ <= budget:
            return tuned.set_
        return DecisionSet(explained.forest, max_rules=budget, lambdas=tuned.lambdas_, **options).fit(learned).set_

    return at


def whole_model(rival: Any, explained: Explained) -> AtBudget:
    """Fit one model of everything, which knows no budget."""
    fitted = rival.fit(next(iter(explained.tables.values())))
    return lambda budget: fitted.set_


def measure_rivals(work: Work, explained: Explained) -> pd.DataFrame:
    """Return two lines per rival and budget, as ``Explained.measure`` has them."""
    settings, forest = work.settings, explained.forest
    most, seed = max(settings.budgets), settings.random_state
    tree: dict[str, Any] = {"max_leaves": MAX_LEAVES, "schema": explained.schema, "random_state": seed}
    makers: dict[str, Callable[[], AtBudget]] = {
        "submodular pick": lambda: submodular_pick(explained, trained_pool(work, explained, "lime"), most),
        "anchors": lambda: anchors(explained, most, settings.n_anchors, seed),
        "decision set": lambda: decision_set(explained, seed),
        "active tree": lambda: whole_model(ActiveTree(forest, **tree), explained),
        "naive tree": lambda: whole_model(NaiveTree(forest, **tree), explained),
    }
    lines = []
    for name, make in makers.items():
        work.tell(f"{explained.task.title}: {name}")
        at = make()
        measured: dict[tuple[int, ...], list[dict[str, Any]]] = {}
        for budget in settings.budgets:
            chosen = at(budget)
            key = tuple(id(member) for member in chosen.members)
            if key not in measured:
                measured[key] = explained.measure(chosen)
            lines += [{"method": name, "budget": budget, **line} for line in measured[key]]
    return pd.DataFrame(lines)
