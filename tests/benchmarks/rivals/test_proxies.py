import numpy as np
import pytest

from benchmarks.rivals import Proxies
from benchmarks.rivals.lime_linear import Linear
from benchmarks.rivals.proxies import pick_by_loss, place_rows, squared_error
from oleander.data.schema import FeatureSchema


def test_picks_the_models_that_are_first_with_a_small_loss():
    losses = np.array([[0.0, 0.0, 0.0, 0.9, 0.9], [0.9, 0.9, 0.1, 0.0, 0.9], [0.9, 0.0, 0.0, 0.9, 0.9]])
    picked, assigned = pick_by_loss(losses, np.ones(5), 3, 0.2)
    # The third model adds no row, and no model has a small loss on the last row.
    assert picked == [0, 1]
    assert assigned.tolist() == [0, 0, 0, 1, -1]
    # A row that stands for many is worth more.
    assert pick_by_loss(losses, np.array([1, 1, 1, 9, 1]), 1, 0.2)[0] == [1]
    assert pick_by_loss(losses + 1, np.ones(5), 3, 0.2)[0] == []


def test_loss_is_the_squared_distance_of_the_score_from_one():
    schema = FeatureSchema.infer(np.array([[0.5], [1.5], [2.5]]))
    model = Linear(schema, np.array(["a", "b"]), np.zeros((1, 2)), np.array([0.7, 1.5]), np.array([1.0]))
    losses = squared_error(model, np.ones((3, 1)), np.array(["a", "b", "c"]))
    np.testing.assert_allclose(losses, [0.09, 0.0, 1.0])


def test_rows_that_differ_in_one_level_are_one_apart(mixed, mixed_schema):
    rows = mixed_schema.encode(mixed)[:1].repeat(2, axis=0)
    colour = mixed_schema.position("colour")
    rows[:, colour] = [0, 1]
    one, other = place_rows(rows, mixed_schema)
    assert np.linalg.norm(one - other) == pytest.approx(1.0)


def test_a_new_row_is_answered_by_the_proxy_of_its_nearest_row():
    X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    proxies = Proxies(
        lambda X: (X[:, 0] > 0) ^ (X[:, 1] > 0), max_explainers=4, radius=0.8, n_draws=500, random_state=0
    ).fit(X)
    result = proxies.evaluate(np.random.default_rng(1).uniform(-1, 1, size=(400, 2)))
    assert result.coverage > 0.7
    assert result.agreement > 0.85
    assert proxies.covers(X).sum(axis=0).max() == 1
