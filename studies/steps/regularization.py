"""Filter against regularization: leaves needed for a fidelity, and fidelity at equal leaves and at equal features.

The paper says that filtered explainers are less complex than regularized ones, and measures only trees without either.
Here whole trees are pruned by cost and complexity, and logistic models have an L1 penalty, on the same draws.
"""

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.rivals.base import spread_points
from oleander.arrays import Floats, Ints
from oleander.data.schema import FeatureSchema
from oleander.draws.in_ball import draw_in_ball, seed_for
from oleander.rules import Ball
from oleander.rules.base import encode_labels
from oleander.rules.filtering import bin_codes, select_features
from oleander.rules.growth import grow_tree
from studies.step import Facts, Step, Work
from studies.steps.explained_rows import ExplainedRows, make_explained_rows, radii_of
from studies.store import Store
from studies.tasks import make_explained_tasks

LEAVES = (2, 4, 8, 16, 32, 64, 128, 256)
FEATURES = (1, 2, 3, 5, 8)
TARGETS = (0.7, 0.8, 0.9)
# C of the logistic models, times the number of draws; close to each other, so that every number of features occurs.
PENALTIES = tuple(np.geomspace(2, 200, 14).round(1).tolist())
ALPHAS: dict[str, float | None] = {"letter": None, "filtered": 1e-3}


def prune(tree: Any, n_leaves: Sequence[int]) -> dict[int, Ints]:
    """Return, for each number of leaves, the node that answers for every node of scikit-learn's tree.

    Weakest links are cut until at most the given number of leaves is left (Breiman and others 1984).
    """
    n_nodes, left, right = tree.node_count, tree.children_left, tree.children_right
    parent = np.full(n_nodes, -1)
    is_split = left >= 0
    parent[left[is_split]], parent[right[is_split]] = np.flatnonzero(is_split), np.flatnonzero(is_split)
    own = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    below, leaves = own.copy(), np.ones(n_nodes, dtype=np.intp)
    # Children have higher numbers than their parents.
    for node in range(n_nodes - 1, -1, -1):
        if is_split[node]:
            below[node] = below[left[node]] + below[right[node]]
            leaves[node] = leaves[left[node]] + leaves[right[node]]
    is_open = is_split.copy()
    links = np.where(is_open, (own - below) / np.maximum(leaves - 1, 1), np.inf)
    answers: dict[int, Ints] = {}
    for most in sorted(n_leaves, reverse=True):
        while leaves[0] > most:
            weakest = int(links.argmin())
            gain, fewer = own[weakest] - below[weakest], leaves[weakest] - 1
            _close(weakest, is_open, links, left, right)
            node = weakest
            while node >= 0:
                below[node] += gain
                leaves[node] -= fewer
                if is_open[node]:
                    links[node] = (own[node] - below[node]) / max(leaves[node] - 1, 1)
                node = parent[node]
        answer = np.arange(n_nodes)
        for node in range(1, n_nodes):
            if not is_open[parent[node]]:
                answer[node] = answer[parent[node]]
        answers[most] = answer
    return answers


def _close(node: int, is_open: Any, links: Floats, left: Ints, right: Ints) -> None:
    """Close a node and all splits below it."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if is_open[each]:
            is_open[each], links[each] = False, np.inf
            waiting += [int(left[each]), int(right[each])]


def compare_center(
    explained: ExplainedRows, center: int, radius: float, n_draws: int, n_fresh: int, random_state: int
) -> list[dict[str, Any]]:
    """Train every kind at every size on the same draws around one row, and return its fidelity on fresh draws."""
    rows = explained.rows
    ball = Ball(rows.schema, rows.values[center], radius)
    rng = np.random.default_rng(seed_for(random_state, ball.center, radius))
    draws = draw_in_ball(ball, n_draws + n_fresh, rng, bounds="uncut")
    classes, codes = encode_labels(explained.black_box.ask(draws))
    learned, fresh = slice(None, n_draws), slice(n_draws, None)
    binned, n_bins = bin_codes(draws[learned], rows.schema, n_bins=3)
    kept: dict[str, tuple[int, ...]] = {
        kind: select_features(binned, n_bins, codes[learned], alpha=alpha).features for kind, alpha in ALPHAS.items()
    }
    kept["unfiltered"] = tuple(range(len(rows.schema)))
    lines = []

    def grown(features: tuple[int, ...], most: int | None) -> tuple[int, float]:
        tree = grow_tree(draws[learned], codes[learned], classes, rows.schema, features, most)
        right = tree.label[tree.apply(draws[fresh])] == codes[fresh]
        return len(tree.leaves), float(right.mean())

    about = {"center": center, "radius": radius}
    for kind, features in kept.items():
        for most in LEAVES:
            n_leaves, fidelity = grown(features, most)
            lines.append({**about, "kind": kind, "leaves": most, "used": n_leaves, "fidelity": fidelity})
    whole = DecisionTreeClassifier(random_state=0).fit(draws[learned], codes[learned])
    labels = whole.classes_[whole.tree_.value[:, 0, :].argmax(axis=1)]
    reached = whole.apply(draws[fresh])
    for most, answer in prune(whole.tree_, LEAVES).items():
        right = labels[answer[reached]] == codes[fresh]
        used = len(np.unique(answer[whole.apply(draws[learned])]))
        lines.append({**about, "kind": "pruned", "leaves": most, "used": used, "fidelity": float(right.mean())})
    for most in FEATURES:
        features = kept["letter"][:most]
        lines.append(
            {**about, "kind": "letter", "features": most, "used": len(features), "fidelity": grown(features, None)[1]}
        )
    path = _l1_path(draws, codes, rows.schema, learned, fresh)
    for most in FEATURES:
        # The path goes from few features to many.
        n_used, fidelity = [line for line in path if line[0] <= most][-1]
        lines.append({**about, "kind": "l1", "features": most, "used": n_used, "fidelity": fidelity})
    return lines


def _l1_path(
    draws: Floats, codes: Ints, schema: FeatureSchema, learned: slice, fresh: slice
) -> list[tuple[int, float]]:
    """Return the number of features and the fidelity of L1 logistic models, from no feature to many."""
    common = int(np.bincount(codes[learned]).argmax())
    path = [(0, float((codes[fresh] == common).mean()))]
    spread = draws[learned].std(axis=0)
    inputs = (draws - draws[learned].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    n_draws = len(draws[learned])
    if len(np.unique(codes[learned])) < 2:
        return path
    for penalty in PENALTIES:
        model = LogisticRegression(C=penalty / n_draws, solver="liblinear", tol=1e-3, max_iter=50, random_state=0)
        # The name of the option changed with scikit-learn 1.8.
        model.set_params(**({"l1_ratio": 1.0} if model.penalty == "deprecated" else {"penalty": "l1"}))
        each = OneVsRestClassifier(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            each.fit(inputs[learned], codes[learned])
        weights = np.vstack([one.coef_ for one in each.estimators_])
        path.append(
            (int((weights != 0).any(axis=0).sum()), float((each.predict(inputs[fresh]) == codes[fresh]).mean()))
        )
    return path


def compute(work: Work, store: Store) -> Facts:
    """Compare around some rows of the main task at every radius; each radius is a part that is kept."""
    task = next(iter(make_explained_tasks(work, forests_only=True).values()))
    explained = make_explained_rows(work, task)
    radii = radii_of(work, explained)
    tables = []
    for radius in radii:
        work.log(f"filter and regularization at radius {radius:g} around {work.settings.n_compared} rows")
        tables.append(store.table(f"compared_r{radius:g}", partial(_at_radius, work, explained, radius)))
    table = store.table("compared", partial(pd.concat, tables, ignore_index=True))
    return {
        "n_centers": int(table["center"].nunique()),
        "radii": {f"{radius:g}": _facts(table[table["radius"] == radius]) for radius in radii},
    }


def _at_radius(work: Work, explained: ExplainedRows, radius: float) -> pd.DataFrame:
    settings = work.settings
    sizes = (radius, settings.n_draws, settings.n_fresh, settings.random_state)
    found = Parallel(n_jobs=work.n_jobs)(
        delayed(compare_center)(explained, int(center), *sizes)
        for center in spread_points(explained.rows, settings.n_compared)
    )
    return pd.DataFrame([line for lines in found for line in lines])


def leaves_needed(table: pd.DataFrame, target: float) -> pd.DataFrame:
    """Return the smallest number of leaves with which each kind reaches a fidelity; missing if none does.

    Examples
    --------
    >>> lines = {"center": 0, "kind": "pruned", "leaves": [2, 4, 8], "fidelity": [0.7, 0.85, 0.9]}
    >>> float(leaves_needed(pd.DataFrame(lines), 0.8).loc[0, "pruned"])
    4.0
    """
    reached = table[table["leaves"].notna() & (table["fidelity"] >= target)]
    wide = reached.groupby(["center", "kind"])["leaves"].min().unstack().astype(float)
    return wide.reindex(table["center"].unique()).rename_axis("center")


def _facts(table: pd.DataFrame) -> Facts:
    facts: Facts = {"leaves_needed": {}, "at_equal_leaves": {}, "at_equal_features": {}}
    for target in TARGETS:
        needed = leaves_needed(table, target).reindex(columns=["letter", "filtered", "unfiltered", "pruned"])
        saved = np.log2(needed["pruned"] / needed["letter"])
        facts["leaves_needed"][f"{target:g}"] = {
            **{kind: _number(needed[kind].median()) for kind in needed},
            "n_reached": {kind: int(needed[kind].notna().sum()) for kind in needed},
            # In halvings: 1 where the pruned tree needs twice as many.
            "saved": _mean_and_error(saved),
        }
    for size, kinds, key in (("leaves", ("letter", "pruned"), "leaves"), ("features", ("letter", "l1"), "features")):
        part = table[table[size].notna()]
        wide = part.pivot(index=["center", size], columns="kind", values="fidelity")
        gain = wide[kinds[0]] - wide[kinds[1]]
        facts[f"at_equal_{key}"] = {f"{n:g}": _mean_and_error(found) for n, found in gain.groupby(level=size)}
    return facts


def _mean_and_error(values: pd.Series) -> dict[str, float | None]:
    """Return the mean and its standard error, without missing values."""
    known = values.dropna()
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else np.nan
    return {"mean": _number(known.mean()), "error": _number(error)}


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else round(float(value), 4)


REGULARIZATION = Step("regularization", "Filter against regularization", compute, needs=("black_boxes",))
