import numpy as np

from oleander.candidates.grid import Grid
from oleander.candidates.nodes import grow_on_answers
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance
from oleander.draws.labelled import LabelledDraws
from oleander.rules.constant import find_constants, find_nearest
from oleander.rules.growth import to_amounts

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
    tolerance = Tolerance(0.2)
    constants = find_constants(truth, tolerance)
    draws = LabelledDraws(SCHEMA, VALUES, constants, find_nearest(truth, constants), None, truth, tolerance)
    trees = grow(draws)
    assert len(trees) == 2
    for tree in trees:
        leaf = tree.apply(VALUES)
        middle = np.array(
            [np.median(truth[leaf == node]) if (leaf == node).any() else 0.0 for node in range(leaf.max() + 1)]
        )
        assert (middle[leaf] == truth).mean() > 0.98


def test_amounts_keep_the_order_and_a_far_answer_does_not_hide_the_others():
    answers = np.append(RNG.normal(size=5_000), 1e9)
    amounts = to_amounts(answers)
    assert amounts.min() == 2
    assert (np.diff(amounts[np.argsort(answers)]) >= 0).all()
    assert len(np.unique(amounts)) > 500
    assert set(to_amounts(np.full(10, 3.0)).tolist()) == {2}
