import numpy as np

from oleander.data.schema import FeatureSchema
from oleander.explainers.growth import grow_tree
from oleander.explainers.tree import LEAF
from oleander.learning.family import SILENT
from oleander.learning.trees import cut_back, learn_abstaining_tree, learn_plain_tree


def test_the_cut_is_the_best_of_all_cuts():
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = rng.normal(size=(300, 3))
        labels, schema = rng.integers(3, size=300), FeatureSchema.infer(X)
        tree = grow_tree(X, labels, np.arange(3), schema, (0, 1, 2), 8, simplify=False)
        value = rng.normal(size=len(tree.column))

        def cuts(node: int, tree=tree) -> list[frozenset[int]]:
            if tree.column[node] == LEAF:
                return [frozenset(), frozenset([node])]
            sides = cuts(int(tree.left[node])), cuts(int(tree.right[node]))
            return [frozenset([node]), *(one | other for one in sides[0] for other in sides[1])]

        every = cuts(0)
        for most in (1, 3, 8):
            best = max(sum(value[i] for i in cut) for cut in every if len(cut) <= most)
            found = cut_back(tree, value, most)
            assert len(found) <= most
            assert np.isclose(sum(value[i] for i in found), best)


def test_a_plain_tree_answers_everywhere_and_an_abstaining_one_within_its_leaves(label_draws):
    rng = np.random.default_rng(0)
    values = rng.uniform(size=(2000, 3))
    draws = label_draws(values, (values[:, 0] * values[:, 1] > 0.3).astype(int))
    plain = learn_plain_tree(draws, rng, 6)
    assert (plain.answer(rng.uniform(size=(200, 3))) != SILENT).all()
    assert len(plain.steps[0].keys) <= 6
    assert all(len(step.keys) <= 6 for step in learn_abstaining_tree(draws, rng, 6).steps)
