import joblib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from oleander.black_box.answers import BlackBoxError
from oleander.black_box.labelling import label_rows
from oleander.candidates import pool as pool_module
from oleander.candidates.balls import Balls
from oleander.candidates.base import Candidate
from oleander.candidates.pool import CandidatePool, EmptyPoolError, count_groups
from oleander.rules import Box, Constant, UnfilteredTree
from oleander.rules.conditions import Range
from tests.making import AskingBoxes, OwnTrees, Recording, count, label, propose


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, RandomForestClassifier(10, random_state=0).fit(X, y)


def build(data, **options):
    return propose(Balls(radius=[1.5, 2.5], max_candidates=20, n_draws=300), *data, **options)


def rules_of(pool):
    return [[str(rule) for rule in explainer.rules()] for explainer in pool.explainers]


@pytest.fixture(scope="module")
def reference(cancer):
    pool = build(cancer)
    pool.train(range(40))
    return pool


def same(one, other):
    assert rules_of(one) == rules_of(other)
    np.testing.assert_array_equal(one.draw_fidelity, other.draw_fidelity)
    np.testing.assert_array_equal(one.agrees.words, other.agrees.words)
    assert one.black_box.n_queries == other.black_box.n_queries


@pytest.mark.parametrize(
    ("backend", "most_draws"),
    [pytest.param("loky", 2_000, marks=pytest.mark.slow), ("threading", 100_000)],
)
def test_several_jobs_give_the_same_bit_for_bit(cancer, reference, backend, most_draws, monkeypatch):
    monkeypatch.setattr(pool_module, "MOST_DRAWS", most_draws)
    pool = build(cancer, n_jobs=2)
    with joblib.parallel_config(backend=backend):
        pool.train(range(40))
    same(pool, reference)


def test_rows_in_another_order_give_the_same_explainers(cancer, reference):
    X, model = cancer
    order = np.random.default_rng(0).permutation(len(X))
    pool = build((X.iloc[order], model))
    pool.train(range(40))
    assert sorted(rules_of(pool)) == sorted(rules_of(reference))


def test_covers_and_agrees_against_regions_and_predictions(cancer, reference):
    X, model = cancer
    rows = reference.rows.schema.encode(X)
    covers, agrees = reference.covers.toarray(), reference.agrees.toarray()
    for index, candidate in enumerate(reference.candidates):
        inside = candidate.region.contains(rows)
        np.testing.assert_array_equal(covers[index], inside)
        right = reference.explainers[index].predict(rows) == model.predict(X)
        np.testing.assert_array_equal(agrees[index], inside & right)
        assert reference.support[index] == inside.sum()
        assert reference.fidelity[index] == pytest.approx(right[inside].mean())


def test_queries_are_counted_and_calls_are_batched(square, monkeypatch):
    monkeypatch.setattr(pool_module, "MOST_DRAWS", 450)
    model = Recording()
    pool = propose(Balls(radius=1.0, n_draws=100), square[:60], model)
    before = len(model.calls)
    assert pool.black_box.n_queries == model.n_rows
    pool.train([5, 3, 5, 3, 8, 9, 10, 11])
    pool.train([3, 5])
    assert model.calls[before:] == [400, 200]
    assert pool.black_box.n_queries == model.n_rows
    assert pool.is_trained.sum() == 6


def test_no_candidate_is_trained_beyond_max_queries(square):
    model = Recording()
    black_box = count(model, square[:60], max_queries=120 + 350)
    rows = label_rows(square[:60], black_box)
    pool = CandidatePool.propose(Balls(radius=1.0, n_draws=100), rows, black_box, 0)
    done = []
    pool.train([7, 2, 9, 4, 1], on_trained=done.append)
    # 60 rows asked about twice leave 350 queries: three candidates of 100 draws, in the order in which they were given.
    assert np.flatnonzero(pool.is_trained).tolist() == [2, 7, 9]
    assert done == [3]
    assert black_box.n_queries == model.n_rows == 420
    pool.train([4])
    assert not pool.is_trained[4]


def test_equal_rows_carry_their_weight():
    X = np.array([[0.5], [0.5], [0.5], [1.5], [2.5]])
    pool = propose(Balls(radius=9.0, n_draws=50), X, lambda X: X[:, 0] > 1)
    assert pool.covers.shape == (3, 3)
    assert pool.support.tolist() == [5, 5, 5]


def test_candidates_of_any_kind_stand_in_one_pool(cancer):
    pool = build(cancer)
    schema, rows = pool.rows.schema, pool.rows
    tree = UnfilteredTree().fit(rows.values, rows.labels, schema=schema)
    box = Candidate(Box((Range(0, schema[0], lower=15.0),)), explainer=tree, origin="given")
    both = CandidatePool(rows, [*pool.candidates, box], pool.black_box)
    before = both.black_box.n_queries
    # An explainer that is given needs no training.
    assert np.flatnonzero(both.is_trained).tolist() == [40]
    assert both.fidelity[40] > 0.9
    both.train([0, 40, 1])
    assert both.black_box.n_queries == before + 600


def test_trained_explainers_are_kept_when_the_black_box_fails(cancer, monkeypatch):
    monkeypatch.setattr(pool_module, "MOST_DRAWS", 1_000)
    X, model = cancer
    calls = [0]

    def fragile(X):
        calls[0] += 1
        if calls[0] > 6:
            raise ConnectionError("the service is gone")
        return model.predict(X)

    pool = build((X, fragile))
    before = pool.black_box.n_queries
    with pytest.raises(BlackBoxError, match="raised ConnectionError when asked about 900 rows: the service is gone"):
        pool.train(range(40))
    # The batch that failed was sent too.
    assert pool.black_box.n_queries == before + 4 * 900
    # Three calls went to the rows (two of them to ask again), three to batches of three balls.
    assert pool.is_trained.sum() == 9
    assert pool.agrees.nnz > 0


def test_bad_pools(cancer):
    for both in ({}, {"explainer": Constant("a"), "recipe": build(cancer).candidates[0].recipe}):
        with pytest.raises(ValueError, match="either an explainer or a recipe"):
            Candidate(Box(()), **both)
    with pytest.raises(EmptyPoolError, match="the generators propose no candidate for these rows"):
        propose([], *cancer)


def test_groups_count_by_their_share_of_rows():
    rng = np.random.default_rng(0)
    n_points, n_candidates = 60, 7
    weights, groups = rng.integers(1, 4, size=n_points), rng.integers(0, 5, size=n_points)
    inside = rng.random((n_candidates, n_points)) < 0.2
    inside[3] = False
    for line in inside:
        points = np.flatnonzero(line)
        right = rng.random(len(points)) < 0.7
        shares = []
        for group in np.unique(groups[points]):
            own = groups[points] == group
            shares.append(weights[points[own & right]].sum() / weights[points[own]].sum())
        assert count_groups(groups[points], weights[points], np.ones(len(points), dtype=bool)) == len(shares)
        assert count_groups(groups[points], weights[points], right) == pytest.approx(sum(shares))


def curve(X):
    return X[:, 0] + X[:, 1] ** 2 > 0.8


@pytest.fixture
def rows():
    return label(np.random.default_rng(0).uniform(size=(120, 3)), curve)


def test_the_candidates_of_all_generators_in_their_order(rows):
    balls = Balls(0.5, max_candidates=5)
    both = CandidatePool.propose([OwnTrees(), balls], rows, count(curve, rows.schema), 0)
    origins = [candidate.origin for candidate in both.candidates]
    assert origins == ["own"] * origins.count("own") + ["balls"] * 5
    assert len(CandidatePool.propose(balls, rows, count(curve, rows.schema), 0).candidates) == 5


def test_a_generator_that_would_ask_too_much_proposes_nothing_and_the_others_do(rows):
    black_box = count(curve, rows.schema, max_queries=50)
    with pytest.warns(UserWarning, match="AskingBoxes proposes nothing: max_queries=50 leaves") as caught:
        candidates = CandidatePool.propose([AskingBoxes(), OwnTrees()], rows, black_box, 0).candidates
    assert len(caught) == 1
    assert {candidate.origin for candidate in candidates} == {"own"}
    assert black_box.n_queries <= 50
