import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency
from sklearn.metrics import mutual_info_score

from oleander.data.schema import FeatureSchema
from oleander.rules.filtering import Leaves, StopReason, bin_codes, select_features


def score_information(codes, labels, leaves=None):
    """Return the information of one feature and its p value; without leaves, all draws are in one leaf."""
    groups = Leaves(labels, drop_small=False)
    if leaves is not None:
        groups.split(leaves, leaves.max() + 1)
    values, p_values = groups.score(codes[None, :], np.array([codes.max() + 1]), np.array([0]))
    return float(values[0]), float(p_values[0])


def conditional(codes, labels, leaves):
    """Mutual information leaf by leaf, weighted by the leaves' shares: an independent computation."""
    return sum(
        (leaves == leaf).mean() * mutual_info_score(labels[leaves == leaf], codes[leaves == leaf])
        for leaf in np.unique(leaves)
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_leaves", [1, 4, 60])
def test_value_is_conditional_mutual_information(seed, n_leaves):
    rng = np.random.default_rng(seed)
    codes, labels, leaves = (rng.integers(0, k, 500) for k in (4, 3, n_leaves))
    labels = np.where(rng.random(500) < 0.5, codes % 3, labels)
    value, _ = score_information(codes, labels, leaves)
    assert value == pytest.approx(conditional(codes, labels, leaves), abs=1e-12)


def test_features_scored_together_are_scored_as_each_alone():
    rng = np.random.default_rng(0)
    n_codes = np.array([2, 5, 3, 2, 7])
    codes = np.stack([rng.integers(0, k, 500) for k in n_codes])
    labels, leaves = rng.integers(0, 3, 500), rng.integers(0, 6, 500)
    features = np.array([3, 0, 4, 1])
    groups = Leaves(labels, drop_small=False)
    groups.split(leaves, 6)
    values, p_values = groups.score(codes, n_codes, features)
    alone = [score_information(code, labels, leaves) for code in codes[features]]
    np.testing.assert_allclose(values, [value for value, _ in alone])
    np.testing.assert_allclose(p_values, [p_value for _, p_value in alone])


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


def test_p_values_of_noise_are_uniform():
    rng = np.random.default_rng(1)
    p_values = [
        score_information(rng.integers(0, 3, 600), rng.integers(0, 3, 600), rng.integers(0, 4, 600))[1]
        for _ in range(400)
    ]
    assert np.mean(np.array(p_values) < 0.05) == pytest.approx(0.05, abs=0.033)


def test_no_information_where_nothing_varies():
    assert score_information(np.zeros(50, dtype=int), np.arange(50) % 2) == (0.0, 1.0)


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


def test_draws_that_are_all_missing_or_all_equal():
    X = pd.DataFrame({"x": [5.5, None, 8.5], "y": [1.5, 2.5, 3.5]})
    schema = FeatureSchema.infer(X)
    codes, _ = bin_codes(np.array([[np.nan, 2.0], [np.nan, 2.0]]), schema)
    assert codes.tolist() == [[3, 3], [0, 0]]


def bits(n_features: int, n_draws: int = 4000, seed: int = 0, n_codes: int = 2):
    codes = np.random.default_rng(seed).integers(0, n_codes, size=(n_features, n_draws))
    return codes, np.full(n_features, n_codes)


def test_planted_features_are_found_in_order():
    """The label is a number whose digits are features: the first digit says most, then the second, then the third."""
    codes, n_codes = bits(10)
    labels = 4 * codes[7] + 2 * (codes[7] * codes[1]) + (codes[7] * codes[1] * codes[4])
    found = select_features(codes, n_codes, labels)
    assert found.features == (7, 1, 4)
    assert found.stopped is StopReason.ALL_PURE
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


def test_noise_is_not_selected_after_a_real_feature():
    quiet = 0
    for seed in range(100):
        codes, n_codes = bits(30, n_draws=2000, seed=seed, n_codes=3)
        flipped = np.random.default_rng(10_000 + seed).random(2000) < 0.2
        labels = np.where(flipped, (codes[5] + 1) % 3, codes[5])
        quiet += select_features(codes, n_codes, labels, alpha=1e-3).features == (5,)
    assert quiet >= 95


def test_the_letter_of_the_paper_selects_noise_too():
    codes, n_codes = bits(6, n_draws=500)
    labels = np.random.default_rng(1).integers(0, 2, 500)
    found = select_features(codes, n_codes, labels, alpha=None)
    assert len(found.features) == 6
    assert found.stopped is StopReason.NONE_LEFT


def test_constant_features_are_never_selected():
    codes, n_codes = bits(3)
    codes[1] = 1
    for alpha in (1e-3, None):
        assert 1 not in select_features(codes, n_codes, codes[0], alpha=alpha).features


def test_one_label_needs_no_feature():
    codes, n_codes = bits(3)
    found = select_features(codes, n_codes, np.zeros(4000, dtype=int))
    assert (found.features, found.stopped) == ((), StopReason.ALL_PURE)


def test_max_features_and_too_few_draws_are_reasons_to_stop():
    codes, n_codes = bits(8)
    labels = codes[0] + codes[1] + codes[2]
    assert select_features(codes, n_codes, labels, max_features=2).stopped is StopReason.MAX_FEATURES
    assert select_features(codes, n_codes, labels, max_features=0).features == ()
    few, n_codes = bits(3, n_draws=12)
    assert select_features(few, n_codes, few[0]).stopped is StopReason.TOO_FEW_DRAWS


def test_equal_features_are_taken_by_index():
    codes, n_codes = bits(4)
    codes[3] = codes[1]
    assert select_features(codes, n_codes, codes[1]).features == (1,)
