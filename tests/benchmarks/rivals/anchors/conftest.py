import numpy as np
import pytest

from benchmarks.rivals.anchors.ledger import Ledger
from benchmarks.rivals.anchors.predicates import Grid
from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.schema import FeatureSchema


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
        box = BlackBox(model, FeatureSchema.infer(X))
        rows = label_rows(box.schema.encode(X), CountingBlackBox(box))
        return Ledger(rows, Grid.cut(rows, 4), CountingBlackBox(box), seed, **options)

    return make
