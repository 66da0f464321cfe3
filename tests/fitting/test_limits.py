"""What the user forbids before a fit."""

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Boxes, Draws

WORDS = np.array(["healthy", "ill"], dtype=object)


def make_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    sex = pd.Series(rng.choice(["F", "M"], n), dtype=object)
    return pd.DataFrame({"age": rng.integers(20, 90, n), "gait": rng.uniform(0, 30, n), "sex": sex})


def is_ill(X):
    """Old people are ill, and so are some of the young."""
    age, gait = X["age"].to_numpy(), X["gait"].to_numpy()
    return WORDS[((age > 60) | ((age > 30) & (age < 45) & (gait > 12))).astype(int)]


def fit(**options):
    X = make_rows(1_200)
    explainer = AggregateExplainer(is_ill, draws=Draws(2_000), candidates=Boxes(**options), random_state=0)
    return explainer.fit(X.iloc[:600], background=X.iloc[600:])


def columns_used(atlas):
    return {condition.feature.name for member in atlas.explainers_ for condition in member.conditions}


def test_no_rule_uses_a_forbidden_column():
    assert "gait" in columns_used(fit())
    atlas = fit(forbid=["gait", "sex"])
    assert columns_used(atlas) == {"age"}
    assert atlas.certificate_ is not None


def test_no_line_uses_a_forbidden_column():
    X = np.random.default_rng(0).uniform(size=(600, 2))
    atlas = AggregateExplainer(
        lambda X: 0.2 * X[:, 0] + 5 * X[:, 1],
        tolerance=0.4,
        candidates=Boxes(forbid=["x0"]),
        draws=Draws(2_000),
        random_state=0,
    ).fit(X)
    used = {column for member in atlas.explainers_ for column in member.explainer.features}
    assert used | {condition.column for member in atlas.explainers_ for condition in member.conditions} <= {1}


BAD = {
    "a column": ({"forbid": ["gaite"]}, ValueError, "there is no column 'gaite'; .* Did you mean 'gait'"),
    "all": ({"forbid": ["age", "gait", "sex"]}, ValueError, "forbid names every column"),
    "text": ({"forbid": "age"}, TypeError, "forbid='age' is not allowed: give a list, such as \\['age'\\]"),
}


@pytest.mark.parametrize(("options", "kind", "message"), BAD.values(), ids=BAD)
def test_bad_limits_are_refused(options, kind, message):
    with pytest.raises(kind, match=message):
        fit(**options)
