import numpy as np

from oleander.candidates.grid import Grid, Memberships
from oleander.candidates.nodes import MIN_PURITY, grow_on_answers, grow_trees, make_pool
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance
from oleander.draws.labelled import LabelledDraws
from oleander.kernels import unpack

RNG = np.random.default_rng(0)
VALUES = RNG.uniform(size=(3_000, 3))
SCHEMA = FeatureSchema.infer(VALUES)
GRID = Grid.learn(VALUES, SCHEMA)
EVERYTHING = np.arange(3_000)


def grow(draws):
    columns = [column.take(EVERYTHING) for column in GRID.columns]
    return list(grow_on_answers(draws, EVERYTHING, columns, 4, 20))


def test_one_tree_for_labels():
    labels = (VALUES[:, 0] > 0.5).astype(np.intp)
    (tree,) = grow(LabelledDraws(SCHEMA, VALUES, np.array(["a", "b"]), labels, None))
    assert (tree.label[tree.apply(VALUES)] == labels).mean() > 0.99


def test_two_trees_for_numbers_and_both_find_the_steps():
    truth = np.select([VALUES[:, 0] > 0.6, VALUES[:, 1] > 0.3], [5.0, 2.0], 1.0)
    trees = grow(LabelledDraws.read(SCHEMA, VALUES, truth, None, 0, Tolerance(0.2)))
    assert len(trees) == 2
    for tree in trees:
        leaf = tree.apply(VALUES)
        middle = np.array(
            [np.median(truth[leaf == node]) if (leaf == node).any() else 0.0 for node in range(leaf.max() + 1)]
        )
        assert (middle[leaf] == truth).mean() > 0.98


def test_every_box_of_the_pool_is_pure_and_counted_correctly():
    labels = (VALUES[:, 0] > 0.5).astype(np.intp) + (VALUES[:, 1] > 0.7)
    labelled = LabelledDraws(SCHEMA, VALUES, np.arange(3), labels, None)
    trees = grow_trees(labelled, EVERYTHING, GRID, np.random.default_rng(0))
    members, right = Memberships(GRID, GRID.codes), labelled.find_right(EVERYTHING)
    pool = make_pool(trees, members, right, labelled.count_terms())
    assert len(set(pool.keys)) == len(pool.keys) > 10
    inside, right = unpack(pool.inside, len(VALUES)), unpack(pool.right, len(VALUES))
    for key, label, own, good in zip(pool.keys, pool.labels, inside, right, strict=True):
        assert (own == GRID.to_box(key).contains(VALUES)).all()
        assert (good == (own & (labels == label))).all()
        assert good.sum() >= MIN_PURITY * own.sum()
