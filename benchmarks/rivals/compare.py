"""All methods by name, and one table of them: on the rows that they were fitted on, and on other rows."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.rivals.active_tree import ActiveTree
from benchmarks.rivals.anchors import AnchorPick
from benchmarks.rivals.base import Rival
from benchmarks.rivals.decision_set import DecisionSet
from benchmarks.rivals.naive_tree import NaiveTree
from benchmarks.rivals.proxies import Proxies
from benchmarks.rivals.submodular_pick import SubmodularPick
from benchmarks.rivals.tree_with_abstention import TreeWithAbstention
from oleander import AggregateExplainer, Holding, NothingFoundError
from oleander.black_box.asking import BlackBox
from oleander.data.schema import FeatureSchema

# Of the paper's balls: around a typical row a ball holds this share of the rows.
PAPER_RADIUS = Holding(0.2)
COLUMNS = (
    "method",
    "rows",
    "coverage",
    "worst fidelity",
    "mean fidelity",
    "agreement",
    "explainers",
    "complexity",
    "queries",
    "seconds",
)


def make_rivals(
    black_box: Any,
    *,
    max_explainers: int = 10,
    min_fidelity: float = 0.9,
    max_leaves: int = 40,
    schema: FeatureSchema | None = None,
    random_state: int | None = None,
) -> dict[str, Rival]:
    """Return Oleander and its rivals with the same budget, by name.

    ``max_explainers`` is for methods that pick explainers, ``min_fidelity`` for those with a floor, and ``max_leaves``
    for those that grow one tree or one set of rules.
    """
    common: dict[str, Any] = {"schema": schema, "random_state": random_state}
    tree = {"max_leaves": max_leaves, **common}
    several = {"max_explainers": max_explainers, **common}
    floored = {"min_fidelity": min_fidelity, **several}
    return {
        "Oleander": AggregateExplainer(black_box, **floored),
        "paper": AggregateExplainer.paper(black_box, radius=PAPER_RADIUS, **floored),
        "tree with abstention": TreeWithAbstention(black_box, min_fidelity=min_fidelity, **tree),
        "naive tree": NaiveTree(black_box, **tree),
        "anchors": AnchorPick(black_box, **several),
        "submodular pick": SubmodularPick(black_box, **floored),
        "active tree": ActiveTree(black_box, **tree),
        "decision set": DecisionSet(black_box, max_rules=max_leaves, **common),
        "decision set, rules only": DecisionSet(black_box, max_rules=max_leaves, default_rule=False, **common),
        "proxies": Proxies(black_box, **several),
    }


def compare(
    black_box: Any,
    X: Any,
    X_test: Any,
    rivals: Mapping[str, Rival],
    *,
    groups: Any = None,
    schema: FeatureSchema | None = None,
) -> pd.DataFrame:
    """Fit every method on the same rows and measure all of them on the same other rows, ``X_test``.

    The table has two lines per method: on the rows that it was fitted on (train) and on the others (held out).
    Coverage, fidelity and agreement are as in ``Evaluation``; queries are rows sent to the black box; seconds are those
    of ``fit``.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(300, 3))
    >>> table = compare(lambda X: X[:, 0] > 0.5, X[:200], X[200:], {"tree": NaiveTree(lambda X: X[:, 0] > 0.5)})
    >>> table[["method", "rows", "coverage"]].to_dict("list")
    {'method': ['tree', 'tree'], 'rows': ['train', 'held out'], 'coverage': [1.0, 1.0]}
    """
    schema = FeatureSchema.infer(X) if schema is None else schema
    box = BlackBox(black_box, schema)
    parts = {name: (part, box.ask(schema.exact.encode(part))) for name, part in (("train", X), ("held out", X_test))}
    lines = []
    for name, rival in rivals.items():
        start = time.perf_counter()
        try:
            rival.fit(X, groups=groups)
        except NothingFoundError:
            # A method that finds no explainer covers nothing, and is wrong on nothing.
            seconds = round(time.perf_counter() - start, 2)
            lines += [(name, part, 0.0, *[np.nan] * 3, 0, 0, len(X), seconds) for part in parts]
            continue
        seconds = round(time.perf_counter() - start, 2)
        for part, (rows, labels) in parts.items():
            result = rival.evaluate(rows, labels)
            figures = (result.coverage, result.fidelity, result.mean_fidelity, result.agreement)
            lines.append((name, part, *figures, len(rival.explainers_), result.complexity, rival.n_queries_, seconds))
    return pd.DataFrame(lines, columns=list(COLUMNS))
