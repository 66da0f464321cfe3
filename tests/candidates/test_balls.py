import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.candidates import Balls, Generator, Recipe
from oleander.candidates.balls import choose_centers, choose_ladder, round_numbers
from oleander.candidates.pool import CandidatePool
from oleander.data.schema import FeatureSchema
from oleander.explainers import FilteredTree, UnfilteredTree


def rows_of(X, schema=None):
    box = BlackBox(lambda X: np.zeros(len(X), dtype=int), FeatureSchema.infer(X) if schema is None else schema)
    return label_rows(box.schema.encode(X), CountingBlackBox(box))


def propose(balls, X, schema=None):
    rows = rows_of(X, schema)
    counting = CountingBlackBox(BlackBox(lambda X: np.zeros(len(X), dtype=int), rows.schema))
    candidates = balls.propose(rows, 0, counting)
    assert counting.n_queries == 0
    return candidates


def test_every_row_and_radius_is_a_candidate():
    X = np.random.default_rng(0).normal(size=(20, 3))
    candidates = propose(Balls(radius=(1.0, 0.5, 1.0), max_flips=0, n_draws=50), X)
    assert isinstance(Balls(1.0), Generator)
    assert len(candidates) == 40
    assert all(isinstance(candidate.recipe, Recipe) for candidate in candidates)
    assert {candidate.region.radius for candidate in candidates} == {0.5, 1.0}
    assert candidates[0].recipe.draw().shape == (50, 3)
    assert len({candidate.recipe.seed for candidate in candidates}) == 40


class TestRecipe:
    @pytest.fixture
    def recipe(self):
        X = np.random.default_rng(0).uniform(size=(30, 3))
        local = UnfilteredTree(max_leaves=3)
        return propose(Balls(0.7, n_draws=200, local=local), X)[0].recipe

    def test_draws_lie_in_the_ball_and_are_the_same_every_time(self, recipe):
        draws = recipe.draw()
        assert recipe.ball.contains(draws).all()
        np.testing.assert_array_equal(recipe.draw(), draws)
        other = dataclasses.replace(recipe, seed=recipe.seed + 1)
        assert (other.draw() != draws).any()

    def test_a_copy_of_the_local_explainer_is_fitted(self, recipe):
        draws = recipe.draw()
        labels = draws[:, 0] > recipe.ball.center[0]
        explainer = recipe.fit(draws, labels)
        assert (explainer.predict(draws) == labels).mean() > 0.95
        with pytest.raises(NotFittedError):
            recipe.local.predict(draws)


class TestScale:
    """Regions against distances that are worked out row by row."""

    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 10**6), st.sampled_from(["none", "range", "std", "iqr", "schema"]), st.floats(0.1, 3.0))
    def test_covers_what_the_distance_in_its_own_unit_says(self, seed, scale, radius):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(25, 3)) * rng.uniform(0.01, 100, size=3)
        # A schema of the user's own, whose scales have nothing to do with the data.
        schema = FeatureSchema.infer(X)
        for name in schema.names:
            schema = schema.with_feature(name, scale=float(rng.uniform(0.01, 100)))
        units = {
            "none": np.ones(3),
            "range": X.max(axis=0) - X.min(axis=0),
            "std": X.std(axis=0),
            "iqr": np.percentile(X, 75, axis=0) - np.percentile(X, 25, axis=0),
            "schema": schema.scales,
        }[scale]
        # Distances are compared away from the border, where rounding would decide.
        radius *= float(units.max()) if scale == "none" else 1.0
        candidates = propose(Balls(radius, scale=scale, centers="rows", n_draws=1), X, schema)
        assert len(candidates) == 25
        for candidate, center in zip(candidates, X, strict=True):
            distances = (np.abs(X - center) / units).max(axis=1)
            clear = np.abs(distances - radius) > 1e-9 * radius
            np.testing.assert_array_equal(candidate.region.contains(X)[clear], (distances <= radius)[clear])

    def test_raw_units_under_any_schema(self):
        X = np.random.default_rng(0).normal(size=(40, 2)) * [1.0, 50.0]
        wide, narrow = FeatureSchema.infer(X, scale="range"), FeatureSchema.infer(X, scale="none")
        balls = Balls(2.0, scale="none", centers="rows", n_draws=1)
        brute = np.abs(X[:, None] - X[None]).max(axis=2) <= 2.0
        for schema in (wide, narrow):
            pool = CandidatePool.build(X, lambda X: X[:, 0] > 0, balls, schema=schema)
            np.testing.assert_array_equal(pool.covers.toarray(), brute)

    def test_equal_rows_count_in_the_measured_unit(self):
        X = np.repeat([[0.0], [1.0], [10.5]], [50, 50, 1], axis=0)
        (ball, *_) = propose(Balls(1.0, scale="std", n_draws=1), X)
        assert ball.region.units == pytest.approx(X.std(axis=0))

    def test_missing_numbers_do_not_enter_the_unit(self, mixed):
        (ball, *_) = propose(Balls(1.0, scale="std", max_candidates=2, n_draws=1), mixed)
        schema = ball.region.schema
        units = dict(zip(schema.names, ball.region.units, strict=True))
        assert units["dose"] == pytest.approx(np.nanstd(mixed["dose"]))
        assert units["colour"] == 1.0


class TestRoundedCenters:
    @pytest.mark.parametrize("scale", ["none", "std", "iqr", "range"])
    def test_centers_stay_near_their_rows_under_any_schema(self, scale):
        """A column between 0 and 0.1 under a schema of raw units: a fifth of a unit would move every row to 0."""
        X = np.random.default_rng(0).uniform(0, 0.1, size=(60, 2))
        schema = FeatureSchema.infer(X, scale="none")
        candidates = propose(Balls(0.5, scale=scale, n_draws=1), X, schema)
        centers = np.array([candidate.region.center for candidate in candidates])
        # Rounded to the nearest step of at most a fifth: at most a tenth away.
        assert (np.abs(centers - X) <= X.std(axis=0) / 10 * (1 + 1e-9)).all()
        assert (centers != X).any(axis=1).all()

    def test_no_center_is_a_record_to_the_digit(self, mixed):
        candidates = propose(Balls(1.0, n_draws=1), mixed)
        rows = rows_of(mixed).values
        weight = rows_of(mixed).schema.position("weight")
        centers = np.array([candidate.region.center for candidate in candidates])
        assert not np.isin(centers[:, weight], rows[:, weight]).any()

    def test_whole_numbers_levels_and_missing_values_stay(self, mixed):
        rows = rows_of(mixed)
        rounded = round_numbers(rows.values, rows.schema)
        named = rows.schema.named
        np.testing.assert_array_equal(rounded[:, named], rows.values[:, named])
        np.testing.assert_array_equal(np.isnan(rounded), np.isnan(rows.values))
        age = rounded[:, rows.schema.position("age")]
        np.testing.assert_array_equal(age, np.round(age))


class TestLadder:
    def test_balls_of_the_ladder_hold_the_stated_shares(self):
        X = np.random.default_rng(0).normal(size=(400, 2))
        rows = rows_of(X)
        scaled = X / X.std(axis=0)
        held = [
            np.median([(np.abs(scaled - row).max(axis=1) <= radius).mean() for row in scaled])
            for radius in choose_ladder(rows)
        ]
        np.testing.assert_allclose(held, [0.05, 0.1, 0.2, 0.35, 0.6], atol=0.03)

    def test_the_ladder_is_in_units_of_the_scale(self):
        X = np.random.default_rng(0).normal(size=(300, 2)) * 1000
        raw = {candidate.region.radius for candidate in propose(Balls(scale="none", n_draws=1), X)}
        scaled = {candidate.region.radius for candidate in propose(Balls(scale="std", n_draws=1), X)}
        assert max(scaled) < 10 < min(raw)

    def test_one_radius_where_all_rows_are_equal(self):
        assert choose_ladder(rows_of(np.full((5, 2), 0.5))) == [1.0]


class TestCenters:
    def test_centers_are_spread_and_do_not_depend_on_the_order(self):
        rng = np.random.default_rng(0)
        X = np.vstack([rng.normal(size=(900, 4)), rng.normal(size=(100, 4)) + 50])
        chosen = choose_centers(rows_of(X), 50)
        assert len(chosen) == len(set(chosen)) == 50
        # Dense places get more centers, and none is left out: one tenth of the rows, about one tenth of the centers.
        assert 3 <= (chosen >= 900).sum() <= 8
        order = rng.permutation(1000)
        assert {*order[choose_centers(rows_of(X[order]), 50)]} == {*chosen}

    @pytest.mark.parametrize("most", [1, 2, 3, 7, 299])
    def test_exactly_as_many_centers_as_asked_for(self, mixed, most):
        assert len(choose_centers(rows_of(mixed), most)) == most

    def test_all_rows_where_there_are_few(self, mixed):
        assert len(choose_centers(rows_of(mixed), None)) == len(choose_centers(rows_of(mixed), 5000)) == 300


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": []}, "radius is an empty sequence"),
        ({"radius": -1.0}, "radius=-1.0 is not allowed"),
        ({"radius": "wide"}, "radius='wide' is not known; give a number, several, or 'auto'"),
        ({"radius": 1.0, "n_draws": 0}, "n_draws=0 is not allowed"),
        ({"radius": 1.0, "max_candidates": 0}, "max_candidates=0 is not allowed"),
        ({"radius": 1.0, "scale": "mad"}, "scale='mad' is not known; use 'schema' or 'none'"),
        ({"radius": 1.0, "flips": "all"}, "flips='all' is not known; use 'paper' or 'uniform'"),
        ({"radius": 1.0, "centers": "means"}, "centers='means' is not known; use 'rounded' or 'rows'"),
        ({"radius": 1.0, "norm": 0.5}, "norm=0.5 is not allowed"),
        ({"radius": 1.0, "max_flips": -1}, "max_flips=-1 is not allowed"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        propose(Balls(**options), np.arange(6.0).reshape(3, 2) / 4)


def test_options_reach_every_ball():
    X = np.random.default_rng(0).uniform(size=(10, 2))
    local = FilteredTree(max_leaves=3)
    options = {"norm": 2.0, "max_flips": 1, "n_draws": 7, "local": local, "flips": "uniform"}
    for candidate in propose(Balls(0.4, **options), X):
        ball, recipe = candidate.region, candidate.recipe
        assert (ball.radius, ball.norm, ball.max_flips) == (0.4, 2.0, 1)
        assert (recipe.ball, recipe.n_draws, recipe.local, recipe.flips) == (ball, 7, local, "uniform")
