import numpy as np
import pytest

from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.candidates import Balls, Candidate, Generator, Recipe
from oleander.candidates.balls import choose_centers
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.explainers import UnfilteredTree
from oleander.regions import Box


def black_box_of(X):
    return BlackBox(lambda X: np.zeros(len(X), dtype=int), FeatureSchema.infer(X))


def rows_of(X):
    return Rows.ask(X, black_box_of(X))


def propose(balls, X):
    counting = CountingBlackBox(black_box_of(X))
    candidates = balls.propose(rows_of(X), 0, counting)
    assert counting.n_queries == 0
    return candidates


def test_every_row_and_radius_is_a_candidate():
    X = np.random.default_rng(0).normal(size=(20, 3))
    candidates = propose(Balls(radius=(1.0, 0.5, 1.0), max_flips=0, n_draws=50), X)
    assert isinstance(Balls(1.0), Generator)
    assert len(candidates) == 40
    assert all(isinstance(candidate.recipe, Recipe) for candidate in candidates)
    assert {candidate.region.radius for candidate in candidates} == {0.5, 1.0}
    assert candidates[0].recipe.draw().shape == (50, 3)
    assert len({candidate.recipe.seed for candidate in candidates}) == 40


def test_centers_are_spread_and_do_not_depend_on_the_order():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(900, 4)), rng.normal(size=(100, 4)) + 50])
    chosen = choose_centers(rows_of(X), 50)
    assert len(chosen) == len(set(chosen)) == 50
    # Dense places get more centers, and none is left out: one tenth of the rows, about one tenth of the centers.
    assert 3 <= (chosen >= 900).sum() <= 8
    order = rng.permutation(1000)
    assert {*order[choose_centers(rows_of(X[order]), 50)]} == {*chosen}


@pytest.mark.parametrize("most", [1, 2, 3, 7, 299])
def test_exactly_as_many_centers_as_asked_for(mixed, most):
    assert len(choose_centers(rows_of(mixed), most)) == most


def test_all_rows_where_there_are_few(mixed):
    assert len(choose_centers(rows_of(mixed), None)) == len(choose_centers(rows_of(mixed), 5000)) == 300


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": []}, "radius is an empty sequence"),
        ({"radius": -1.0}, "radius=-1.0 is not allowed"),
        ({"radius": 1.0, "n_draws": 0}, "n_draws=0 is not allowed"),
        ({"radius": 1.0, "max_candidates": 0}, "max_candidates=0 is not allowed"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        propose(Balls(**options), np.arange(6.0).reshape(3, 2) / 4)


def test_a_candidate_has_an_explainer_or_a_recipe():
    with pytest.raises(ValueError, match="either an explainer or a recipe"):
        Candidate(Box(()))
    Candidate(Box(()), explainer=UnfilteredTree())
