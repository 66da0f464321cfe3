import _thread
import itertools
import threading
import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from oleander import AggregateExplainer
from oleander.black_box.labelling import label_rows
from oleander.candidates import lazy_training
from oleander.candidates import pool as pool_module
from oleander.candidates.balls import Balls
from oleander.candidates.base import Candidate
from oleander.candidates.lazy_training import PoolProgram
from oleander.candidates.pool import CandidatePool
from oleander.judging.bounds import lower_bound
from oleander.judging.floor import Floor
from oleander.rules import Box
from oleander.rules.constant import Constant
from oleander.selection import SelectionProblem
from tests.making import count, halves, propose

# The paper's floor: the raw share, for each explainer.
PAPER = Floor("share", min_support=1)


def make_pool(seed, *, n_rows=80, n_draws=60, max_queries=None):
    """Make a small pool over random rows, whose black box cuts them along a random line with a random wave."""
    rng = np.random.default_rng(seed)
    # Rounded, so that some rows are equal and weigh more than one.
    X = rng.uniform(size=(n_rows, 2)).round(1) + 0.05
    slope, wave = rng.uniform(-2, 2), rng.uniform(0, 0.4)
    counting = count(
        lambda X: (X[:, 1] > 0.5 + slope * (X[:, 0] - 0.5) + wave * np.sin(9 * X[:, 0])).astype(int), X, max_queries
    )
    balls = Balls([0.5, 1.0, 1.6], max_candidates=12, n_draws=n_draws)
    return CandidatePool.propose(balls, label_rows(X, counting), counting, seed)


class TestProof:
    def choose(self, proof, seed):
        X = np.random.default_rng(seed).uniform(size=(400, 4))
        pool = propose(Balls([1.0], n_draws=60), X, lambda X: (X[:, 0] > 0.5).astype(int), seed)
        return PoolProgram(pool, PAPER, proof=proof, time_limit=None).select(12, 0.7)

    @pytest.mark.parametrize("seed", [0, 1, 5])
    def test_of_few_rows_an_early_end_chooses_what_a_full_proof_does(self, seed):
        enough, full = self.choose("enough", seed), self.choose("full", seed)
        assert enough.chosen.tolist() == full.chosen.tolist()
        assert full.status == "optimal"

    @pytest.mark.parametrize(("gap", "n_nodes"), [(0.2, 3_000), (0.0, 0)])
    def test_what_is_not_proven_is_not_called_optimal(self, gap, n_nodes, monkeypatch):
        full = self.choose("full", 0)
        monkeypatch.setattr(lazy_training, "ENOUGH_GAP", gap)
        monkeypatch.setattr(lazy_training, "ENOUGH_NODES", n_nodes)
        enough = self.choose("enough", 0)
        assert enough.objective <= full.objective <= enough.bound
        assert enough.is_proven_optimal == (enough.objective == enough.bound)
        assert gap == 0.0 or 0.0 < enough.gap <= gap


class TestLazyTraining:
    @pytest.mark.parametrize("formulation", ["strict", "selective"])
    @pytest.mark.parametrize("seed", range(30))
    def test_lazy_and_eager_agree_on_random_pools(self, seed, formulation):
        rng = np.random.default_rng(1000 + seed)
        floor = PAPER if formulation == "selective" else Floor(str(rng.choice(["share", "bound"])), min_support=3)
        number, min_fidelity = int(rng.integers(1, 5)), float(rng.choice([0.6, 0.75, 0.9]))
        results = []
        for training in ("lazy", "eager"):
            program = PoolProgram(make_pool(seed), floor, training=training, formulation=formulation)
            result = program.select(number, min_fidelity)
            assert program.pool.is_trained[result.chosen].all()
            assert formulation == "selective" or (program.measured[result.chosen] >= min_fidelity).all()
            results.append((result.status, round(result.objective, 6), round(result.bound, 6)))
        assert results[0] == results[1]
        assert results[0][0] in ("optimal", "infeasible")

    @pytest.mark.slow
    def test_a_tenth_of_the_queries_is_enough(self):
        """Breast cancer, one radius, K = 10 and φ = 0.9: lazy asks at most 10% of what eager would ask."""
        X, y = load_breast_cancer(return_X_y=True)
        model = RandomForestClassifier(50, random_state=0).fit(X[::2], y[::2])
        pool = propose(Balls(3.0, max_candidates=None), X, model)
        before = pool.black_box.n_queries
        result = PoolProgram(pool, PAPER).select(10, 0.9)
        assert result.status == "optimal"
        assert pool.black_box.n_queries - before <= 0.1 * len(pool.candidates) * 2000


class TestOracle:
    """The choice against an enumeration of all choices, written without the solvers."""

    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_the_best_of_all_choices(self, seed):
        pool = make_pool(seed, n_rows=40)
        number, min_fidelity = 2, 0.8
        floor = Floor("share", min_support=3)
        result = PoolProgram(pool, floor).select(number, min_fidelity)
        pool.train(range(len(pool.candidates)))
        covers, weights = pool.covers.toarray(), pool.rows.weights
        best = 0
        for size in range(1, number + 1):
            for choice in map(list, itertools.combinations(range(len(covers)), size)):
                covered = covers[choice].any(axis=0)
                if (pool.support[choice] >= 3).all() and (pool.fidelity[choice] >= min_fidelity).all():
                    best = max(best, weights[covered].sum())
        assert result.objective == best
        assert result.status == ("optimal" if best else "infeasible")


class TestSweep:
    @pytest.mark.parametrize("seed", range(3))
    def test_a_sweep_is_a_select_in_every_cell(self, seed):
        floor = Floor("share", min_support=3)
        numbers, floors = [3, 1, 3], [0.9, 0.7]
        sweep = PoolProgram(make_pool(seed, n_rows=50), floor).sweep(numbers, floors)
        assert set(sweep) == set(itertools.product(numbers, floors))
        for cell, result in sweep.items():
            alone = PoolProgram(make_pool(seed, n_rows=50), floor).select(*cell)
            assert (result.objective, result.status) == (alone.objective, alone.status)
            assert len(result.chosen) <= cell[0]

    def test_a_sweep_is_monotone_and_every_chosen_candidate_is_trained(self):
        numbers, floors = [1, 2, 4], [0.7, 0.8, 0.9]
        program = PoolProgram(make_pool(1), Floor("share", min_support=5))
        program.select(2, 0.7)
        sweep = program.sweep(numbers, floors)
        table = np.array([[sweep[number, share].objective for share in floors] for number in numbers])
        assert (np.diff(table, axis=0) >= 0).all()
        assert (np.diff(table, axis=1) <= 0).all()
        for (_, min_fidelity), result in sweep.items():
            assert program.pool.is_trained[result.chosen].all()
            assert (program.measured[result.chosen] >= min_fidelity).all()


def test_no_candidate_reaches_the_floor():
    result = PoolProgram(make_pool(0), Floor("bound", min_support=10**6)).select(3, 0.9)
    assert result.status == "infeasible"
    assert "leaves no candidate" in result.message


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("training", ["lazy", "eager"])
def test_greedy_is_asked_until_all_chosen_are_trained_and_no_longer(training, seed):
    program = PoolProgram(make_pool(seed), PAPER, training=training, solver="greedy", time_limit=None)
    result = program.select(6, 0.9)
    assert program.pool.is_trained[result.chosen].all()
    assert (program.measured[result.chosen] >= 0.9).all()


class TestLimits:
    @pytest.mark.parametrize("seed", range(3))
    def test_too_little_time_gives_the_best_known_with_an_honest_bound(self, seed):
        program = PoolProgram(make_pool(seed), PAPER, time_limit=0.0)
        result, best = program.select(6, 0.9), PoolProgram(make_pool(seed), PAPER).select(6, 0.9)
        assert result.objective <= best.objective <= result.bound
        assert program.pool.is_trained[result.chosen].all()

    def test_too_little_time_gives_the_best_trained_with_an_honest_bound(self, monkeypatch):
        best = PoolProgram(make_pool(0), PAPER).select(6, 0.9)
        clock = SimpleNamespace(monotonic=itertools.count(0.0, 0.5).__next__)
        monkeypatch.setattr(lazy_training, "time", clock)
        # A round takes half a second of this clock.
        program = PoolProgram(make_pool(0), PAPER, time_limit=0.7)
        result = program.select(6, 0.9)
        assert 0 < result.objective <= best.objective <= result.bound
        assert program.pool.is_trained[result.chosen].all()
        assert result.message.startswith("time_limit is over: ")

    @pytest.mark.parametrize("training", ["lazy", "eager"])
    @pytest.mark.parametrize("n_trained", [0, 1, 4, 10])
    def test_spent_queries_give_the_best_trained_with_an_honest_bound(self, training, n_trained):
        floor = Floor("share", min_support=3)
        best = PoolProgram(make_pool(0), floor).select(3, 0.9)
        n_rows = make_pool(0).black_box.n_queries
        pool = make_pool(0, max_queries=n_rows + n_trained * 60 + 59)
        result = PoolProgram(pool, floor, training=training).select(3, 0.9)
        assert pool.is_trained.sum() <= n_trained
        assert pool.black_box.n_queries <= n_rows + n_trained * 60
        assert result.objective <= best.objective <= result.bound
        assert pool.is_trained[result.chosen].all()
        if not result.is_proven_optimal:
            # An untrained candidate might reach the floor, so nothing is proven, infeasibility neither.
            assert result.status == ("feasible" if len(result.chosen) else "unknown")
            assert result.message.startswith("max_queries is spent")

    def test_an_interrupt_while_training_leaves_the_trained_candidates(self, monkeypatch):
        X = np.random.default_rng(0).uniform(size=(200, 3))
        calls = [0]

        def black_box(X):
            calls[0] += 1
            if calls[0] == 5:
                _thread.interrupt_main()
                threading.Event().wait(0.5)
            return X[:, 0] + X[:, 1] ** 2 > 0.8

        monkeypatch.setattr(pool_module, "MOST_DRAWS", 400)
        pool = propose(Balls([0.5, 1.0], n_draws=200), X, black_box)
        result = PoolProgram(pool, Floor("share", min_support=5)).select(8, 0.9)
        assert len(result.chosen)
        assert pool.is_trained[result.chosen].all()
        assert result.bound >= result.objective
        assert result.message.startswith("Interrupted")

    def test_an_interrupt_before_anything_is_trained_is_raised(self):
        X = np.random.default_rng(0).uniform(size=(50, 3))
        calls = [0]

        def black_box(X):
            calls[0] += 1
            if calls[0] == 4:
                raise KeyboardInterrupt
            return X[:, 0] > 0.5

        pool = propose(Balls(0.5, n_draws=100), X, black_box)
        with pytest.raises(KeyboardInterrupt):
            PoolProgram(pool, PAPER).select(3, 0.9)


class TestRuntime:
    @pytest.fixture
    def seconds(self, monkeypatch):
        """The runtime of every solve; each is made to end by its time limit after half a second."""
        solve, seconds = SelectionProblem.solve, []

        def stopped(problem, *args, **options):
            result = solve(problem, *args, **options)
            seconds.append(0.5)
            return replace(result, runtime=0.5, stopped="Stopped", bound=result.objective + 1, status="feasible")

        monkeypatch.setattr(SelectionProblem, "solve", stopped)
        return seconds

    @pytest.mark.parametrize(
        ("training", "max_queries"),
        # With no time for a second round, the choice is among the candidates trained by then.
        [("lazy", None), ("eager", None), ("lazy", 400)],
    )
    def test_it_is_that_of_all_rounds_and_the_message_says_so(self, seconds, training, max_queries):
        pool = make_pool(0, max_queries=max_queries)
        result = PoolProgram(pool, PAPER, training=training, time_limit=0.3).select(3, 0.9)
        assert result.runtime == sum(seconds)
        assert f"after {sum(seconds):.1f} s" in result.message
        assert max_queries or f"Stopped after {sum(seconds):.1f} s: the gap is" in result.message


def test_the_selective_program_trains_all_at_once():
    assert PoolProgram(make_pool(0), PAPER, formulation="selective").training == "eager"
    assert PoolProgram(make_pool(0), PAPER).training == "lazy"
    program = PoolProgram(make_pool(0), PAPER, formulation="selective")
    program.select(3, 0.9)
    assert program.pool.is_trained.all()


def test_equal_visits_of_a_group_are_one_piece_of_evidence():
    """Twenty people with eight equal visits each: a box that is right on all of them is not shown to reach 0.9."""
    X = np.repeat(np.random.default_rng(0).uniform(size=(20, 2)), 8, axis=0)
    black_box = count(lambda X: X[:, 0] > 5, X)
    everywhere = Candidate(Box(()), explainer=Constant(False, 160, 1.0, np.dtype(bool)))
    for groups, bound in ((None, lower_bound(160, 160, 0.05)), (np.arange(160) // 8, lower_bound(20, 20, 0.05))):
        pool = CandidatePool(label_rows(X, black_box, groups=groups), [everywhere], black_box)
        program = PoolProgram(pool, Floor())
        assert program.measured[0] == pytest.approx(float(bound))
        result = program.select(1, 0.9)
        assert len(result.chosen) == (groups is None)
    assert "cannot be shown on 20 groups, even if every answer matches: 29 are needed" in program.why_nothing(
        result, 0.9
    )


def test_the_papers_share_is_of_rows_also_with_groups():
    X = np.random.default_rng(0).uniform(size=(30, 2))
    black_box = count(halves, X)
    rows = label_rows(X, black_box, groups=np.arange(30) // 25)
    always = Candidate(Box(()), explainer=Constant(True, 30, 1.0, np.dtype(bool)))
    program = PoolProgram(CandidatePool(rows, [always], black_box), PAPER)
    program.pool.train([0])
    assert program.measured[0] == pytest.approx((X[:, 0] > 0.5).mean())


def test_memory_of_many_balls_is_in_proportion_to_their_bits():
    X = np.random.default_rng(0).normal(size=(20_000, 4))
    box = count(lambda X: X[:, 0] > 0, X)
    rows = label_rows(X, box)
    tracemalloc.start()
    try:
        pool = CandidatePool.propose(Balls(max_candidates=60, n_draws=200), rows, box, 0)
        PoolProgram(pool, Floor(), solver="quick").select(5, 0.9)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert pool.covers.nnz > pool.covers.words.size
    bits = pool.covers.shape[0] * pool.covers.shape[1] / 8
    assert peak < 3 * X.nbytes + 12 * bits + 140e6


rng = np.random.default_rng(0)
# Rounded, so that some rows are equal.
X = rng.uniform(size=(160, 2)).round(1) + 0.05


def wave(X):
    return (X[:, 1] > 0.5 + 0.3 * np.sin(9 * X[:, 0])).astype(int)


def fit(**options):
    defaults = {"radius": 0.25, "n_draws": 60, "max_explainers": 4, "min_fidelity": 0.8, "random_state": 0}
    return AggregateExplainer.paper(wave, **{**defaults, **options}).fit(X)


@pytest.mark.parametrize("formulation", ["strict", "selective"])
@pytest.mark.parametrize("min_fidelity", [0.8, 0.95])
def test_the_constraints_of_the_printed_program(formulation, min_fidelity):
    """w, y and z of Proposition 3, point by point."""
    atlas = fit(formulation=formulation, min_fidelity=min_fidelity)
    result, pool = atlas.result_, atlas.pool_
    values, labels, weights = pool.rows.values, pool.rows.labels, pool.rows.weights
    assert len(atlas.explainers_) == len(result.chosen) <= 4
    z, y = result.counted.toarray(), result.covered
    assert weights[y].sum() >= result.objective == np.minimum(z.sum(axis=0), weights).sum()
    assert (y == (z > 0).any(axis=0)).all()
    assert (z <= weights).all()
    for counted, index in zip(z, result.chosen, strict=True):
        inside = np.abs(values - pool.candidates[index].region.center).max(axis=1) <= 0.25 * (1 + 1e-12)
        assert (counted[~inside] == 0).all()
        agrees = pool.explainers[index].predict(values) == labels
        assert ((agrees - min_fidelity) * counted).sum() >= -1e-9
        if formulation == "strict":
            np.testing.assert_array_equal(counted, np.where(inside, weights, 0))
