"""The flow of allowances to points is a maximum, against a linear program."""

import numpy as np
import pytest
from scipy import optimize

from oleander.selection.matching import match
from oleander.selection.model import pack_matrix


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(15))
def test_the_flow_is_a_maximum(seed, whole):
    rng = np.random.default_rng(seed)
    n, m = 4, 9
    linked = rng.random((n, m)) < 0.4
    allowance = rng.integers(0, 4, size=n).astype(float) if whole else rng.random(n) * 3
    room = rng.integers(0, 3, size=m).astype(float) if whole else rng.random(m)
    maybe = pack_matrix(linked)
    flow = match(maybe, allowance, room, np.arange(n)).toarray()
    rows = np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))
    upper = np.where(linked, np.inf, 0.0).ravel()
    best = optimize.linprog(
        -np.ones(n * m),
        A_ub=np.vstack(rows),
        b_ub=np.concatenate([allowance, room]),
        bounds=[(0.0, limit) for limit in upper],
    )
    assert flow.sum() == pytest.approx(-best.fun)
    assert (flow[~linked] == 0).all()
    assert (flow.sum(axis=1) <= allowance + 1e-9).all()
    assert (flow.sum(axis=0) <= room + 1e-9).all()
    assert not whole or (flow == np.round(flow)).all()


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_flow_scales_with_the_weights(scale):
    rng = np.random.default_rng(0)
    maybe = pack_matrix(rng.random((6, 20)) < 0.3)
    allowance, room = 3 * rng.random(6), rng.random(20)
    plain, scaled = (match(maybe, s * allowance, s * room, np.arange(6)).sum() for s in (1.0, scale))
    assert scaled == pytest.approx(scale * plain, rel=1e-9)


def test_more_candidates_than_bits_of_a_number():
    # Point j may be counted by candidate j alone, and the last point by all: each has a node of its own.
    n = 120
    maybe = pack_matrix(np.hstack([np.eye(n), np.ones((n, 1))]))
    counted = match(maybe, np.full(n, 2.0), np.append(np.ones(n), 50.0), np.arange(n)).sum(axis=0)
    assert counted.tolist() == [1.0] * n + [50.0]


def test_no_candidate_counts_nothing():
    maybe = pack_matrix(np.ones((2, 3)))
    assert match(maybe, np.ones(2), np.ones(3), np.empty(0, dtype=np.intp)).shape == (0, 3)
    assert match(maybe, np.ones(2), np.zeros(3), np.array([0, 1])).nnz == 0
