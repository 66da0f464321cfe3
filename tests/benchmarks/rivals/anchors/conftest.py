import numpy as np
import pytest

from benchmarks.rivals.anchors.ledger import Ledger
from benchmarks.rivals.anchors.predicates import Grid
from tests.making import count, label


@pytest.fixture(scope="session")
def corner():
    """A black box that answers yes where two of four columns are high, so that the widest precise rule is known."""

    def label(X):
        X = np.asarray(X)
        return np.where((X[:, 0] > 0.5) & (X[:, 1] > 0.5), "yes", "no")

    return label


@pytest.fixture(scope="session")
def square():
    # Each column holds 0.0025, 0.0075, ... once, so that quartiles are exact.
    return np.random.default_rng(0).permuted(np.tile((np.arange(200) + 0.5) / 200, (4, 1)), axis=1).T


@pytest.fixture(scope="session")
def ledger_of():
    """Make the ledger of a table and a model, with a counter of its own that starts at 0."""

    def make(X, model, seed=0, **options):
        rows = label(X, model)
        return Ledger(rows, Grid.cut(rows, 4), count(model, X), seed, **options)

    return make


@pytest.fixture(scope="session")
def noisy():
    """A black box whose answers are coins, which no rule explains."""
    noise = np.random.default_rng(0).integers(0, 2, size=100_000)
    return lambda X: noise[(np.asarray(X) @ [9973, 7919, 6131, 4241] * 1000).astype(int) % len(noise)]
