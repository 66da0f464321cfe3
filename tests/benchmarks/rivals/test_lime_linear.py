import numpy as np
import pytest
from sklearn.linear_model import Ridge

from benchmarks.rivals.lime_linear import LimeLinear
from oleander.data.schema import FeatureSchema


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6)) * [1, 10, 1, 1, 1, 1]
    labels = (X[:, 0] + X[:, 1] / 10 + 0.3 * rng.normal(size=2000) > 0).astype(int) + (X[:, 2] > 1)
    return X, labels, FeatureSchema.infer(X)


def test_weights_are_those_of_a_weighted_ridge(data):
    """Written out: LIME's representation, its kernel, scikit-learn's ridge per class."""
    X, labels, schema = data
    center = X[3]
    scaled = (X - center) / X.std(axis=0)
    weights = np.sqrt(np.exp(-(scaled**2).sum(axis=1) / (0.75 * np.sqrt(6)) ** 2))
    linear = LimeLinear(n_features=None).fit(X, labels, schema=schema, center=center)
    scores = np.column_stack(
        [Ridge(alpha=1.0).fit(scaled, labels == k, sample_weight=weights).predict(scaled) for k in range(3)]
    )
    np.testing.assert_array_equal(linear.predict(X), scores.argmax(axis=1))


def test_few_features_are_the_heaviest_and_fitted_again(data):
    X, labels, schema = data
    linear = LimeLinear(n_features=2).fit(X, labels > 0, schema=schema, center=np.zeros(6))
    assert set(linear.features) == {0, 1}
    assert linear.complexity == 2
    weights = np.sqrt(np.exp(-((X / X.std(axis=0)) ** 2).sum(axis=1) / (0.75**2 * 6)))
    ridge = Ridge(alpha=1.0).fit((X / X.std(axis=0))[:, :2], labels > 0, sample_weight=weights)
    said = {term.feature.name: term.weight for term in linear.rules()[1].terms}
    assert said == {"x0": pytest.approx(ridge.coef_[0]), "x1": pytest.approx(ridge.coef_[1])}


def test_the_score_of_a_row_does_not_depend_on_other_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(257, 12))
    schema = FeatureSchema.infer(X)
    linear = LimeLinear(n_features=None).fit(X, (X @ rng.normal(size=12) > 0).astype(int), schema=schema)
    together = linear.scores(X)
    assert all((linear.scores(X[i : i + 1]) == together[i]).all() for i in range(len(X)))
