import numpy as np
import pytest

from oleander import AggregateExplainer, Balls, Floor


def stripes(X):
    X = np.asarray(X)
    return np.where((X[:, 0] > 0.5) ^ (X[:, 1] > 0.7), "b", "a")


BALLS = Balls(n_draws=300, max_candidates=60)
OPTIONS = {
    "balls": {"candidates": BALLS, "max_rules": None, "floor": Floor(over="each")},
    "trees": {"candidates": "auto"},
}


@pytest.fixture(scope="session")
def rows():
    return np.random.default_rng(0).uniform(size=(400, 3)).round(2)


@pytest.fixture(scope="session", params=["balls", "trees"])
def atlas(request, rows):
    """A fitted explainer of balls without a limit on rules, or of trees with one."""
    options = OPTIONS[request.param]
    return AggregateExplainer(stripes, max_explainers=3, min_fidelity=0.85, random_state=0, **options).fit(rows)


@pytest.fixture
def fit_stripes(rows):
    """Return a function that fits an explainer of its own, for tests that change it."""

    def fit(**options):
        return AggregateExplainer(stripes, **{"max_explainers": 2, "random_state": 0, **options}).fit(rows)

    return fit
