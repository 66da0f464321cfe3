import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Balls
from oleander.candidates.balls import choose_centers, find_generators, warn_of_sizes
from oleander.candidates.base import Boxes, Generator, Recipe
from oleander.data.schema import FeatureSchema
from oleander.rules import FilteredTree
from tests import making
from tests.making import OwnTrees, Recording, count, label


def rows_of(X, schema=None, **options):
    return label(X, lambda X: np.zeros(len(X), dtype=int), schema, **options)


def propose(balls, X, schema=None):
    rows = rows_of(X, schema)
    counting = count(len, rows.schema)
    candidates = balls.propose(rows, 0, counting)
    assert counting.n_queries == 0
    return candidates


def test_every_row_and_radius_is_a_candidate_with_the_options():
    X, local = np.random.default_rng(0).normal(size=(20, 3)), FilteredTree(max_leaves=3)
    options = {"max_flips": 1, "n_draws": 50, "local": local, "bounds": "uncut"}
    candidates = propose(Balls(radius=(1.0, 0.5, 1.0), **options), X)
    assert isinstance(Balls(1.0), Generator)
    assert len(candidates) == 40
    assert {candidate.origin for candidate in candidates} == {"balls"}
    assert {candidate.region.radius for candidate in candidates} == {0.5, 1.0}
    assert len({candidate.recipe.seed for candidate in candidates}) == 40
    for candidate in candidates:
        ball, recipe = candidate.region, candidate.recipe
        assert isinstance(recipe, Recipe)
        assert ball.max_flips == 1
        assert (recipe.ball, recipe.n_draws, recipe.local, recipe.bounds) == (ball, 50, local, "uncut")
    assert candidates[0].recipe.draw().shape == (50, 3)


class TestRecipe:
    @pytest.fixture
    def recipe(self):
        X = np.random.default_rng(0).uniform(size=(30, 3))
        return propose(Balls(0.7, n_draws=200, local=FilteredTree(max_leaves=3)), X)[0].recipe

    def test_a_copy_of_the_local_explainer_is_fitted(self, recipe):
        draws = recipe.draw()
        labels = draws[:, 0] > recipe.ball.center[0]
        assert (recipe.fit(draws, labels).predict(draws) == labels).mean() > 0.95
        assert recipe.local.filter_ is None


@pytest.mark.parametrize("scale", ["none", "schema"])
def test_regions_against_distances_row_by_row(scale):
    """Under a schema of the user's own, whose scales have nothing to do with the data."""
    X = np.random.default_rng(0).normal(size=(25, 3)) * [0.1, 1.0, 50.0]
    schema = FeatureSchema.infer(X)
    for name, size in zip(schema.names, (0.3, 0.02, 40.0), strict=True):
        schema = schema.with_feature(name, scale=size)
    radius, units = (30.0, np.ones(3)) if scale == "none" else (1.5, schema.scales)
    candidates = propose(Balls(radius, scale=scale, centers="rows", n_draws=1), X, schema)
    held = [candidate.region.contains(X) for candidate in candidates]
    np.testing.assert_array_equal(held, (np.abs(X[:, None] - X) / units).max(axis=2) <= radius)
    assert 25 < np.sum(held) < 600


class TestRoundedCenters:
    @pytest.mark.parametrize("scale", ["none", "schema"])
    def test_centers_stay_near_their_rows_under_any_schema(self, scale):
        """A column between 0 and 0.1 under a schema of raw units: a fifth of a unit would move every row to 0."""
        X = np.random.default_rng(0).uniform(0, 0.1, size=(60, 2))
        candidates = propose(Balls(0.5, scale=scale, n_draws=1), X, FeatureSchema.infer(X, scale="none"))
        centers = np.array([candidate.region.center for candidate in candidates])
        # Rounded to the nearest step of at most a fifth: at most a tenth away.
        assert (np.abs(centers - X) <= X.std(axis=0) / 10 * (1 + 1e-9)).all()
        assert (centers != X).any(axis=1).all()

    def test_no_center_is_a_record_to_the_digit_also_where_all_numbers_are_whole(self, mixed):
        rows = rows_of(mixed)
        centers = np.array([candidate.region.center for candidate in propose(Balls(1.0, n_draws=1), mixed)])
        weight, age = rows.schema.position("weight"), rows.schema.position("age")
        assert not np.isin(centers[:, weight], rows.values[:, weight]).any()
        # Whole numbers, levels and missing values stay such.
        np.testing.assert_array_equal(centers[:, age], np.round(centers[:, age]))
        np.testing.assert_array_equal(centers[:, rows.schema.named], rows.values[:, rows.schema.named])
        np.testing.assert_array_equal(np.isnan(centers), np.isnan(rows.values))
        whole = rows_of(np.random.default_rng(0).integers(0, 30, (200, 3)))
        centers = np.array([candidate.region.center for candidate in Balls(3.0, scale="none").propose(whole, 0)])
        assert len(centers) == whole.n_points
        assert not (centers[:, None, :] == whole.values).all(axis=2).any()
        np.testing.assert_array_equal(centers, np.round(centers))
        assert (np.abs(centers - whole.values) <= 4).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": []}, "radius is an empty sequence"),
        ({"radius": -1.0}, "radius=-1.0 is not allowed"),
        ({"radius": "wide"}, "radius='wide' is not known; give a number, several, or 'auto'"),
        ({"radius": 1.0, "n_draws": 0}, "n_draws=0 is not allowed"),
        ({"radius": 1.0, "max_candidates": 0}, "max_candidates=0 is not allowed"),
        ({"radius": 1.0, "scale": "mad"}, "scale='mad' is not known; use 'schema' or 'none'"),
        ({"radius": 1.0, "centers": "means"}, "centers='means' is not known; use 'rounded' or 'rows'"),
        ({"radius": 1.0, "max_flips": -1}, "max_flips=-1 is not allowed"),
        ({"max_flips": 1.5}, "max_flips=1.5 is not allowed: give a whole number, 0 or more, or None"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        propose(Balls(**options), np.arange(6.0).reshape(3, 2) / 4)


def test_generators_are_one_or_several():
    own = OwnTrees()
    assert find_generators(own) == [own]
    assert find_generators((own, Balls())) == [own, Balls()]
    for one, name in ((2.0, "float"), ("balls", "str"), (Boxes(), "Boxes")):
        with pytest.raises(TypeError, match=rf"candidates holds a {name}; give Boxes\(\) alone"):
            find_generators([Balls(), one])


def test_a_sample_of_centers_does_not_depend_on_the_order(mixed):
    X = np.random.default_rng(0).normal(size=(1000, 4))
    chosen, order = choose_centers(rows_of(X), 50), np.random.default_rng(1).permutation(1000)
    assert {*order[choose_centers(rows_of(X[order]), 50)]} == {*chosen}
    # The sample is no part of the rows that is near together, nor the first or last rows.
    assert (np.ptp(X[chosen], axis=0) > 3).all()
    assert 5 < (chosen < 200).sum() < 20
    for most, n_chosen in ((1, 1), (2, 2), (299, 299), (None, 300), (5000, 300)):
        assert len(set(choose_centers(rows_of(mixed), most).tolist())) == n_chosen


@pytest.mark.parametrize("n_rows", [1, 2, 3, 5, 10, 20])
def test_few_rows_are_in_balls_too(mixed, n_rows):
    rows = rows_of(mixed.iloc[:n_rows])
    candidates = Balls(max_candidates=10, n_draws=200).propose(rows, 0)
    assert all(candidate.region.contains(rows.values).any() for candidate in candidates)


class TestLadder:
    def test_balls_of_the_ladder_hold_the_stated_shares(self):
        X = np.random.default_rng(0).normal(size=(400, 2))
        scaled = X / X.std(axis=0)
        held = [
            np.median([(np.abs(scaled - row).max(axis=1) <= radius).mean() for row in scaled])
            for radius in Balls().choose_ladder(rows_of(X))
        ]
        np.testing.assert_allclose(held, [0.05, 0.1, 0.2, 0.35, 0.6], atol=0.03)

    def test_it_is_in_units_of_the_scale(self):
        rows = rows_of(np.random.default_rng(0).normal(size=(300, 2)) * 1000)
        assert max(Balls().choose_ladder(rows)) < 10 < min(Balls(scale="none").choose_ladder(rows))

    def test_equal_rows_count_each(self):
        X = np.repeat([[0.0], [1.0], [10.5]], [50, 50, 1], axis=0)
        assert Balls(scale="none").choose_ladder(rows_of(X), [0.3, 0.9]) == [1.0]

    def test_no_radius_reaches_beyond_the_flips_allowed(self):
        """Levels that all differ: without flips a ball holds a fortieth of the rows, whatever its radius."""
        table = pd.DataFrame({"a": [f"level {i % 40}" for i in range(200)], "b": np.arange(200.0) + 0.5})
        assert Balls(max_flips=0).choose_ladder(rows_of(table), [0.5]) == [1.0]
        assert Balls(max_flips=1, scale="none").choose_ladder(rows_of(table), [0.5])[0] > 40

    def test_a_radius_lets_as_many_levels_differ(self):
        X = np.random.default_rng(0).integers(0, 2, (300, 5)).astype(float)
        (radius,) = Balls().choose_ladder(rows_of(X), [0.6])
        assert radius == np.sort((X[0] != X).sum(axis=1))[179] == 3

    def test_one_radius_where_all_rows_are_equal(self):
        assert Balls().choose_ladder(rows_of(np.full((5, 2), 0.5))) == [1.0]


class TestWarning:
    X = np.random.default_rng(0).normal(size=(200, 2))

    def warn(self, radius):
        balls = Balls(radius, scale="none", centers="rows", n_draws=10)
        warn_of_sizes(making.propose(balls, self.X))

    @pytest.mark.parametrize(
        ("radius", "words"),
        [(0.001, "their center alone"), ([0.001, 0.002], "their center alone"), (50.0, "nearly all rows")],
    )
    def test_of_radii_that_make_no_sense(self, radius, words):
        with pytest.warns(UserWarning, match=f"most balls hold {words}: give other radii, or radius='auto'"):
            self.warn(radius)

    @pytest.mark.parametrize("radius", [0.5, [0.001, 0.5], [0.5, 50.0], [0.001, 50.0], "auto"])
    def test_none_where_some_radius_makes_sense(self, radius):
        self.warn(radius)

    def test_it_comes_before_anything_is_trained(self):
        box = Recording()
        # Warnings are errors in tests, so the fit ends here.
        with pytest.raises(UserWarning, match="their center alone"):
            AggregateExplainer.paper(box, radius=0.001, n_draws=1_000).fit(self.X)
        assert box.n_rows <= 2 * len(self.X)
