"""Interpretable decision sets: unordered if-then rules, few, short and apart (Lakkaraju, Bach and Leskovec 2016)."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.rivals.base import Baseline, choose
from benchmarks.rivals.decision_set.itemsets import Candidates, make_items, mine_rules
from benchmarks.rivals.decision_set.objective import Objective, Terms
from benchmarks.rivals.decision_set.search import local_search
from benchmarks.rivals.decision_set.tuning import START, ascend, to_lambdas
from oleander.arrays import Floats, Ints
from oleander.black_box.asking import BlackBox
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.results.explainer_set import ChosenExplainer
from oleander.rules import Box, Constant
from oleander.rules.base import encode_labels

N_FOLDS = 3


@dataclass(frozen=True, eq=False)
class Sample:
    """Points with label codes and weights: the number of rows that each stands for."""

    values: Floats
    labels: Ints
    weights: Ints
    n_labels: int

    def take(self, points: Ints) -> Self:
        """Return some of the points."""
        return type(self)(self.values[points], self.labels[points], self.weights[points], self.n_labels)

    @property
    def n_rows(self) -> int:
        """The number of rows that the points stand for."""
        return int(self.weights.sum())


@dataclass(eq=False, repr=False, kw_only=True)
class DecisionSet(Baseline):
    """Mimic the black box with a set of if-then rules, found by maximising the authors' seven terms.

    Where several rules cover a row, the one with the highest F1 answers; where none does, a last explainer answers with
    the most frequent label outside the rules.

    Attributes
    ----------
    lambdas_ : array of shape (7,)
    n_rules_ : int
        Number of rules, without the default.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> rival = DecisionSet(lambda X: X[:, 0] > 0.5, n_bins=2, random_state=0).fit(X)
    >>> rival.n_rules_, rival.evaluate(X).agreement > 0.95
    (2, True)
    """

    # Most rules, the default rule not counted; None leaves their number to the objective.
    max_rules: int | None = None
    # Share of the rows that a rule must cover.
    min_support: float = 0.05
    # Most conditions in a rule.
    max_length: int = 3
    # Bins of equally many rows; their edges are the thresholds of a number.
    n_bins: int = 6
    # Most candidate rules for each label, the best by F1 and by F½.
    max_candidates: int | None = 200
    # The weights of the terms: number of rules, lengths, overlap within a label and between labels, labels with a rule,
    # rows covered incorrectly, rows covered correctly. "tune" finds them by coordinate ascent on three folds.
    lambdas: Any = "tune"
    # A step must gain this share of value / n², n being the number of candidates. The overlap terms hold the constant
    # rows · n², so that 1 would stop the search at the first rule.
    epsilon: float = 0.01

    def _find(self, rows: Rows, box: BlackBox, seed: int) -> tuple[list[ChosenExplainer], int]:
        classes, codes = encode_labels(rows.labels)
        sample = Sample(rows.values, codes, rows.weights, len(classes))
        rng = np.random.default_rng(seed)
        if isinstance(self.lambdas, str):
            self.lambdas_ = to_lambdas(self._tune(sample, rows.schema, rng), sample.n_rows)
        else:
            self.lambdas_ = np.array(self.lambdas, dtype=float)
        candidates = self._mine(sample, rows.schema)
        terms = Terms(candidates, sample.labels, sample.weights)
        objective = Objective(terms, self.lambdas_)
        chosen = local_search(objective, epsilon=self.epsilon, max_rules=self.max_rules)
        members = []
        order = by_f1(candidates, chosen)
        self.n_rules_ = len(order)
        for i in order.tolist():
            n_rows = int(terms.n_right[i] + terms.n_wrong[i])
            label, share = classes[candidates.label[i]], float(terms.n_right[i] / n_rows)
            constant = Constant(label, n_rows, share, classes.dtype)
            members.append(choose(rows, Box(candidates.conditions[i]), constant, "decision set"))
        default, n_rows, share = default_label(sample, candidates.covers[order])
        constant = Constant(classes[default], n_rows, share, classes.dtype)
        return [*members, choose(rows, Box(()), constant, "default rule")], 0

    def _mine(self, sample: Sample, schema: FeatureSchema) -> Candidates:
        return mine_rules(
            sample.values,
            sample.labels,
            sample.weights,
            make_items(sample.values, schema, self.n_bins),
            n_labels=sample.n_labels,
            min_support=self.min_support,
            max_length=self.max_length,
            max_candidates=self.max_candidates,
        )

    def _tune(self, sample: Sample, schema: FeatureSchema, rng: np.random.Generator) -> tuple[float, ...]:
        """Return the weights, as shares, with the highest agreement on the folds left out."""
        if len(sample.labels) < N_FOLDS:
            return START
        folds = rng.permutation(len(sample.labels)) % N_FOLDS
        parts = []
        for fold in range(N_FOLDS):
            learn, held = sample.take(np.flatnonzero(folds != fold)), sample.take(np.flatnonzero(folds == fold))
            candidates = self._mine(learn, schema)
            terms = Terms(candidates, learn.labels, learn.weights)
            # The rules' covers of the rows left out are looked up for every choice of weights.
            covers = np.array([Box(conditions).contains(held.values) for conditions in candidates.conditions])
            parts.append((learn, held, candidates, terms, covers.reshape(len(candidates), len(held.labels))))

        @cache
        def score(shares: tuple[float, ...]) -> float:
            n_agreeing = 0
            for learn, held, candidates, terms, covers in parts:
                objective = Objective(terms, to_lambdas(shares, learn.n_rows))
                chosen = local_search(objective, epsilon=self.epsilon, max_rules=self.max_rules)
                order = by_f1(candidates, chosen)
                default, _, _ = default_label(learn, candidates.covers[order])
                answers = answer(covers[order], candidates.label[order], default)
                n_agreeing += int(held.weights[answers == held.labels].sum())
            return n_agreeing / sample.n_rows

        return ascend(score)


def by_f1(candidates: Candidates, chosen: NDArray[np.bool_]) -> Ints:
    """Return the chosen rules in the order in which they answer."""
    inside = np.flatnonzero(chosen)
    return inside[np.argsort(-candidates.f1[inside], kind="stable")]


def answer(covers: NDArray[np.bool_], labels: Ints, default: int) -> Ints:
    """Return the label of the first rule that covers a row, and the default where none does.

    >>> answer(np.array([[True, False, False], [True, True, False]]), np.array([3, 4]), 5).tolist()
    [3, 4, 5]
    """
    covers = np.vstack([covers, np.ones(covers.shape[1:], dtype=bool)])
    answers: Ints = np.append(labels, default)[covers.argmax(axis=0)]
    return answers


def default_label(sample: Sample, covers: NDArray[np.bool_]) -> tuple[int, int, float]:
    """Return the most frequent label outside the rules, the number of rows there, and the label's share of them.

    Where the rules cover every row, all rows are counted.
    """
    outside = ~np.logical_or.reduce(covers, axis=0)
    weights = np.where(outside, sample.weights, 0) if outside.any() else sample.weights
    counts = np.bincount(sample.labels, weights, minlength=sample.n_labels)
    return int(counts.argmax()), int(counts.sum()), float(counts.max() / counts.sum())
