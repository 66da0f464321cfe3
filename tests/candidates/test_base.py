import numpy as np
import pytest

from oleander.candidates.balls import Balls
from oleander.candidates.base import Candidate
from oleander.rules import Box, Constant
from tests.making import label


def test_a_candidate_has_an_explainer_or_a_recipe():
    rows = label(np.random.default_rng(0).uniform(size=(120, 3)), lambda X: X[:, 0] > 0.5)
    recipe = Balls(1.0).propose(rows, 0)[0].recipe
    for both in ({}, {"explainer": Constant("a"), "recipe": recipe}):
        with pytest.raises(ValueError, match="either an explainer or a recipe"):
            Candidate(Box(()), **both)
