"""Certificates are true where records repeat: on 20,000 fresh rows the certified share of answers is correct."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from oleander import AggregateExplainer

FLOOR = 0.9


def detection_limit(n_rows, rng):
    """Three assays; 60% of each lie under the limit of detection and are written as 0."""
    X = rng.exponential(size=(n_rows, 3)).round(2)
    X[rng.random((n_rows, 3)) < 0.6] = 0
    return X, np.where((X == 0).all(axis=1), True, X[:, 0] + X[:, 1] > 1.2)


def zero_inflated(n_rows, rng):
    """In 30% of the rows every column is 0."""
    X = rng.normal(size=(n_rows, 3))
    X[rng.random(n_rows) < 0.3] = 0
    return X, (X[:, 0] + X[:, 1] > 0.5) | (X == 0).all(axis=1)


def grid(n_rows, rng):
    """Whole numbers on a small grid."""
    X = rng.integers([5, 7, 5, 3], size=(n_rows, 4)).astype(float)
    return X, (X[:, 0] + X[:, 1] > 6) ^ (X[:, 3] == 2)


def zipf(n_rows, rng):
    """Records of a fixed list, few of which are most of the rows."""
    records = np.random.default_rng(7).normal(size=(100, 3))
    weights = 1 / np.arange(1, 101) ** 1.2
    X = records[rng.choice(100, n_rows, p=weights / weights.sum())]
    return X, (X[:, 0] > 0) ^ (X[:, 1] > 0.7)


def boosting():
    return HistGradientBoostingClassifier(max_iter=30, random_state=0)


def forest():
    return RandomForestClassifier(50, random_state=0)


LAWS = [
    (detection_limit, boosting),
    (zero_inflated, boosting),
    (zero_inflated, forest),
    (grid, boosting),
    (zipf, forest),
]


@pytest.mark.parametrize(("law", "model"), LAWS, ids=lambda part: part.__name__)
def test_a_certificate_is_true_on_fresh_rows(law, model):
    rng = np.random.default_rng(0)
    known, truth = law(600, rng)
    box = model().fit(known, truth)
    X = law(400, rng)[0]
    atlas = AggregateExplainer(box, min_fidelity=FLOOR, random_state=0).fit(X, background=known)
    assert atlas.evaluation_.n_rows == 400
    fresh = atlas.evaluate(law(20_000, rng)[0])
    assert atlas.certificate_ is not None
    assert fresh.agreement >= atlas.certificate_.answers.bound
