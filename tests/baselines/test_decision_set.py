from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score

from oleander.baselines import DecisionSet
from oleander.baselines.decision_set.itemsets import Candidates, frequent_sets, make_items, mine
from oleander.baselines.decision_set.objective import Choice, Objective, Terms
from oleander.baselines.decision_set.search import effects_on, search_deterministic, search_smooth
from oleander.data.schema import FeatureSchema
from oleander.regions.conditions import Range
from oleander.results.explanation import ChosenExplainer

AGE = FeatureSchema.infer(np.linspace(0, 10, 30)[:, None])[0]


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


class TestTerms:
    # Five points of labels 0 0 0 1 1, the first of which stands for two rows: 6 rows, 3 candidates.
    candidates = make_candidates(
        [[1, 1, 0, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 1, 1]],
        label=[0, 0, 1],
        length=[1, 2, 3],
    )
    terms = Terms(candidates, np.array([0, 0, 0, 1, 1]), np.array([2, 1, 1, 1, 1]))

    def test_of_no_rules(self):
        # n = 3; 3 · 3; 6 · 3² twice; no label; 6 · 3; nothing right.
        assert self.terms.values(np.zeros(3, dtype=bool)).tolist() == [3, 9, 54, 54, 0, 18, 0]

    def test_of_all_rules(self):
        # Three rules; lengths 1 + 2 + 3; rules 0 and 1 share point 1 and a label, rules 1 and 2 share point 3 and do
        # not; both labels; rule 1 is wrong at point 3; every row is right by some rule.
        assert self.terms.values(np.ones(3, dtype=bool)).tolist() == [0, 3, 53, 53, 2, 17, 6]

    def test_of_two_rules(self):
        # Rules 0 and 2 share nothing and are right on 3 + 2 rows; point 2 is left.
        assert self.terms.values(np.array([True, False, True])).tolist() == [1, 5, 54, 54, 2, 18, 5]

    def test_wrong_rows_are_those_covered(self):
        assert self.terms.n_wrong.tolist() == [0, 1, 0]
        assert self.terms.n_right.tolist() == [3, 2, 2]


class TestChanges:
    @pytest.mark.parametrize("seed", range(5))
    def test_gains_are_differences_of_values(self, seed):
        objective = random_objective(seed)
        choice, rng = Choice(objective), np.random.default_rng(seed)
        for i in rng.integers(0, 9, 30):
            gains = choice.gains()
            for j in range(9):
                other = choice.chosen.copy()
                other[j] ^= True
                assert gains[j] == pytest.approx(objective.value(other) - objective.value(choice.chosen), abs=1e-3)
            choice.flip(int(i), gains[i])
            assert choice.value == pytest.approx(objective.value(choice.chosen), abs=1e-2)

    def test_effects_are_differences_of_values(self):
        objective = random_objective(0, n=6)
        sets = np.array(every_set(6))
        effects = effects_on(objective, sets)
        for some, row in zip(sets, effects, strict=True):
            for i in range(6):
                with_it, without = some.copy(), some.copy()
                with_it[i], without[i] = True, False
                assert row[i] == pytest.approx(objective.value(with_it) - objective.value(without), abs=1e-3)

    def test_no_set_exceeds_its_bound(self):
        objective = random_objective(3, n=7)
        assert all(objective.value(some) <= objective.bound(some) + 1e-6 for some in every_set(7))


class TestSearch:
    def test_against_every_set(self):
        n_best = 0
        for seed in range(30):
            objective = random_objective(seed)
            best = max(objective.value(some) for some in every_set(9))
            found = objective.value(search_deterministic(objective, epsilon=0.0, max_rules=None))
            assert found <= best + 1e-6
            n_best += found > best - 1e-3
        assert n_best >= 27

    def test_against_every_small_set(self):
        n_best = 0
        for seed in range(30):
            objective = random_objective(seed)
            best = max(objective.value(some) for some in every_set(9) if some.sum() <= 2)
            chosen = search_deterministic(objective, epsilon=0.0, max_rules=2)
            assert chosen.sum() <= 2
            n_best += objective.value(chosen) > best - 1e-3
        assert n_best >= 27

    def test_all_rules_outside_are_tried(self):
        # Every step away from the best single rule loses, but the two others together are worth more.
        candidates = make_candidates([[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 1]], [0, 0, 0])
        objective = Objective(
            Terms(candidates, np.zeros(6, dtype=int), np.ones(6, dtype=int)), np.array([0, 0, 0.6, 0, 0, 0, 1.0])
        )
        assert search_deterministic(objective, epsilon=0.0, max_rules=None).tolist() == [False, True, True]
        assert search_deterministic(objective, epsilon=0.0, max_rules=1).tolist() == [True, False, False]

    def test_constants_of_the_overlap_terms_swamp_a_coarse_threshold(self):
        # With every weight 1, value / n² is over 2 · rows, and no rule can gain so much.
        objective = random_objective(0)
        plain = Objective(objective.terms, np.array([0, 0, 0.01, 0.01, 0, 0, 1.0]))
        assert search_deterministic(plain, epsilon=0.0, max_rules=None).sum() > 1
        ones = Objective(objective.terms, np.ones(7))
        assert search_deterministic(ones, epsilon=1.0, max_rules=None).sum() == 1

    @pytest.mark.parametrize("seed", range(5))
    def test_smooth_search_keeps_the_authors_promise(self, seed):
        objective = random_objective(seed)
        best = max(objective.value(some) for some in every_set(9))
        chosen = search_smooth(objective, epsilon=0.01, max_rules=None, rng=np.random.default_rng(0))
        assert 0.4 * best <= objective.value(chosen) <= best + 1e-6
        # It ends where no single step gains anything more.
        choice = Choice(objective)
        for i in np.flatnonzero(chosen).tolist():
            choice.flip(i, 0.0)
        assert choice.gains().max() <= 0.01 / 81 * best
        assert search_smooth(objective, epsilon=0.01, max_rules=3, rng=np.random.default_rng(0)).sum() <= 3

    def test_smooth_search_finds_what_is_plain(self):
        # Two rules that are right on half of the rows each, and two that are wrong everywhere.
        covers = np.repeat([[1, 0], [0, 1], [1, 0], [0, 1]], 20, axis=1)
        labels = np.repeat([0, 1], 20)
        terms = Terms(make_candidates(covers, [0, 1, 1, 0]), labels, np.ones(40, dtype=int))
        objective = Objective(terms, np.array([1, 0, 0, 0, 0, 1, 1.0]))
        chosen = search_smooth(objective, epsilon=0.1, max_rules=None, rng=np.random.default_rng(0))
        assert chosen.tolist() == [True, True, False, False]

    @pytest.mark.parametrize("most", [0, None])
    def test_nothing_to_choose_from(self, most):
        candidates = make_candidates(np.zeros((0 if most is None else 2, 4)), [] if most is None else [0, 1])
        objective = Objective(Terms(candidates, np.array([0, 0, 1, 1]), np.ones(4, dtype=int)), np.ones(7))
        assert not search_deterministic(objective, epsilon=0.01, max_rules=most).any()
        assert not search_smooth(objective, epsilon=0.01, max_rules=most, rng=np.random.default_rng(0)).any()


class TestItemsets:
    def test_every_frequent_cover_is_found_once_for_each_label(self):
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
        rules = mine(values, labels, weights, items, n_labels=2, min_support=0.1, max_length=3, max_candidates=None)
        for label in (0, 1):
            found = [cover.tobytes() for cover in rules.covers[rules.label == label]]
            right = {key for key in expected if (labels[np.frombuffer(key, dtype=bool)] == label).any()}
            assert sorted(found) == sorted(right)
        for conditions, cover in zip(rules.conditions, rules.covers, strict=True):
            np.testing.assert_array_equal(np.all([c.contains(values) for c in conditions], axis=0), cover)

    def test_scores_are_f1(self):
        rng = np.random.default_rng(1)
        values, labels = rng.uniform(size=(60, 2)), rng.integers(0, 3, 60)
        items = make_items(values, FeatureSchema.infer(values), n_bins=3)
        weights = np.ones(60, dtype=int)
        rules = mine(values, labels, weights, items, n_labels=3, min_support=0.1, max_length=2, max_candidates=4)
        assert np.bincount(rules.label).tolist() == [4, 4, 4]
        for label, cover, f1 in zip(rules.label, rules.covers, rules.f1, strict=True):
            assert f1 == pytest.approx(f1_score(labels == label, cover))

    def test_counts_by_label(self):
        covers = np.array([[1, 1, 1, 0], [0, 1, 1, 1]], dtype=bool)
        labels, weights = np.array([1, 0, 1, 0]), np.array([1, 5, 1, 1])
        sets, counts = frequent_sets(covers, labels, weights, n_labels=2, min_support=0, max_length=2)
        assert sets.tolist() == [[0, -1], [1, -1], [0, 1]]
        assert counts.tolist() == [[5, 2], [6, 1], [5, 1]]

    def test_edges_are_numbers_that_a_person_would_write(self):
        values = np.random.default_rng(0).normal(100, 15, size=(500, 1))
        items = make_items(values, FeatureSchema.infer(values), n_bins=4)
        assert len(items) == 6
        assert all(len(f"{item.upper:g}") <= 5 for item in items if np.isfinite(item.upper))
        # Quarters, as nearly as such numbers allow.
        assert [round(item.contains(values).mean(), 1) for item in items[::2]] == pytest.approx(
            [0.2, 0.5, 0.8], abs=0.1
        )

    def test_missing_values_and_levels_are_items(self, mixed, mixed_schema):
        said = [str(item) for item in make_items(mixed_schema.encode(mixed), mixed_schema, n_bins=2)]
        assert {"dose is missing", "dose is known", "colour is missing", "colour is red", "grade is low"} <= set(said)
        # What every row has says nothing.
        assert not any(words.startswith("site") for words in said)


def in_thirds(X):
    return np.digitize(X[:, 0], [1 / 3, 2 / 3])


@pytest.fixture
def rows():
    return np.random.default_rng(0).uniform(size=(300, 3))


class TestEstimator:
    def test_the_rule_with_the_highest_f1_answers(self, rows):
        rival = DecisionSet(in_thirds, lambdas=(0, 0, 0, 0, 0, 0.2, 1), n_bins=4).fit(rows)
        rules = rival.explainers[: rival.n_rules_]
        labels, covers = in_thirds(rows), rival.covers(rows)
        f1 = [
            f1_score(labels == rule.explainer.label, inside)
            for rule, inside in zip(rules, covers[: rival.n_rules_], strict=True)
        ]
        assert f1 == sorted(f1, reverse=True)
        assert (covers[: rival.n_rules_].sum(axis=0) > 1).any()
        first = covers.argmax(axis=0)
        expected = [rival.explainers[i].explainer.label for i in first]
        np.testing.assert_array_equal(rival.predict(rows), expected)

    def test_the_default_is_what_most_rows_outside_the_rules_have(self, rows):
        rival = DecisionSet(in_thirds, max_rules=1, n_bins=4, lambdas=(0, 0, 0, 0, 0, 1, 1)).fit(rows)
        outside = ~rival.covers(rows)[0]
        default = rival.explainers[-1]
        assert default.region.describe() == "everywhere"
        assert default.explainer.label == np.bincount(in_thirds(rows)[outside]).argmax()
        assert default.explainer.n_draws == outside.sum()
        assert rival.rule_coverage(rows) == pytest.approx(1 - outside.mean())
        assert rival.evaluate(rows).coverage == 1

    def test_without_default_it_abstains(self, rows):
        settings = {"max_rules": 1, "n_bins": 4, "lambdas": (0, 0, 0, 0, 0, 1, 1)}
        rival = DecisionSet(in_thirds, default_rule=False, **settings).fit(rows)
        assert len(rival.explainers) == rival.n_rules_ == 1
        np.testing.assert_array_equal(np.ma.getmaskarray(rival.predict(rows)), ~rival.covers(rows)[0])

    @pytest.mark.parametrize("search", ["deterministic", "smooth"])
    def test_budgets_small_and_large(self, rows, search):
        for most in (1, 2, 10_000):
            rival = DecisionSet(
                in_thirds,
                max_rules=most,
                n_bins=3,
                max_length=1,
                max_candidates=5,
                search=search,
                lambdas=(0.1, 0, 0, 0.1, 0, 0.5, 1),
                random_state=0,
            ).fit(rows)
            assert 1 <= rival.n_rules_ <= most

    def test_repeated_rows_count_as_often(self, rows):
        settings = {"n_bins": 4, "lambdas": (0.5, 0, 0.01, 0.01, 0, 0.5, 1)}
        some = np.concatenate([rows, rows[in_thirds(rows) == 2]])
        rival = DecisionSet(in_thirds, **settings).fit(some)
        member = rival.explainers[0]
        assert member.support == member.region.contains(rival.schema_.encode(some)).sum()
        assert member.explainer.n_draws == member.support

    def test_tuned_weights_are_found_again(self, rows):
        one, other = (DecisionSet(in_thirds, n_bins=6, max_candidates=20, random_state=3).fit(rows) for _ in range(2))
        np.testing.assert_array_equal(one.lambdas_, other.lambdas_)
        assert one.lambdas_.shape == (7,)
        assert one.evaluate(rows).agreement > 0.85

    def test_it_can_be_saved(self, mixed, mixed_black_box):
        rival = DecisionSet(mixed_black_box, n_bins=4, max_candidates=30, random_state=0).fit(mixed)
        encoded = rival.schema_.encode(mixed)
        for member in rival.explainers:
            read = ChosenExplainer.from_dict(member.to_dict(), rival.schema_)
            np.testing.assert_array_equal(read.region.contains(encoded), member.region.contains(encoded))
            assert read.explainer.label == member.explainer.label

    def test_missing_values_get_a_rule(self, mixed, mixed_black_box):
        rival = DecisionSet(mixed_black_box, n_bins=4, max_candidates=30, random_state=0).fit(mixed)
        said = {member.region.describe(): member.explainer.label for member in rival.explainers}
        assert said["dose is missing"] == "no dose"

    def test_a_column_that_never_changes_leaves_the_default_alone(self):
        X = pd.DataFrame({"site": ["north"] * 20})
        rival = DecisionSet(lambda X: np.ones(len(X), dtype=int), random_state=0).fit(X)
        assert rival.n_rules_ == 0
        assert set(rival.predict(X).tolist()) == {1}

    def test_forests_are_mimicked_on_held_out_rows(self):
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        forest = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
        assert DecisionSet(forest, max_candidates=50, random_state=0).fit(X[::2]).evaluate(X[1::2]).agreement > 0.92
        X, y = make_classification(600, 12, n_informative=8, n_classes=5, n_clusters_per_class=1, random_state=0)
        forest = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
        assert DecisionSet(forest, max_candidates=50, random_state=0).fit(X[::2]).evaluate(X[1::2]).agreement > 0.6

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({"search": "greedy"}, "search='greedy' is not known; use 'deterministic' or 'smooth'"),
            ({"lambdas": "guess"}, "lambdas='guess' is not known"),
            ({"lambdas": (1, 1, 1)}, "give seven numbers"),
            ({"lambdas": (1, 1, 1, -1, 1, 1, 1)}, "each 0 or more"),
            ({"min_support": 5}, "min_support=5 is not allowed"),
            ({"max_length": 0}, "max_length=0"),
            ({"max_rules": 0}, "max_rules=0 is not allowed: it is 1 or more, or None"),
            ({"n_bins": 1}, "n_bins=1"),
        ],
    )
    def test_bad_settings(self, rows, settings, words):
        with pytest.raises(ValueError, match=words):
            DecisionSet(in_thirds, **settings).fit(rows)
