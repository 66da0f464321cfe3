"""Calls that a router saves at a certified agreement, beside cascades of a small proxy on the same labels."""

from collections.abc import Sequence
from dataclasses import dataclass
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
from benchmarks.rivals.bargain_package import run_bargain
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_goals, make_table, mean, number, percent
from oleander import AggregateExplainer, Draws, NothingFoundError
from oleander.arrays import Bools, Floats, Labels
from oleander.judging.bounds import upper_bound
from oleander.judging.certificate import as_system
from oleander.judging.fixed_sequence import Judged, find_passed
from studies.data import DataSet

TARGETS, LEVEL, N_SEEDS = (0.9, 0.95, 0.99), 0.05, 10
ROUTER, PROXIES = "router", ("logistic", "tree")
RIVALS = tuple((way, proxy) for way in ("bargain", "certified cascade", "plain cascade") for proxy in PROXIES)
# Of the fit before the router: the first that the judging rows show. A target of 0.9 asks no more of a rule than 0.8.
FLOORS = (0.8, 0.6, 0.4, 0.2)
# Thresholds on the proxy's confidence, from cautious to bold.
THRESHOLDS = np.linspace(1.0, 0.1, 91)
READ = {"logistic": "a table of weights", "tree": "20 leaves"}


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


@dataclass(frozen=True, eq=False)
class Proxy:
    """What a small model says of rows, and how sure it is; ``is_judging`` marks the rows whose labels are known."""

    given: Labels
    sure: Floats
    truth: Labels
    is_judging: Bools
    groups: Labels | None

    def cascade(self, way: str, target: float) -> tuple[Labels, Bools]:
        """Return the answers to all rows, and a mask of those that the teacher is asked about.

        The proxy answers from a confidence on. The certified cascade tests confidences in a fixed sequence on the
        judging rows, as a router tests rule sets; the plain one takes the boldest whose counted share reaches the
        target.
        """
        answered = self.sure[self.is_judging] >= THRESHOLDS[:, None]
        right = answered & (self.given == self.truth)[self.is_judging]
        system = as_system(Judged(answered, right, np.ones(right.shape[1], dtype=np.intp), self.groups))
        if way == "plain cascade":
            passed = np.flatnonzero(system.agreement() >= target)
        else:
            passed = find_passed(system.certified_bounds(LEVEL), 0, target)
        asked = self.sure < (THRESHOLDS[passed[-1]] if len(passed) else np.inf)
        return np.where(asked, self.truth, self.given), asked


def learn_proxy(name: str, draws: Any, seed: int) -> Any:
    """Return a small model of the teacher that learned from the draws of the rules."""
    student = (
        DecisionTreeClassifier(max_leaf_nodes=20, random_state=seed)
        if name == "tree"
        else make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    )
    return make_pipeline(SimpleImputer(strategy="median"), student).fit(draws.values, draws.classes[draws.codes])


def fit_rules(model: Any, X: pd.DataFrame, background: pd.DataFrame, groups: Any, n_draws: int, seed: int) -> Any:
    """Return rules of the highest floor that the judging rows show, or None."""
    for floor in FLOORS:
        atlas = AggregateExplainer(model, min_fidelity=floor, draws=Draws(n_draws), random_state=seed)
        try:
            return atlas.fit(X, background=background, groups=groups)
        except NothingFoundError:
            continue
    return None


def measure_router(data: str, teacher: str, seed: int, *, max_rows: int | None, n_draws: int, n_trees: int) -> Row:
    """Return what each method saves on new rows at each target, and the share on which it says what the teacher says.

    A method that shows no target asks the teacher about every row, and so saves nothing.
    """
    table: DataSet = (PUBLIC | CLINICAL)[data]()
    train, explain, test = thirds(table, seed, max_rows)
    X = pd.DataFrame(table.X).astype(float)
    model = make_teacher(teacher, seed, n_trees).fit(X.iloc[train], table.y.iloc[train])
    groups = None if table.groups is None else table.groups.iloc[explain].to_numpy()
    atlas = fit_rules(model, X.iloc[explain], X.iloc[train], groups, n_draws, seed)
    found: Row = {"n_judging": len(explain), "n_new": len(test), "floor": atlas and atlas.min_fidelity}
    if atlas is None:
        return found
    rows = X.iloc[np.concatenate([explain, test])]
    is_judging, truth = np.arange(len(rows)) < len(explain), model.predict(rows)
    draws, proxies = atlas.engine_.learner.draws, {}
    values, readable = atlas.schema_.encode_readable(rows)
    for name in PROXIES:
        proxy = learn_proxy(name, draws, seed)
        # About a row with a level that no row of the fit has, rules are silent, and so is the proxy.
        sure = np.where(True if readable is None else readable, proxy.predict_proba(values).max(axis=1), -1)
        proxies[name] = Proxy(proxy.predict(values), sure, truth, is_judging, groups)
    for target in TARGETS:
        try:
            router = atlas.router(target=target)
            answers = router.atlas.predict(rows)
            asked = np.ma.getmaskarray(answers)
            outcomes = {ROUTER: (np.where(asked, truth, np.ma.getdata(answers)), asked)}
            found[f"{target:g} rules"] = len(router.atlas.explainers_)
        except NothingFoundError:
            outcomes = {ROUTER: (truth, np.ones(len(rows), dtype=bool))}
        for way, name in RIVALS:
            one = proxies[name]
            outcomes[f"{way}, {name}"] = (
                run_bargain(one.given, one.sure, truth, target=target, level=LEVEL, seed=seed)
                if way == "bargain"
                else one.cascade(way, target)
            )
        for method, (answers, asked) in outcomes.items():
            matches = answers == truth
            found[f"{target:g} {method}: saved"] = float((~asked)[~is_judging].mean())
            found[f"{target:g} {method}: agrees"] = float(matches[~is_judging].mean())
            found[f"{target:g} {method}: agrees on the batch"] = float(matches.mean())
    return found


class Routing(Subject):
    """A router beside cascades."""

    name = "router"
    title = "Calls that a router saves"
    asks = "How many calls of a slow model do rules save at a certified agreement, beside cascades of a proxy?"
    docs = "evidence/reliability.md"
    needs = ("BARGAIN",)
    is_parallel = True

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure each data set and teacher."""
        full = size == "full"
        names = [*(CLINICAL if SHARED.is_dir() else ()), *PUBLIC] if full else ["breast_cancer"]
        # Seeds outside, so that a run that is interrupted has whole rounds.
        keys = [
            {"data": data, "teacher": teacher, "seed": seed}
            for seed in range(N_SEEDS if full else 1)
            for teacher in (("voting", "forest") if full else ("forest",))
            for data in names
        ]
        sizes = {"max_rows": None, "n_draws": 20_000, "n_trees": 2_000}
        tiny = {"max_rows": 150, "n_draws": 500, "n_trees": 5}
        journal.once_each(keys, partial(measure_router, **(sizes if full else tiny)))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a line for each target and method over all runs, the goals, and the calls saved on each data set."""
        methods = [ROUTER, *(f"{way}, {name}" for way, name in RIVALS)]
        n_none = sum(row["floor"] is None for row in rows)
        rows = [row for row in rows if row["floor"] is not None]
        lines, goals = [], []
        for target in TARGETS:
            for method in methods:
                saved, agrees, batch = (
                    np.array([row[f"{target:g} {method}: {what}"] for row in rows])
                    for what in ("saved", "agrees", "agrees on the batch")
                )
                n_new = np.array([row["n_new"] for row in rows])
                is_under = upper_bound(np.rint(agrees * n_new).astype(int), n_new, LEVEL) < target
                kept = (batch if method.startswith("bargain") else agrees) >= target
                rules = mean(row.get(f"{target:g} rules") for row in rows)
                read = f"{number(rules, 1)} rules" if method == ROUTER else READ[method.split(", ")[1]]
                saves = saved > 0
                of_saving = [mean(one[saves].tolist()) for one in (agrees, kept, is_under)]
                lines.append((f"{target:g}", method, *map(percent, (saved.mean(), saves.mean(), *of_saving)), read))
                if method == ROUTER and saves.any():
                    found = f"{percent(of_saving[1])}; shown to be under it: {percent(of_saving[2])}"
                    goal = f"a router that saves calls keeps {target:g} in at least 95% of runs"
                    goals.append((goal, found, of_saving[1] >= 0.95))
        columns = ("target", "method", "calls saved", "runs that save", "agreement", "kept", "shown under", "to read")
        shown = [method for method in methods if not method.startswith("plain")]
        sets = [
            (
                data,
                f"{int(np.mean([row['n_judging'] for row in rows if row['data'] == data])):,}",
                *(
                    percent(mean(row[f"0.95 {method}: saved"] for row in rows if row["data"] == data))
                    for method in shown
                ),
            )
            for data in dict.fromkeys(row["data"] for row in rows)
        ]
        return (
            f"Runs: {len(rows)}. Slow teachers: a forest of 2,000 trees, and soft voting of boosting, a support vector"
            " machine and a network. A third of the rows trains, a third judges, a third is new. *Calls saved* is"
            " counted on new rows; a run in which a method shows no target saves nothing. The next three columns are of"
            " the runs that save: *agreement* with the teacher on new rows; *kept*, the runs whose agreement is at"
            " least the target, a count in which runs close to the target fall on both sides; and *shown under*, those"
            " whose exact upper bound (95%) is under it. Proxies learn from the draws that the rules learn from. The"
            " package bargain promises its target for the rows that it processes: it gets the judging and the new rows"
            " as one batch, for which *kept* is counted, and its calls about judging rows are free, since the others"
            " know these labels too. A certified cascade tests the proxy's confidence by the router's own test. Left"
            f" out for every method: {n_none} runs in which the judging rows show no rules, not even with a floor"
            f" of {FLOORS[-1]:g}.\n\n"
            + make_table(columns, lines)
            + "\n"
            + make_goals(goals)
            + "\nCalls saved at a target of 0.95, by data set:\n\n"
            + make_table(("data", "judging rows", *shown), sets)
        )
