import _thread
import threading

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier

from oleander.candidates import Balls
from oleander.candidates.choosing import Floor, PoolSelection
from oleander.candidates.pool import CandidatePool

DATA = {"breast cancer": (load_breast_cancer, 120), "wine": (load_wine, 60), "digits": (load_digits, 60)}


@pytest.fixture(scope="module", params=DATA)
def data(request):
    load, n_centers = DATA[request.param]
    X, y = load(return_X_y=True)
    return X[1::2], RandomForestClassifier(10, random_state=0).fit(X[::2], y[::2]), n_centers


def select(data, training, floor, max_explainers, min_fidelity, seed, formulation="strict", **options):
    X, model, n_centers = data
    balls = Balls([1.0, 1.5, 2.0], max_candidates=n_centers, n_draws=200)
    pool = CandidatePool.build(X, model, balls, random_state=seed)
    selection = PoolSelection(pool, floor, training=training, formulation=formulation, **options)
    return selection, selection.select(max_explainers, min_fidelity)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("floor", "min_fidelity"), [(Floor("share", 1), 0.9), (Floor("bound", 10), 0.85), (Floor("share", 10), 0.99)]
)
def test_lazy_and_eager_give_the_same_objective_and_bound(data, floor, min_fidelity, seed):
    lazy, one = select(data, "lazy", floor, 6, min_fidelity, seed)
    eager, other = select(data, "eager", floor, 6, min_fidelity, seed)
    assert one.status == other.status == "optimal"
    assert (one.objective, one.bound) == (other.objective, other.bound)
    assert lazy.pool.n_queries <= eager.pool.n_queries
    assert lazy.pool.is_trained[one.chosen].all()
    assert (lazy.measured[one.chosen] >= min_fidelity).all()


def test_lazy_and_eager_agree_on_the_selective_program(data):
    _, one = select(data, "lazy", Floor("share", 1), 4, 0.9, 0, "selective")
    _, other = select(data, "eager", Floor("share", 1), 4, 0.9, 0, "selective")
    assert (one.objective, one.bound, one.status) == (other.objective, other.bound, other.status)


def test_a_tenth_of_the_queries_is_enough():
    """Breast cancer, one radius, the raw share, K = 10 and φ = 0.9: lazy asks at most 10% of what eager would ask."""
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(50, random_state=0).fit(X[::2], y[::2])
    pool = CandidatePool.build(X, model, Balls(3.0, max_candidates=None), random_state=0)
    result = PoolSelection(pool, Floor("share", 1)).select(10, 0.9)
    assert result.status == "optimal"
    assert pool.n_queries - pool.rows.n_queries <= 0.1 * len(pool.candidates) * 2000


def test_frontier_is_monotone_and_everybody_in_it_is_trained(data):
    selection, _ = select(data, "lazy", Floor("share", 5), 2, 0.7, 0)
    frontier = selection.frontier([1, 2, 4], [0.7, 0.8, 0.9])
    table = frontier.table.pivot(index="max_explainers", columns="min_fidelity", values="objective")
    assert (np.diff(table, axis=0) >= 0).all()
    assert (np.diff(table, axis=1) <= 0).all()
    for (_, min_fidelity), result in frontier.results.items():
        assert selection.pool.is_trained[result.chosen].all()
        assert (selection.measured[result.chosen] >= min_fidelity).all()
    eager, _ = select(data, "eager", Floor("share", 5), 2, 0.7, 0)
    assert (
        eager.frontier([1, 2, 4], [0.7, 0.8, 0.9]).table["objective"].tolist() == frontier.table["objective"].tolist()
    )


def test_too_little_time_gives_the_best_known_with_an_honest_bound(data):
    selection, result = select(data, "lazy", Floor("share", 1), 6, 0.9, 0, time_limit=0.0)
    _, best = select(data, "eager", Floor("share", 1), 6, 0.9, 0)
    assert result.objective <= best.objective <= result.bound
    assert selection.pool.is_trained[result.chosen].all()


@pytest.mark.parametrize("training", ["lazy", "eager"])
def test_greedy_is_asked_until_all_chosen_are_trained_and_no_longer(data, training):
    selection, result = select(data, training, Floor("share", 1), 6, 0.9, 0, solver="greedy", time_limit=None)
    assert selection.pool.is_trained[result.chosen].all()
    assert (selection.measured[result.chosen] >= 0.9).all()


def test_nothing_reaches_the_floor(data):
    X, _, _ = data
    pool = CandidatePool.build(X, lambda X: X[:, 0] > np.median(X[:, 0]), Balls(1.0, max_candidates=20), random_state=0)
    result = PoolSelection(pool, Floor("bound", min_support=10**6)).select(3, 0.9)
    assert result.status == "infeasible"
    assert "leaves no candidate" in result.message


def test_an_interrupt_while_training_leaves_what_is_known():
    X = np.random.default_rng(0).uniform(size=(200, 3))
    calls = [0]

    def black_box(X):
        calls[0] += 1
        if calls[0] == 4:
            _thread.interrupt_main()
            threading.Event().wait(0.5)
        return X[:, 0] + X[:, 1] ** 2 > 0.8

    pool = CandidatePool.build(X, black_box, Balls([0.5, 1.0], n_draws=200), random_state=0, batch_size=400)
    result = PoolSelection(pool, Floor("share", 5)).select(8, 0.9)
    assert len(result.chosen)
    assert pool.is_trained[result.chosen].all()
    assert result.bound >= result.objective
    assert result.message.startswith("Interrupted")


def test_an_interrupt_before_anything_is_known_is_an_interrupt():
    X = np.random.default_rng(0).uniform(size=(50, 3))
    calls = [0]

    def black_box(X):
        calls[0] += 1
        if calls[0] == 3:
            raise KeyboardInterrupt
        return X[:, 0] > 0.5

    pool = CandidatePool.build(X, black_box, Balls(0.5, n_draws=100), random_state=0)
    with pytest.raises(KeyboardInterrupt):
        PoolSelection(pool, Floor("share", 1)).select(3, 0.9)
