import numpy as np
import pytest
from sklearn.metrics import f1_score

from benchmarks.rivals import DecisionSet


def in_thirds(X):
    return np.digitize(X[:, 0], [1 / 3, 2 / 3])


@pytest.fixture
def rows():
    return np.random.default_rng(0).uniform(size=(300, 3))


def test_the_rule_with_the_highest_f1_answers(rows):
    rival = DecisionSet(in_thirds, lambdas=(0, 0, 0, 0, 0, 0.2, 1), n_bins=4).fit(rows)
    rules = rival.explainers_[: rival.n_rules_]
    labels, covers = in_thirds(rows), rival.covers(rows)
    f1 = [
        f1_score(labels == rule.explainer.label, inside)
        for rule, inside in zip(rules, covers[: rival.n_rules_], strict=True)
    ]
    assert f1 == sorted(f1, reverse=True)
    assert (covers[: rival.n_rules_].sum(axis=0) > 1).any()
    first = covers.argmax(axis=0)
    expected = [rival.explainers_[i].explainer.label for i in first]
    np.testing.assert_array_equal(rival.predict(rows), expected)


def test_the_default_is_what_most_rows_outside_the_rules_have(rows):
    rival = DecisionSet(in_thirds, max_rules=1, n_bins=4, lambdas=(0, 0, 0, 0, 0, 1, 1)).fit(rows)
    outside = ~rival.covers(rows)[0]
    default = rival.explainers_[-1]
    assert default.region.describe() == "everywhere"
    assert default.explainer.label == np.bincount(in_thirds(rows)[outside]).argmax()
    assert default.explainer.n_draws == outside.sum()
    assert rival.evaluate(rows).coverage == 1


def test_repeated_rows_count_as_often(rows):
    settings = {"n_bins": 4, "lambdas": (0.5, 0, 0.01, 0.01, 0, 0.5, 1)}
    some = np.concatenate([rows, rows[in_thirds(rows) == 2]])
    rival = DecisionSet(in_thirds, **settings).fit(some)
    member = rival.explainers_[0]
    assert member.support == member.region.contains(rival.schema_.encode(some)).sum()
    assert member.explainer.n_draws == member.support


def test_missing_values_get_a_rule(mixed, mixed_black_box):
    rival = DecisionSet(mixed_black_box, n_bins=4, max_candidates=30, random_state=0).fit(mixed)
    labels = {member.region.describe(): member.explainer.label for member in rival.explainers_}
    assert labels["dose is missing"] == "no dose"
