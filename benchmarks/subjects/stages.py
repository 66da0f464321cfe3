"""The cost of one local explainer in units of the black box's time on the same draws, and the growth of the filter.

Ratios within one run on one core: seconds of a noisy machine say little, their ratios more.
"""

import statistics

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.measuring import timed
from benchmarks.rivals.lime_linear import LimeLinear
from oleander.data.schema import FeatureSchema
from oleander.draws.in_ball import draw_in_ball
from oleander.rules import Ball, FilteredTree, UnfilteredTree
from oleander.rules.base import encode_labels
from oleander.rules.filtering import bin_codes, select_features
from oleander.rules.growth import grow_tree


def make_data(n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return 11 numbers and 20 bits with five classes that depend on a dozen columns."""
    X = np.hstack([rng.normal(size=(n_rows, 11)), rng.integers(0, 2, size=(n_rows, 20))])
    scores = [
        X[:, k] + X[:, k + 3] * X[:, 11 + k] + 0.5 * X[:, 16 + k] + 0.3 * rng.normal(size=n_rows) for k in range(5)
    ]
    return X, np.argmax(scores, axis=0)


def stages(n_draws: int, n_balls: int) -> dict[str, float]:
    """Return each stage's time as a share of the black box's, the median over balls."""
    rng = np.random.default_rng(0)
    X, y = make_data(1500, rng)
    forest = RandomForestClassifier(50, random_state=0, n_jobs=1).fit(X, y)
    schema = FeatureSchema.infer(X)
    rows = schema.encode(X)
    shares: dict[str, list[float]] = {}
    for center in rows[:n_balls]:
        ball = Ball(schema, center, radius=1.0, max_flips=5)
        drawing, draws = timed(lambda ball=ball: draw_in_ball(ball, n_draws, np.random.default_rng(0)), 5)
        black_box, labels = timed(lambda draws=draws: forest.predict(schema.decode(draws)), 5)
        classes, label_codes = encode_labels(labels)
        filtering, found = timed(
            lambda draws=draws, codes=label_codes: select_features(*bin_codes(draws, schema), codes), 5
        )
        growing, _ = timed(
            lambda draws=draws, codes=label_codes, classes=classes, found=found: grow_tree(
                draws, codes, classes, schema, found.features, 16
            ),
            5,
        )
        fitting = {
            name: timed(lambda e=e, draws=draws, labels=labels: e.fit(draws, labels, schema=schema), 3)[0]
            for name, e in [("UnfilteredTree", UnfilteredTree()), ("LimeLinear", LimeLinear())]
        }
        fitting["FilteredTree"], _ = timed(
            lambda draws=draws, labels=labels: FilteredTree().fit(draws, labels, schema=schema), 5
        )
        library, _ = timed(
            lambda draws=draws, labels=labels, found=found: DecisionTreeClassifier(
                max_leaf_nodes=16, random_state=0
            ).fit(draws[:, found.features], labels),
            3,
        )
        for name, seconds in {
            "drawing": drawing,
            "filter (FFFS)": filtering,
            "tree": growing,
            "drawing + FilteredTree": drawing + fitting["FilteredTree"],
            "drawing + UnfilteredTree": drawing + fitting["UnfilteredTree"],
            "drawing + LimeLinear": drawing + fitting["LimeLinear"],
            "(scikit-learn's tree on the same features)": library,
        }.items():
            shares.setdefault(name, []).append(seconds / black_box)
        shares.setdefault("features kept", []).append(len(found.features))
    return {name: statistics.median(values) for name, values in shares.items()}


def filter_seconds(n_draws: int, n_features: int, repeats: int) -> float:
    """Return the filter's time with four features selected."""
    rng = np.random.default_rng([n_draws, n_features])
    codes = rng.integers(0, 3, size=(n_features, n_draws)).astype(np.int32)
    labels = ((codes[:4] > 0).sum(axis=0) + (rng.random(n_draws) < 0.1)) % 5
    n_codes = np.full(n_features, 3)
    return timed(lambda: select_features(codes, n_codes, labels, max_features=4), repeats)[0]
