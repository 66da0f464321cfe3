"""Rules for numbers beside trees and local lines: how much is answered within a tolerance, and whether it holds."""

import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from benchmarks.data_sets import SHARED
from benchmarks.journal import Journal, Row
from benchmarks.outside.regressors import PACKAGES, ask_regressors
from benchmarks.rivals.abstaining_tree import choose_tree
from benchmarks.rivals.local_lines import learn_local_lines
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table, mean, number
from oleander import AggregateExplainer, Draws, NothingFoundError
from oleander.draws.labelled import LabelledDraws
from oleander.fitting.rule_learner import RuleLearner
from oleander.fitting.rules_on_draws import deliver_rules
from studies.data import load_telemonitoring

FLOOR = 0.9
N_SPLITS = 4
Table = tuple[pd.DataFrame, np.ndarray, np.ndarray | None]


def make_doses(n_rows: int, seed: int) -> Table:
    """Return a made table of doses with numbers and levels, and the response to each: it rises and levels off."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "dose": rng.uniform(0, 100, n_rows).round(1),
            "weight": rng.normal(75, 14, n_rows).round(1),
            "age": rng.integers(18, 90, n_rows),
            "drug": rng.choice(["a", "b", "c"], n_rows, p=[0.5, 0.3, 0.2]),
            "kidney": rng.choice(["good", "poor"], n_rows, p=[0.8, 0.2]),
            "fasting": rng.random(n_rows) < 0.5,
        }
    )
    half = X["drug"].map({"a": 20.0, "b": 35.0, "c": 60.0}) * X["weight"] / 75
    most = 100 - 0.3 * (X["age"] - 50) - 15 * X["fasting"]
    reached = X["dose"] * np.where(X["kidney"] == "poor", 1.6, 1.0)
    return X, (most * reached / (reached + half) + rng.normal(0, 3, n_rows)).to_numpy(), None


def read_motor_score(split: int) -> Table:
    """Return every third voice recording, the motor score of the patient, and the patient."""
    data = load_telemonitoring(SHARED / "parkinsons_telemonitoring")
    some = slice(split % 3, None, 3)
    return data.X.iloc[some].reset_index(drop=True), data.y.iloc[some].to_numpy(), data.groups.iloc[some].to_numpy()


def _plain(X: np.ndarray, y: np.ndarray) -> Table:
    return pd.DataFrame(X).add_prefix("x"), y, None


DATA: dict[str, Callable[[int], Table]] = {
    "diabetes": lambda split: _plain(*load_diabetes(return_X_y=True, scaled=False)),
    "friedman1": lambda split: _plain(*make_friedman1(1_200, noise=1.0, random_state=split)),
    "friedman2": lambda split: _plain(*make_friedman2(1_200, noise=50.0, random_state=split)),
    "doses": lambda split: make_doses(1_200, split),
    "telemonitoring": read_motor_score,
}
BOXES: dict[str, Callable[[int], Any]] = {
    "forest": lambda seed: RandomForestRegressor(100, min_samples_leaf=3, random_state=seed),
    "boosting": lambda seed: HistGradientBoostingRegressor(random_state=seed),
    "network": lambda seed: make_pipeline(
        StandardScaler(), MLPRegressor(hidden_layer_sizes=(30,), alpha=1.0, max_iter=2_000, random_state=seed)
    ),
    "Gaussian process": lambda seed: make_pipeline(
        StandardScaler(),
        GaussianProcessRegressor(RBF(3.0) + WhiteKernel(0.1), normalize_y=True, optimizer=None, random_state=seed),
    ),
}
MEASURED = ("coverage", "agreement", "rules", "terms", "tree coverage", "tree agreement", "plain", "lines")


def cut(table: Table, split: int) -> list[np.ndarray]:
    """Return the rows that train, judge and are new: a half and two quarters, groups kept whole."""
    X, _, groups = table
    units = np.arange(len(X)) if groups is None else groups
    order = np.random.default_rng(split).permutation(np.unique(units))
    parts = np.split(order, [len(order) // 2, 3 * len(order) // 4])
    return [np.flatnonzero(np.isin(units, part)) for part in parts]


def measure_split(data: str, box: str, split: int, n_draws: int = 20_000) -> Row:
    """Fit on a quarter of the rows, with half as background, and count answers on the last quarter."""
    X, y, groups = table = DATA[data](split)
    trains, judges, new = cut(table, split)
    words = X.select_dtypes(exclude="number").columns
    encode = ColumnTransformer([("words", OrdinalEncoder(), list(words))], remainder="passthrough")
    model = Pipeline([("encode", encode), ("model", BOXES[box](split))]).fit(X.iloc[trains], y[trains])
    atlas = AggregateExplainer(model, tolerance="auto", draws=Draws(n_draws), random_state=split)
    start = time.process_time()
    try:
        of_groups = None if groups is None else groups[judges]
        atlas.fit(X.iloc[judges], background=X.iloc[trains], groups=of_groups)
    except NothingFoundError:
        return {"status": "nothing found", "coverage": 0.0, "seconds": time.process_time() - start}
    taken = time.process_time() - start
    learner = atlas.engine_.learner
    draws, within = learner.draws, atlas.record_.explainers.tolerance
    rows, truth = atlas.schema_.encode(X.iloc[new]), model.predict(X.iloc[new])
    result = atlas.evaluate(X.iloc[new], truth)
    leaves = max(2, atlas.record_.explainers.n_rules)
    return {
        "status": atlas.record_.status,
        "within": within.value,
        "coverage": result.coverage,
        "agreement": result.agreement,
        "rules": atlas.record_.explainers.n_rules,
        "terms": sum(len(member.explainer.features) for member in atlas.explainers_),
        **measure_tree(learner, leaves, rows, truth),
        "plain": agreement_of_plain_tree(draws, leaves, rows, truth),
        "lines": agreement_of_lines(learner, len(atlas.explainers_), rows, truth, split),
        **agreement_of_packages(draws, leaves, rows, truth),
        "seconds": taken,
        "labels seconds": measure_labels(model, X, y, [trains, judges], groups, split, n_draws),
    }


def measure_labels(
    model: Any, X: pd.DataFrame, y: np.ndarray, parts: list[np.ndarray], groups: Any, split: int, n_draws: int
) -> float:
    """Return the processor time of a fit of labels of the same size: the third in which the model's answer lies."""
    trains, judges = parts
    thirds = np.quantile(y[trains], [1 / 3, 2 / 3])
    options = {"draws": Draws(n_draws), "random_state": split}
    atlas = AggregateExplainer(lambda table: np.searchsorted(thirds, model.predict(table)), **options)
    start = time.process_time()
    with contextlib.suppress(NothingFoundError):
        atlas.fit(X.iloc[judges], background=X.iloc[trains], groups=None if groups is None else groups[judges])
    return time.process_time() - start


def measure_tree(learner: RuleLearner, leaves: int, rows: np.ndarray, truth: np.ndarray) -> Row:
    """Return what one tree that abstains answers, of as many leaves, learned from the same draws and judged alike."""
    tree = choose_tree(learner, leaves, FLOOR)
    if tree is None:
        return {"tree coverage": 0.0, "tree agreement": None}
    result = deliver_rules(tree)[0].evaluate(rows, truth)
    return {"tree coverage": result.coverage, "tree agreement": result.agreement}


def agreement_of_plain_tree(draws: LabelledDraws, leaves: int, rows: np.ndarray, truth: np.ndarray) -> float:
    """Return how often a regression tree of scikit-learn agrees that answers every row."""
    tree = DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0).fit(draws.values, draws.truth)
    return float(draws.tolerance.agrees(tree.predict(rows), truth).mean())


def agreement_of_packages(draws: LabelledDraws, leaves: int, rows: np.ndarray, truth: np.ndarray) -> Row:
    """Return how often the regression trees of other packages agree, as far as they are installed."""
    found = ask_regressors(np.nan_to_num(draws.values), draws.truth, np.nan_to_num(rows), leaves)
    return {
        name: None if isinstance(answers, str) else float(draws.tolerance.agrees(answers, truth).mean())
        for name, answers in found.items()
    }


def agreement_of_lines(learner: Any, n_lines: int, rows: np.ndarray, truth: np.ndarray, seed: int) -> float:
    """Return how often as many local lines agree that answer every row."""
    draws = learner.draws
    lines = learn_local_lines(
        draws.values, draws.truth, learner.rows.values, learner.rows.labels, draws.tolerance, n_lines, seed
    )
    return float(draws.tolerance.agrees(lines.predict(rows), truth).mean())


class Numbers(Subject):
    """Coverage and agreement of rules for numbers."""

    name = "numbers"
    title = "Numbers"
    asks = "How much do rules for numbers answer within a tolerance, beside one tree of as many leaves?"
    docs = "evidence/numbers.md"

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure each data set, black box and split."""
        if size != "full":
            journal.once(
                key := {"data": "doses", "box": "forest", "split": 0}, partial(measure_split, **key, n_draws=1_000)
            )
            return
        for data in DATA if SHARED.is_dir() else [name for name in DATA if name != "telemonitoring"]:
            for box in BOXES:
                for split in range(N_SPLITS):
                    key = {"data": data, "box": box, "split": split}
                    journal.once(key, partial(measure_split, **key))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a line for each data set and black box, and the means of all."""
        lines = [
            _make_line(f"{data}, {box}", [row for row in rows if (row["data"], row["box"]) == (data, box)])
            for data, box in dict.fromkeys((row["data"], row["box"]) for row in rows)
        ]
        columns = (
            "data and black box",
            "tolerance",
            "certified",
            "answered",
            "agreement",
            "floor reached",
            "rules, terms",
            "one tree, abstaining: answered",
            "plain tree: agreement",
            "pystreed: agreement",
            "licketysplit: agreement",
            "local lines: agreement",
            "s",
            "of labels, s",
        )
        return make_table(columns, [*lines, _make_line("**mean**", rows)])


def _make_line(title: str, rows: Sequence[Row]) -> tuple[str, ...]:
    found = [row for row in rows if "agreement" in row]
    means = {name: mean(row[name] for row in found) for name in MEASURED}
    n_reached = sum(row["agreement"] >= FLOOR for row in found)
    within = [row["within"] for row in found]
    sizes = f"{min(within):.3g} to {max(within):.3g}" if within and not title.startswith("**") else ""
    return (
        title,
        sizes,
        f"{sum(row['status'] == 'certified' for row in rows)} of {len(rows)}",
        number(float(np.mean([row["coverage"] for row in rows]))),
        number(means["agreement"]),
        f"{n_reached} of {len(found)}",
        f"{number(means['rules'], 0)}, {number(means['terms'], 0)}",
        number(float(np.mean([row.get("tree coverage", 0.0) for row in rows]))),
        number(means["plain"]),
        *(number(mean(row.get(name) for row in found)) for name in PACKAGES),
        number(means["lines"]),
        number(float(np.mean([row["seconds"] for row in rows])), 1),
        number(float(np.mean([row["labels seconds"] for row in found])) if found else np.nan, 1),
    )
