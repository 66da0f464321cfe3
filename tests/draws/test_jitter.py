import numpy as np
import pandas as pd
import pytest

from oleander.data.merging import row_keys
from oleander.data.schema import FeatureSchema, Kind
from oleander.draws.densities import draw_forest, draw_mixture
from oleander.draws.jitter import draw_jitter


def draw(source, rows, schema, n_draws):
    rng = np.random.default_rng(1)
    if source == "jitter":
        return draw_jitter(rows, schema, n_draws, rng)[0]
    return {"mixture": draw_mixture, "forest": draw_forest}[source](rows, schema, n_draws, rng)


@pytest.mark.parametrize("source", ["jitter", "mixture", "forest"])
@pytest.mark.parametrize("n_rows", [1, 2, 40, 300])
def test_draws_stay_inside_the_schema_and_equal_no_row(source, n_rows, mixed, mixed_schema):
    rows = mixed_schema.encode(mixed)[:n_rows]
    values = draw(source, rows, mixed_schema, 500)
    assert values.shape == (500, len(mixed_schema))
    for j, feature in enumerate(mixed_schema):
        known = values[:, j][~np.isnan(values[:, j])]
        assert feature.missing or len(known) == 500
        if feature.is_number:
            assert ((known >= feature.lower) & (known <= feature.upper)).all()
            assert feature.kind is not Kind.INTEGER or (known == np.round(known)).all()
        else:
            assert np.isin(known, np.arange(len(feature.levels))).all()
    assert not np.isin(row_keys(values), row_keys(rows)).any()


def test_draws_of_duplicates_and_whole_numbers_are_no_copies():
    rows = np.repeat(np.random.default_rng(0).integers(0, 17, size=(5, 6)).astype(float), 20, axis=0)
    schema = FeatureSchema.infer(rows)
    values, parents = draw_jitter(rows, schema, 1000, np.random.default_rng(0))
    assert not np.isin(row_keys(values), row_keys(rows)).any()
    assert (row_keys(rows)[parents[:, 0]] != row_keys(rows)[parents[:, 1]]).all()


def test_draws_of_levels_combine_levels():
    table = pd.DataFrame(np.random.default_rng(0).choice(list("xyz"), size=(60, 4)), columns=list("abcd"))
    schema = FeatureSchema.infer(table)
    assert np.isin(draw("jitter", schema.encode(table), schema, 300), [0, 1, 2]).all()


def test_the_same_seed_gives_the_same_draws():
    rows = np.random.default_rng(0).normal(size=(40, 3))
    schema = FeatureSchema.infer(rows)
    one, other = (draw_jitter(rows, schema, 100, np.random.default_rng(3))[0] for _ in range(2))
    assert (one == other).all()
