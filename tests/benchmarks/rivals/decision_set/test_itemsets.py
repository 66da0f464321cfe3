from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from benchmarks.rivals.decision_set.itemsets import make_items, mine_rules
from oleander.data.schema import FeatureSchema


def test_every_frequent_cover_is_found_once_for_each_label():
    rng = np.random.default_rng(0)
    values, labels, weights = rng.uniform(size=(80, 3)), rng.integers(0, 2, 80), rng.integers(1, 3, 80)
    items = make_items(values, FeatureSchema.infer(values), n_bins=3)
    covers = np.array([item.contains(values) for item in items])
    expected = {
        covers[list(some)].all(axis=0).tobytes()
        for length in (1, 2, 3)
        for some in combinations(range(len(items)), length)
        if weights[covers[list(some)].all(axis=0)].sum() >= 0.1 * weights.sum()
    }
    rules = mine_rules(values, labels, weights, items, n_labels=2, min_support=0.1, max_length=3, max_candidates=None)
    for label in (0, 1):
        found = [cover.tobytes() for cover in rules.covers[rules.label == label]]
        right = {key for key in expected if (labels[np.frombuffer(key, dtype=bool)] == label).any()}
        assert sorted(found) == sorted(right)
    for conditions, cover in zip(rules.conditions, rules.covers, strict=True):
        np.testing.assert_array_equal(np.all([c.contains(values) for c in conditions], axis=0), cover)


def test_scores_are_f1():
    rng = np.random.default_rng(1)
    values, labels = rng.uniform(size=(60, 2)), rng.integers(0, 3, 60)
    items = make_items(values, FeatureSchema.infer(values), n_bins=3)
    weights = np.ones(60, dtype=int)
    rules = mine_rules(values, labels, weights, items, n_labels=3, min_support=0.1, max_length=2, max_candidates=4)
    assert np.bincount(rules.label).tolist() == [4, 4, 4]
    for label, cover, f1 in zip(rules.label, rules.covers, rules.f1, strict=True):
        assert f1 == pytest.approx(f1_score(labels == label, cover))


def test_missing_values_and_levels_are_items(mixed, mixed_schema):
    items = [str(item) for item in make_items(mixed_schema.encode(mixed), mixed_schema, n_bins=2)]
    assert {"dose is missing", "dose is known", "colour is missing", "colour is red", "grade is low"} <= set(items)
    # A condition that holds of every row is no item.
    assert not any(words.startswith("site") for words in items)
