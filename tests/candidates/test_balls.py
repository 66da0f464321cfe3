import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.candidates import Balls, Generator, Recipe
from oleander.candidates.balls import find_generators
from oleander.candidates.pool import CandidatePool
from oleander.candidates.radii import PerRow
from oleander.data.schema import FeatureSchema
from oleander.rules import FilteredTree
from tests.making import OwnTrees


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
        local = FilteredTree(max_leaves=3)
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
        assert recipe.local.filter_ is None


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
            # Rounded up, as the schema rounds it.
            "range": FeatureSchema.infer(X, scale="range").scales,
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": []}, "radius is an empty sequence"),
        ({"radius": -1.0}, "radius=-1.0 is not allowed"),
        ({"radius": "wide"}, "radius='wide' is not known; give a number, several, PerRow"),
        ({"radius": [1.0, 2.0, 3.0]}, "radius has 3 values, as many as X has rows"),
        ({"radius": PerRow([1.0, 2.0])}, "has 2 values, and X has 3 rows"),
        ({"radius": 1.0, "n_draws": 0}, "n_draws=0 is not allowed"),
        ({"radius": 1.0, "max_candidates": 0}, "max_candidates=0 is not allowed"),
        ({"radius": 1.0, "scale": "mad"}, "scale='mad' is not known; use 'schema' or 'none'"),
        ({"radius": 1.0, "flips": "all"}, "flips='all' is not known; use 'paper' or 'uniform'"),
        ({"radius": 1.0, "centers": "means"}, "centers='means' is not known; use 'rounded' or 'rows'"),
        ({"radius": 1.0, "norm": 0.5}, "norm=0.5 is not allowed"),
        ({"norm": 0}, "norm=0 is not allowed: p is 1 or more, or infinity"),
        ({"norm": "2"}, "norm='2' is not allowed"),
        ({"norm": True}, "norm=True is not allowed"),
        ({"radius": 1.0, "max_flips": -1}, "max_flips=-1 is not allowed"),
        ({"max_flips": 1.5}, "max_flips=1.5 is not allowed: give a whole number, 0 or more, or None"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        propose(Balls(**options), np.arange(6.0).reshape(3, 2) / 4)


def test_one_radius_per_row_reaches_the_ball_of_its_row():
    X = np.random.default_rng(0).normal(size=(30, 2))
    radii = np.linspace(0.1, 3.0, 30)
    candidates = propose(Balls(PerRow(radii), scale="none", centers="rows", n_draws=1), X)
    assert [candidate.region.radius for candidate in candidates] == radii.tolist()
    for candidate, center, radius in zip(candidates, X, radii, strict=True):
        np.testing.assert_array_equal(candidate.region.contains(X), np.abs(X - center).max(axis=1) <= radius)
    few = propose(Balls(PerRow(radii), scale="none", centers="rows", max_candidates=7, n_draws=1), X)
    radius_of = {tuple(row): radius for row, radius in zip(X, radii, strict=True)}
    assert len(few) == 7
    assert all(candidate.region.radius == radius_of[tuple(candidate.region.center)] for candidate in few)


def test_options_reach_every_ball():
    X = np.random.default_rng(0).uniform(size=(10, 2))
    local = FilteredTree(max_leaves=3)
    options = {"norm": 2.0, "max_flips": 1, "n_draws": 7, "local": local, "flips": "uniform", "bounds": "uncut"}
    for candidate in propose(Balls(0.4, **options), X):
        ball, recipe = candidate.region, candidate.recipe
        assert (ball.radius, ball.norm, ball.max_flips) == (0.4, 2.0, 1)
        assert (recipe.ball, recipe.n_draws, recipe.local, recipe.flips) == (ball, 7, local, "uniform")
        assert recipe.bounds == "uncut"


def test_a_rounded_center_is_no_row_also_where_all_numbers_are_whole():
    X = np.random.default_rng(0).integers(0, 30, (200, 3))
    rows = rows_of(X)
    candidates = Balls(3.0, scale="none").propose(rows, 0)
    centers = np.array([candidate.region.center for candidate in candidates])
    assert len(centers) == rows.n_points
    assert not (centers[:, None, :] == rows.values).all(axis=2).any()
    np.testing.assert_array_equal(centers, np.round(centers))
    assert (np.abs(centers - rows.values) <= 4).all()


def test_balls_by_name():
    assert find_generators("balls") == [Balls()]


def test_names_and_generators_may_be_mixed():
    own = OwnTrees()
    assert find_generators(own) == [own]
    assert find_generators((own, "balls")) == [own, Balls()]


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="candidates='ball' is not known; use 'auto' or 'balls'"):
        find_generators(["balls", "ball"])


def test_what_learns_rules_stands_alone():
    with pytest.raises(ValueError, match="candidates='auto' learns rules and stands alone"):
        find_generators(["auto", "balls"])


def test_another_object_is_refused():
    with pytest.raises(TypeError, match="candidates holds a float; give 'balls' or generators"):
        find_generators([2.0])
