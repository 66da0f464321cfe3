"""scikit-learn's own checks of an estimator, with a black box that takes any table of numbers."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from oleander import AggregateExplainer, Balls, Floor
from oleander.draws import Draws

# Hundreds of fits.
pytestmark = pytest.mark.slow

OWN_WORDS = "refused as it should be, in our words instead of scikit-learn's"
EXCLUDED = {
    "check_n_features_in_after_fitting": OWN_WORDS,
    "check_complex_data": OWN_WORDS,
    "check_estimators_empty_data_messages": OWN_WORDS,
    "check_fit2d_1sample": "one row has no neighbours to speak for; the message is about the floor, not about rows",
    "check_parameters_default_constructible": "draws and floor are frozen dataclasses, a type that this check forbids",
    "rows-check_fit2d_1feature": "ten rows are too few to grow a tree on half of them; the message says so",
}


def left_of_middle(X):
    return np.asarray(X, dtype=float)[:, 0] > 0.5


# The data of these checks are a handful of rows, so the floor is low.
SHARE = Floor(on="share", min_support=2)
ESTIMATORS = {
    "asking": AggregateExplainer(
        left_of_middle, max_explainers=2, min_fidelity=0.4, draws=Draws(600), floor=SHARE, random_state=0
    ),
    "rows": AggregateExplainer(
        left_of_middle, max_explainers=2, min_fidelity=0.4, draws=Draws(0), floor=SHARE, random_state=0
    ),
    "balls": AggregateExplainer(
        left_of_middle,
        candidates=Balls(n_draws=50, max_candidates=10),
        max_explainers=1,
        min_fidelity=0.1,
        floor=SHARE,
        random_state=0,
    ),
}


def checks():
    for way, estimator in ESTIMATORS.items():
        for _, check in estimator_checks_generator(estimator):
            name = check.func.__name__
            if name == "check_array_api_input":
                continue  # only for estimators that claim to take other arrays than NumPy's
            reason = EXCLUDED.get(name) or EXCLUDED.get(f"{way}-{name}")
            marks = [] if reason is None else [pytest.mark.xfail(reason=reason, strict=True)]
            yield pytest.param(estimator, check, id=f"{way}-{name}", marks=marks)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_estimator(estimator, check):
    check(estimator)
