import numpy as np
import pytest

from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.candidates import Anchors, Balls, Candidate, Trees, propose_all
from oleander.data.schema import FeatureSchema
from oleander.explainers import UnfilteredTree
from oleander.regions import Box


def label(X):
    return X[:, 0] + X[:, 1] ** 2 > 0.8


@pytest.fixture
def rows():
    X = np.random.default_rng(0).uniform(size=(120, 3))
    return label_rows(X, CountingBlackBox(BlackBox(label, FeatureSchema.infer(X))))


def counter(rows, max_queries=None):
    return CountingBlackBox(BlackBox(label, rows.schema), max_queries)


def test_a_candidate_has_an_explainer_or_a_recipe(rows):
    with pytest.raises(ValueError, match="either an explainer or a recipe"):
        Candidate(Box(()))
    explained = Candidate(Box(()), explainer=UnfilteredTree())
    recipe = Balls(1.0).propose(rows, 0)[0].recipe
    with pytest.raises(ValueError, match="either an explainer or a recipe"):
        Candidate(Box(()), explainer=explained.explainer, recipe=recipe)


def test_the_candidates_of_all_generators_in_their_order(rows):
    trees, balls = Trees(n_trees=4), Balls(0.5, max_candidates=5)
    both = propose_all([trees, balls], rows, 0, counter(rows))
    origins = [candidate.origin for candidate in both]
    assert origins == ["trees"] * origins.count("trees") + ["balls"] * 5
    assert len(propose_all(balls, rows, 0, counter(rows))) == 5


def test_a_generator_that_would_ask_too_much_proposes_nothing_and_the_others_do(rows):
    black_box = counter(rows, max_queries=50)
    with pytest.warns(UserWarning, match="Anchors proposes nothing: max_queries=50 leaves") as caught:
        candidates = propose_all([Anchors(max_anchors=5), Trees(n_trees=2)], rows, 0, black_box)
    assert len(caught) == 1
    assert {candidate.origin for candidate in candidates} == {"trees"}
    assert black_box.n_queries <= 50
