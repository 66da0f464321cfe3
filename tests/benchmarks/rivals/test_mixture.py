import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp, kstest, norm, truncnorm

from benchmarks.rivals.mixture import Mixture, draw_truncated, log_interval
from oleander.data.schema import FeatureSchema
from oleander.rules import Box
from oleander.rules.conditions import Levels, Range

EVERYWHERE = Box(())


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture
def two_clouds():
    """Two clouds of rows that differ in the first column."""
    noise = rng().normal(size=(600, 2))
    X = noise + np.where(np.arange(600) < 400, -3.0, 3.0)[:, None] * [1.0, 0.5]
    schema = FeatureSchema.infer(X)
    return schema, Mixture.fit(schema.encode(X), schema, n_components=2, seed=0)


class TestTruncatedNormals:
    @pytest.mark.parametrize("ends", [(-1.0, 2.0), (0.5, 0.7), (-9.0, -7.0), (6.0, 9.0), (-0.1, 30.0)])
    def test_their_law(self, ends):
        draws = draw_truncated(np.full(3000, ends[0]), np.full(3000, ends[1]), rng())
        assert kstest(draws, truncnorm(*ends).cdf).pvalue > 0.001

    def test_far_out_they_are_exponential(self):
        # Beyond t deviations, t·(x − t) is nearly exponential, and closer the larger t is.
        draws = draw_truncated(np.full(3000, 200.0), np.full(3000, 300.0), rng())
        assert kstest((draws - 200) * 200, "expon").pvalue > 0.001
        np.testing.assert_allclose(draw_truncated(np.full(3000, -300.0), np.full(3000, -200.0), rng()), -draws)

    def test_mass_of_intervals(self):
        np.testing.assert_allclose(
            np.exp(log_interval(np.array([-1.0, 1.0, 7.0]), np.array([0.5, 2.0, 8.0]))),
            [norm.cdf(0.5) - norm.cdf(-1), norm.sf(1) - norm.sf(2), norm.sf(7) - norm.sf(8)],
            rtol=1e-10,
        )
        assert log_interval(np.array([1.0]), np.array([1.0])) == -np.inf


class TestBoxes:
    def test_mass_is_the_share_of_draws_inside(self, two_clouds):
        schema, mixture = two_clouds
        draws = mixture.draw(EVERYWHERE, 40_000, rng(1))
        assert mixture.mass(EVERYWHERE) == pytest.approx(1)
        for box in (
            Box((Range(0, schema[0], upper=0.0),)),
            Box((Range(0, schema[0], lower=-3.5, upper=-2.5), Range(1, schema[1], lower=-1.5))),
            Box((Range(0, schema[0], lower=2.0), Range(1, schema[1], upper=1.0))),
        ):
            assert mixture.mass(box) == pytest.approx(box.contains(draws).mean(), abs=0.01)

    def test_draws_follow_the_density_cut_with_the_box(self, two_clouds):
        schema, mixture = two_clouds
        # Both clouds reach into the box, so its law is right only if the components are weighed by their mass in it.
        box = Box((Range(0, schema[0], lower=-1.5, upper=2.5),))
        cut = mixture.draw(box, 3000, rng(1))
        everywhere = mixture.draw(EVERYWHERE, 30_000, rng(2))
        kept = everywhere[box.contains(everywhere)]
        assert box.contains(cut).all()
        for j in range(2):
            assert ks_2samp(cut[:, j], kept[:, j]).pvalue > 0.001


class TestColumns:
    def test_whole_numbers_are_rounded_and_inside(self):
        X = pd.DataFrame({"visits": rng().integers(0, 9, 400), "dose": rng(1).normal(size=400)})
        schema = FeatureSchema.infer(X)
        mixture = Mixture.fit(schema.encode(X), schema, n_components=4, seed=0)
        boxes = [Box((Range(0, schema[0], lower=k - 1, upper=k),)) for k in range(9)]
        assert sum(mixture.mass(box) for box in boxes) == pytest.approx(1)
        for k, box in enumerate(boxes):
            assert set(mixture.draw(box, 50, rng())[:, 0]) == {float(k)}

    def test_shares_of_levels_and_of_missing_values(self):
        n = 1000
        X = pd.DataFrame(
            {
                "colour": np.repeat(["blue", "green", None], [500, 300, 200]),
                "dose": np.where(np.arange(n) % 4 == 0, np.nan, rng().normal(size=n)),
            }
        )
        schema = FeatureSchema.infer(X)
        mixture = Mixture.fit(schema.encode(X), schema, n_components=3, seed=0)
        assert mixture.mass(Box((Levels(0, schema[0], frozenset({0})),))) == pytest.approx(0.5)
        assert mixture.mass(Box((Levels(0, schema[0], frozenset(), missing=True),))) == pytest.approx(0.2)
        known = Box((Levels(0, schema[0], frozenset({1})), Range(1, schema[1])))
        assert mixture.mass(known) == pytest.approx(0.3 * 0.75)
        assert known.contains(mixture.draw(known, 500, rng())).all()
        # Low or missing: the missing quarter, and the part of the known that is low.
        low = Box((Range(1, schema[1], upper=-1.0, missing=True),))
        draws = mixture.draw(low, 4000, rng())
        assert low.contains(draws).all()
        assert np.isnan(draws[:, 1]).mean() == pytest.approx(0.25 / mixture.mass(low), abs=0.03)

    def test_nothing_is_drawn_where_there_is_no_mass(self):
        grades = pd.Categorical(["low", "mid"] * 50, ["low", "mid", "high"])
        X = pd.DataFrame({"grade": grades, "dose": rng().normal(size=100)})
        schema = FeatureSchema.infer(X)
        mixture = Mixture.fit(schema.encode(X), schema, n_components=3, seed=0)
        unseen = Box((Levels(0, schema[0], frozenset({2})),))
        assert mixture.mass(unseen) == 0
        with pytest.raises(ValueError, match="grade is rare: the density has no mass"):
            mixture.draw(unseen, 5, rng())
