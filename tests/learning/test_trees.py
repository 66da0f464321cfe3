import numpy as np

from oleander.learning.family import SILENT
from oleander.learning.trees import learn_abstaining_tree, learn_plain_tree


def test_a_plain_tree_answers_everywhere_and_an_abstaining_one_within_its_leaves(label_draws):
    rng = np.random.default_rng(0)
    values = rng.uniform(size=(2000, 3))
    draws = label_draws(values, (values[:, 0] * values[:, 1] > 0.3).astype(int))
    plain = learn_plain_tree(draws, rng, 6)
    assert (plain.answer(rng.uniform(size=(200, 3))) != SILENT).all()
    assert len(plain.steps[0].keys) <= 6
    assert all(len(step.keys) <= 6 for step in learn_abstaining_tree(draws, rng, 6).steps)
