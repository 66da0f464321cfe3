"""Our anchors beside `anchor-exp` on the same rows, and what the exact program adds over the greedy pick.

Both search with quartiles, τ = 0.95, δ = 0.1, tolerance 0.15, batches of 100 and at most so many conditions.
`anchor-exp` has the beam of 1 with which it ships: its `explain_instance` does not pass another on. Precision and
coverage are counted on rows that neither the forest nor a search has seen.
"""

import argparse
import time
from dataclasses import dataclass

import numpy as np
from data_sets import five_classes, from_sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from subjects.base import WatchedBlackBox
from threadpoolctl import threadpool_limits

from oleander.baselines.anchors import pick_greedily
from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.candidates.anchors import Anchors
from oleander.candidates.anchors.ledger import Ledger
from oleander.candidates.anchors.predicates import Grid
from oleander.candidates.anchors.search import Settings, find_anchors
from oleander.candidates.balls import choose_centers
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.selection import SelectionProblem


@dataclass(frozen=True)
class Case:
    """A forest, the rows to search on, and rows to judge by."""

    name: str
    forest: RandomForestClassifier
    learn: np.ndarray
    judge: np.ndarray


@dataclass(frozen=True)
class Found:
    """Who covers which rows to judge by and is right there; and what the search cost."""

    covers: np.ndarray
    agrees: np.ndarray
    seconds: float
    n_queries: int
    n_calls: int


def cases() -> list[Case]:
    found = []
    for name, data in {"breast cancer": from_sklearn("breast_cancer"), "5 classes": five_classes(3000)}.items():
        X, y = data.X.to_numpy(), data.y.to_numpy()
        X_train, X_rest, y_train, _ = train_test_split(X, y, test_size=0.75, random_state=0)
        learn, judge = train_test_split(X_rest, test_size=1 / 3, random_state=0)
        forest = RandomForestClassifier(50, random_state=0, n_jobs=1).fit(X_train, y_train)
        found.append(Case(name, forest, learn, judge))
    return found


def by_oleander(case: Case, points: np.ndarray, rows: Rows, beam_size: int, max_conditions: int) -> Found:
    forest = WatchedBlackBox(case.forest)
    started = time.perf_counter()
    ledger = Ledger(rows, Grid.cut(rows, 4), CountingBlackBox(BlackBox(forest, rows.schema)), seed=0)
    found = find_anchors(points, ledger, Settings(beam_size=beam_size, max_conditions=max_conditions))
    seconds = time.perf_counter() - started
    judged = rows.schema.encode(case.judge)
    covers = np.array([ledger.grid.box(anchor.rule).contains(judged) for anchor in found])
    said = ledger.classes[[anchor.label for anchor in found]]
    agrees = covers & (case.forest.predict(case.judge) == said[:, None])
    return Found(covers, agrees, seconds, forest.n_rows, forest.n_calls)


def by_anchor_exp(case: Case, points: np.ndarray, rows: Rows, max_conditions: int) -> Found:
    from anchor.anchor_base import AnchorBaseBeam
    from anchor.anchor_tabular import AnchorTabularExplainer

    forest = WatchedBlackBox(case.forest)
    np.random.seed(0)  # noqa: NPY002
    started = time.perf_counter()
    names = [str(label) for label in case.forest.classes_]
    explainer = AnchorTabularExplainer(names, [f"x{j}" for j in range(case.learn.shape[1])], case.learn, {})
    found = []
    for point in points:
        # What explain_instance calls, before it rounds the edges and forgets on which side of them a row lies.
        draw, predicates = explainer.get_sample_fn(rows.values[point], forest.predict)
        anchor = AnchorBaseBeam.anchor_beam(
            draw, delta=0.1, epsilon=0.15, batch_size=100, desired_confidence=0.95, max_anchor_size=max_conditions
        )
        found.append([predicates[predicate] for predicate in anchor["feature"]])
    seconds = time.perf_counter() - started
    bins = explainer.disc.discretize(case.judge)
    covers = np.ones((len(points), len(case.judge)), dtype=bool)
    for inside, rule in zip(covers, found, strict=True):
        for column, side, edge in rule:
            inside &= bins[:, column] <= edge if side == "leq" else bins[:, column] > edge
    said = case.forest.predict(rows.values[points])
    agrees = covers & (case.forest.predict(case.judge) == said[:, None])
    return Found(covers, agrees, seconds, forest.n_rows, forest.n_calls)


def describe(found: Found) -> str:
    """Return precision over all rows that an anchor covers, mean coverage with its standard error, and the cost."""
    n_anchors, coverage = len(found.covers), found.covers.mean(axis=1)
    precision = found.agrees.sum() / max(found.covers.sum(), 1)
    error = coverage.std(ddof=1) / np.sqrt(n_anchors)
    return (
        f"{precision:.3f} | {coverage.mean():.3f} ± {error:.3f} | {found.n_queries / n_anchors:,.0f} | "
        f"{found.n_calls / n_anchors:,.0f} | {found.seconds / n_anchors:.2f}"
    )


def beside_anchor_exp(case: Case, n_points: int, max_conditions: int) -> None:
    rows = Rows.ask(case.learn, BlackBox(case.forest, FeatureSchema.infer(case.learn)))
    points = choose_centers(rows, n_points)
    theirs = by_anchor_exp(case, points, rows, max_conditions)
    print(f"| {case.name} | anchor-exp | {describe(theirs)} | 1 |", flush=True)
    for beam_size in (1, 4):
        ours = by_oleander(case, points, rows, beam_size, max_conditions)
        faster = theirs.seconds / ours.seconds
        print(f"| {case.name} | oleander, beam of {beam_size} | {describe(ours)} | {faster:.0f} |", flush=True)


def exact_beside_greedy(case: Case, max_anchors: int) -> None:
    box = BlackBox(case.forest, FeatureSchema.infer(case.learn))
    rows = Rows.ask(case.learn, box)
    anchors = Anchors(max_anchors=max_anchors).propose(rows, 0, CountingBlackBox(box))
    judged, truth = box.schema.encode(case.judge), case.forest.predict(case.judge)
    covers = np.array([anchor.region.contains(rows.values) for anchor in anchors])
    agrees = np.array([anchor.explainer.label == rows.labels for anchor in anchors]) & covers
    new_covers = np.array([anchor.region.contains(judged) for anchor in anchors])
    new_agrees = np.array([anchor.explainer.label == truth for anchor in anchors]) & new_covers
    problem = SelectionProblem(covers, agrees, rows.weights)
    good = np.flatnonzero(problem.fidelity >= 0.9)
    for n_explainers in (5, 10):
        result = problem.solve(n_explainers, 0.9)
        choices = {
            "greedy, as its authors": np.array(pick_greedily(covers, rows.weights, n_explainers)),
            "greedy, floor 0.9": good[pick_greedily(covers[good], rows.weights, n_explainers)],
            f"exact, floor 0.9 ({result.status})": result.chosen,
        }
        for name, chosen in choices.items():
            covered = rows.weights[covers[chosen].any(axis=0)].sum() / rows.weights.sum()
            right = new_agrees[chosen].sum() / max(new_covers[chosen].sum(), 1)
            print(
                f"| {case.name} | {len(anchors)} | {n_explainers} | {name} | {covered:.3f} | "
                f"{problem.fidelity[chosen].min():.2f} | {new_covers[chosen].any(axis=0).mean():.3f} | {right:.3f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=8)
    parser.add_argument("--max-conditions", type=int, default=8)
    parser.add_argument("--pool", type=int, default=100)
    options = parser.parse_args()
    with threadpool_limits(1):
        print(f"{options.points} rows, forest of 50 trees, at most {options.max_conditions} conditions\n")
        print(
            "| data | search | precision | coverage | rows asked an anchor | calls an anchor | s an anchor | × faster |"
        )
        print("|---|---|---|---|---|---|---|---|")
        for case in cases():
            beside_anchor_exp(case, options.points, options.max_conditions)
        print(
            "\n| data | anchors | K | choice | coverage | lowest fidelity | coverage, new rows | fidelity, new rows |"
        )
        print("|---|---|---|---|---|---|---|---|")
        for case in cases():
            exact_beside_greedy(case, options.pool)


if __name__ == "__main__":
    main()
