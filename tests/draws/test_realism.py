import numpy as np

from oleander.data.schema import FeatureSchema
from oleander.draws.jitter import draw_jitter
from oleander.draws.realism import measure_realism


def test_shuffled_rows_are_told_apart_and_draws_between_neighbours_are_not():
    rng = np.random.default_rng(0)
    rows = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], size=600)
    schema = FeatureSchema.infer(rows)
    near, _ = draw_jitter(rows[:300], schema, 2000, rng)
    far = np.column_stack([rng.permutation(rows[:, 0]), rng.permutation(rows[:, 1])])
    assert measure_realism(near, rows[300:], schema, 0) < 0.6 < measure_realism(far, rows[300:], schema, 0)
