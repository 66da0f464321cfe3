"""What a floor over the union costs in coverage, and how far it is proven: pools of nodes of random trees.

Run `make bench-selection-union`. A candidate is a node of a tree with random splits: it covers the rows that pass
through it and answers with the majority of the rows it was grown on. Rows are judged by other rows than those.
"""

import argparse
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits, make_classification
from sklearn.tree import DecisionTreeClassifier

from oleander.selection import SelectionProblem

Bools = NDArray[np.bool_]
Pool = tuple[Bools, Bools]
HEADER = (
    "| rows | pool × points | own floor | union floor | covered without | right together | covered | bound | gap | s "
    "| longer: covered | bound | gap | s |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
)


def tree_nodes(
    X: NDArray[np.float64], y: NDArray[np.intp], n_nodes: int, min_right: float, *, seed: int = 0, max_trees: int = 400
) -> Pool:
    """Return who covers and who agrees, for nodes that are right on at least this share of their rows."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    grown, judged = np.array_split(order, 2)
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


def pools() -> Iterator[tuple[str, float, Pool]]:
    """Yield the name, the candidates' own floor, and the pool."""
    digits = load_digits()
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


def row(name: str, floor: float, pool: Pool, union_floor: float, k: int, limit: float, long_limit: float) -> str:
    covers, agrees = pool
    problem = SelectionProblem(covers, agrees)
    without = problem.solve(k, floor, time_limit=limit)
    wrong = (covers & ~agrees)[without.chosen].any(axis=0).sum()
    cells = [
        f"| {name} | {len(covers)} × {covers.shape[1]} | {floor:g} | {union_floor:g} ",
        f"| {without.coverage:.3f} | {1 - wrong / without.objective:.3f} ",
    ]
    for seconds in (limit, long_limit):
        answer = problem.solve(k, floor, union_fidelity=union_floor, time_limit=seconds)
        bound = answer.bound / covers.shape[1]
        cells.append(f"| {answer.coverage:.3f} | {bound:.3f} | {answer.gap:.2%} | {answer.runtime:.1f} ")
    return "".join(cells) + "|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-explainers", type=int, default=10)
    parser.add_argument("--time-limit", type=float, default=2.0)
    parser.add_argument("--long-limit", type=float, default=10.0)
    given = parser.parse_args()
    print(HEADER, flush=True)
    for name, floor, pool in pools():
        for union_floor in (0.8, 0.9):
            limits = given.max_explainers, given.time_limit, given.long_limit
            print(row(name, floor, pool, union_floor, *limits), flush=True)


if __name__ == "__main__":
    main()
