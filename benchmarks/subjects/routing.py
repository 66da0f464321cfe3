"""Calls that a router saves at a certified agreement, beside cascades of a small proxy on the same labels."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.cases import thirds
from benchmarks.data_sets import CLINICAL, PUBLIC, SHARED
from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table, mean, number, percent
from oleander import AggregateExplainer, Draws, NothingFoundError
from oleander.judging.bounds import lower_bound
from oleander.judging.judged import find_passed

TARGETS, LEVEL, N_SEEDS = (0.9, 0.95, 0.99), 0.05, 5
METHODS = ("router", "certified cascade, logistic", "certified cascade, tree", "plain cascade, logistic")
# Of the fit before the router, so low that it rarely fails.
FLOOR = 0.8
# Thresholds on the proxy's confidence, from cautious to bold.
THRESHOLDS = np.linspace(1.0, 0.34, 67)


def make_teacher(name: str, seed: int, n_trees: int) -> Any:
    """Return a slow model: a large forest, or soft voting of boosting, a support vector machine and a network."""
    if name == "forest":
        return make_pipeline(SimpleImputer(strategy="median"), RandomForestClassifier(n_trees, random_state=seed))
    scaled = make_pipeline(StandardScaler(), MLPClassifier((100,), max_iter=300, random_state=seed))
    parts = [
        ("boosting", HistGradientBoostingClassifier(random_state=seed)),
        ("svm", make_pipeline(StandardScaler(), SVC(probability=True, random_state=seed))),
        ("mlp", scaled),
    ]
    return make_pipeline(SimpleImputer(strategy="median"), VotingClassifier(parts, voting="soft"))


def run_cascade(method: str, draws: Any, X: Any, said: Any, target: float, seed: int) -> tuple[Any, float]:
    """Return a proxy that learned from labelled draws, and the confidence from which on it answers; over 1 for never.

    The certified cascade tests thresholds in a fixed sequence on the judging rows, and the plain one takes the boldest
    whose counted share reaches the target.
    """
    student = (
        DecisionTreeClassifier(max_leaf_nodes=20, random_state=seed)
        if method.endswith("tree")
        else make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    )
    proxy = make_pipeline(SimpleImputer(strategy="median"), student).fit(draws.values, draws.classes[draws.codes])
    sure, wrong = proxy.predict_proba(X).max(axis=1), proxy.predict(X) != said
    n_right = np.array([len(X) - (wrong & (sure >= one)).sum() for one in THRESHOLDS])
    if method.startswith("plain"):
        passed = np.flatnonzero(n_right / len(X) >= target)
    else:
        passed = find_passed(lower_bound(n_right, len(X), LEVEL), 0, target)
    return proxy, float(THRESHOLDS[passed[-1]]) if len(passed) else np.inf


def measure_router(
    data: str, teacher: str, target: float, seed: int, *, max_rows: int | None, n_draws: int, n_trees: int
) -> Row:
    """Return what each method saves on new rows, and the share on which it says what the teacher says."""
    table = (PUBLIC | CLINICAL)[data]()
    train, explain, test = thirds(table, seed, max_rows)
    X = pd.DataFrame(table.X).astype(float)
    model = make_teacher(teacher, seed, n_trees).fit(X.iloc[train], table.y.iloc[train])
    groups = None if table.groups is None else table.groups.iloc[explain].to_numpy()
    truth, found = model.predict(X.iloc[test]), {}
    try:
        atlas = AggregateExplainer(model, min_fidelity=FLOOR, draws=Draws(n_draws), random_state=seed)
        atlas.fit(X.iloc[explain], background=X.iloc[train], groups=groups)
        router = atlas.router(target=target)
    except NothingFoundError:
        return {"n_new": len(test), "is_found": False}
    answers, certificate = router.predict(X.iloc[test]), router.certificate_
    found["router"] = (1 - router.n_asked_ / len(test), float((answers == truth).mean()))
    values, draws = atlas.schema_.encode(X.iloc[explain]), atlas._engine.learner.draws
    new, said = atlas.schema_.encode(X.iloc[test]), model.predict(X.iloc[explain])
    for method in METHODS[1:]:
        proxy, threshold = run_cascade(method, draws, values, said, target, seed)
        answered = proxy.predict_proba(new).max(axis=1) >= threshold
        right = ~answered | (proxy.predict(new) == truth)
        found[method] = (float(answered.mean()), float(right.mean()))
    assert certificate is not None
    return {
        "n_new": len(test),
        "is_found": True,
        "rules": len(router.atlas.explainers_),
        "most_asked": certificate.most_asked,
        **{f"{name}: saved": pair[0] for name, pair in found.items()},
        **{f"{name}: agrees": pair[1] for name, pair in found.items()},
    }


class Routing(Subject):
    """A router beside cascades."""

    name = "router"
    title = "Calls that a router saves"
    asks = "How many calls of a slow model do rules save at a certified agreement, beside cascades of a proxy?"
    docs = "evidence/reliability.md"
    is_parallel = True

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure each data set, teacher and target."""
        full = size == "full"
        names = [*PUBLIC, *(CLINICAL if SHARED.is_dir() else ())] if full else ["breast_cancer"]
        keys = [
            {"data": data, "teacher": teacher, "target": target, "seed": seed}
            for data in names
            for teacher in (("forest", "voting") if full else ("forest",))
            for target in (TARGETS if full else TARGETS[:1])
            for seed in range(N_SEEDS if full else 1)
        ]
        sizes = {"max_rows": None, "n_draws": 20_000, "n_trees": 2_000}
        tiny = {"max_rows": 150, "n_draws": 500, "n_trees": 5}
        journal.once_each(keys, partial(measure_router, **(sizes if full else tiny)))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a line for each target and method, over all data sets and teachers."""
        lines = []
        for target in dict.fromkeys(row["target"] for row in rows):
            own = [row for row in rows if row["target"] == target]
            found = [row for row in own if row["is_found"]]
            for method in METHODS:
                saved = [row[f"{method}: saved"] for row in found]
                kept = [row[f"{method}: agrees"] >= target for row in found]
                rules = number(mean(row["rules"] for row in found), 1) if method == "router" else "–"
                runs = f"{len(found)} of {len(own)}"
                lines.append((f"{target:g}", method, runs, percent(mean(saved)), percent(mean(kept)), rules))
        return (
            "Slow teachers: a forest of 2,000 trees, and soft voting of boosting, a support vector machine and a"
            " network. A third of the rows trains, a third judges, a third is new. *Saved* are calls on new rows;"
            " *kept* are runs in which the share of new rows that match the teacher is at least the target (counted, so"
            " runs close to the target fall on both sides). Proxies learn from the draws that the rules learn from, and"
            " are judged on the same rows; they take rows of one group as independent. Runs in which our rules show no"
            " target are left out for all.\n\n"
            + make_table(("target", "method", "runs", "calls saved", "kept", "rules to read"), lines)
        )
