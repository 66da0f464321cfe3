import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from oleander.data.schema import FeatureSchema
from oleander.draws.in_ball import draw_flips, draw_in_ball, seed_for
from oleander.rules import Ball

# A test of a law with a fixed seed either passes or not; this level says how unlucky the seed may be.
LEVEL = 1e-3


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def numbers(n_features: int, spread: float = 100.0) -> FeatureSchema:
    """Numbers whose bounds are far away."""
    return FeatureSchema.infer(
        np.vstack([np.full(n_features, -spread - 0.5), np.full(n_features, spread)]), scale="none"
    )


@pytest.mark.parametrize("n_features", [1, 3, 8])
def test_radial_law(n_features):
    """Uniform in a ball of radius r in d dimensions: P(distance ≤ t) = (t/r)^d."""
    draws = draw_in_ball(Ball(numbers(n_features), np.zeros(n_features), 3.0), 20_000, rng())
    radii = np.abs(draws).max(axis=1)
    assert stats.kstest((radii / 3.0) ** n_features, "uniform").pvalue > LEVEL


def test_no_direction_is_preferred():
    """By symmetry each orthant has the same share, and each coordinate the same law."""
    draws = draw_in_ball(Ball(numbers(3), np.zeros(3), 1.0), 20_000, rng())
    orthant = (draws > 0) @ [1, 2, 4]
    assert stats.chisquare(np.bincount(orthant, minlength=8)).pvalue > LEVEL
    assert stats.ks_2samp(np.abs(draws[:, 0]), np.abs(draws[:, 2])).pvalue > LEVEL


def test_draws_fill_a_ball_in_units_of_its_scales():
    ball = Ball(numbers(2).with_feature("x1", scale=10.0), np.zeros(2), 2.0)
    draws = draw_in_ball(ball, 20_000, rng())
    assert ball.contains(draws).all()
    radii = np.abs(draws / [2.0, 20.0]).max(axis=1)
    assert stats.kstest(radii**2, "uniform").pvalue > LEVEL


def test_bounds_cut_the_ball_and_leave_it_uniform():
    """Draws in a corner of the bounds have the law of the ball's part there."""
    schema = FeatureSchema.infer(np.array([[0.0, 0.5], [9.5, 0.0], [9.0, 9.5]]), scale="none")
    draws = draw_in_ball(Ball(schema, np.zeros(2), 4.0), 20_000, rng(), bounds="cut")
    assert draws.min() >= 0
    radii = draws.max(axis=1)
    assert stats.kstest((radii / 4.0) ** 2, "uniform").pvalue > LEVEL


def test_whole_numbers_are_uniform_in_the_chebyshev_ball():
    schema = FeatureSchema.infer(np.array([[0], [9], [5]]), scale="none")
    draws = draw_in_ball(Ball(schema, np.array([8.0]), 2.7), 10_000, rng(), bounds="cut")
    counts = Counter(draws[:, 0])
    assert set(counts) == {6, 7, 8, 9}
    assert stats.chisquare(list(counts.values())).pvalue > LEVEL


@pytest.mark.parametrize("radius", [0, 0.4, 1, 2.5])
def test_every_draw_is_inside_and_can_be_shown_to_the_black_box(mixed, mixed_schema, radius):
    rows = mixed_schema.encode(mixed)
    for center in rows[:15]:
        ball = Ball(mixed_schema, center, radius)
        draws = draw_in_ball(ball, 200, rng())
        assert ball.contains(draws).all()
        decoded = mixed_schema.decode(draws)
        pd.testing.assert_series_equal(decoded.dtypes, mixed.dtypes)
        np.testing.assert_array_equal(mixed_schema.encode(decoded), draws)
        for j in mixed_schema.numbers:
            present = draws[~np.isnan(draws[:, j]), j]
            assert ((present >= mixed_schema[j].lower) & (present <= mixed_schema[j].upper)).all()


def test_missing_stays_missing_unless_flipped(mixed, mixed_schema):
    rows = mixed_schema.encode(mixed)
    dose = mixed_schema.position("dose")
    center = rows[np.isnan(rows[:, dose]).argmax()]
    still = draw_in_ball(Ball(mixed_schema, center, 3.0, max_flips=0), 500, rng())
    assert np.isnan(still[:, dose]).all()
    np.testing.assert_array_equal(still[:, mixed_schema.named], np.broadcast_to(center[mixed_schema.named], (500, 5)))
    moved = draw_in_ball(Ball(mixed_schema, center, 3.0, max_flips=3), 500, rng())
    assert 0 < np.isnan(moved[:, dose]).mean() < 1


def test_flip_counts_in_the_papers_way():
    """k is uniform in 0..r, then which columns is uniform."""
    flipped = draw_flips(6, 3, 40_000, rng())
    counts = np.bincount(flipped.sum(axis=1), minlength=4)
    assert len(counts) == 4
    assert stats.chisquare(counts).pvalue > LEVEL
    pairs = Counter(tuple(np.flatnonzero(row)) for row in flipped[flipped.sum(axis=1) == 2])
    assert set(pairs) == set(itertools.combinations(range(6), 2))
    assert stats.chisquare(list(pairs.values())).pvalue > LEVEL


def test_a_flip_moves_to_every_other_level_alike():
    X = pd.DataFrame({"colour": ["blue", "green", "red", None]})
    schema = FeatureSchema.infer(X)
    draws = draw_in_ball(Ball(schema, np.array([1.0]), 1.0), 30_000, rng())
    moved = pd.Series(draws[draws[:, 0] != 1, 0]).fillna(-1).value_counts()
    assert set(moved.index) == {0, 2, -1}
    assert stats.chisquare(moved).pvalue > LEVEL


def test_seed_depends_on_state_center_and_radius_alone():
    center = np.array([1.0, np.nan, 0.0])
    seed = seed_for(0, center, 0.5)
    assert seed == seed_for(0, np.array([1.0, -np.nan, -0.0]), 0.5)
    others = {
        seed_for(1, center, 0.5),
        seed_for(0, center + 1, 0.5),
        seed_for(0, center, 0.6),
        seed_for(2**60, center, 0.5),
    }
    assert len(others | {seed, seed_for(2**60 + 1, center, 0.5)}) == 6


class TestUncut:
    def test_draws_fill_the_whole_ball_beyond_the_bounds(self):
        """The center stands in a corner of its bounds; uncut, the radial law is that of the whole ball."""
        schema = FeatureSchema.infer(np.array([[0.5, 0.5, 0.5], [1.5, 1.5, 0.5]]), scale="none")
        ball = Ball(schema, np.full(3, 0.5), 2.0)
        draws = draw_in_ball(ball, 20_000, rng(), bounds="uncut")
        assert (draws.min(axis=0) < 0).all()
        assert stats.kstest((np.abs(draws - 0.5).max(axis=1) / 2.0) ** 3, "uniform").pvalue > LEVEL
        cut = draw_in_ball(ball, 1_000, rng(), bounds="cut")
        assert cut.min() >= 0.5
        assert cut.max() <= 1.5

    @pytest.mark.parametrize(("dtype", "least", "largest"), [("uint8", 0, 13), ("int64", -7, 13), ("UInt8", 0, 13)])
    def test_whole_numbers_stay_within_their_dtype(self, dtype, least, largest):
        X = pd.DataFrame({"n": pd.Series(range(3, 9), dtype=dtype)})
        schema = FeatureSchema.infer(X, kinds={"n": "integer"}, scale="none")
        ball = Ball(schema, np.array([3.0]), 10.0)
        draws = draw_in_ball(ball, 5_000, rng(), bounds="uncut")
        assert {*draws[:, 0]} == {*map(float, range(least, largest + 1))}
        assert schema.decode(draws)["n"].to_numpy().astype(float).tolist() == draws[:, 0].tolist()


class TestClipped:
    def test_draws_beyond_a_bound_are_moved_to_it(self):
        """Clipped and uncut draws of one seed are equal except beyond the bounds."""
        schema = FeatureSchema.infer(np.array([[0.5, 0.5, 0.5], [1.5, 1.5, 0.5]]), scale="none")
        ball = Ball(schema, np.array([0.5, 1.0, 0.5]), 0.8)
        draws = draw_in_ball(ball, 2_000, rng())
        assert ball.contains(draws).all()
        # The third column has one value only: it does not move.
        assert (draws[:, 2] == 0.5).all()
        assert (draws[:, :2].min(axis=0) == 0.5).all()
        assert 0.3 < (draws[:, 0] == 0.5).mean() < 0.7

    def test_whole_numbers_pile_up_at_their_bounds(self):
        schema = FeatureSchema.infer(pd.DataFrame({"n": range(4)}), kinds={"n": "integer"}, scale="none")
        ball = Ball(schema, np.array([0.0]), 3.0)
        share = np.bincount(draw_in_ball(ball, 7_000, rng())[:, 0].astype(int), minlength=4) / 7_000
        np.testing.assert_allclose(share, [4 / 7, 1 / 7, 1 / 7, 1 / 7], atol=0.02)
