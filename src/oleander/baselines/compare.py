"""Methods that explain a black box in one table: on the rows that they were fitted on, and on held-out rows."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from oleander.aggregate import AggregateExplainer
from oleander.baselines.anchors import AnchorPick
from oleander.baselines.base import Rival
from oleander.baselines.naive_tree import NaiveTree
from oleander.baselines.submodular_pick import SubmodularPick
from oleander.baselines.tree_with_abstention import TreeWithAbstention
from oleander.black_box.asking import BlackBox
from oleander.candidates.radii import Holding, Radius
from oleander.data.checks import make_seed, one_per_row
from oleander.data.frames import frame_of, take_rows, to_table
from oleander.data.schema import FeatureSchema
from oleander.data.splitting import split_off
from oleander.fitting.nothing_found import NothingFoundError
from oleander.running.progress import show_progress, told

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
    radius: Radius = PAPER_RADIUS,
    scale: Literal["schema", "std", "iqr", "range", "none"] = "none",
    schema: FeatureSchema | None = None,
    random_state: int | None = None,
) -> dict[str, Rival]:
    """Return Oleander and its rivals with the same budget, by name.

    Parameters
    ----------
    black_box : object with ``predict``, or callable
    max_explainers : int
        For methods that pick explainers.
    min_fidelity : float
        For methods that have a floor.
    max_leaves : int
        For methods that grow one tree.
    radius, scale
        Of the paper's balls, in raw units unless ``scale`` says otherwise. The other settings are the paper's: every
        row a center, 10,000 draws in each ball, whole trees behind the filter. By default a ball around a typical row
        holds 20% of the rows.
    schema : FeatureSchema or None
    random_state : int or None
    """
    common: dict[str, Any] = {"schema": schema, "random_state": random_state}
    tree = {"max_leaves": max_leaves, **common}
    several = {"max_explainers": max_explainers, **common}
    return {
        "Oleander": AggregateExplainer(black_box, min_fidelity=min_fidelity, **several),
        "paper": AggregateExplainer.paper(black_box, radius=radius, scale=scale, min_fidelity=min_fidelity, **several),
        "tree with abstention": TreeWithAbstention(black_box, min_fidelity=min_fidelity, **tree),
        "naive tree": NaiveTree(black_box, **tree),
        "anchors": AnchorPick(black_box, **several),
        "submodular pick": SubmodularPick(black_box, min_fidelity=min_fidelity, **several),
    }


@show_progress(None)
def compare(
    black_box: Any,
    X: Any,
    *,
    rivals: Mapping[str, Rival] | None = None,
    X_test: Any = None,
    groups: Any = None,
    test_share: float = 0.3,
    schema: FeatureSchema | None = None,
    random_state: int | None = 0,
    **budget: Any,
) -> pd.DataFrame:
    """Fit every method on the same rows and measure all of them on the same held-out rows.

    Parameters
    ----------
    black_box : object with ``predict``, or callable
    X : DataFrame or array
    rivals : mapping of name to method, optional
        Any methods behind the protocol ``Rival``; None takes those of ``make_rivals``, with equal budgets.
    X_test : DataFrame or array, optional
        Rows to measure on; None holds out ``test_share`` of X, by group where ``groups`` are given.
    groups : array of shape (n_rows,), optional
        The group of each row, such as its patient or trial.
    test_share : float
    schema : FeatureSchema or None
        None infers it from all rows, held-out rows included.
    random_state : int or None
    **budget
        Passed to ``make_rivals``.

    Returns
    -------
    DataFrame
        Two lines per method: on the rows that it was fitted on (train) and on the others (held out). Coverage,
        fidelity and agreement are as in ``Evaluation``; queries are rows sent to the black box; seconds are those of
        ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(300, 3))
    >>> table = compare(lambda X: X[:, 0] > 0.5, X, rivals={"tree": NaiveTree(lambda X: X[:, 0] > 0.5)})
    >>> table[["method", "rows", "coverage"]].to_dict("list")
    {'method': ['tree', 'tree'], 'rows': ['train', 'held out'], 'coverage': [1.0, 1.0]}
    """
    seed = make_seed(random_state)
    given, X, X_test = X, to_table(X), to_table(X_test)
    if schema is None:
        schema = replace(FeatureSchema.infer(X if X_test is None else _stack(X, X_test)), frame=frame_of(given))
    group_of_row = None if groups is None else one_per_row(groups, len(X), "groups")
    if X_test is None:
        learn, held = split_off(len(X), test_share, group_of_row, seed)
        X_test, X = take_rows(X, held), take_rows(X, learn)
        group_of_row = None if group_of_row is None else group_of_row[learn]
    if rivals is None:
        rivals = make_rivals(black_box, schema=schema, random_state=seed, **budget)
    box = BlackBox(black_box, schema)
    parts = {name: (part, box.ask(schema.encode(part))) for name, part in (("train", X), ("held out", X_test))}
    lines = []
    for name, rival in told(rivals.items(), "fitting methods", lambda item: item[0]):
        start = time.perf_counter()
        try:
            rival.fit(X, groups=group_of_row)
        except NothingFoundError:
            # A method that finds no explainer covers nothing, and is wrong on nothing.
            seconds = round(time.perf_counter() - start, 2)
            lines += [(name, part, 0.0, *[np.nan] * 3, 0, 0, len(X), seconds) for part in parts]
            continue
        seconds = time.perf_counter() - start
        for part, (rows, labels) in parts.items():
            result = rival.evaluate(rows, labels)
            figures = (result.coverage, result.fidelity, result.mean_fidelity, result.agreement)
            lines.append(
                (name, part, *figures, len(rival.explainers), rival.complexity, rival.n_queries_, round(seconds, 2))
            )
    return pd.DataFrame(lines, columns=list(COLUMNS))


def _stack(one: Any, other: Any) -> Any:
    """Return both tables, one under the other."""
    return pd.concat([one, other], ignore_index=True) if isinstance(one, pd.DataFrame) else np.concatenate([one, other])
