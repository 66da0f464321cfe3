from itertools import combinations, product

import numpy as np
import pytest
from sklearn.metrics import f1_score

from benchmarks.rivals import DecisionSet
from benchmarks.rivals.decision_set.itemsets import Candidates, make_items, mine_rules
from benchmarks.rivals.decision_set.objective import Choice, Objective, Terms
from benchmarks.rivals.decision_set.search import local_search
from oleander.data.schema import FeatureSchema
from oleander.rules.conditions import Range

AGE = FeatureSchema.infer(np.linspace(0, 10, 30)[:, None])[0]
ROWS = np.random.default_rng(0).uniform(size=(300, 3))


def in_thirds(X):
    return np.digitize(X[:, 0], [1 / 3, 2 / 3])


def make_candidates(covers, label, length=None):
    """Rules with these covers; their conditions matter for their number only."""
    covers, label = np.array(covers, dtype=bool), np.array(label)
    conditions = tuple((Range(0, AGE),) * n for n in (np.ones(len(label), int) if length is None else length))
    return Candidates(conditions, label, covers, np.linspace(1, 0.5, len(label)))


def random_objective(seed, n=9, n_points=40, n_labels=3):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, n_labels, n)
    candidates = make_candidates(rng.random((n, n_points)) < 0.3, label, rng.integers(1, 4, n))
    terms = Terms(candidates, rng.integers(0, n_labels, n_points), rng.integers(1, 4, n_points))
    return Objective(terms, rng.uniform(0, 1, 7) * [3, 1, 0.3, 0.3, 5, 0.5, 1])


def every_set(n):
    return [np.array(mask) for mask in product([False, True], repeat=n)]


def test_the_rule_with_the_highest_f1_answers():
    rival = DecisionSet(in_thirds, lambdas=(0, 0, 0, 0, 0, 0.2, 1), n_bins=4).fit(ROWS)
    rules, labels, covers = rival.explainers_[: rival.n_rules_], in_thirds(ROWS), rival.covers(ROWS)
    f1 = [f1_score(labels == rule.explainer.label, inside) for rule, inside in zip(rules, covers, strict=False)]
    assert f1 == sorted(f1, reverse=True)
    assert (covers[: rival.n_rules_].sum(axis=0) > 1).any()
    expected = [rival.explainers_[i].explainer.label for i in covers.argmax(axis=0)]
    np.testing.assert_array_equal(rival.predict(ROWS), expected)


def test_the_default_is_what_most_rows_outside_the_rules_have():
    rival = DecisionSet(in_thirds, max_rules=1, n_bins=4, lambdas=(0, 0, 0, 0, 0, 1, 1)).fit(ROWS)
    outside = ~rival.covers(ROWS)[0]
    default = rival.explainers_[-1]
    assert default.region.describe() == "everywhere"
    assert default.explainer.label == np.bincount(in_thirds(ROWS)[outside]).argmax()
    assert default.explainer.n_draws == outside.sum()


def test_repeated_rows_count_as_often():
    some = np.concatenate([ROWS, ROWS[in_thirds(ROWS) == 2]])
    rival = DecisionSet(in_thirds, n_bins=4, lambdas=(0.5, 0, 0.01, 0.01, 0, 0.5, 1)).fit(some)
    member = rival.explainers_[0]
    assert member.explainer.n_draws == member.support == member.region.contains(rival.schema_.encode(some)).sum()


def test_every_frequent_cover_is_found_once_for_each_label_with_its_f1():
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
    for conditions, cover, label, f1 in zip(rules.conditions, rules.covers, rules.label, rules.f1, strict=True):
        np.testing.assert_array_equal(np.all([c.contains(values) for c in conditions], axis=0), cover)
        assert f1 == pytest.approx(f1_score(labels == label, cover, sample_weight=weights))
    few = mine_rules(values, labels, weights, items, n_labels=2, min_support=0.1, max_length=2, max_candidates=4)
    assert np.bincount(few.label).tolist() == [4, 4]


def test_missing_values_and_levels_are_items(mixed, mixed_schema):
    items = [str(item) for item in make_items(mixed_schema.encode(mixed), mixed_schema, n_bins=2)]
    assert {"dose is missing", "dose is known", "colour is missing", "colour is red", "grade is low"} <= set(items)
    # A condition that holds of every row is no item.
    assert not any(words.startswith("site") for words in items)


@pytest.mark.parametrize(
    ("chosen", "values"),
    [
        # n = 3; 3 · 3; 6 · 3² twice; no label; 6 · 3; nothing right.
        ([0, 0, 0], [3, 9, 54, 54, 0, 18, 0]),
        # Three rules; lengths 1 + 2 + 3; rules 0 and 1 share point 1 and a label, rules 1 and 2 share point 3 and do
        # not; both labels; rule 1 is wrong at point 3; every row is right by some rule.
        ([1, 1, 1], [0, 3, 53, 53, 2, 17, 6]),
        # Rules 0 and 2 share nothing and are right on 3 + 2 rows; point 2 is left.
        ([1, 0, 1], [1, 5, 54, 54, 2, 18, 5]),
    ],
)
def test_terms_by_hand(chosen, values):
    """Five points of labels 0 0 0 1 1, the first of which stands for two rows: 6 rows, 3 candidates."""
    candidates = make_candidates([[1, 1, 0, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 1, 1]], label=[0, 0, 1], length=[1, 2, 3])
    terms = Terms(candidates, np.array([0, 0, 0, 1, 1]), np.array([2, 1, 1, 1, 1]))
    assert terms.values(np.array(chosen, dtype=bool)).tolist() == values


@pytest.mark.parametrize("seed", range(5))
def test_gains_are_differences_of_values_and_no_set_exceeds_its_bound(seed):
    objective = random_objective(seed)
    choice, rng = Choice(objective), np.random.default_rng(seed)
    for i in rng.integers(0, 9, 10):
        gains = choice.gains()
        for j in range(9):
            other = choice.chosen.copy()
            other[j] ^= True
            assert gains[j] == pytest.approx(objective.value(other) - objective.value(choice.chosen), abs=1e-3)
        choice.flip(int(i), gains[i])
        assert choice.value == pytest.approx(objective.value(choice.chosen), abs=1e-2)
    assert all(objective.value(some) <= objective.bound(some) + 1e-6 for some in every_set(9))


@pytest.mark.parametrize("most", [None, 2])
def test_search_against_every_set(most):
    n_best = 0
    for seed in range(30):
        objective = random_objective(seed)
        best = max(objective.value(some) for some in every_set(9) if most is None or some.sum() <= most)
        chosen = local_search(objective, epsilon=0.0, max_rules=most)
        assert most is None or chosen.sum() <= most
        found = objective.value(chosen)
        assert found <= best + 1e-6
        n_best += found > best - 1e-3
    assert n_best >= 27


def test_all_rules_outside_are_tried():
    # Every step away from the best single rule loses, but the two others together are worth more.
    candidates = make_candidates([[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 1]], [0, 0, 0])
    terms = Terms(candidates, np.zeros(6, dtype=int), np.ones(6, dtype=int))
    objective = Objective(terms, np.array([0, 0, 0.6, 0, 0, 0, 1.0]))
    assert local_search(objective, epsilon=0.0, max_rules=None).tolist() == [False, True, True]
    assert local_search(objective, epsilon=0.0, max_rules=1).tolist() == [True, False, False]
