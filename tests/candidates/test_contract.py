"""The contract of every generator."""

import numpy as np
import pandas as pd
import pytest

from oleander.candidates.balls import Balls
from oleander.candidates.base import Candidate, Generator
from oleander.candidates.pool import CandidatePool
from tests.making import count, label

GENERATORS = [Balls("auto", max_candidates=10, n_draws=200)]


def stripes(X):
    return np.array(["low", "mid", "high"])[np.digitize(np.asarray(X)[:, 0], [0.3, 0.6])]


def train(generator, X, model):
    rows = label(X, model)
    black_box = count(model, rows.schema)
    pool = CandidatePool(rows, generator.propose(rows, 0, black_box), black_box)
    pool.train(range(len(pool.candidates)))
    return pool


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda generator: type(generator).__name__)
class TestContract:
    def test_is_a_generator(self, generator, square):
        assert isinstance(generator, Generator)
        rows = label(square, stripes)
        black_box = count(stripes, rows.schema)
        candidates = generator.propose(rows, 0, black_box)
        assert not black_box.n_queries
        assert candidates
        assert all(isinstance(candidate, Candidate) for candidate in candidates)
        assert {candidate.origin for candidate in candidates} == {type(generator).__name__.lower()}

    def test_mixed_columns_and_missing_values(self, generator, mixed, mixed_black_box):
        pool = train(generator, mixed, mixed_black_box)
        assert (pool.support > 0).all()
        assert pool.fidelity.max() > 0.9

    @pytest.mark.parametrize("n_rows", [1, 2, 3, 5, 10, 20])
    def test_few_rows(self, generator, mixed, n_rows):
        def scrambled(table):
            hashes = pd.util.hash_pandas_object(table, index=False).to_numpy()
            return np.array(["yes", "no", "no"])[hashes % 3]

        rows = label(mixed.iloc[:n_rows], scrambled)
        for candidate in generator.propose(rows, 0, count(scrambled, rows.schema)):
            assert candidate.region.contains(rows.values).any()

    def test_one_class_and_constant_columns(self, generator):
        X = pd.DataFrame({"same": np.ones(60), "level": ["a"] * 60, "number": np.arange(60) / 7})
        pool = train(generator, X, lambda table: np.full(len(table), "always"))
        assert (pool.fidelity == 1).all()
        assert all(explainer.complexity == 1 for explainer in pool.explainers)
