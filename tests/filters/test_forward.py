import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from oleander.filters import StopReason, select_features


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
        values = {
            j: sum(
                (leaves == leaf).mean() * mutual_info_score(labels[leaves == leaf], codes[j][leaves == leaf])
                for leaf in np.unique(leaves)
            )
            for j in set(range(8)) - set(found.features[:step])
        }
        assert found.information[step] == pytest.approx(values[feature], abs=1e-9)
        assert feature == max(values, key=values.__getitem__)
        leaves = leaves * 3 + codes[feature]
    assert len(found.features) == 3


def test_xor_is_invisible_to_single_steps_and_seen_by_pairs():
    codes, n_codes = bits(6)
    labels = codes[1] ^ codes[4]
    assert select_features(codes, n_codes, labels).features == ()
    found = select_features(codes, n_codes, labels, pairs=True)
    assert set(found.features) == {1, 4}
    assert sum(found.information) == pytest.approx(np.log(2), abs=0.01)
    assert found.information[0] == pytest.approx(0.0, abs=0.01)


def test_xor_below_a_main_effect():
    """Pairs are looked at whenever no single feature helps, not only at the start."""
    codes, n_codes = bits(8, n_draws=8000)
    labels = 2 * codes[0] + (codes[3] ^ codes[6])
    assert select_features(codes, n_codes, labels).features == (0,)
    found = select_features(codes, n_codes, labels, pairs=True)
    assert found.features[0] == 0
    assert set(found.features) == {0, 3, 6}


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
