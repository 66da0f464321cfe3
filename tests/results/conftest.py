import numpy as np
import pytest

from oleander import AggregateExplainer, Balls, Floor
from oleander.draws import Draws


def stripes(X):
    X = np.asarray(X)
    return np.where((X[:, 0] > 0.5) ^ (X[:, 1] > 0.7), "b", "a")


BALLS = Balls(n_draws=300, max_candidates=60)
OPTIONS = {
    "balls": {"candidates": BALLS, "floor": Floor(), "holdout": 0.25},
    "trees": {"draws": Draws(0), "holdout": 0.25},
    "asking": {"draws": Draws(2_000), "holdout": 0.5},
}


@pytest.fixture(scope="session")
def rows():
    return np.random.default_rng(0).uniform(size=(400, 3)).round(2)


@pytest.fixture(scope="session", params=list(OPTIONS))
def atlas(request, rows):
    """A fitted and certified explainer: of balls, from rows alone, or learned by asking."""
    options = OPTIONS[request.param]
    return AggregateExplainer(stripes, max_explainers=3, min_fidelity=0.85, random_state=0, **options).fit(rows)


@pytest.fixture
def fit_stripes(rows):
    """Return a function that fits an explainer of its own, for tests that change it."""

    def fit(**options):
        draws = Draws() if "candidates" in options else Draws(0)
        return AggregateExplainer(stripes, **{"max_explainers": 2, "draws": draws, "random_state": 0, **options}).fit(
            rows
        )

    return fit
