import warnings

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Balls, PerRow
from oleander.candidates.pool import CandidatePool
from oleander.candidates.sizes import BallSize, measure_sizes, warn_of_sizes
from tests.making import OwnTrees

X = np.random.default_rng(0).normal(size=(200, 2))


def above(X):
    return np.asarray(X)[:, 0] > 0


def pool_of(balls, X=X):
    return CandidatePool.build(X, above, balls, random_state=0)


def warn(balls, X=X, box=above):
    pool = CandidatePool.build(X, box, balls, random_state=0)
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

    def test_nothing_without_balls(self):
        assert measure_sizes(pool_of(OwnTrees())) == ()


class TestWarning:
    @pytest.mark.parametrize("radius", [0.001, [0.001, 0.002]])
    def test_of_centers_alone_with_radii_that_hold_more(self, radius):
        balls = raw(radius)
        with pytest.warns(UserWarning, match="hold their center alone. A typical ball would hold 5%") as caught:
            warn(balls)
        words = str(caught[0].message).split()
        radii = [float(words[i + 1].rstrip(".")) for i, word in enumerate(words) if word == "radius"][1:]
        shares = [measure_sizes(pool_of(raw(radius)))[0].share for radius in radii]
        np.testing.assert_allclose(shares, [0.05, 0.6], atol=0.03)

    def test_of_nearly_all_rows(self):
        balls = raw(50.0)
        with pytest.warns(UserWarning, match=r"radius 50 hold nearly all rows \(200 of 200\)"):
            warn(balls)

    @pytest.mark.parametrize("radius", [0.5, [0.001, 0.5], [0.5, 50.0], [0.001, 50.0], "auto"])
    def test_none_where_some_radius_makes_sense(self, radius):
        balls = raw(radius)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn(balls)

    def test_no_radius_is_named_that_cannot_hold_the_share(self):
        table = pd.DataFrame({"a": [f"level {i % 40}" for i in range(200)], "b": np.arange(200.0) / 7})
        balls = raw(3.0, max_flips=0)
        with pytest.warns(UserWarning, match="hold their center alone.$"):
            warn(balls, table, lambda X: X["b"] > 3)

    def test_it_comes_before_anything_is_trained(self):
        asked = []

        def box(X):
            asked.append(len(X))
            return above(X)

        atlas = AggregateExplainer.paper(box, radius=0.001, n_draws=1_000)
        # Warnings are errors in tests, so the fit ends here.
        with pytest.raises(UserWarning, match="their center alone"):
            atlas.fit(X)
        assert sum(asked) <= 2 * len(X)


def test_the_summary_has_the_figure():
    atlas = AggregateExplainer.paper(above, radius=0.5, n_draws=50, max_explainers=2, random_state=0).fit(X)
    (size,) = atlas.record_.ball_sizes
    assert size == measure_sizes(atlas.pool_)[0]
    assert str(size) in atlas.summary()


@pytest.mark.parametrize("n_held", [-1.0, 11.0, float("nan")])
def test_a_size_that_no_fit_makes_is_refused(n_held):
    assert BallSize.from_dict(vars(BallSize("radius 7", 3.0, 10, False))) == BallSize("radius 7", 3.0, 10, False)
    with pytest.raises(ValueError, match="a ball holds"):
        BallSize.from_dict({"radii": "radius 7", "n_held": n_held, "n_rows": 10, "is_narrow": False})
