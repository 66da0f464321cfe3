"""A black box that counts, generators of one's own, and options of small fits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.rivals.tree_with_abstention import shrunk_quality, take_leaf
from oleander import Balls, Floor
from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.candidates.base import Candidate
from oleander.candidates.pool import CandidatePool
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.draws import Draws
from oleander.rules import Box, Constant, Explainer, Rule
from oleander.rules.base import encode_labels
from oleander.rules.conditions import Range
from oleander.rules.growth import grow_tree
from oleander.rules.tree import LEAF, Tree

BALLS = Balls(n_draws=300, max_candidates=40)
QUICK: dict[str, Any] = {"candidates": BALLS, "max_explainers": 3, "holdout": 0.25, "random_state": 0}
ROWS_ONLY: dict[str, Any] = {"draws": Draws(0), "holdout": 0.25, "random_state": 0}
ASKING: dict[str, Any] = {"draws": Draws(2_000), "random_state": 0}
# For the mixed rows, of which balls explain little.
LENIENT: dict[str, Any] = {"min_fidelity": 0.6, "floor": Floor(on="share"), "max_explainers": 2}
LENIENT |= {"random_state": 0}


def halves(X: np.ndarray) -> np.ndarray:
    return X[:, 0] > 0.5


class Recording:
    """A black box that records how many rows each call asks about."""

    def __init__(self, answer: Callable[[Any], np.ndarray] = halves) -> None:
        self.answer = answer
        self.calls: list[int] = []

    @property
    def n_rows(self) -> int:
        return sum(self.calls)

    def __call__(self, X: Any) -> np.ndarray:
        self.calls.append(len(X))
        return self.answer(X)


def count(model: Any, X: Any, max_queries: int | None = None, **options: Any) -> CountingBlackBox:
    """Return a model of rows like X, or of the schema given as X, that counts what it is asked."""
    schema = X if isinstance(X, FeatureSchema) else FeatureSchema.infer(X)
    return CountingBlackBox(BlackBox(model, schema, **options), max_queries)


def label(X: Any, model: Any = halves, schema: FeatureSchema | None = None, **options: Any) -> Rows:
    black_box = count(model, X if schema is None else schema)
    return label_rows(black_box.schema.encode(X), black_box, **options)


def propose(generators: Any, X: Any, model: Any = halves, seed: int = 0, **options: Any) -> CandidatePool:
    """Return the candidates that generators propose for rows, which the model labels."""
    black_box = count(model, X)
    rows = label_rows(black_box.schema.exact.encode(X), black_box)
    return CandidatePool.propose(generators, rows, black_box, seed, **options)


@dataclass(frozen=True)
class OwnTrees:
    """A generator as a user may write it: small trees, each learned from one half of the rows.

    Parameters
    ----------
    by_leaf : bool
        Whether every good leaf is a candidate; otherwise a tree on all rows, and one on either side of its first split.
    """

    by_leaf: bool = False

    def propose(self, rows: Rows, random_state: int, black_box: Any = None) -> list[Candidate]:
        half = rows.folds(2, random_state) == 0
        return [
            candidate
            for learned_from in (half, ~half)
            for max_leaves in (4, 8, 16)
            if learned_from.any()
            for candidate in self._learn(rows, learned_from, max_leaves)
        ]

    def _learn(self, rows: Rows, learned_from: np.ndarray, max_leaves: int) -> list[Candidate]:
        tree = self._grow(rows, learned_from, max_leaves)
        if self.by_leaf:
            leaves = np.flatnonzero((tree.column == LEAF) & (shrunk_quality(tree) >= 0.9)).tolist()
            parts = [take_leaf(tree, leaf) for leaf in leaves]
            return [Candidate(box, explainer=says, origin="own") for box, says in parts]
        found = [Candidate(Box(()), explainer=tree, origin="own")]
        for condition in tree.conditions(0) if tree.column[0] != LEAF else ():
            box = Box((condition,))
            inside = self._grow(rows, learned_from & box.contains(rows.values), max_leaves)
            found.append(Candidate(box, explainer=inside, origin="own"))
        return found

    def _grow(self, rows: Rows, learned_from: np.ndarray, max_leaves: int) -> Tree:
        values, labels = rows.repeated(learned_from)
        classes, codes = encode_labels(labels)
        features = tuple(range(len(rows.schema)))
        return grow_tree(values, codes, classes, rows.schema, features, max_leaves, min_leaf=5, simplify=False)


@dataclass(frozen=True)
class Guess(Explainer):
    """One label by a class of one's own, which has nothing but what every explainer must have."""

    label: Any

    features = ()

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return np.full(len(rows), self.label)

    def rules(self) -> list[Rule]:
        return [Rule((), self.label, 1, 1.0)]

    def path(self, row: np.ndarray) -> Rule:
        return self.rules()[0]


@dataclass(frozen=True)
class AskingBoxes:
    """A generator that asks the black box: either side of the middle of a number, with the usual answer there.

    Parameters
    ----------
    n_draws : int
        Rows to ask about in each box: rows of the data with values of other rows in them.
    """

    n_draws: int = 50

    def propose(self, rows: Rows, random_state: int, black_box: CountingBlackBox) -> list[Candidate]:
        rng = np.random.default_rng(random_state)
        middle = float(np.median(rows.values[:, 0]))
        found = []
        for ends in ((-np.inf, middle), (middle, np.inf)):
            box = Box((Range(0, rows.schema[0], *ends),))
            inside = rows.values[box.contains(rows.values)]
            draws = np.column_stack([rng.choice(column, self.n_draws) for column in inside.T])
            classes, codes = encode_labels(black_box.ask(draws))
            counts = np.bincount(codes)
            says = Constant(classes[counts.argmax()], self.n_draws, counts.max() / self.n_draws, classes.dtype)
            found.append(Candidate(box, explainer=says, origin="asked"))
        return found
