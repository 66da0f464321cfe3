"""The flow of allowances to points is a maximum, against a linear program."""

import numpy as np
import pytest
from scipy import optimize, sparse

from oleander.selection.matching import match


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_the_flow_is_a_maximum(seed, whole):
    rng = np.random.default_rng(seed)
    n, m = 4, 9
    linked = rng.random((n, m)) < 0.4
    allowance = rng.integers(0, 4, size=n).astype(float) if whole else rng.random(n) * 3
    room = rng.integers(0, 3, size=m).astype(float) if whole else rng.random(m)
    flow = match(sparse.csr_array(linked.astype(float)), allowance, room, np.arange(n)).toarray()
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
