from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from oleander.baselines import SubmodularPick
from oleander.baselines.submodular_pick import pick_by_features


def objective(weights, picked):
    importance = np.sqrt(weights.sum(axis=0))
    return importance[(weights[picked] > 0).any(axis=0)].sum()


def test_picks_by_the_root_of_summed_weights():
    # Importances: 3, 2 and 1. The first pick takes 3 + 1, the second adds 2.
    weights = np.array([[5.0, 0.0, 1.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    assert pick_by_features(weights, 2) == [0, 2]


@pytest.mark.parametrize("seed", range(20))
def test_greedy_is_near_the_enumerated_optimum(seed):
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=(8, 6)) * (rng.random((8, 6)) < 0.4)
    best = max(objective(weights, list(choice)) for choice in combinations(range(8), 3))
    assert objective(weights, pick_by_features(weights, 3)) >= (1 - 1 / np.e) * best


def test_ties_go_to_the_wider_region_and_more_picks_than_explanations_are_all():
    weights = np.ones((3, 2))
    assert pick_by_features(weights, 5, support=np.array([4, 9, 7])) == [1, 2, 0]


def test_a_radius_is_the_widest_that_is_faithful():
    X = np.random.default_rng(0).uniform(-3, 3, size=(300, 2))
    pick = SubmodularPick(
        lambda X: (X[:, 0] > 0) ^ (X[:, 1] > 0), radius=[0.3, 3.0], n_draws=400, max_candidates=30, random_state=0
    ).fit(X)
    # Exclusive or is linear nowhere but in small balls.
    assert {member.radius for member in pick.explainers} == {0.3}
    line = SubmodularPick(lambda X: X[:, 0] > 0, radius=[0.3, 3.0], n_draws=400, max_candidates=30, random_state=0).fit(
        X
    )
    assert {member.radius for member in line.explainers} == {3.0}


class TestLimePackage:
    def test_finds_the_feature_that_matters_and_counts_its_queries(self):
        asked = []

        def black_box(X):
            asked.append(len(X))
            return np.where(X[:, 1] > 0.5, "yes", "no")

        X = np.random.default_rng(0).uniform(size=(200, 3))
        pick = SubmodularPick(
            black_box, source="lime", max_explainers=3, max_candidates=10, n_draws=500, n_features=1, random_state=0
        ).fit(X)
        assert pick.n_queries_ == sum(asked)
        assert {member.explainer.features for member in pick.explainers} == {(1,)}
        assert pick.evaluate(X).agreement > 0.9

    def test_says_what_the_package_says(self):
        """The same numbers as the package's own local prediction, class by class."""
        from lime.lime_tabular import LimeTabularExplainer

        from oleander.baselines.lime_package import explain_with_lime
        from oleander.black_box.asking import BlackBox
        from oleander.data.rows import Rows
        from oleander.data.schema import FeatureSchema

        X = np.random.default_rng(0).normal(size=(150, 3)) * [1, 5, 20]
        box = BlackBox(lambda X: np.digitize(X[:, 0] + X[:, 1] / 5, [-0.5, 0.5]), FeatureSchema.infer(X))
        rows = Rows.ask(X, box)
        ours = explain_with_lime(rows, box, [rows.values[3]], n_draws=400, n_features=3, seed=7)[0]
        package = LimeTabularExplainer(
            rows.values,
            discretize_continuous=False,
            feature_selection="highest_weights",
            random_state=np.random.RandomState(7),
        )
        told = package.explain_instance(
            rows.values[3],
            lambda X: (box.ask(X)[:, None] == np.arange(3)).astype(float),
            labels=range(3),
            num_features=3,
            num_samples=400,
        )
        scaled = (rows.values[3] - package.scaler.mean_) / package.scaler.scale_
        expected = [told.intercept[k] + sum(w * scaled[j] for j, w in told.local_exp[k]) for k in range(3)]
        np.testing.assert_allclose(ours.scores(rows.values[3:4])[0], expected)

    def test_levels_and_missing_levels(self):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"size": rng.uniform(size=200), "colour": rng.choice(["red", "blue", None], 200)})
        pick = SubmodularPick(
            lambda t: (t["colour"] == "red").fillna(False).to_numpy(dtype=bool),
            source="lime",
            max_candidates=10,
            n_draws=300,
        ).fit(table)
        assert pick.evaluate(table).agreement > 0.9

    def test_missing_numbers_are_refused(self):
        table = pd.DataFrame({"size": [0.5, None, 1.5, 2.5] * 10})
        with pytest.raises(ValueError, match="no missing numbers"):
            SubmodularPick(lambda t: t["size"].isna().to_numpy(), source="lime", max_candidates=4).fit(table)
