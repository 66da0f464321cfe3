import numpy as np
import pytest

from oleander.data.schema import FeatureSchema, Kind
from oleander.draws.between_neighbours import draw_jitter, measure_realism, round_columns


def draw(rows, schema, n_draws):
    return draw_jitter(rows, schema, n_draws, np.random.default_rng(1))[0]


@pytest.mark.parametrize("n_rows", [1, 2, 40, 300])
def test_draws_stay_inside_the_schema(n_rows, mixed, mixed_schema):
    rows = mixed_schema.encode(mixed)[:n_rows]
    values = draw(rows, mixed_schema, 500)
    assert values.shape == (500, len(mixed_schema))
    for j, feature in enumerate(mixed_schema):
        known = values[:, j][~np.isnan(values[:, j])]
        assert feature.missing or len(known) == 500
        if feature.is_number:
            assert ((known >= feature.lower) & (known <= feature.upper)).all()
            assert feature.kind is not Kind.INTEGER or (known == np.round(known)).all()
        else:
            assert np.isin(known, np.arange(len(feature.levels))).all()


def test_records_are_drawn_as_often_as_they_occur():
    """Two records of many rows stand among measurements."""
    rows = np.random.default_rng(0).normal(size=(400, 3))
    rows[:160], rows[160:200] = 0, 9
    values = draw(rows, FeatureSchema.infer(rows), 4000)
    for value, share in ((0, 0.4), (9, 0.1)):
        assert (values == value).all(axis=1).mean() == pytest.approx(share, abs=0.03)


def test_draws_of_few_records_keep_their_frequencies():
    rows = np.random.default_rng(0).integers([2, 3, 2], size=(300, 3)).astype(float)
    values, parents = draw_jitter(rows, FeatureSchema.infer(rows), 6000, np.random.default_rng(0))
    records, expected = np.unique(rows, axis=0, return_counts=True)
    drawn, counts = np.unique(values, axis=0, return_counts=True)
    np.testing.assert_array_equal(drawn, records)
    np.testing.assert_allclose(counts / 6000, expected / 300, atol=0.03)
    assert (parents[:, 0] != parents[:, 1]).all()


@pytest.mark.parametrize("spread", [1e-9, 1.0, 1e4, 1e300])
@pytest.mark.parametrize("n_columns", [1, 3, 300])
def test_distances_between_rounded_rows_are_exact_on_every_machine(spread, n_columns):
    rng = np.random.default_rng(0)
    columns = rng.standard_cauchy(size=(40, n_columns)) * spread
    rounded = round_columns(columns)
    whole = rounded.astype(np.int64)
    np.testing.assert_array_equal(rounded, whole)
    np.testing.assert_array_equal(rounded @ rounded.T, whole @ whole.T)
    assert (whole**2).sum(axis=1).max() < 2**53
    # Neighbours in one column keep their order.
    order = np.argsort(columns[:, 0])
    assert (np.diff(whole[order, 0]) >= 0).all()


def test_shuffled_rows_are_recognised_and_draws_between_neighbours_are_not():
    rng = np.random.default_rng(0)
    rows = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], size=600)
    schema = FeatureSchema.infer(rows)
    near, _ = draw_jitter(rows[:300], schema, 2000, rng)
    far = np.column_stack([rng.permutation(rows[:, 0]), rng.permutation(rows[:, 1])])
    assert measure_realism(near, rows[300:], schema, 0) < 0.6 < measure_realism(far, rows[300:], schema, 0)
    assert 0.4 < measure_realism(rows[:300], rows[300:], schema, 0) < 0.6
