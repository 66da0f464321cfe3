import numpy as np
import pytest

from oleander import kernels

X_LOG_X = np.arange(501) * np.log(np.maximum(np.arange(501), 1))


def count_in_numpy(codes, n_codes, labels, leaves, n_labels, n_leaves, least):
    """Return the information of a feature over all leaves, over tested leaves, and its degrees of freedom."""
    counts = np.zeros((n_leaves, n_labels, n_codes), dtype=int)
    np.add.at(counts, (leaves, labels, codes), 1)
    by_label, by_code, by_leaf = counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=(1, 2))
    information = X_LOG_X[counts].sum(axis=(1, 2)) + X_LOG_X[by_leaf]
    information -= X_LOG_X[by_label].sum(axis=1) + X_LOG_X[by_code].sum(axis=1)
    n_bins, n_seen = (by_code > 0).sum(axis=1), (by_label > 0).sum(axis=1)
    tested = by_leaf >= least * n_bins * n_seen
    return information.sum(), information[tested].sum(), ((n_bins - 1) * (n_seen - 1))[tested].sum()


@pytest.mark.parametrize("seed", range(20))
def test_same_information_as_in_numpy(seed):
    """Some draws, some features, constant ones and bins without draws among them."""
    rng = np.random.default_rng(seed)
    n_draws, n_labels, n_leaves = int(rng.choice([1, 20, 500])), int(rng.integers(1, 4)), int(rng.integers(1, 5))
    n_codes = rng.integers(1, 6, 7)
    codes = (rng.random((7, n_draws)) * n_codes[:, None]).astype(np.int32)
    draws = np.sort(rng.permutation(n_draws)[: max(1, n_draws // 2)])
    labels, leaves = rng.integers(0, n_labels, len(draws)), rng.integers(0, n_leaves, len(draws))
    totals = np.zeros((n_leaves, n_labels), dtype=np.intp)
    np.add.at(totals, (leaves, labels), 1)
    features = rng.permutation(7)[:5]
    found = kernels.score_features(codes, n_codes, features, draws, leaves * n_labels + labels, totals, X_LOG_X, 5)
    expected = [count_in_numpy(codes[j, draws], n_codes[j], labels, leaves, n_labels, n_leaves, 5) for j in features]
    np.testing.assert_allclose(found.T, expected, atol=1e-9)
