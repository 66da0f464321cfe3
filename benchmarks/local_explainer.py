"""What one local explainer costs, in units of the black box's own time on the same draws; and how the filter grows.

Ratios within one run on one core: seconds of a noisy machine say little, their ratios more.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from oleander.filters import bin_codes, select_features
from oleander.local import FilteredTree, LimeLinear, UnfilteredTree
from oleander.local.base import encode_labels
from oleander.local.tree import grow_tree
from oleander.regions import Ball
from oleander.sampling import draw_in_ball
from oleander.schema import FeatureSchema


def make_data(n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return 11 numbers and 20 bits with five classes in which a dozen columns have a say."""
    X = np.hstack([rng.normal(size=(n_rows, 11)), rng.integers(0, 2, size=(n_rows, 20))])
    scores = [
        X[:, k] + X[:, k + 3] * X[:, 11 + k] + 0.5 * X[:, 16 + k] + 0.3 * rng.normal(size=n_rows) for k in range(5)
    ]
    return X, np.argmax(scores, axis=0)


def timed(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the median time of some calls, after one to warm up, and what the last returned."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


def stages(n_draws: int, n_balls: int) -> list[tuple[str, float]]:
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
    return [(name, statistics.median(values)) for name, values in shares.items()]


def slope(sizes: list[int], times: list[float]) -> float:
    """Return the exponent of growth: the slope of log time over log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def growth(repeats: int) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
    """Return the filter's time by number of draws and by number of features, with four features selected in each."""
    rng = np.random.default_rng(0)

    def filter_time(n_draws: int, n_features: int) -> float:
        codes = rng.integers(0, 3, size=(n_features, n_draws)).astype(np.int32)
        labels = ((codes[:4] > 0).sum(axis=0) + (rng.random(n_draws) < 0.1)) % 5
        n_codes = np.full(n_features, 3)
        return timed(lambda: select_features(codes, n_codes, labels, max_features=4), repeats)[0]

    by_draws = [(n, filter_time(n, 31)) for n in (10_000, 20_000, 40_000, 80_000, 160_000)]
    by_features = [(m, filter_time(10_000, m)) for m in (31, 62, 125, 250, 500)]
    return by_draws, by_features


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--balls", type=int, default=9)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with threadpool_limits(1):
        print(f"N = {options.draws:,} draws, 11 numbers and 20 bits, 5 classes, forest of 50 trees, one core;")
        print(f"median over {options.balls} balls, as a multiple of the black box's time on the same draws\n")
        print("| stage | × black box |\n|---|---|")
        for name, share in stages(options.draws, options.balls):
            print(f"| {name} | {share:.2f} |" if name != "features kept" else f"| {name} (median) | {share:.0f} |")
        by_draws, by_features = growth(options.repeats)
        for title, table in (("draws (31 features)", by_draws), ("features (10,000 draws)", by_features)):
            print(f"\n| {title} | filter's time, × the first |\n|---|---|")
            for size, seconds in table:
                print(f"| {size:,} | {seconds / table[0][1]:.2f} |")
            sizes, times = [size for size, _ in table], [seconds for _, seconds in table]
            print(f"\nslope of log time over log size: {slope(sizes, times):.2f}")


if __name__ == "__main__":
    main()
