"""The price in coverage of a floor over the union, and its proof: pools of nodes of random trees.

A candidate is a node of a tree with random splits: it covers the rows that pass through it and answers with the
majority of the rows that it was grown on. Other rows judge it.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.tree import DecisionTreeClassifier

from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table, number
from oleander.arrays import Bools, Floats, Ints
from oleander.selection import SelectionProblem

Pool = tuple[Bools, Bools]
BUDGET = 10
COLUMNS = ("rows", "pool × points", "own floor", "union floor", "covered without", "right together")
SOLVED = ("covered", "bound", "gap", "s")


def tree_nodes(X: Floats, y: Ints, n_nodes: int, min_right: float, *, seed: int = 0, max_trees: int = 400) -> Pool:
    """Return the covers and the agreement of nodes that are right on at least a share ``min_right`` of their rows."""
    rng = np.random.default_rng(seed)
    grown, judged = np.array_split(rng.permutation(len(X)), 2)
    covers: list[Bools] = []
    agrees: list[Bools] = []
    for _ in range(max_trees):
        sample = rng.choice(grown, len(grown))
        tree = DecisionTreeClassifier(
            splitter="random",
            max_features="sqrt",
            max_depth=int(rng.integers(3, 9)),
            min_samples_leaf=5,
            random_state=int(rng.integers(2**31)),
        ).fit(X[sample], y[sample])
        inside = tree.decision_path(X[judged]).toarray().T.astype(bool)
        answers = tree.classes_[tree.tree_.value[:, 0, :].argmax(axis=1)]
        right = inside & (answers[:, None] == y[judged][None, :])
        for node in range(1, len(inside)):
            if inside[node].sum() >= 10 and right[node].sum() >= min_right * inside[node].sum():
                covers.append(inside[node])
                agrees.append(right[node])
                if len(covers) == n_nodes:
                    return np.array(covers), np.array(agrees)
    return np.array(covers), np.array(agrees)


def pools(size: Size) -> Iterator[tuple[str, float, Pool]]:
    """Yield the name of the data, the floor of single candidates, and the pool."""
    digits = load_digits()
    if size == "tiny":
        yield "digits", 0.85, tree_nodes(digits.data, digits.target, 40, 0.85)
        return
    for n_nodes in (300, 500):
        for floor in (0.7, 0.85):
            yield "digits", floor, tree_nodes(digits.data, digits.target, n_nodes, floor)
    for n_points, n_nodes in ((500, 300), (1_500, 500), (3_000, 500)):
        X, y = make_classification(
            2 * n_points,
            n_features=12,
            n_informative=8,
            n_redundant=0,
            n_classes=5,
            flip_y=0.1,
            class_sep=1.5,
            random_state=0,
        )
        for floor in (0.7, 0.85):
            yield "noisy, 5 classes", floor, tree_nodes(X, y, n_nodes, floor)


def solve(pool: Pool, floor: float, union_floor: float, limits: Sequence[float]) -> Row:
    """Choose without the union's floor, then with it under each time limit."""
    covers, agrees = pool
    problem = SelectionProblem(covers, agrees)
    without = problem.solve(BUDGET, floor, time_limit=limits[0])
    wrong = (covers & ~agrees)[without.chosen].any(axis=0).sum()
    solved = [problem.solve(BUDGET, floor, union_fidelity=union_floor, time_limit=limit) for limit in limits]
    return {
        "without": without.coverage,
        "right": 1 - wrong / without.objective,
        "solved": [[one.coverage, one.bound / covers.shape[1], one.gap, one.runtime] for one in solved],
    }


class UnionFloor(Subject):
    """Coverage, bound, gap and seconds under a floor over the union."""

    name = "union-floor"
    title = "A floor over the union"
    asks = "What does a floor over the union cost in coverage, and how far is the choice proven?"
    docs = "selection.md"

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure each pool under two floors."""
        limits = (2.0, 10.0) if size == "full" else (0.5, 1.0)
        for data, floor, pool in pools(size):
            covers = pool[0]
            for union_floor in (0.8, 0.9):
                key = {"data": data, "nodes": len(covers), "points": covers.shape[1], "own floor": floor}
                key |= {"union floor": union_floor}
                journal.once(key, partial(solve, pool, floor, union_floor, limits))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a table; the second four figures are of the longer time limit."""
        lines = [
            (
                row["data"],
                f"{row['nodes']} × {row['points']}",
                f"{row['own floor']:g}",
                f"{row['union floor']:g}",
                number(row["without"], 3),
                number(row["right"], 3),
                *(
                    cell
                    for coverage, bound, gap, runtime in row["solved"]
                    for cell in (number(coverage, 3), number(bound, 3), f"{gap:.2%}", f"{runtime:.1f}")
                ),
            )
            for row in rows
        ]
        longer = tuple(f"longer: {name}" if name == "covered" else name for name in SOLVED)
        return f"K = {BUDGET}.\n\n" + make_table((*COLUMNS, *SOLVED, *longer), lines)
