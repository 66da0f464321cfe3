import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency
from sklearn.metrics import mutual_info_score

from oleander.data.schema import FeatureSchema
from oleander.filters.information import LeafTable, bin_codes


def score_information(codes, labels, leaves=None):
    """Return the information of one feature and its p value; without leaves, all draws are in one leaf."""
    leaves = np.zeros(len(codes), dtype=np.intp) if leaves is None else leaves
    table = LeafTable(leaves, labels, leaves.max() + 1, labels.max() + 1, len(codes))
    scores = table.score(codes[None, :], np.array([codes.max() + 1]), np.array([0]), np.arange(len(codes)))
    return float(scores.values[0]), float(scores.p_values[0])


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
    together = LeafTable(leaves, labels, 6, 3, 500).score(codes, n_codes, features, np.arange(500))
    alone = [score_information(code, labels, leaves) for code in codes[features]]
    np.testing.assert_allclose(together.values, [value for value, _ in alone])
    np.testing.assert_allclose(together.p_values, [p_value for _, p_value in alone])


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
