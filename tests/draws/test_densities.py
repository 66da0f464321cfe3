import numpy as np
import pandas as pd
import pytest

from oleander.data.schema import FeatureSchema
from oleander.draws.densities import draw_forest, draw_mixture

SOURCES = {"mixture": draw_mixture, "forest": draw_forest}


@pytest.fixture(params=list(SOURCES))
def draw(request):
    """Return a function that draws 600 rows from a background, with a seed."""

    def draw_some(background, schema, seed=1):
        return SOURCES[request.param](background, schema, 600, np.random.default_rng(seed))

    return draw_some


def test_columns_that_go_together_are_drawn_together(draw):
    """Two clusters at opposite corners: independent columns would put half of the draws at the other corners."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, 300)[:, None] * 10.0 + rng.normal(size=(300, 2))
    values = draw(rows, FeatureSchema.infer(rows))
    assert (np.abs(values[:, 0] - values[:, 1]) > 7).mean() < 0.25


def test_levels_and_missing_values_are_as_frequent_as_in_the_background(draw):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "dose": np.where(rng.random(400) < 0.3, np.nan, rng.normal(size=400)),
            "ward": rng.choice(["east", "west"], 400, p=[0.8, 0.2]),
        }
    )
    schema = FeatureSchema.infer(table)
    rows = schema.encode(table)
    values = draw(rows, schema)
    assert np.isnan(values[:, 0]).mean() == pytest.approx(0.3, abs=0.08)
    assert (values[:, 1] == schema[1].levels.index("west")).mean() == pytest.approx(0.2, abs=0.08)


def test_the_same_seed_gives_the_same_draws(draw):
    rows = np.random.default_rng(0).normal(size=(60, 3))
    schema = FeatureSchema.infer(rows)
    np.testing.assert_array_equal(draw(rows, schema), draw(rows, schema))
    assert (draw(rows, schema) != draw(rows, schema, seed=2)).any()
