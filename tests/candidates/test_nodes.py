import numpy as np

from oleander.candidates.grid import Grid, Memberships
from oleander.candidates.nodes import MIN_PURITY, grow_trees, make_pool
from oleander.data.schema import FeatureSchema
from oleander.draws.labelled import LabelledDraws
from oleander.kernels import unpack


def test_every_box_of_the_pool_is_pure_and_counted_correctly():
    rng = np.random.default_rng(0)
    draws = rng.uniform(size=(2000, 4))
    labels = (draws[:, 0] > 0.5).astype(np.intp) + (draws[:, 1] > 0.7)
    grid = Grid.learn(draws, FeatureSchema.infer(draws))
    everything = np.arange(2000)
    labelled = LabelledDraws(grid.schema, draws, np.arange(3), labels, None)
    trees = grow_trees(labelled, everything, grid, rng)
    members, right = Memberships(grid, grid.encode(draws)), labelled.find_right(everything)
    pool = make_pool(trees, members, right, labelled.count_terms())
    assert len(set(pool.keys)) == len(pool.keys) > 10
    inside, right = unpack(pool.inside, 2000), unpack(pool.right, 2000)
    for key, label, own, good in zip(pool.keys, pool.labels, inside, right, strict=True):
        assert (own == grid.to_box(key).contains(draws)).all()
        assert (good == (own & (labels == label))).all()
        assert good.sum() >= MIN_PURITY * own.sum()
