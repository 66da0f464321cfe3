"""What every local explainer must do, whatever it is inside."""

import copy
import pickle
import re

import numpy as np
import pandas as pd
import pytest

from benchmarks.rivals.lime_linear import LimeLinear
from oleander.data.schema import FeatureSchema
from oleander.draws.in_ball import draw_in_ball
from oleander.rules import Ball, Explainer, FilteredTree, LocalExplainer, UnfilteredTree
from oleander.rules.filtering import StopReason

EXPLAINERS = [
    FilteredTree(),
    UnfilteredTree(),
    LimeLinear(),
    FilteredTree(alpha=None),
    LimeLinear(n_features=2),
]
HOSTILE = ["<script>alert(1)</script>", "a, b", "naïve ≤ 3", 'say "x"', "x > 2", "", "😀", "דואר", "x1"]


def label_numbers(rows):
    return np.select([rows[:, 0] > 75, rows[:, 1] > 60], [2, 1], 0)


LABELLINGS = {
    "int": label_numbers,
    "str": lambda rows: np.array(["low", "mid", "high"])[label_numbers(rows)],
    "object": lambda rows: np.array(["low", "mid", "high"], dtype=object)[label_numbers(rows)],
    "bool": lambda rows: rows[:, 0] > 70,
    "float": lambda rows: label_numbers(rows).astype(float),
    "one class": lambda rows: np.full(len(rows), "same"),
}


@pytest.fixture
def ball(mixed, mixed_schema):
    return Ball(mixed_schema, mixed_schema.encode(mixed)[7], 2.0)


@pytest.fixture
def draws(ball):
    return draw_in_ball(ball, 1500, np.random.default_rng(0))


@pytest.mark.parametrize("explainer", EXPLAINERS, ids=repr)
class TestContract:
    def test_is_a_local_explainer(self, explainer, ball, draws):
        fitted = copy.deepcopy(explainer).fit(draws, LABELLINGS["int"](draws), schema=ball.schema)
        assert isinstance(explainer, LocalExplainer)
        assert isinstance(fitted, Explainer)

    @pytest.mark.parametrize("labelling", LABELLINGS)
    def test_predicts_the_users_labels(self, explainer, labelling, ball, draws):
        labels = LABELLINGS[labelling](draws)
        fitted = copy.deepcopy(explainer).fit(draws, labels, schema=ball.schema, center=ball.center)
        predicted = fitted.predict(draws)
        assert predicted.shape == labels.shape
        assert predicted.dtype.kind == labels.dtype.kind
        assert set(predicted) <= set(labels)
        assert (predicted == labels).mean() > 0.8
        assert fitted.predict(draws[:0]).shape == (0,)

    def test_one_class_gives_a_constant_explainer(self, explainer, ball, draws):
        labels = np.full(len(draws), "same")
        fitted = copy.deepcopy(explainer).fit(draws, labels, schema=ball.schema, center=ball.center)
        assert fitted.complexity == 1
        assert fitted.features == ()
        assert set(fitted.predict(draws)) == {"same"}
        assert "same" in str(fitted.path(draws[0]))

    def test_is_the_same_every_time(self, explainer, ball, draws):
        labels = LABELLINGS["str"](draws)
        one, two = (
            copy.deepcopy(explainer).fit(draws, labels, schema=ball.schema, center=ball.center) for _ in range(2)
        )
        assert [str(rule) for rule in one.rules()] == [str(rule) for rule in two.rules()]
        np.testing.assert_array_equal(one.predict(draws), two.predict(draws))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).predict(draws), one.predict(draws))

    def test_path_gives_the_label_of_predict(self, explainer, ball, draws):
        fitted = copy.deepcopy(explainer).fit(draws, LABELLINGS["str"](draws), schema=ball.schema, center=ball.center)
        for row, label in zip(draws[:50], fitted.predict(draws[:50]), strict=True):
            assert fitted.path(row).label == label

    def test_features_are_those_that_matter(self, explainer, ball, draws):
        """Changing any other column changes no answer."""
        fitted = copy.deepcopy(explainer).fit(draws, LABELLINGS["int"](draws), schema=ball.schema, center=ball.center)
        shuffled = np.random.default_rng(1).permutation(draws)
        shuffled[:, fitted.features] = draws[:, fitted.features]
        np.testing.assert_array_equal(fitted.predict(shuffled), fitted.predict(draws))
        assert 0 in fitted.features
        assert fitted.complexity >= 2

    def test_rules_use_the_names_of_the_data(self, explainer, draws, ball):
        schema = FeatureSchema(ball.schema.features, ball.schema.columns)
        for position, name in enumerate(HOSTILE):
            schema = schema.with_feature(schema.names[position], name=f"{name}{position}")
        fitted = copy.deepcopy(explainer).fit(draws, LABELLINGS["str"](draws), schema=schema, center=ball.center)
        said = " ".join(str(rule) for rule in fitted.rules()) + str(fitted.path(draws[0]))
        assert schema.names[0] in said
        assert any(label in said for label in ("low", "mid", "high"))

    def test_a_constant_column_is_harmless(self, explainer, ball, draws):
        site = ball.schema.position("site")
        fitted = copy.deepcopy(explainer).fit(draws, LABELLINGS["int"](draws), schema=ball.schema, center=ball.center)
        assert site not in fitted.features

    def test_few_draws(self, explainer, ball, draws):
        fitted = copy.deepcopy(explainer).fit(
            draws[:1], LABELLINGS["int"](draws[:1]), schema=ball.schema, center=ball.center
        )
        assert fitted.predict(draws).shape == (1500,)


@pytest.mark.parametrize("explainer", EXPLAINERS, ids=repr)
def test_missing_values_can_decide(explainer):
    X = pd.DataFrame({"dose": [1.5, None, 3.5] * 500, "site": ["a", "b", None, "c"] * 375})
    schema = FeatureSchema.infer(X)
    rows = schema.encode(X)
    labels = np.where(X["site"].isna(), "no site", "site")
    fitted = copy.deepcopy(explainer).fit(rows, labels, schema=schema, center=rows[2])
    np.testing.assert_array_equal(fitted.predict(rows), labels)
    if not isinstance(explainer, LimeLinear):
        labels = np.where(X["dose"].isna(), "no dose", "dose")
        fitted = copy.deepcopy(explainer).fit(rows, labels, schema=schema)
        np.testing.assert_array_equal(fitted.predict(rows), labels)
        assert "dose is missing" in " ".join(str(rule) for rule in fitted.rules())


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(5000, 12))
    labels = np.where(X[:, 3] > 0.66, "high", np.where(X[:, 8] > 0.33, "mid", "low"))
    return X, labels, FeatureSchema.infer(X)


def test_the_filter_selects_what_matters_and_gives_a_reason_to_stop(data):
    X, labels, schema = data
    local = FilteredTree(max_leaves=4)
    tree = local.fit(X, labels, schema=schema)
    assert set(local.filter_.features) == {3, 8}
    assert isinstance(local.filter_.stopped, StopReason)
    assert (tree.predict(X) == labels).mean() > 0.97


def test_the_filter_drops_noise_that_a_tree_would_split_on(data):
    X, labels, schema = data
    noisy = np.where(np.random.default_rng(1).random(5000) < 0.3, "low", labels)
    assert set(FilteredTree(max_leaves=40).fit(X, noisy, schema=schema).features) <= {3, 8}
    assert len(UnfilteredTree(max_leaves=40).fit(X, noisy, schema=schema).features) > 2


def test_rules_are_sentences(data):
    X, labels, schema = data
    rules = [str(rule) for rule in FilteredTree(max_leaves=3).fit(X, labels, schema=schema).rules()]
    assert len(rules) == 3
    assert any(re.fullmatch(r"x3 > 0\.6\d* → high \(\d+% of [\d,]+ draws\)", rule) for rule in rules)


def test_max_leaves_bounds_the_complexity(data):
    X, labels, schema = data
    for most in (1, 2, 3):
        assert UnfilteredTree(max_leaves=most).fit(X, labels, schema=schema).complexity <= most
    assert UnfilteredTree(max_leaves=None).fit(X, labels, schema=schema).predict(X).tolist() == labels.tolist()
