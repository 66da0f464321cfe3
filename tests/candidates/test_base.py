import numpy as np
import pytest

from oleander.candidates.balls import Balls
from oleander.candidates.base import Candidate, propose_all
from oleander.rules import Box, Constant
from tests.making import AskingBoxes, OwnTrees, count, label


def curve(X):
    return X[:, 0] + X[:, 1] ** 2 > 0.8


@pytest.fixture
def rows():
    return label(np.random.default_rng(0).uniform(size=(120, 3)), curve)


def test_a_candidate_has_an_explainer_or_a_recipe(rows):
    recipe = Balls(1.0).propose(rows, 0)[0].recipe
    for both in ({}, {"explainer": Constant("a"), "recipe": recipe}):
        with pytest.raises(ValueError, match="either an explainer or a recipe"):
            Candidate(Box(()), **both)


def test_the_candidates_of_all_generators_in_their_order(rows):
    balls = Balls(0.5, max_candidates=5)
    both = propose_all([OwnTrees(), balls], rows, 0, count(curve, rows.schema))
    origins = [candidate.origin for candidate in both]
    assert origins == ["own"] * origins.count("own") + ["balls"] * 5
    assert len(propose_all(balls, rows, 0, count(curve, rows.schema))) == 5


def test_a_generator_that_would_ask_too_much_proposes_nothing_and_the_others_do(rows):
    black_box = count(curve, rows.schema, max_queries=50)
    with pytest.warns(UserWarning, match="AskingBoxes proposes nothing: max_queries=50 leaves") as caught:
        candidates = propose_all([AskingBoxes(), OwnTrees()], rows, 0, black_box)
    assert len(caught) == 1
    assert {candidate.origin for candidate in candidates} == {"own"}
    assert black_box.n_queries <= 50
