"""Rules for numbers beside a regression tree of scikit-learn with as many leaves that answers every row."""

import time
from collections.abc import Sequence
from functools import partial

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table, number, seconds
from oleander import AggregateExplainer, Draws
from oleander.fitting.nothing_found import NothingFoundError

TOLERANCES: dict[str, tuple[float | str, ...]] = {"diabetes": (20.0, 30.0, "auto"), "friedman1": (2.0, 3.0, "auto")}
N_SPLITS = 4
MEASURED = ("coverage", "agreement", "rules", "tree", "seconds")


def load(data: str, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in random order and their true numbers."""
    if data == "diabetes":
        X, y = load_diabetes(return_X_y=True, scaled=False)
    else:
        X, y = make_friedman1(1_200, noise=1.0, random_state=split)
    order = np.random.default_rng(split).permutation(len(X))
    return X[order], y[order]


def measure_split(data: str, tolerance: float | str, split: int, n_draws: int = 20_000) -> Row:
    """Fit on a quarter of the rows, with half as background, and judge on the last quarter."""
    X, y = load(data, split)
    half, most = len(X) // 2, 3 * len(X) // 4
    forest = RandomForestRegressor(100, min_samples_leaf=3, random_state=split).fit(X[:half], y[:half])
    atlas = AggregateExplainer(forest, tolerance=tolerance, draws=Draws(n_draws), random_state=split)
    start = time.perf_counter()
    try:
        atlas.fit(X[half:most], background=X[:half])
    except NothingFoundError:
        return {"status": "nothing found"}
    taken = time.perf_counter() - start
    draws, within = atlas._workings.program.draws, atlas.record_.explainers.tolerance
    tree = DecisionTreeRegressor(max_leaf_nodes=max(2, atlas.complexity), random_state=0)
    tree.fit(draws.values, draws.truth)
    new = atlas.evaluate(X[most:])
    answers = tree.predict(atlas.schema_.encode(X[most:]))
    return {
        "status": atlas.record_.status,
        "within": within.value,
        "coverage": new.coverage,
        "agreement": new.agreement,
        "rules": atlas.complexity,
        "tree": float(within.agrees(answers, forest.predict(X[most:])).mean()),
        "seconds": taken,
    }


class Numbers(Subject):
    """Coverage and agreement of rules for numbers."""

    name = "numbers"
    title = "Numbers"
    asks = "How much do rules for numbers answer, and how often are they within the tolerance, beside one plain tree?"
    docs = "how-to/regression.md"

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure each data set, tolerance and split."""
        for data, tolerances in TOLERANCES.items() if size == "full" else [("diabetes", (30.0,))]:
            for tolerance in tolerances:
                for split in range(N_SPLITS if size == "full" else 1):
                    key = {"data": data, "tolerance": tolerance, "split": split}
                    journal.once(key, partial(measure_split, **key, n_draws=20_000 if size == "full" else 1_000))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a line for each data set and tolerance, with means over the splits that found rules."""
        lines = []
        for data, tolerance in dict.fromkeys((row["data"], row["tolerance"]) for row in rows):
            own = [row for row in rows if (row["data"], row["tolerance"]) == (data, tolerance)]
            found = [row for row in own if "coverage" in row]
            n_certified = sum(row["status"] == "certified" for row in own)
            means = {name: float(np.mean([row[name] for row in found])) if found else np.nan for name in MEASURED}
            lines.append(
                (
                    data,
                    tolerance,
                    f"{n_certified} of {len(own)}",
                    *(number(means[name]) for name in ("coverage", "agreement", "tree")),
                    number(means["rules"], 0),
                    seconds(means["seconds"]),
                )
            )
        columns = ("data", "tolerance", "certified", "coverage", "agreement", "plain tree, all rows", "rules", "s")
        return make_table(columns, lines)
