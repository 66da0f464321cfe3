"""Made objectives for the tests of decision sets."""

from itertools import product

import numpy as np

from benchmarks.rivals.decision_set.itemsets import Candidates
from benchmarks.rivals.decision_set.objective import Objective, Terms
from oleander.data.schema import FeatureSchema
from oleander.rules.conditions import Range

AGE = FeatureSchema.infer(np.linspace(0, 10, 30)[:, None])[0]


def make_candidates(covers, label, length=None):
    """Rules with these covers; their conditions matter for their number only."""
    covers, label = np.array(covers, dtype=bool), np.array(label)
    conditions = tuple((Range(0, AGE),) * n for n in (np.ones(len(label), int) if length is None else length))
    return Candidates(conditions, label, covers, np.linspace(1, 0.5, len(label)))


def random_objective(seed, n=9, n_points=40, n_labels=3):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, n_labels, n)
    candidates = make_candidates(rng.random((n, n_points)) < 0.3, label, rng.integers(1, 4, n))
    terms = Terms(candidates, rng.integers(0, n_labels, n_points), rng.integers(1, 4, n_points))
    return Objective(terms, rng.uniform(0, 1, 7) * [3, 1, 0.3, 0.3, 5, 0.5, 1])


def every_set(n):
    return [np.array(mask) for mask in product([False, True], repeat=n)]
