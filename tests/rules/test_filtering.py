import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency
from sklearn.metrics import mutual_info_score

from benchmarks.rivals.lime_linear import LimeLinear
from oleander.data.schema import FeatureSchema
from oleander.draws.in_ball import draw_in_ball
from oleander.rules import Ball, Explainer, FilteredTree, LocalExplainer, UnfilteredTree
from oleander.rules.filtering import bin_codes, keep_undecided, measure_information, select_features

EXPLAINERS = [FilteredTree(), UnfilteredTree(), LimeLinear(), FilteredTree(alpha=None), LimeLinear(n_features=2)]


def score(codes, n_codes, features, labels, leaves):
    """Return the information of features and their p values."""
    left = keep_undecided(np.arange(len(labels)), leaves, labels, drop_small=False)
    return measure_information(codes.astype(np.int32), n_codes, features, labels, *left)


def score_information(codes, labels, leaves=None):
    """Return the information of one feature and its p value; without leaves, all draws are in one leaf."""
    leaves = np.zeros(len(labels), dtype=int) if leaves is None else leaves
    values, p_values = score(codes[None, :], np.array([codes.max() + 1]), np.array([0]), labels, leaves)
    return float(values[0]), float(p_values[0])


def conditional(codes, labels, leaves):
    """Mutual information leaf by leaf, weighted by the leaves' shares: an independent computation."""
    return sum(
        (leaves == leaf).mean() * mutual_info_score(labels[leaves == leaf], codes[leaves == leaf])
        for leaf in np.unique(leaves)
    )


def test_p_value_is_that_of_the_g_test():
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 4, 400), rng.integers(0, 3, 400)
    table = np.histogram2d(codes, labels, bins=(4, 3))[0]
    expected = chi2_contingency(table, correction=False, lambda_="log-likelihood").pvalue
    assert score_information(codes, labels)[1] == pytest.approx(expected)


def test_small_leaves_are_not_tested():
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
    leaves = np.repeat([0, 1], [281, 19])
    labels[281:] = codes[281:]
    assert score_information(codes, labels, leaves)[1] == pytest.approx(score_information(codes[:281], labels[:281])[1])


def test_numbers_have_bins_of_equal_width_and_levels_are_bins():
    X = pd.DataFrame({"x": [0.0, 0.9, 1.1, 2.0, 2.1, 3.0], "sex": list("MFFMMF"), "colour": list("abcabc")})
    schema = FeatureSchema.infer(X, kinds={"x": "continuous"})
    codes, n_codes = bin_codes(schema.encode(X), schema)
    assert codes.tolist() == [[0, 0, 1, 2, 2, 2], [1, 0, 0, 1, 1, 0], [0, 1, 2, 0, 1, 2]]
    assert n_codes.tolist() == [3, 2, 3]
    assert bin_codes(schema.encode(X), schema, n_bins=30)[0][0].tolist() == [0, 9, 11, 20, 21, 29]


def test_missing_is_a_bin_of_its_own():
    X = pd.DataFrame({"x": [5.5, None, 8.5, None], "colour": ["a", "b", None, "c"]})
    schema = FeatureSchema.infer(X)
    codes, n_codes = bin_codes(schema.encode(X), schema)
    assert codes.tolist() == [[0, 3, 2, 3], [0, 1, 3, 2]]
    assert n_codes.tolist() == [4, 4]
    # Draws that are all missing, and all equal.
    assert bin_codes(np.array([[np.nan, 2.0]] * 2), schema)[0][0].tolist() == [3, 3]
    assert bin_codes(np.array([[6.5, 2.0]] * 2), schema)[0][0].tolist() == [0, 0]


def bits(n_features: int, n_draws: int = 4000, seed: int = 0, n_codes: int = 2):
    codes = np.random.default_rng(seed).integers(0, n_codes, size=(n_features, n_draws))
    return codes, np.full(n_features, n_codes)


def test_planted_features_are_found_in_order():
    """The label is a number whose digits are features: the first digit says most, then the second, then the third."""
    codes, n_codes = bits(10)
    labels = 4 * codes[7] + 2 * (codes[7] * codes[1]) + (codes[7] * codes[1] * codes[4])
    found = select_features(codes, n_codes, labels)
    assert found.features == (7, 1, 4)
    assert found.information[0] == pytest.approx(np.log(2), abs=0.01)


@pytest.mark.parametrize("alpha", [1e-3, None])
@pytest.mark.parametrize("seed", range(3))
def test_each_step_adds_the_most_information(seed, alpha):
    """Every step against an independent computation: scikit-learn's mutual information, leaf by leaf."""
    rng = np.random.default_rng(seed)
    n_codes = rng.integers(2, 4, 8)
    codes = np.stack([rng.integers(0, k, 3000) for k in n_codes])
    labels = (codes[2] + 2 * codes[5] * (codes[0] > 0) + (rng.random(3000) < 0.1)) % 4
    found = select_features(codes, n_codes, labels, alpha=alpha, max_features=3)
    leaves = np.zeros(3000, dtype=int)
    for step, feature in enumerate(found.features):
        values = {j: conditional(codes[j], labels, leaves) for j in set(range(8)) - set(found.features[:step])}
        assert found.information[step] == pytest.approx(values[feature], abs=1e-9)
        assert feature == max(values, key=values.__getitem__)
        leaves = leaves * 3 + codes[feature]
    assert len(found.features) == 3


def test_xor_is_invisible_to_single_steps():
    codes, n_codes = bits(8, n_draws=8000)
    assert select_features(codes, n_codes, codes[1] ^ codes[4]).features == ()
    assert select_features(codes, n_codes, 2 * codes[0] + (codes[3] ^ codes[6])).features == (0,)


def test_noise_is_not_selected():
    """At alpha = 1e-3 nothing is selected among 30 noise features in at least 95% of seeds."""
    quiet = 0
    for seed in range(200):
        codes, n_codes = bits(30, n_draws=1000, seed=seed, n_codes=3)
        labels = np.random.default_rng(10_000 + seed).integers(0, 3, 1000)
        quiet += not select_features(codes, n_codes, labels, alpha=1e-3).features
    assert quiet >= 190


def test_constant_features_are_never_selected():
    codes, n_codes = bits(3)
    codes[1] = 1
    for alpha in (1e-3, None):
        assert 1 not in select_features(codes, n_codes, codes[0], alpha=alpha).features


def test_it_stops_where_nothing_is_left_to_find():
    codes, n_codes = bits(8)
    labels = codes[0] + codes[1] + codes[2]
    for alpha in (1e-3, None):
        assert select_features(codes, n_codes, np.zeros(4000, dtype=int), alpha=alpha).features == ()
    assert set(select_features(codes, n_codes, labels).features) == {0, 1, 2}
    for most in (0, 2):
        assert len(select_features(codes, n_codes, labels, max_features=most).features) == most
    few, n_codes = bits(3, n_draws=12)
    assert select_features(few, n_codes, few[0]).features == ()


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
    @pytest.fixture
    def fit(self, explainer, ball, draws):
        """Return what a copy of the explainer learns from draws in the ball that are labelled in one of the ways."""

        def fit(labelling="str", draws=draws, schema=ball.schema):
            labels = LABELLINGS[labelling](draws)
            return copy.deepcopy(explainer).fit(draws, labels, schema=schema, center=ball.center)

        return fit

    @pytest.mark.parametrize("labelling", LABELLINGS)
    def test_predicts_the_users_labels(self, explainer, fit, labelling, draws):
        assert isinstance(explainer, LocalExplainer)
        fitted, labels = fit(labelling), LABELLINGS[labelling](draws)
        assert isinstance(fitted, Explainer)
        predicted = fitted.predict(draws)
        assert predicted.shape == labels.shape
        assert predicted.dtype.kind == labels.dtype.kind
        assert set(predicted) <= set(labels)
        assert (predicted == labels).mean() > 0.8
        assert fitted.predict(draws[:0]).shape == (0,)
        assert (fitted.complexity, fitted.features) == (1, ()) if labelling == "one class" else fitted.complexity > 1

    def test_is_the_same_every_time(self, fit, draws):
        one, two = fit(), fit()
        assert [str(rule) for rule in one.rules()] == [str(rule) for rule in two.rules()]
        np.testing.assert_array_equal(one.predict(draws), two.predict(draws))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).predict(draws), one.predict(draws))

    def test_path_gives_the_label_of_predict(self, fit, draws):
        fitted = fit()
        assert [fitted.path(row).label for row in draws[:50]] == fitted.predict(draws[:50]).tolist()

    def test_features_are_those_that_matter(self, fit, ball, draws):
        """Changing any other column changes no answer."""
        fitted = fit("int")
        shuffled = np.random.default_rng(1).permutation(draws)
        shuffled[:, fitted.features] = draws[:, fitted.features]
        np.testing.assert_array_equal(fitted.predict(shuffled), fitted.predict(draws))
        assert 0 in fitted.features
        # It never varies.
        assert ball.schema.position("site") not in fitted.features


@pytest.mark.parametrize("explainer", EXPLAINERS, ids=repr)
def test_missing_values_can_decide(explainer):
    X = pd.DataFrame({"dose": [1.5, None, 3.5] * 500, "site": ["a", "b", None, "c"] * 375})
    schema = FeatureSchema.infer(X)
    rows = schema.encode(X)
    # A line cannot tell a missing number from another.
    for name in ("site",) if isinstance(explainer, LimeLinear) else ("site", "dose"):
        labels = np.where(X[name].isna(), "missing", "known")
        fitted = copy.deepcopy(explainer).fit(rows, labels, schema=schema, center=rows[2])
        np.testing.assert_array_equal(fitted.predict(rows), labels)
        assert f"{name} is missing" in " ".join(map(str, fitted.rules())) or isinstance(explainer, LimeLinear)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(5000, 12))
    labels = np.where(X[:, 3] > 0.66, "high", np.where(X[:, 8] > 0.33, "mid", "low"))
    return X, labels, FeatureSchema.infer(X)


def test_the_filter_selects_what_matters(data):
    X, labels, schema = data
    local = FilteredTree(max_leaves=4)
    tree = local.fit(X, labels, schema=schema)
    assert set(local.filter_.features) == {3, 8}
    assert (tree.predict(X) == labels).mean() > 0.97


def test_the_filter_drops_noise_that_a_tree_would_split_on(data):
    X, labels, schema = data
    noisy = np.where(np.random.default_rng(1).random(5000) < 0.3, "low", labels)
    assert set(FilteredTree(max_leaves=40).fit(X, noisy, schema=schema).features) <= {3, 8}
    assert len(UnfilteredTree(max_leaves=40).fit(X, noisy, schema=schema).features) > 2


def test_max_leaves_bounds_the_complexity(data):
    X, labels, schema = data
    for most in (1, 2, 3):
        assert UnfilteredTree(max_leaves=most).fit(X, labels, schema=schema).complexity <= most
    assert UnfilteredTree(max_leaves=None).fit(X, labels, schema=schema).predict(X).tolist() == labels.tolist()
