import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander import AggregateExplainer, Balls, PerRow
from oleander.candidates.balls import (
    Holding,
    choose_centers,
    find_generators,
    measure_sizes,
    round_numbers,
    warn_of_sizes,
)
from oleander.candidates.base import Boxes, Generator, Recipe
from oleander.candidates.pool import CandidatePool
from oleander.data.schema import FeatureSchema
from oleander.rules import FilteredTree
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

    def test_draws_lie_in_the_ball_and_are_the_same_every_time(self, recipe):
        draws = recipe.draw()
        assert recipe.ball.contains(draws).all()
        np.testing.assert_array_equal(recipe.draw(), draws)
        assert (dataclasses.replace(recipe, seed=recipe.seed + 1).draw() != draws).any()

    def test_a_copy_of_the_local_explainer_is_fitted(self, recipe):
        draws = recipe.draw()
        labels = draws[:, 0] > recipe.ball.center[0]
        assert (recipe.fit(draws, labels).predict(draws) == labels).mean() > 0.95
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

    def test_no_center_is_a_record_to_the_digit_also_where_all_numbers_are_whole(self, mixed):
        rows = rows_of(mixed).values
        weight = rows_of(mixed).schema.position("weight")
        centers = np.array([candidate.region.center for candidate in propose(Balls(1.0, n_draws=1), mixed)])
        assert not np.isin(centers[:, weight], rows[:, weight]).any()
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
        ({"radius": "wide"}, "radius='wide' is not known; give a number, several, PerRow"),
        ({"radius": [1.0, 2.0, 3.0]}, "radius has 3 values, as many as X has rows.*write radius=PerRow"),
        ({"radius": np.arange(3.0)}, "write radius=PerRow"),
        ({"radius": PerRow([1.0, 2.0])}, "has 2 values, and X has 3 rows"),
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


@pytest.mark.parametrize("radius", [1.0, [1.0, 2.0], "auto", Holding(0.2), PerRow([1.0, 2.0, 3.0])])
def test_radii_that_cannot_be_mistaken_for_one_per_row(radius):
    Balls(radius).check_rows(3)
    Balls([1.0]).check_rows(1)


@pytest.mark.parametrize("most", [None, 7])
def test_one_radius_per_row_reaches_the_ball_of_its_row(most):
    X = np.random.default_rng(0).normal(size=(30, 2))
    radius_of = dict(zip(map(tuple, X), np.linspace(0.1, 3.0, 30).tolist(), strict=True))
    radii = PerRow(list(radius_of.values()))
    candidates = propose(Balls(radii, scale="none", centers="rows", max_candidates=most, n_draws=1), X)
    assert len(candidates) == (most or 30)
    for candidate in candidates:
        center, radius = candidate.region.center, radius_of[tuple(candidate.region.center)]
        np.testing.assert_array_equal(candidate.region.contains(X), np.abs(X - center).max(axis=1) <= radius)


def test_generators_are_one_or_several():
    own = OwnTrees()
    assert find_generators(own) == [own]
    assert find_generators((own, Balls())) == [own, Balls()]
    for one, name in ((2.0, "float"), ("balls", "str"), (Boxes(), "Boxes")):
        with pytest.raises(TypeError, match=rf"candidates holds a {name}; give Boxes\(\) alone"):
            find_generators([Balls(), one])


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

    def test_exactly_as_many_centers_as_asked_for_and_as_there_are_rows(self, mixed):
        rows = rows_of(mixed)
        for most, n_chosen in ((1, 1), (2, 2), (3, 3), (7, 7), (299, 299), (None, 300), (5000, 300)):
            assert len(choose_centers(rows, most)) == n_chosen


def test_whole_numbers_levels_and_missing_values_stay(mixed):
    rows = rows_of(mixed)
    rounded = round_numbers(rows.values, rows.schema)
    named = rows.schema.named
    np.testing.assert_array_equal(rounded[:, named], rows.values[:, named])
    np.testing.assert_array_equal(np.isnan(rounded), np.isnan(rows.values))
    age = rounded[:, rows.schema.position("age")]
    np.testing.assert_array_equal(age, np.round(age))


class TestPerRow:
    def test_equal_rows_give_their_point_every_radius_of_theirs(self):
        X = np.array([[0.5, 1.0], [2.5, 1.0], [0.5, 1.0], [0.5, 1.0]])
        assert PerRow([3.0, 1.0, 2.0, 3.0]).of_points(rows_of(X)) == [{2.0: 2, 3.0: 0}, {1.0: 1}]

    def test_a_radius_follows_its_row_through_a_sample_and_a_part(self):
        X = np.random.default_rng(0).normal(size=(20, 2))
        radii = PerRow(np.arange(20.0))
        taken = np.array([3, 4, 11, 17])
        rows = rows_of(X[taken], row_numbers=taken)
        assert radii.of_points(rows) == [{3.0: 3}, {4.0: 4}, {11.0: 11}, {17.0: 17}]
        assert radii.of_points(rows.part(np.array([False, True, False, True]))) == [{4.0: 4}, {17.0: 17}]
        assert radii.of_points(rows_of(X).part(np.arange(20) % 7 == 5)) == [{5.0: 5}, {12.0: 12}, {19.0: 19}]

    @pytest.mark.parametrize(
        ("values", "message"),
        [([1.0, -2.0], "radius -2 for row 1"), ([np.nan], "radius nan for row 0")]
        + [(values, "shape") for values in ([], 2.0, [[1.0]])],
    )
    def test_bad_values(self, values, message):
        with pytest.raises(ValueError, match=message):
            PerRow(values)

    def test_all_values_stand_in_its_text(self):
        """A checkpoint compares options by their text."""
        values = np.zeros(5_000)
        changed = values.copy()
        changed[2_500] = 1.0
        assert repr(PerRow(values)) != repr(PerRow(changed))


@pytest.mark.parametrize("n_rows", [1, 2, 3, 5, 10, 20])
def test_few_rows_are_in_balls_too(mixed, n_rows):
    rows = rows_of(mixed.iloc[:n_rows])
    candidates = Balls(max_candidates=10, n_draws=200).propose(rows, 0)
    assert all(candidate.region.contains(rows.values).any() for candidate in candidates)


@pytest.mark.parametrize("share", [0.0, -0.1, 1.5, np.nan])
def test_holding_takes_a_share(share):
    with pytest.raises(ValueError, match="a share of the rows"):
        Holding(share)


class TestTypicalRadii:
    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
    def test_balls_around_typical_rows_hold_the_share(self, mixed, share):
        rows = rows_of(mixed)
        ladder = Balls(Holding(share)).find_radii(rows)
        assert len(ladder) == 1
        candidates = Balls(ladder[0], centers="rows", n_draws=1).propose(rows, 0)
        held = np.median([candidate.region.contains(rows.values).mean() for candidate in candidates])
        # Levels differ by whole numbers, so the share moves in steps.
        assert held >= share - 0.05

    def test_no_radius_reaches_beyond_the_flips_allowed(self):
        X = np.array([[f"level {i % 40}", 0.5 + i] for i in range(200)], dtype=object)
        rows = rows_of(pd.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(float)}))
        assert np.isinf(Balls(max_flips=0).typical_radii(rows, [0.5])).all()
        assert np.isfinite(Balls(max_flips=1).typical_radii(rows, [0.5])).all()
        with pytest.raises(ValueError, match=r"radius=Holding\(0.5\) is not possible with max_flips=0"):
            Balls(Holding(0.5), max_flips=0).find_radii(rows)


class TestLadder:
    def test_balls_of_the_ladder_hold_the_stated_shares(self):
        X = np.random.default_rng(0).normal(size=(400, 2))
        rows = rows_of(X)
        scaled = X / X.std(axis=0)
        held = [
            np.median([(np.abs(scaled - row).max(axis=1) <= radius).mean() for row in scaled])
            for radius in Balls().choose_ladder(rows)
        ]
        np.testing.assert_allclose(held, [0.05, 0.1, 0.2, 0.35, 0.6], atol=0.03)

    def test_the_ladder_is_in_units_of_the_scale(self):
        X = np.random.default_rng(0).normal(size=(300, 2)) * 1000
        raw = {candidate.region.radius for candidate in Balls(scale="none", n_draws=1).propose(rows_of(X), 0)}
        scaled = {candidate.region.radius for candidate in Balls(scale="std", n_draws=1).propose(rows_of(X), 0)}
        assert max(scaled) < 10 < min(raw)

    def test_one_radius_where_all_rows_are_equal(self):
        assert Balls().choose_ladder(rows_of(np.full((5, 2), 0.5))) == [1.0]


X = np.random.default_rng(0).normal(size=(200, 2))


def above(X):
    return np.asarray(X)[:, 0] > 0


def pool_of(balls, X=X, box=above):
    return CandidatePool.build(X, box, balls, random_state=0)


def warn(balls, *X_and_box):
    pool = pool_of(balls, *X_and_box)
    warn_of_sizes(balls, pool.rows, measure_sizes(pool))


def raw(radius, **options):
    return Balls(radius, scale="none", centers="rows", n_draws=10, **options)


class TestMeasure:
    @pytest.mark.parametrize("radius", [0.1, 0.5, 2.0])
    def test_the_median_over_the_balls(self, radius):
        (size,) = measure_sizes(pool_of(raw(radius)))
        held = (np.abs(X[:, None] - X[None]).max(axis=2) <= radius).sum(axis=1)
        assert size.n_held == np.median(held)
        assert size.share == np.median(held) / 200
        assert size.is_narrow == ((held == 1).mean() > 0.5)

    def test_equal_rows_count_each_and_are_one_center(self):
        (size,) = measure_sizes(pool_of(raw(0.001), np.repeat(X, 3, axis=0)))
        assert size.n_held == 3
        assert size.is_narrow

    def test_a_ladder_has_a_size_for_each_radius_and_rows_have_one_together(self):
        assert [size.radii for size in measure_sizes(pool_of(raw([0.5, 1.0])))] == ["radius 0.5", "radius 1"]
        (size,) = measure_sizes(pool_of(raw(PerRow(np.linspace(0.5, 2.0, 200)))))
        assert size.radii == "radii from 0.5 to 2"
        assert measure_sizes(pool_of(OwnTrees())) == ()


class TestWarning:
    @pytest.mark.parametrize("radius", [0.001, [0.001, 0.002]])
    def test_of_centers_alone_with_radii_that_hold_more(self, radius):
        with pytest.warns(UserWarning, match="hold their center alone. A typical ball would hold 5%") as caught:
            warn(raw(radius))
        words = str(caught[0].message).split()
        radii = [float(words[i + 1].rstrip(".")) for i, word in enumerate(words) if word == "radius"][1:]
        shares = [measure_sizes(pool_of(raw(radius)))[0].share for radius in radii]
        np.testing.assert_allclose(shares, [0.05, 0.6], atol=0.03)

    @pytest.mark.parametrize("radius", [0.5, [0.001, 0.5], [0.5, 50.0], [0.001, 50.0], "auto"])
    def test_none_where_some_radius_makes_sense(self, radius):
        warn(raw(radius))

    def test_of_nearly_all_rows_and_of_no_radius_that_cannot_hold_the_share(self):
        with pytest.warns(UserWarning, match=r"radius 50 hold nearly all rows \(200 of 200\)"):
            warn(raw(50.0))
        table = pd.DataFrame({"a": [f"level {i % 40}" for i in range(200)], "b": np.arange(200.0) / 7})
        with pytest.warns(UserWarning, match=r"hold their center alone.$"):
            warn(raw(3.0, max_flips=0), table, lambda X: X["b"] > 3)

    def test_it_comes_before_anything_is_trained(self):
        box = Recording(above)
        # Warnings are errors in tests, so the fit ends here.
        with pytest.raises(UserWarning, match="their center alone"):
            AggregateExplainer.paper(box, radius=0.001, n_draws=1_000).fit(X)
        assert box.n_rows <= 2 * len(X)
